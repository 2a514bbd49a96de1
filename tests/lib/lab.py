#!/usr/bin/env python3
"""lab.py DIR: the world outside of a box, in a network namespace of its own (lib/lab.sh): a resolver and servers, at every address.

It writes what it is asked for, a line each: DIR/names (questions), DIR/seen (connections: address, port and what was said first).
LAB_PORTS says which ports it has, and else there are all: 80 and 8080 speak HTTP, 22 says who it is at once, 443 and 5432 send back what they get, 7 sends a megabyte, 9 sends without end.
"""
import os
import socket
import socketserver
import struct
import sys
import threading

DIR = sys.argv[1]
LOCK = threading.Lock()

# What names stand for. A list is all of its addresses; a name is an alias.
ZONE = {
    "good.example": ["11.0.1.1"],
    "www.good.example": ["11.0.1.2"],
    "other.example": ["11.0.2.1"],
    "alias.example": "www.good.example",
    "loop.example": "loop.example",
    "private.example": ["10.9.9.9"],
    "metadata.example": ["169.254.169.254"],
    "loopback.example": ["127.0.0.1"],
    "own.example": ["11.0.0.1"],
    "mixed.example": ["127.0.0.1", "10.9.9.9", "11.0.1.3"],
    "mapped.example": ["::ffff:127.0.0.1", "64:ff9b::7f00:1"],
    "six.example": ["2a00::11"],
    "many.example": ["11.0.3.%d" % i for i in range(1, 120)],
    "dead.example": ["11.0.1.1"],
    "silent.example": [],
}
FLIPS = {"rebind.example": [["11.0.1.1"], ["127.0.0.1"]]}


def write(name, text):
    with LOCK, open(os.path.join(DIR, name), "a", encoding="ascii", errors="backslashreplace") as f:
        f.write(text + "\n")


def labels(name):
    return b"".join(bytes([len(p)]) + p.encode() for p in name.split(".")) + b"\0"


def record(name, kind, data):
    return labels(name) + struct.pack(">HHIH", kind, 1, 0, len(data)) + data


def answer(packet, over_tcp):
    at, parts = 12, []
    while packet[at]:
        parts.append(packet[at + 1:at + 1 + packet[at]].decode("latin-1"))
        at += 1 + packet[at]
    kind = struct.unpack(">H", packet[at + 1:at + 3])[0]
    question, name = packet[12:at + 5], ".".join(parts).lower()
    write("names", "%s %d %s" % (name, kind, "tcp" if over_tcp else "udp"))
    if name == "dead.example":
        return None
    records, owner = [], name
    for _ in range(4):
        found = ZONE.get(owner)
        if owner in FLIPS:
            found = FLIPS[owner][0]
            if kind == 28 and len(FLIPS[owner]) > 1:
                FLIPS[owner].pop(0)
        if not isinstance(found, str):
            break
        records.append(record(owner, 5, labels(found)))
        owner = found
    for a in found or []:
        if kind == 1 and ":" not in a:
            records.append(record(owner, 1, socket.inet_aton(a)))
        if kind == 28 and ":" in a:
            records.append(record(owner, 28, socket.inet_pton(socket.AF_INET6, a)))
    flags = 0x8180 | (3 if found is None else 0)
    body = b"".join(records)
    if len(body) > 1000 and not over_tcp:
        flags |= 0x200
        body, records = b"", []
    return packet[:2] + struct.pack(">HHHHH", flags, 1, len(records), 0, 0) + question + body


def serve_names():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("11.0.0.2", 53))
    while True:
        packet, who = s.recvfrom(4096)
        said = answer(packet, False)
        if said:
            # What somebody on the way would make up comes first.
            s.sendto(bytes([said[0] ^ 1]) + said[1:12] + said[12:], who)
            s.sendto(said, who)


class Names(socketserver.BaseRequestHandler):
    def handle(self):
        size = struct.unpack(">H", self.request.recv(2, socket.MSG_WAITALL))[0]
        said = answer(self.request.recv(size, socket.MSG_WAITALL), True)
        if said:
            self.request.sendall(struct.pack(">H", len(said)) + said[:100])
            self.request.sendall(said[100:])


class Server(socketserver.BaseRequestHandler):
    def handle(self):
        s = self.request
        where = s.getsockname()
        port = where[1]
        s.settimeout(30)
        try:
            if port == 22:
                s.sendall(b"SSH-2.0-lab\r\n")
            first = b"" if port in (7, 9) else s.recv(65536)
            if port in (80, 8080):
                while b"\r\n\r\n" not in first and b"\n\n" not in first:
                    more = s.recv(65536)
                    if not more:
                        break
                    first += more
            write("seen", "%s %d %r" % (where[0], port, first))
            if port in (80, 8080):
                self.http(s, first)
            elif port == 7:
                s.sendall(b"x" * (1 << 20))
            elif port == 9:
                while True:
                    s.sendall(b"x" * (1 << 20))
            else:
                while first:
                    s.sendall(first)
                    first = s.recv(65536)
        except OSError as e:
            write("seen", "%s %d failed %s" % (where[0], port, e))

    @staticmethod
    def http(s, data):
        while True:
            head, _, rest = data.partition(b"\r\n\r\n")
            size = 0
            for line in head.split(b"\r\n")[1:]:
                if line.lower().startswith(b"content-length:"):
                    size = int(line.split(b":")[1])
            while b"chunked" in head.lower() and b"0\r\n\r\n" not in rest:
                rest += s.recv(65536)
            while len(rest) < size:
                rest += s.recv(65536)
            host = [x for x in head.split(b"\r\n") if x.lower().startswith(b"host:")]
            body = head.split(b"\r\n")[0] + b"|" + b"|".join(host) + b"|" + rest[:size or None] + b"\n"
            s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            if b"connection: close" in head.lower():
                return
            data = s.recv(65536)
            if not data:
                return
            write("seen", "again %r" % data)


class Threads(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 128


class Threads6(Threads):
    address_family = socket.AF_INET6


for number in map(int, os.environ.get("LAB_PORTS", "22 80 443 5432 7 9 8080").split()):
    threading.Thread(target=Threads(("0.0.0.0", number), Server).serve_forever, daemon=True).start()
threading.Thread(target=Threads(("11.0.0.2", 53), Names).serve_forever, daemon=True).start()
try:
    if "LAB_PORTS" not in os.environ:
        threading.Thread(target=Threads6(("2a00::11", 80), Server).serve_forever, daemon=True).start()
except OSError:
    pass
open(os.path.join(DIR, "ready"), "w").close()
serve_names()
