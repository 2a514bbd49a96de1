"""box.py: the runner and the report of box.sh. See its head."""
import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time

GAP = 0.02  # between two calls: what the one before left to the kernel is done by then
SESSIONS = ("python", "1+1"), ("bash", "true"), ("node", "1+1")


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--n", type=int)
    p.add_argument("--idle", type=int)
    p.add_argument("--work")
    p.add_argument("--state")
    p.add_argument("sbxrun")
    p.add_argument("raw")
    p.add_argument("table")
    return p.parse_args()


class Failed(Exception):
    pass


class Boxes:
    def __init__(self, a):
        self.call = [a.sbxrun, "--root", os.path.join(a.state, "sbxrun")]
        self.env = dict(os.environ, SBXRUN_ROOTFS_DIR=os.path.join(a.work, "library"))
        self.quiet = os.open(os.devnull, os.O_RDWR)

    def timed(self, words, data=None, own=False):
        """Seconds by the clock, and of processor time (of what the caller waits for). `own`: the words are the whole command."""
        command = words if own else [*self.call, *words]
        given = os.memfd_create("given")
        os.write(given, data or b"")
        os.lseek(given, 0, os.SEEK_SET)
        said = os.memfd_create("said")
        begun = time.perf_counter()
        pid = os.posix_spawnp(command[0], command, self.env, file_actions=[
            (os.POSIX_SPAWN_DUP2, given, 0), (os.POSIX_SPAWN_DUP2, said, 1), (os.POSIX_SPAWN_DUP2, said, 2)])
        _, status, usage = os.wait4(pid, 0)
        seconds = time.perf_counter() - begun
        self.said = os.pread(said, 4 << 20, 0)
        os.close(given)
        os.close(said)
        if status:
            raise Failed(" ".join(words[:4]) + ": " + self.said.decode(errors="replace").strip()[-200:])
        return seconds, usage.ru_utime + usage.ru_stime

    def create(self):
        figures = self.timed(["box", "create", "--rootfs", "host"])
        return self.said.decode().strip().splitlines()[-1], figures

    def destroy(self, box):
        return self.timed(["box", "destroy", box])


def jobs(a, boxes):
    """name → what measures it. One box serves all that need one."""
    box, _ = boxes.create()
    big = os.urandom(1 << 20)
    boxes.timed(["box", "write", box, "small"], b"x" * 1024)
    boxes.timed(["box", "write", box, "big"], big)

    def create():
        made, figures = boxes.create()
        boxes.destroy(made)
        return figures

    def destroy():
        made, _ = boxes.create()
        return boxes.destroy(made)

    def call(*words, data=None, own=False):
        return lambda: boxes.timed(list(words), data, own)
    yield "nothing (`sbxrun --version`)", call("--version")
    yield "box create", create
    yield "box destroy", destroy
    yield "exec of the runtime", call("exec", f"box-{box}", "/bin/true")
    yield "box exec", call("box", "exec", box, "--", "/bin/true")
    yield "box exec --denials none", call("box", "exec", "--denials", "none", box, "--", "/bin/true")
    yield "box write, 1 KB", call("box", "write", box, "small", data=b"x" * 1024)
    yield "box read, 1 KB", call("box", "read", box, "small")
    yield "box write, 1 MB", call("box", "write", box, "big", data=big)
    yield "box read, 1 MB", call("box", "read", box, "big")
    for language, code in SESSIONS:
        try:
            boxes.timed(["box", "run", f"--session={language}", box, language, code])
        except Failed:
            continue  # not installed
        yield f"a cell of {language}", call("box", "run", f"--session={language}", box, language, code)
    python = ["/usr/bin/python3", "-c", "print(2+2)"]
    if os.path.exists(python[0]):
        yield "bare python", call(*python, own=True)
        yield "do", call("do", "--rootfs", "host", "python", "print(2+2)")
        yield from warm(boxes)


def warm(boxes):
    """Contestants of a pool, if there is such a thing."""
    try:
        boxes.timed(["help", "pool"])
        boxes.timed(["pool", "python", "--size", "4"])
    except Failed:
        return
    time.sleep(1)
    yield "warm do", lambda: boxes.timed(["do", "python", "print(2+2)"])
    yield "do --no-pool", lambda: boxes.timed(["do", "--no-pool", "python", "print(2+2)"])


