"""list.py table|json STORE RECIPES: what STORE has, and the recipes that were not built."""

import json
import os
import re
import sys


def built(store):
	"""The manifests of the store, without their lists of packages."""
	try:
		names = sorted(os.listdir(store))
	except FileNotFoundError:
		return
	for name in names:
		path = os.path.join(store, name, "manifest.json")
		if name.startswith(".") or not os.path.isfile(path):
			continue
		try:
			with open(path, encoding="utf-8") as file:
				m = json.load(file)
			yield {
				"name": name,
				"digest": m["digest"],
				"size": m["size"],
				"source": m["source"],
				"architecture": m["architecture"],
				"packages": len(m["packages"]),
				"formats": sorted(m["images"]),
				"path": os.path.join(store, name),
				"summary": m["summary"],
			}
		except (OSError, ValueError, KeyError, TypeError) as why:
			print(f"sbxrun-rootfs: warning: {path} can't be read: {why!r}", file=sys.stderr)


def recipes(directory):
	for name in sorted(os.listdir(directory)):
		if name.startswith("."):
			continue
		with open(os.path.join(directory, name), encoding="utf-8") as file:
			found = re.search(r"^summary='([^']*)'", file.read(), re.M)
		yield {"name": name, "summary": found.group(1) if found else ""}


def table(rows, others):
	if rows:
		print(f"{'NAME':<12} {'DIGEST':<19} {'SIZE':>8}  {'FORMATS':<22} SUMMARY")
	for r in rows:
		print(f"{r['name']:<12} {r['digest'][:19]:<19} {r['size'] / 1e6:>6.0f}MB  {','.join(r['formats']):<22} {plain(r['summary'])}")
	if others:
		print("\nRecipes that are not built:" if rows else "Nothing is built. Recipes:")
	for r in others:
		print(f"  {r['name']:<12} {r['summary']}")


def plain(text):
	"""A summary may be an image's: nothing of it moves the cursor."""
	return "".join(c if c.isprintable() else "?" for c in str(text))[:100]


def main(style, store, directory):
	rows = list(built(os.path.abspath(store)))
	others = [r for r in recipes(directory) if r["name"] not in {row["name"] for row in rows}]
	if style == "json":
		json.dump({"rootfs": rows, "recipes": others}, sys.stdout, indent=1)
		print()
	else:
		table(rows, others)


if __name__ == "__main__":
	main(*sys.argv[1:])
