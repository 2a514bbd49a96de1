"""egress.py: the runner and the report of egress.sh. See its head."""
import argparse
import json
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time

PORT, ECHO = 5000, 5001
HOST, FAR, NEAR = "good.example", "11.0.1.1", "11.0.0.1"  # the first two are lab.py's
BLOCK = 1 << 18

# Runs in the box and beside it: WAY is "direct" (to the address or the name) or "connect" (through the proxy). It says what it found and stays until its input ends.
CLIENT = """
import json, socket, sys, time
what, way, host, port, amount = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
def reach():
    s = socket.create_connection(("127.0.0.1", 3128) if way == "connect" else (host, port))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if way == "connect":
        s.sendall(b"CONNECT %s:%d HTTP/1.1\\r\\n\\r\\n" % (host.encode(), port))
        head = b""
        while not head.endswith(b"\\r\\n\\r\\n"):
            head += s.recv(1)
    return s
def pull():
    s, block, got, want = reach(), bytearray(1 << 18), 0, None
    begun = time.perf_counter()
    s.sendall(b"GET /%d HTTP/1.1\\r\\nHost: %s:%d\\r\\n\\r\\n" % (amount, host.encode(), port))
    while True:
        n = s.recv_into(block)
        if not n:
            break
        got += n
    assert got > amount, got
    return amount / (time.perf_counter() - begun)
def push():
    s, block = reach(), bytes(1 << 18)
    begun = time.perf_counter()
    s.sendall(b"PUT /%d HTTP/1.1\\r\\nHost: %s:%d\\r\\nContent-Length: %d\\r\\n\\r\\n" % (amount, host.encode(), port, amount))
    left = amount
    while left:
        s.sendall(block[:left])
        left -= min(left, len(block))
    assert b"200" in s.recv(100)
    return amount / (time.perf_counter() - begun)
def turn():
    s, times = reach(), []
    for _ in range(amount):
        begun = time.perf_counter()
        s.sendall(b"\\0")
        s.recv(1)
        times.append(time.perf_counter() - begun)
    return sorted(times)[len(times) // 2]
def new():
    begun = time.perf_counter()
    for _ in range(amount):
        s = reach()
        s.sendall(b"\\0")
        s.recv(1)
        s.close()
    return amount / (time.perf_counter() - begun)
print(json.dumps(globals()[what]()), flush=True)
sys.stdin.read()
"""


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--far", action="store_true")  # this is the world outside
    p.add_argument("--n", type=int, default=5)
    p.add_argument("--megabytes", type=int, default=1024)
    p.add_argument("--turns", type=int, default=2000)
    p.add_argument("--work")
    p.add_argument("sbxrun", nargs="?")
    p.add_argument("raw", nargs="?")
    p.add_argument("table", nargs="?")
    return p.parse_args()


# ---- outside ----

def serve_one(s):
    data = bytes(1 << 20)
    head = b""
    while b"\r\n\r\n" not in head:
        more = s.recv(65536)
        if not more:
            return
        head += more
    method, path = head.split(b" ", 2)[:2]
    size = int(path[1:])
    if method == b"GET":
        s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        while size:
            size -= s.send(data[:size] if size < len(data) else data)
    else:
        size -= len(head.partition(b"\r\n\r\n")[2])
        block = bytearray(BLOCK)
        while size > 0:
            size -= s.recv_into(block)
        s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    s.shutdown(socket.SHUT_WR)
    s.recv(1)


def echo_one(s):
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while True:
        said = s.recv(4096)
        if not said:
            return
        s.sendall(said)


def one(handle, s):
    with s:
        try:
            handle(s)
        except OSError:
            pass


def serve(port, handle):
    listener = socket.create_server(("0.0.0.0", port), backlog=128)
    while True:
        s, _ = listener.accept()
        threading.Thread(target=one, args=(handle, s), daemon=True).start()


def far(a):
    """Echoes are served by a process of their own: a thread that sends has the interpreter."""
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["ip", "route", "add", "local", "11.0.0.0/8", "dev", "lo"], check=True)
    names = subprocess.Popen([sys.executable, os.path.join(here, "../lib/lab.py"), a.work], env=dict(os.environ, LAB_PORTS=""))
    if os.fork() == 0:
        serve(ECHO, echo_one)
    threading.Thread(target=serve, args=(PORT, serve_one), daemon=True).start()
    names.wait()


def wait_for(what, seconds=20):
    until = time.monotonic() + seconds
    while not what():
        if time.monotonic() > until:
            sys.exit("egress: the namespaces did not come up")
        time.sleep(0.02)


def ip(*words, far_pid=None):
    subprocess.run([*(["nsenter", "-t", str(far_pid), "-n"] if far_pid else []), "ip", *words], check=True)