def measure(a, all_of_them, raw):
    """{name: [(seconds, processor)…]}, and who failed."""
    found, failed = {name: [] for name, _ in all_of_them}, []
    for _ in range(a.n):
        for name, act in random.sample(all_of_them, len(all_of_them)):
            time.sleep(GAP)
            try:
                got = act()
            except Failed as e:
                failed.append(f"{name} ({e})")
                continue
            found[name].append(got)
            print("call", name, *(f"{t * 1e3:.3f}" for t in got), sep="\t", file=raw)
    return {name: times for name, times in found.items() if times}, failed


def pids():
    return set(map(int, filter(str.isdigit, os.listdir("/proc"))))


def pss(pid):
    try:
        with open(f"/proc/{pid}/smaps_rollup") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0


def comm(pid):
    try:
        with open(f"/proc/{pid}/comm") as f:
            return f.read().strip().removeprefix("memfd:")  # until it has named itself
    except OSError:
        return "?"


def available():
    with open("/proc/meminfo") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("MemAvailable:"))


def idle(a, boxes, raw):
    """Kilobytes an idle box: of its processes, by name, and of the machine. Nobody else starts processes here (box.sh)."""
    before, there = available(), pids()
    made = [boxes.create()[0] for _ in range(a.idle)]
    try:
        ours = {}
        for pid in pids() - there:
            one = ours.setdefault(comm(pid), [0, 0])
            one[0] += 1
            one[1] += pss(pid)
        machine = (before - available()) / len(made)
    finally:
        for box in made:
            boxes.destroy(box)
    for name, (count, kilobytes) in ours.items():
        print("idle", len(made), name, count, kilobytes, f"{machine:.0f}", sep="\t", file=raw)
    return ours, machine, len(made)


def quantile(values, q):
    return sorted(values)[min(len(values) - 1, int(len(values) * q))] * 1e3


def clock(found, name):
    return [x[0] for x in found[name]] if name in found else None


def goals(found):
    """Rows: what, figure, the most."""
    def p50(name):
        return quantile(clock(found, name), 0.5)
    if "box create" in found:
        yield "box create, ms", p50("box create"), 10
    if "box exec" in found and "exec of the runtime" in found:
        yield "box exec, of the runtime's exec", p50("box exec") / p50("exec of the runtime"), 1.3
    for language, _ in SESSIONS:
        if f"a cell of {language}" in found:
            yield f"a cell of {language}, ms", p50(f"a cell of {language}"), 2
    if "warm do" in found and "bare python" in found:
        for q in 0.5, 0.95:
            ratio = quantile(clock(found, "warm do"), q) / quantile(clock(found, "bare python"), q)
            yield f"warm do, of bare python (p{q * 100:.0f})", ratio, 1


def report(a, found, failed, many, out):
    print(f"## sbxrun box\n\n{a.n} calls each, load {os.getloadavg()[0]:.1f}; milliseconds\n", file=out)
    print("| | p50 / p95 / p99 | processor, p50 |\n|---|---|---|", file=out)
    for name, times in found.items():
        cells = " / ".join(f"{quantile([x[0] for x in times], q):.2f}" for q in (0.5, 0.95, 0.99))
        print(f"| {name} | {cells} | {statistics.median(x[1] for x in times) * 1e3:.2f} |", file=out)
    print("\n| goal | figure | at most | |\n|---|---|---|---|", file=out)
    for what, figure, most in goals(found):
        print(f"| {what} | {figure:.2f} | {most} | {'met' if figure <= most else 'missed'} |", file=out)
    ours, machine, count = many
    own = sum(kilobytes for _, kilobytes in ours.values()) / count
    print(f"| memory of an idle box, MB | {own / 1024:.2f} | 1.5 | {'met' if own <= 1536 else 'missed'} |", file=out)
    each = ", ".join(f"{n} {name} ({kilobytes / 1024:.2f} MB)" for name, (n, kilobytes) in ours.items())
    print(f"\n{count} idle boxes: {each}; the machine has {machine / 1024:.2f} MB less for each, the kernel's own with it.", file=out)
    for line in sorted(set(failed)):
        print(f"{line} failed {failed.count(line)} times.", file=out)


def main():
    a = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    boxes = Boxes(a)
    try:
        with open(a.raw, "w") as raw:
            found, failed = measure(a, list(jobs(a, boxes)), raw)
            boxes.timed(["box", "list", "--json"])
            for box in json.loads(boxes.said):
                boxes.destroy(box["sandbox_id"])
            many = idle(a, boxes, raw)
    finally:
        subprocess.run([*boxes.call, "pool", "stop", "python"], env=boxes.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        boxes.timed(["box", "list", "--json"])
        for box in json.loads(boxes.said):
            boxes.destroy(box["sandbox_id"])
    with open(a.table, "w") as out:
        report(a, found, failed, many, out)


main()
