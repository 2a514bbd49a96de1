"""box.py CONFIG ROOTFS [ARGUMENT…] -- CMD…: turn the example that `sbxrun spec` wrote into the config of a box.

	--writable		the root may be written to
	--user UID GID		not root
	--private BASE		a user namespace: its ids are 65536 of the host's from BASE on
	--memory BYTES, --pids N	limits
	--bind SOURCE:DEST	bind a file or directory, read-only
	--bind-rw SOURCE:DEST	bind it
	--tmp SIZE		a tmpfs on /tmp
	--cwd DIR		where CMD starts
	--env NAME=VALUE
"""

import json
import sys


def bind(config, pair, *flags):
	source, destination = pair.rsplit(":", 1)
	config["mounts"].append({
		"destination": destination,
		"type": "bind",
		"source": source,
		"options": ["bind", "nosuid", "nodev", *flags],
	})


def private_ids(config, base):
	linux = config["linux"]
	if not any(n["type"] == "user" for n in linux["namespaces"]):
		linux["namespaces"].append({"type": "user"})
	linux["uidMappings"] = linux["gidMappings"] = [{"containerID": 0, "hostID": base, "size": 65536}]


def main(path, rootfs, *args):
	with open(path, encoding="utf-8") as file:
		config = json.load(file)
	config["root"] = {"path": rootfs, "readonly": True}
	process = config["process"]
	process.update({"terminal": False, "cwd": "/"})
	process["env"] = ["PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "HOME=/tmp"]
	words = iter(args)
	for word in words:
		if word == "--":
			process["args"] = list(words)
		elif word == "--writable":
			config["root"]["readonly"] = False
		elif word == "--user":
			process["user"] = {"uid": int(next(words)), "gid": int(next(words))}
		elif word == "--private":
			private_ids(config, int(next(words)))
		elif word == "--memory":
			size = int(next(words))
			config["linux"].setdefault("resources", {})["memory"] = {"limit": size, "swap": size}
		elif word == "--pids":
			config["linux"].setdefault("resources", {})["pids"] = {"limit": int(next(words))}
		elif word == "--bind":
			bind(config, next(words), "ro")
		elif word == "--bind-rw":
			bind(config, next(words))
		elif word == "--tmp":
			config["mounts"].append({"destination": "/tmp", "type": "tmpfs", "source": "tmpfs",
				"options": ["nosuid", "nodev", "mode=1777", "size=" + next(words)]})
		elif word == "--cwd":
			process["cwd"] = next(words)
		elif word == "--env":
			process["env"].append(next(words))
		else:
			sys.exit(f"box.py: {word}?")
	with open(path, "w", encoding="utf-8") as file:
		json.dump(config, file)


if __name__ == "__main__":
	main(*sys.argv[1:])
