"""The canonical tar of a directory: sorted, all files root's, one time stamp, no extended attributes. Its SHA-256 names the rootfs.

	tree.py tar DIR EPOCH FILES [TAR]	write the tar (to nowhere if not said), the list of FILES, and print "sha256 size"
	tree.py diff OLD NEW			print how two lists of files differ

A line of the list: type, mode, size or "-", SHA-256 of the content, target of a link, or "-", path. The three kinds that a rootfs has
are files, directories and symbolic links; anything else is an error.
"""

import hashlib
import os
import stat
import sys
import tarfile


class Sink:
	"""Counts and sums what is written, and passes it on."""

	def __init__(self, file):
		self.file = file
		self.sum = hashlib.sha256()
		self.size = 0

	def tell(self):
		return self.size

	def write(self, data):
		self.sum.update(data)
		self.size += len(data)
		if self.file:
			self.file.write(data)
		return len(data)


class Summing:
	"""A file that is read once, and its sum."""

	def __init__(self, file):
		self.file = file
		self.sum = hashlib.sha256()

	def read(self, size=-1):
		data = self.file.read(size)
		self.sum.update(data)
		return data


def walk(top):
	"""All paths below top as bytes, relative to it, parents first, in the order of their bytes."""
	stack = [b""]
	while stack:
		path = stack.pop()
		yield path
		full = os.path.join(top, path) if path else top
		if path and not stat.S_ISDIR(os.lstat(full).st_mode):
			continue
		names = sorted(os.listdir(full), reverse=True)
		stack.extend(os.path.join(path, name) if path else name for name in names)


def quote(path):
	"""A path as a word of a line."""
	return path.decode("utf-8", "surrogateescape").encode("unicode_escape").decode("ascii").replace(" ", "\\x20")


class Tree:
	def __init__(self, top, epoch, tar, listing):
		self.top, self.epoch, self.tar, self.listing = os.fsencode(top), epoch, tar, listing
		self.links = {}
		info = os.lstat(self.top)
		self.owner = (info.st_uid, info.st_gid)

	def header(self, path, info):
		name = "./" + path.decode("utf-8", "surrogateescape") if path else "./"
		header = tarfile.TarInfo(name)
		header.mtime = self.epoch
		header.mode = stat.S_IMODE(info.st_mode)
		return header

	def line(self, kind, header, size, content, path):
		self.listing.write(f"{kind} {header.mode:04o} {size} {content} {quote(path) or '.'}\n")

	def add(self, path):
		full = os.path.join(self.top, path) if path else self.top
		info = os.lstat(full)
		if (info.st_uid, info.st_gid) != self.owner:
			sys.exit(f"sbxrun-rootfs: {quote(path)} has another owner than the rest")
		header = self.header(path, info)
		if stat.S_ISDIR(info.st_mode):
			header.type = tarfile.DIRTYPE
			self.tar.addfile(header)
			self.line("d", header, "-", "-", path)
		elif stat.S_ISLNK(info.st_mode):
			header.type, header.mode = tarfile.SYMTYPE, 0o777
			target = os.readlink(full)
			header.linkname = target.decode("utf-8", "surrogateescape")
			self.tar.addfile(header)
			self.line("l", header, "-", quote(target), path)
		elif stat.S_ISREG(info.st_mode):
			self.add_file(path, full, info, header)
		else:
			sys.exit(f"sbxrun-rootfs: {quote(path)} is neither a file, a directory nor a link")

	def add_file(self, path, full, info, header):
		"""A further name of a file that was seen is a hard link in the tar too."""
		first = self.links.get((info.st_dev, info.st_ino))
		if first is not None:
			header.type = tarfile.LNKTYPE
			header.linkname = "./" + first[0].decode("utf-8", "surrogateescape")
			self.tar.addfile(header)
			self.line("f", header, info.st_size, first[1], path)
			return
		header.size = info.st_size
		# O_NOFOLLOW: an imported tree was somebody else's.
		with os.fdopen(os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
			summing = Summing(file)
			self.tar.addfile(header, summing)
		content = summing.sum.hexdigest()
		if info.st_nlink > 1:
			self.links[(info.st_dev, info.st_ino)] = (path, content)
		self.line("f", header, info.st_size, content, path)


def write_tar(top, epoch, files, out=None):
	target = open(out, "wb") if out else None
	sink = Sink(target)
	with open(files, "w", encoding="ascii") as listing:
		with tarfile.open(fileobj=sink, mode="w", format=tarfile.PAX_FORMAT, errors="surrogateescape",
			copybufsize=1 << 20) as tar:
			tree = Tree(top, int(epoch), tar, listing)
			for path in walk(tree.top):
				tree.add(path)
	if target:
		target.close()
	print(sink.sum.hexdigest(), sink.size)


def read_list(path):
	"""path → the rest of its line"""
	with open(path, encoding="ascii") as file:
		return {line.rsplit(" ", 1)[1].rstrip("\n"): line.rsplit(" ", 1)[0] for line in file}


def diff(old, new):
	before, after = read_list(old), read_list(new)
	for path in sorted(before.keys() | after.keys()):
		if path not in after:
			print(f"{path} is missing")
		elif path not in before:
			print(f"{path} is new")
		elif before[path] != after[path]:
			print(f"{path} was changed")


if __name__ == "__main__":
	{"tar": write_tar, "diff": diff}[sys.argv[1]](*sys.argv[2:])
