#!/usr/bin/python3
"""notify.py SOCKET CONNECTIONS ERRNO[:COUNT]: listen for seccomp notifications and answer them.

Each connection's text goes to stdout as one line of JSON, with "got" added: how many descriptors came. Of all the calls that
are then told of, the first COUNT (default: all) fail with ERRNO, the others and, with ERRNO 0, all of them go on in the
kernel. It ends when the last program under a filter has, or after 30 s without a call.
"""
import array
import fcntl
import json
import os
import select
import socket
import struct
import sys

RECV, SEND = 0xC0502100, 0xC0182101
CONTINUE = 1


def listen(path):
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(path + ".new")
    server.listen(4)
    os.rename(path + ".new", path)
    return server


def introduce(server):
    """One connection: its listener."""
    caller, _ = server.accept()
    text, fds = b"", array.array("i")
    while True:
        data, control, _, _ = caller.recvmsg(65536, socket.CMSG_SPACE(64))
        for _, _, raw in control:
            fds.frombytes(raw)
        if not data:
            break
        text += data
    print(json.dumps({**json.loads(text), "got": len(fds)}), flush=True)
    return fds[0]


def answer(fd, errno):
    call = bytearray(80)
    try:
        fcntl.ioctl(fd, RECV, call)
        ident = struct.unpack_from("Q", call)[0]
        reply = (ident, 0, -errno, 0) if errno else (ident, 0, 0, CONTINUE)
        fcntl.ioctl(fd, SEND, bytearray(struct.pack("QqiI", *reply)))
    except FileNotFoundError:  # the caller was killed meanwhile
        return False
    return True


def main():
    server = listen(sys.argv[1])
    waiting = int(sys.argv[2])
    errno, _, count = sys.argv[3].partition(":")
    left = int(count) if count else 1 << 30
    poll = select.poll()
    poll.register(server, select.POLLIN)
    open_fds = set()
    while waiting or open_fds:
        ready = poll.poll(60000)
        if not ready:
            sys.exit("notify: nothing happens")
        for fd, events in ready:
            if fd == server.fileno():
                listener = introduce(server)
                open_fds.add(listener)
                poll.register(listener, select.POLLIN)
                waiting -= 1
                if not waiting:
                    poll.unregister(server)
            elif events & select.POLLIN:
                left -= answer(fd, int(errno) if left > 0 else 0)
            else:  # POLLHUP: nobody is under the filter any more
                poll.unregister(fd)
                open_fds.discard(fd)
                os.close(fd)


main()
