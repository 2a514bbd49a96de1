#!/usr/bin/python3
"""pty.py [--size ROWSxCOLS] CMD…: run CMD on a terminal of its own and drive it by a script from stdin.

Lines of the script:
	expect REGEX	wait until what came since the last match matches
	send TEXT	type TEXT and a newline
	resize ROWSxCOLS REGEX
			change the size, again and again until REGEX matches: a CMD that has just begun may miss the signal
	eof		type ^D
	key HEX		type the byte HEX
A step that takes more than 15 s ends everything with status 124. Otherwise the status is CMD's. What CMD has written goes to
stdout in the end, as it was (a terminal's line ends are \\r\\n).
"""
import fcntl
import os
import re
import select
import signal
import struct
import sys
import termios
import time

LIMIT = 60


class Terminal:
	def __init__(self, size, argv):
		self.all = b""
		self.seen = 0
		self.pid, self.fd = os.forkpty()
		if self.pid == 0:
			# The parent sets the size before it lets us go on.
			signal.sigwait([signal.SIGUSR1])
			signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
			os.execvp(argv[0], argv)
		self.resize(size)
		os.kill(self.pid, signal.SIGUSR1)

	def resize(self, size):
		rows, cols = map(int, size.split("x"))
		fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

	def read(self, until):
		"""Takes in what there is; false at the end or when the time is over."""
		ready, _, _ = select.select([self.fd], [], [], max(0, until - time.monotonic()))
		try:
			data = os.read(self.fd, 65536) if ready else b""
		except OSError:  # EIO: nobody has the other side open any more
			data = b""
		self.all += data
		return data != b""

	def expect(self, regex, limit=LIMIT):
		until = time.monotonic() + limit
		while True:
			match = re.compile(regex.encode(), re.S).search(self.all, self.seen)
			if match:
				self.seen = match.end()
				return True
			if not self.read(until):
				return False

	def resize_until(self, size, regex):
		rows, cols = size.split("x")
		for _ in range(2 * LIMIT):
			# the kernel tells only of a size that is another
			self.resize(f"{int(rows) - 1}x{cols}")
			self.resize(size)
			if self.expect(regex, 0.5):
				return True
		return False

	def type(self, data):
		os.write(self.fd, data)

	def status(self):
		until = time.monotonic() + LIMIT
		while self.read(until):
			pass
		while time.monotonic() < until:
			pid, status = os.waitpid(self.pid, os.WNOHANG)
			if pid:
				return os.waitstatus_to_exitcode(status)
			time.sleep(0.01)
		return None


def drive(terminal, steps):
	for line in steps:
		line = line.rstrip("\n")
		word, _, rest = line.partition(" ")
		done = True
		if word == "expect":
			done = terminal.expect(rest)
		elif word == "send":
			terminal.type(rest.encode() + b"\n")
		elif word == "resize":
			done = terminal.resize_until(*rest.split(" ", 1))
		elif word == "key":
			terminal.type(bytes.fromhex(rest))
		elif word == "eof":
			terminal.type(b"\x04")
		else:
			sys.exit(f"pty: unknown step '{line}'")
		if not done:
			print(f"pty: in vain: {line}", file=sys.stderr)
			return False
	return True


def main():
	argv, size = sys.argv[1:], "24x80"
	if argv[0] == "--size":
		size, argv = argv[1], argv[2:]
	signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
	terminal = Terminal(size, argv)
	status = terminal.status() if drive(terminal, sys.stdin) else None
	if status is None:
		os.kill(terminal.pid, signal.SIGKILL)
	sys.stdout.buffer.write(terminal.all)
	sys.exit(124 if status is None else status if status >= 0 else 128 - status)


main()
