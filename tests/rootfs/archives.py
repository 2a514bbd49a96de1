"""archives.py CASE OUT CANARY: write the archive of an image that tries something. CANARY is a directory of the host that it aims at."""

import gzip
import hashlib
import io
import json
import sys
import tarfile

CONFIG = {"architecture": "amd64", "os": "linux", "config": {"Env": ["A=b c"], "Cmd": ["/bin/x"], "WorkingDir": "/srv"}}


def entry(tar, name, kind=tarfile.REGTYPE, data=b"", **more):
	header = tarfile.TarInfo(name)
	header.type, header.size, header.mode = kind, len(data), 0o755 if kind == tarfile.DIRTYPE else 0o644
	for key, value in more.items():
		setattr(header, key, value)
	tar.addfile(header, io.BytesIO(data))


def layer(*entries):
	"""An entry: (name, kind, data, more)."""
	out = io.BytesIO()
	with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
		for name, kind, data, more in entries:
			entry(tar, name, kind, data, **more)
	return out.getvalue()


def f(name, data=b"x", **more):
	return (name, tarfile.REGTYPE, data, more)


def d(name, **more):
	return (name, tarfile.DIRTYPE, b"", more)


def link(name, target):
	return (name, tarfile.SYMTYPE, b"", {"linkname": target})


def hard(name, target):
	return (name, tarfile.LNKTYPE, b"", {"linkname": target})


def docker(out, layers, config=None, names=None):
	"""docker's archive of these layers."""
	config = dict(config or CONFIG)
	config.setdefault("rootfs", {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(unpacked(data)).hexdigest() for data in layers]})
	names = names or [f"{i}.tar" for i in range(len(layers))]
	with tarfile.open(out, "w") as tar:
		entry(tar, "manifest.json", data=json.dumps([{"Config": "config.json", "RepoTags": ["x:y"], "Layers": names}]).encode())
		entry(tar, "config.json", data=json.dumps(config).encode())
		for name, data in zip(names, layers):
			entry(tar, name, data=data)


def unpacked(data):
	return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def paths(canary):
	"""Names that lead out of the root: above it, from /, through links of the image."""
	return [layer(
		d("a"), f("a/inside"),
		f(canary + "/absolute"), f("../../../../../../../.." + canary + "/above"), f("a/../../../../../../../../.." + canary + "/between"),
		link("away", canary), f("away/through"),
		link("up", "../../../../../../../.." + canary), f("up/through"),
		hard("stolen", canary + "/secret"),
	)]


def hard_link(canary):
	return [layer(f("a"), hard("stolen", "../../../../../../../.." + canary + "/secret"))]


def link_layers(canary):
	"""A link of one layer, written through in the next; and the root itself as a link."""
	return [layer(link("away", canary), link("etc", "/etc")), layer(f("away/through"), f("etc/sbxrun-canary")), layer(link("./", canary))]


def special(_):
	"""Devices, pipes, bits and attributes that give rights."""
	return [layer(
		("dev", tarfile.DIRTYPE, b"", {}),
		("dev/sda", tarfile.BLKTYPE, b"", {"devmajor": 8, "devminor": 0}),
		("mem", tarfile.CHRTYPE, b"", {"devmajor": 1, "devminor": 1}),
		("pipe", tarfile.FIFOTYPE, b"", {}),
		f("root-shell", mode=0o6755, uid=0), f("of-another", uid=1234, gid=1234), d("drop", mode=0o2777), f("closed", mode=0),
		f("capable", pax_headers={"SCHILY.xattr.security.capability": "\x01\x00\x00\x02\x00\x20" + "\x00" * 14}),
		d("locked", mode=0), f("locked/in", mode=0o600),
	)]


def whiteouts(canary):
	"""What a layer takes away: a file, the content of a directory; and a name outside."""
	return [
		layer(d("dir"), f("dir/old"), f("file"), f("keep")),
		layer(f(".wh.file", b""), d("dir"), f("dir/.wh..wh..opq", b""), f("dir/new")),
		layer(link("away", canary), f("away/.wh.secret", b""), f("../../../../../../../.." + canary + "/.wh.secret", b"")),
	]


def bomb(_):
	"""3 GB of zeros in 3 MB."""
	header = tarfile.TarInfo("zeros")
	header.size = 3 << 30
	out = io.BytesIO()
	with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1) as file:
		file.write(header.tobuf(tarfile.PAX_FORMAT))
		for _ in range(3 << 6):
			file.write(bytes(1 << 24))
		file.write(bytes(1024))
	return [out.getvalue()]


def lying_size(_):
	"""A file that says to be larger than the archive."""
	header = tarfile.TarInfo("huge")
	header.size = 1 << 42
	return [header.tobuf(tarfile.GNU_FORMAT) + bytes(4096)]


def places(canary):
	"""What boxes mount on, as links."""
	return [layer(*(link(name, canary) for name in ("proc", "sys", "dev", "tmp", "run", "workspace", "var")), f("file"))]


def sparse(_):
	"""Many files."""
	return [layer(*(f(f"f{i}", b"") for i in range(2000)))]


CONFIGS = {
	"config_is_wrong": {"config": {"Env": "not a list", "Cmd": 7}},
	"config_is_long": {"config": {"Env": ["A" * 100000], "Cmd": ["/bin/x"]}},
	"config_is_relative": {"config": {"Env": [], "Cmd": ["/bin/x"], "WorkingDir": "../../x"}},
}


def main(case, out, canary):
	if case in CONFIGS:
		docker(out, [layer(f("file"))], {**CONFIG, **CONFIGS[case]})
	elif case == "layer_name":
		docker(out, [layer(f("file"))], names=["../../../../../../.." + canary + "/layer.tar"])
	else:
		docker(out, globals()[case](canary))


if __name__ == "__main__":
	main(*sys.argv[1:])
