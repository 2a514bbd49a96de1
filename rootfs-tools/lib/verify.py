"""verify.py DIR: compare the images, the list of files and the SBOM of DIR with its manifest.json. Ends with status 1 and says what differs.

	verify.py --facts|--smoke-command|--smoke-expect DIR	print what the manifest says: epoch and digest, the smoke test
"""

import json
import os
import sys

import sbom
from manifest import sum_of


def differences(top, m):
	"""What is not as the manifest says, a sentence each."""
	for kind, image in m["images"].items():
		path = os.path.join(top, image["path"])
		if not os.path.exists(path):
			yield f"{image['path']} is missing"
		elif kind != "dir" and sum_of(path) != image["sha256"]:
			yield f"{image['path']} was changed"
	if "oci" in m["images"]:
		yield from blobs(os.path.join(top, "oci/blobs/sha256"), m)
	if sum_of(os.path.join(top, m["files"]["path"])) != m["files"]["sha256"]:
		yield "files was changed"
	with open(os.path.join(top, "sbom.spdx.json"), encoding="utf-8") as file:
		if json.load(file) != sbom.document(m):
			yield "sbom.spdx.json is another rootfs's"


def blobs(directory, m):
	"""A layout names its files by their sums."""
	names = sorted(os.listdir(directory))
	if m["digest"].split(":")[1] not in names:
		yield "oci: the layer is missing"
	for name in names:
		if sum_of(os.path.join(directory, name)) != "sha256:" + name:
			yield f"oci/blobs/sha256/{name} was changed"


def main(*args):
	top = args[-1]
	with open(os.path.join(top, "manifest.json"), encoding="utf-8") as file:
		m = json.load(file)
	if args[0] == "--facts":
		print(m["epoch"], m["digest"].split(":")[1])
	elif args[0] == "--smoke-command":
		print(m["smoke"]["command"])
	elif args[0] == "--smoke-expect":
		print(m["smoke"]["expect"])
	else:
		found = list(differences(top, m))
		print("\n".join(found))
		sys.exit(1 if found else 0)


if __name__ == "__main__":
	try:
		main(*sys.argv[1:])
	except (OSError, ValueError, KeyError, TypeError) as why:
		sys.exit(f"the manifest can't be read: {why!r}")