class Lab:
    """This namespace becomes a host at NEAR; all other addresses are in another."""

    def __init__(self, a):
        self.a, self.wire, self.delayed = a, None, None
        own = os.readlink("/proc/self/ns/net")
        self.far = subprocess.Popen(["unshare", "-n", sys.executable, __file__, "--far", "--work", a.work])
        wait_for(lambda: os.readlink(f"/proc/{self.far.pid}/ns/net") != own)
        ip("link", "set", "lo", "up")
        ip("link", "add", "near", "type", "veth", "peer", "name", "far", "netns", str(self.far.pid))
        # lab.py's resolver is there before the wire is.
        ip("addr", "add", "11.0.0.2/24", "dev", "far", far_pid=self.far.pid)
        self.use("near", "far")
        with open(a.work + "/resolv.conf", "w", encoding="ascii") as f:
            f.write("nameserver 11.0.0.2\n")
        subprocess.run(["mount", "--bind", a.work + "/resolv.conf", os.path.realpath("/etc/resolv.conf")], check=True)
        wait_for(lambda: os.path.exists(a.work + "/ready"))

    def use(self, near, far_end):
        """The wire between the two."""
        ip("addr", "replace", NEAR + "/24", "dev", near)
        ip("link", "set", near, "up")
        ip("link", "set", far_end, "up", far_pid=self.far.pid)
        ip("route", "replace", "default", "via", "11.0.0.2", "dev", near)

    def delay(self, ms):
        """What makes the delay; None if nothing can."""
        if subprocess.run(["tc", "qdisc", "add", "dev", "near", "root", "netem", "delay", f"{ms}ms", "limit", "100000"],
                          stderr=subprocess.DEVNULL).returncode == 0:
            return "netem"
        if not os.path.exists("/dev/net/tun"):
            return None
        self.wire = subprocess.Popen([self.a.work + "/delay", str(ms), "slow-near", str(self.far.pid), "slow-far"], stdout=subprocess.PIPE)
        if self.wire.stdout.readline() != b"up\n":
            return None
        for dev, pid in ("near", None), ("far", self.far.pid):
            ip("link", "set", dev, "down", far_pid=pid)
            ip("addr", "flush", "dev", dev, far_pid=pid)
        ip("addr", "add", "11.0.0.2/24", "dev", "slow-far", far_pid=self.far.pid)
        self.use("slow-near", "slow-far")
        return "a wire of ours (netem is not in this kernel)"

    def end(self):
        for p in self.wire, self.far:
            if p:
                p.kill()
                p.wait()


# ---- here ----

WAYS = "direct", "transparent", "connect"


def command(a, way, words):
    client = ["/usr/bin/python3", "-c", CLIENT, words[0], "connect" if way == "connect" else "direct", FAR if way == "direct" else HOST, *map(str, words[1:])]
    if way == "direct":
        return client
    return [a.sbxrun, "--root", a.work + "/state", "do", "--rootfs", "host", "--timeout", "600", "--cpus", str(os.cpu_count()),
            "--allow", f"{HOST}:{PORT}", "--allow", f"{HOST}:{ECHO}", "--", *client]


def descendants(pid):
    found = {}
    for p in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{p}/stat") as f:
                text = f.read()
        except OSError:
            continue
        rest = text.rsplit(")", 1)[1].split()
        found[int(p)] = int(rest[1]), text.split("(", 1)[1].rsplit(")", 1)[0], (int(rest[11]) + int(rest[12])) / os.sysconf("SC_CLK_TCK")
    ours = {pid}
    while True:
        more = {p for p, (parent, _, _) in found.items() if parent in ours} - ours
        if not more:
            return {p: found[p][1:] for p in ours if p in found}
        ours |= more


def pss(pid):
    try:
        with open(f"/proc/{pid}/smaps_rollup") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0


