"""The list of packages of a rootfs, which is the lock: name, version, architecture, pool path, size and SHA-256 of the .deb.

	packages.py resolve STANZAS		print the list for what `apt-cache show` said
	packages.py lock MANIFEST ARCH		print the list that a manifest has
	packages.py diff OLD NEW		print what changed, a line a package
	packages.py lines LIST			print "sha256 size archive path name version" a package
	packages.py npm MANIFEST		print "name version sha256" of what comes from the npm registry
"""

import json
import re
import sys

FIELDS = ("name", "version", "architecture", "archive", "path", "size", "sha256")
# A lock may come from anybody: what it says becomes file names and addresses.
SHAPES = {
	"name": r"[a-z0-9][a-z0-9+.-]{0,127}",
	"version": r"[A-Za-z0-9.+~:-]{1,127}",
	"architecture": r"[a-z0-9-]{1,31}",
	"archive": r"main|security",
	"path": r"pool/[A-Za-z0-9._+~/%-]{1,500}\.deb",
	"size": r"[0-9]{1,11}",
	"sha256": r"[0-9a-f]{64}",
}

NPM_SHAPES = {"name": r"[a-z0-9][a-z0-9._-]{0,127}", "version": r"[A-Za-z0-9.+-]{1,63}", "sha256": SHAPES["sha256"]}


def fail(text):
	sys.exit("sbxrun-rootfs: " + text)


def checked(packages, where):
	"""The list, if it is one; ends the program otherwise."""
	if not isinstance(packages, list) or not packages:
		fail(f"{where}: no packages")
	for package in packages:
		if not isinstance(package, dict) or set(package) != set(FIELDS):
			fail(f"{where}: a package without {', '.join(FIELDS)}")
		for field, shape in SHAPES.items():
			value = str(package[field])
			if not re.fullmatch(shape, value) or "/../" in value:
				fail(f"{where}: {field} of a package is {value[:60]!r}")
	return packages


def load(path):
	try:
		with open(path, encoding="utf-8") as file:
			return json.load(file)
	except (OSError, ValueError, RecursionError) as why:
		return fail(f"{path}: {why}")


def read(path):
	"""The list in a file: a list by itself, or that of a manifest."""
	content = load(path)
	if isinstance(content, dict):
		content = content.get("packages")
	return checked(content, path)


def read_npm(path):
	content = load(path)
	found = content.get("npm", []) if isinstance(content, dict) else []
	for p in found if isinstance(found, list) else [None]:
		if not isinstance(p, dict) or not all(re.fullmatch(shape, str(p.get(field))) for field, shape in NPM_SHAPES.items()):
			fail(f"{path}: npm has an entry without name, version and sha256")
	return found


def resolve(stanzas):
	"""From what `apt-cache show` says. A version that two suites have is there twice."""
	found = {}
	with open(stanzas, encoding="utf-8") as file:
		for stanza in file.read().split("\n\n"):
			fields = dict(re.findall(r"^([A-Za-z0-9-]+): *(.*)$", stanza, re.M))
			if not fields:
				continue
			found.setdefault(fields["Package"], {
				"name": fields["Package"],
				"version": fields["Version"],
				"architecture": fields["Architecture"],
				# The security archive keeps its packages in this part of the pool.
				"archive": "security" if fields["Filename"].startswith("pool/updates/") else "main",
				"path": fields["Filename"],
				"size": int(fields["Size"]),
				"sha256": fields["SHA256"],
			})
	return checked([found[name] for name in sorted(found)], stanzas)


def diff(old, new):
	"""What became of the packages of one list in the other."""
	before = {p["name"]: p for p in old}
	after = {p["name"]: p for p in new}
	for name in sorted(before.keys() | after.keys()):
		if name not in after:
			yield f"{name} {before[name]['version']} is gone"
		elif name not in before:
			yield f"{name} {after[name]['version']} is new"
		elif before[name]["version"] != after[name]["version"]:
			yield f"{name} {before[name]['version']} is now {after[name]['version']}"
		elif before[name]["sha256"] != after[name]["sha256"]:
			yield f"{name} {before[name]['version']} has other content under the same version"


def show(packages):
	json.dump(packages, sys.stdout, indent=1)
	print()


def main(command, *args):
	if command == "resolve":
		show(resolve(*args))
	elif command == "lock":
		packages = read(args[0])
		for package in packages:
			if package["architecture"] not in ("all", args[1]):
				fail(f"{args[0]}: is for {package['architecture']}, and this machine is {args[1]}")
		show(packages)
	elif command == "diff":
		for line in diff(read(args[0]), read(args[1])):
			print(line)
	elif command == "npm":
		for p in read_npm(args[0]):
			print(p["name"], p["version"], p["sha256"])
	elif command == "lines":
		for p in read(args[0]):
			print(p["sha256"], p["size"], p["archive"], p["path"], p["name"], p["version"])


if __name__ == "__main__":
	main(*sys.argv[1:])
