"""manifest.py DIR PACKAGES KEY=VALUE…: write DIR/manifest.json, which says what DIR has and what it was made of.

It is the lock for `build --lock`, what `verify` compares with, and what `sbxrun do` reads. Nothing in it says when or where it was made:
two builds of the same packages have the same manifest.

    manifest.py --epoch META		print the time stamp of an imported image

KEYs: name, summary, source, suite, architecture, epoch, digest, size, recipe, smoke, expect, npm; and env, command: words. For an imported image, meta
names the file in which the box has written what the image says.
"""

import hashlib
import json
import os
import sys

PATH = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"


def sum_of(path):
	"""The SHA-256 of a file, as it is written in a manifest."""
	digest = hashlib.sha256()
	with open(path, "rb") as file:
		while chunk := file.read(1 << 20):
			digest.update(chunk)
	return "sha256:" + digest.hexdigest()


def images(top):
	"""What was made of the tree. That a directory is the digest's, and a layout sums itself."""
	found = {}
	if os.path.isdir(os.path.join(top, "rootfs")):
		found["dir"] = {"path": "rootfs"}
	for kind, path in (("erofs", "rootfs.erofs"), ("docker", "docker.tar"), ("oci", "oci/index.json")):
		full = os.path.join(top, path)
		if os.path.isfile(full):
			found[kind] = {"path": path, "size": os.path.getsize(full), "sha256": sum_of(full)}
	return found


def npm(words):
	"""Threes of name, version and SHA-256 of the tarball."""
	return [dict(zip(("name", "version", "sha256"), words[i:i + 3])) for i in range(0, len(words), 3)]


def strings(value, count=256, length=8192):
	"""The value if it is a list of strings that can be arguments of a program; Trust: it comes from an image."""
	if not isinstance(value, list) or len(value) > count:
		raise ValueError("not a list of strings")
	for text in value:
		if not isinstance(text, str) or len(text) > length or "\0" in text:
			raise ValueError("not a list of strings")
	return value


def read_meta(path):
	"""What an imported image says: environment, command, directory and time stamp."""
	try:
		with open(path, encoding="utf-8") as file:
			meta = json.load(file)
		workdir, epoch = meta["workdir"], int(meta["epoch"])
		if not isinstance(workdir, str) or not workdir.startswith("/") or len(workdir) > 4096 or not 0 <= epoch < 1 << 34:
			raise ValueError("a directory or time stamp that can't be")
		return {"env": strings(meta["env"]), "command": strings(meta["command"]), "workdir": workdir, "epoch": epoch}
	except (OSError, ValueError, KeyError, TypeError, RecursionError) as why:
		return sys.exit(f"sbxrun-rootfs: what the image says of itself: {why}")


def main(top, packages, *pairs):
	if top == "--epoch":
		print(read_meta(packages)["epoch"])
		return
	value = dict(pair.split("=", 1) for pair in pairs)
	with open(packages, encoding="utf-8") as file:
		packages = json.load(file)
	manifest = {
		"manifestVersion": 1,
		"name": value["name"],
		"digest": "sha256:" + value["digest"],
		"size": int(value["size"]),
		"summary": value["summary"],
		"source": value["source"],
		"suite": value["suite"],
		"architecture": value["architecture"],
		"epoch": int(value["epoch"]),
		"env": [PATH, "LANG=C.UTF-8", *value["env"].split()],
		"command": value["command"].split(),
		"workdir": "/workspace",
		"smoke": {"command": value["smoke"], "expect": value["expect"]},
		"recipe": "sha256:" + value["recipe"],
		"images": images(top),
		"files": {"path": "files", "sha256": sum_of(os.path.join(top, "files"))},
		"npm": npm(value["npm"].split()),
		"packages": packages,
	}
	if "meta" in value:
		manifest.update(read_meta(value["meta"]))
	with open(os.path.join(top, "manifest.json"), "w", encoding="utf-8") as file:
		json.dump(manifest, file, indent=1)
		file.write("\n")


if __name__ == "__main__":
	main(*sys.argv[1:])