def run_once(a, way, *words):
    """What the client found, and of the carrier: processor time and memory while the client is still there. None if it failed."""
    p = subprocess.Popen(command(a, way, words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env=dict(os.environ, SBXRUN_ROOTFS_DIR=a.work + "/library"))
    line = p.stdout.readline()
    carrier = [(pid, cpu) for pid, (comm, cpu) in descendants(p.pid).items() if comm == "sbxrun-net"]
    memory = pss(carrier[0][0]) if carrier else 0
    _, said = p.communicate()
    a.said = said.decode(errors="replace").strip()[-300:]
    return (json.loads(line), carrier[0][1] if carrier else 0, memory) if line and p.returncode == 0 else None


def measure(a, jobs, raw, failed):
    """{(what, way): [figure…]}; jobs: (what, count, words)."""
    found = {(what, way): [] for what, _, _ in jobs for way in WAYS}
    rounds = [(what, way, words) for what, count, words in jobs for way in WAYS for _ in range(count)]
    random.shuffle(rounds)
    for what, way, words in rounds:
        got = run_once(a, way, *words)
        if got is None:
            failed.append(f"{what}, {way} ({a.said})")
            continue
        found[what, way].append(got)
        print(what, way, *got, sep="\t", file=raw, flush=True)
    return {key: v for key, v in found.items() if v}


def resident_server(a):
    """Kilobytes of `sbxrun mcp`, and of the keeper that it starts with its first call; seconds of calls in a box that is there, and of `do`."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
    os.environ.update(SBXRUN=a.sbxrun, T=a.work, SBXRUN_ROOTFS_DIR=a.work + "/library")
    from mcp import Server
    server = Server()
    server.initialize()
    idle = pss(server.pid)
    box = server.call("box_create", language="shell")["structuredContent"]["sandbox_id"]
    do = [a.sbxrun, "--root", a.work + "/state", "do", "--rootfs", "host", "--json", "--redact", "bash", ":"]

    def call():
        assert "isError" not in server.call("code_execute", language="shell", code=":", sandbox_id=box)

    def plain_do():
        subprocess.run(do, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def box_run():
        subprocess.run([a.sbxrun, "--root", a.work + "/state", "box", "run", "--json", "--redact", box, "shell", ":"],
                       check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    times = {"a tool call": (call, []), "do": (plain_do, []), "box run": (box_run, [])}
    for _ in range(max(8, a.turns // 20)):
        for act, all_of_them in random.sample(list(times.values()), len(times)):
            time.sleep(0.01)
            begun = time.perf_counter()
            act()
            all_of_them.append(time.perf_counter() - begun)
    own = [pid for pid, (comm, _) in descendants(server.pid).items() if comm.startswith("sbxrun")]
    busy = sum(map(pss, own))
    server.end()
    return {name: sorted(t) for name, (_, t) in times.items()}, idle, busy, len(own)


def quantile(values, q):
    return values[min(len(values) - 1, int(len(values) * q))]


def ratio(found, what, way):
    mine, other = found.get((what, way)), found.get((what, "direct"))
    return statistics.median(x[0] for x in mine) / statistics.median(x[0] for x in other) if mine and other else None


def goal(out, what, figure, goal_text, met):
    print(f"| {what} | {figure} | {goal_text} | {'met' if met else 'missed'} |", file=out)


def report(a, found, delay, calls, failed, out):
    unit = {"download": ("MB/s", 1e-6), "upload": ("MB/s", 1e-6), "new connections": ("a second", 1), "a round trip": ("µs", 1e6)}
    print(f"## What goes through the carrier\n\nload {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors, medians; 50 ms of round trip by {delay or 'nothing: not measured'}\n", file=out)
    print("| | " + " | ".join(WAYS) + " |\n|---|" + "---|" * len(WAYS), file=out)
    for what in dict.fromkeys(k[0] for k in found):
        name, scale = unit[what.split(",")[0]]
        cells = [f"{statistics.median(x[0] for x in found[what, w]) * scale:.0f}" if (what, w) in found else "–" for w in WAYS]
        print(f"| {what}, {name} | " + " | ".join(cells) + " |", file=out)
    print("\n| goal | figure | goal | |\n|---|---|---|---|", file=out)
    for what in [k for k in dict.fromkeys(k[0] for k in found) if k.startswith(("download", "upload"))]:
        for way in WAYS[1:]:
            r = ratio(found, what, way)
            if r is not None:
                goal(out, f"{what}, {way}, of direct", f"{r:.2f}", "≥ 0.7", r >= 0.7)
    times, idle, busy, processes = calls
    more = (statistics.median(times["a tool call"]) - statistics.median(times["do"])) * 1e3
    goal(out, "a tool call, more than `do`, ms", f"{more:.2f}", "≤ 2", more <= 2)
    for name, t in times.items():
        print(f"\n{name}: {quantile(t, 0.5) * 1e3:.2f} / {quantile(t, 0.95) * 1e3:.2f} ms (p50, p95).", file=out, end="")
    size = a.megabytes / 1024
    cpu = [x[1] / size for (what, way), v in found.items() if what == "download" and way != "direct" for x in v]
    memory = [x[2] for (_, way), v in found.items() if way != "direct" for x in v]
    if cpu:
        print(f"\nsbxrun-net: {statistics.median(cpu):.2f} s of processor time a downloaded gigabyte; at most {max(memory) / 1024:.2f} MB (PSS) after a run.", file=out, end="")
    print(f"\n`sbxrun mcp`: {idle / 1024:.2f} MB before its first call, {busy / 1024:.2f} MB after it with all {processes} processes of its own (PSS).", file=out)
    for line in sorted(set(failed)):
        print(f"{line} failed {failed.count(line)} times.", file=out)


def main():
    a = arguments()
    if a.far:
        far(a)
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    whole, part, failed = a.megabytes << 20, max(1, a.megabytes // 16) << 20, []
    lab = Lab(a)
    try:
        with open(a.raw, "w") as raw:
            found = measure(a, [("download", a.n, ("pull", PORT, whole)), ("upload", a.n, ("push", PORT, whole)),
                                ("new connections", a.n, ("new", ECHO, max(1, a.turns // 4))), ("a round trip", a.n, ("turn", ECHO, a.turns))], raw, failed)
            calls = resident_server(a)
            for name, times in calls[0].items():
                print("call", name, *(f"{t * 1e3:.3f}" for t in times), sep="\t", file=raw)
            delay = lab.delay(50)
            if delay:
                found.update(measure(a, [("download, 50 ms", a.n, ("pull", PORT, part)), ("upload, 50 ms", a.n, ("push", PORT, part))], raw, failed))
    finally:
        lab.end()
    with open(a.table, "w") as out:
        report(a, found, delay, calls, failed, out)


main()
