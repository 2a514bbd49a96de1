#!/usr/bin/python3
"""terminal.py OUTPUT (run CMD… | take SOCKET): sit at a terminal and do what the lines of stdin say.

`run` starts CMD on a terminal of its own, 24 rows and 80 columns. `take` listens at SOCKET, which appears once that is so,
and gets the terminal's master from whoever connects.
	expect REGEX	wait until what came since the last match matches
	send TEXT	type TEXT and a newline
	type TEXT	type TEXT, in which \\x03 and the like are bytes
	resize ROWS COLS
	flags		say which of onlcr icanon echo isig the terminal has
	count		say how many bytes came
	touch FILE	tell the test
	wait FILE	until the test has made FILE
	signal NUMBER	send it to CMD
	end		until the terminal is closed or, with `run`, CMD has ended
	close		hang up
What is said goes to stdout, what came to OUTPUT. A step in which nothing happens for 20 s ends everything with status 124. Otherwise
the status is that of CMD, 128 and the signal's number if it died by one, 0 with `take`. After CMD's end its terminal is looked
at once more: "left FLAGS".
"""
import array
import codecs
import fcntl
import os
import re
import select
import socket
import struct
import sys
import termios
import time

LIMIT = 60


def gone(what):
    print(f"terminal: {what}", file=sys.stderr)
    sys.exit(124)


def take(path):
    """The descriptor that the first caller sends, its text and how many there were."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    os.chdir(os.path.dirname(path) or ".")
    server.bind(".listening")
    server.listen(1)
    server.settimeout(LIMIT)
    os.rename(".listening", os.path.basename(path))
    caller, _ = server.accept()
    text, fds = b"", array.array("i")
    while True:
        data, control, _, _ = caller.recvmsg(4096, socket.CMSG_SPACE(64))
        for _, _, raw in control:
            fds.frombytes(raw)
        if not data:
            break
        text += data
    print(f"got {len(fds)} {text.decode()}", flush=True)
    return fds[0]


class Terminal:
    def __init__(self, output, how, argv):
        self.output, self.all, self.seen, self.pid, self.code = output, b"", 0, 0, None
        if how == "take":
            self.fd = take(argv[0])
            return
        # Our own copy of its side keeps the terminal, so that it can be looked at after CMD's end.
        self.fd, self.other = os.openpty()
        self.resize(24, 80)
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            fcntl.ioctl(self.other, termios.TIOCSCTTY, 0)
            for fd in range(3):
                os.dup2(self.other, fd)
            os.execvp(argv[0], argv)

    def resize(self, rows, cols):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", int(rows), int(cols), 0, 0))

    def flags(self):
        _, oflag, _, lflag, _, _, _ = termios.tcgetattr(self.fd)
        have = (("onlcr", oflag & termios.ONLCR), ("icanon", lflag & termios.ICANON),
                ("echo", lflag & termios.ECHO), ("isig", lflag & termios.ISIG))
        return " ".join(name for name, is_on in have if is_on)

    def read(self, seconds):
        """Takes in what there is; false when there was nothing, None at the end."""
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # EIO: nobody has the other side open any more
            data = b""
        self.all += data
        self.output.write(data)
        self.output.flush()
        return True if data else None

    def expect(self, regex):
        until = time.monotonic() + LIMIT
        what = re.compile(regex.encode(), re.S)
        while True:
            match = what.search(self.all, self.seen)
            if match:
                self.seen = match.end()
                return
            got = self.read(0.5)
            if got is None or (not got and time.monotonic() > until):
                gone(f"no match of '{regex}' in {self.all[self.seen:][-300:]!r}")

    def ended(self):
        if self.pid and self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                code = os.waitstatus_to_exitcode(status)
                self.code = code if code >= 0 else 128 - code
        return self.code is not None

    def end(self):
        until = time.monotonic() + LIMIT
        while time.monotonic() < until:
            is_over = self.ended()
            got = self.read(0 if is_over else 0.02)
            if got is None or (is_over and not got):
                return
            if got:
                until = time.monotonic() + LIMIT
        gone("it does not end")

    def wait(self, path):
        until = time.monotonic() + LIMIT
        while not os.path.exists(path):
            self.read(0.02)
            if time.monotonic() > until:
                gone(f"no {path}")

    def step(self, word, rest):
        if word == "expect":
            self.expect(rest)
        elif word == "send":
            os.write(self.fd, rest.encode() + b"\n")
        elif word == "type":
            os.write(self.fd, codecs.decode(rest, "unicode_escape").encode("latin1"))
        elif word == "resize":
            self.resize(*rest.split())
        elif word == "flags":
            print("flags", self.flags(), flush=True)
        elif word == "count":
            print("count", len(self.all), flush=True)
        elif word == "touch":
            open(rest, "w").close()
        elif word == "wait":
            self.wait(rest)
        elif word == "signal":
            os.kill(self.pid, int(rest))
        elif word == "end":
            self.end()
        elif word == "close":
            os.close(self.fd)
            sys.exit(0)
        else:
            sys.exit(f"terminal: unknown step '{word}'")


def main():
    with open(sys.argv[1], "wb") as output:
        terminal = Terminal(output, sys.argv[2], sys.argv[3:])
        for line in sys.stdin:
            word, _, rest = line.strip("\t\n").partition(" ")
            terminal.step(word, rest)
        if terminal.pid:
            terminal.end()
            print("left", terminal.flags())
            sys.exit(terminal.code)


main()
