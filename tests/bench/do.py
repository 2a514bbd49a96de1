"""do.py: the runner and the report of do.sh. See its head."""
import argparse
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time

PROGRAMS = {
    "sh": ["/bin/sh", "-c", ":"],
    "python": ["/usr/bin/python3", "-c", "pass"],
    "node": ["/usr/bin/node", "-e", "0"],
    "first output": ["/bin/sh", "-c", "echo x"],
}
GAP = 0.02  # between two runs: what the one before left to the kernel is done by then


class Contestant:
    def __init__(self, name, command, undo=None, env=None, programs=tuple(PROGRAMS)):
        self.name, self.command, self.undo, self.programs = name, command, undo, programs
        self.env = dict(os.environ, **(env or {}))


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--n", type=int)
    p.add_argument("--row", type=int)
    p.add_argument("--at-once", type=int)
    p.add_argument("--tree")
    p.add_argument("--docker")
    p.add_argument("--peers")
    p.add_argument("--work")
    p.add_argument("--state")
    p.add_argument("--id")
    p.add_argument("sbxrun")
    p.add_argument("raw")
    p.add_argument("table")
    return p.parse_args()


def find(a, name):
    """A peer's program: of this machine, or of the tree with its packages. Returns command, environment."""
    path = shutil.which(name, path="/usr/bin:/usr/sbin:/bin:/sbin:/usr/local/bin")
    if path:
        return [path], {}
    for place in "usr/bin", "usr/sbin":
        path = os.path.join(a.tree or "/nonexistent", place, name)
        if os.path.exists(path):
            return [path], {"LD_LIBRARY_PATH": os.path.join(a.tree, "usr/lib/x86_64-linux-gnu")}
    return None, None


def bundles(a):
    """For runtimes of containers: what the box of `do` shows, the host's /usr, read-only, with the config that `spec` writes."""
    root = os.path.join(a.work, "host-root")
    for name in "usr", "dev", "proc", "sys", "tmp", "etc":
        os.makedirs(os.path.join(root, name))
    for name in "bin", "lib", "lib64", "sbin":
        os.symlink("usr/" + name, os.path.join(root, name))
    for at, (name, program) in enumerate(PROGRAMS.items()):
        bundle = os.path.join(a.work, f"do-bundle-{at}")
        os.mkdir(bundle)
        subprocess.run([a.sbxrun, "spec", "-b", bundle], check=True)
        with open(bundle + "/config.json") as f:
            config = json.load(f)
        config["root"] = {"path": root, "readonly": True}
        config["process"].update(terminal=False, args=program)
        config["mounts"].append({"destination": "/usr", "type": "bind", "source": "/usr", "options": ["rbind", "ro"]})
        config["ociVersion"] = "1.0.2"  # crun of Debian 12 knows none newer
        config["linux"]["cgroupsPath"] = f"/{a.id}"
        with open(bundle + "/config.json", "w") as f:
            json.dump(config, f)
        yield name, bundle


def contestants(a):
    state = os.path.join(a.state, "sbxrun")
    do = [a.sbxrun, "--root", state, "do", "--rootfs", "host"]
    env = {"SBXRUN_ROOTFS_DIR": os.path.join(a.work, "library")}
    yield Contestant("plain", lambda p, _: PROGRAMS[p])
    yield Contestant("sbxrun do", lambda p, _: [*do, "--", *PROGRAMS[p]], env=env)
    yield Contestant("sbxrun do --denials none", lambda p, _: [*do, "--denials", "none", "--", *PROGRAMS[p]], env=env)
    if a.peers == "none":
        return
    path, env = find(a, "bwrap")
    if path:
        # Its libraries are not the program's: the loader is told, not the environment.
        loader = [f"{a.tree}/lib64/ld-linux-x86-64.so.2", "--library-path", env["LD_LIBRARY_PATH"]] if env else []
        yield Contestant("bwrap", lambda p, _: [*loader, *path, "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--unshare-all", *PROGRAMS[p]])
    made = dict(bundles(a))
    for name, extra in ("crun", []), ("runc", []), ("runsc", ["--network", "none", "--ignore-cgroups"]):
        found, env = find(a, name)
        if not found:
            continue
        call = [*found, "--root", os.path.join(a.state, name), *extra]
        yield Contestant(name, lambda p, i, call=call: [*call, "run", "--bundle", made[p], f"{a.id}-{i}"],
                         lambda i, call=call: [*call, "delete", "--force", f"{a.id}-{i}"], env)
    if a.docker:
        enter = ["nsenter", "-t", a.docker, "-m", "-n", "-u", "-i", "-p", "docker", "run", "--rm", "--network", "none", "bench"]
        yield Contestant("docker run", lambda p, _: [*enter, *PROGRAMS[p]],
                         env={"DOCKER_HOST": "unix:///run/docker.sock", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, programs=("sh", "first output"))


def run_once(c, program, number):
    """Seconds until the first byte of output, or the end of the stream, and until the end; None if it failed."""
    command = c.command(program, number)
    read, write = os.pipe()
    quiet = os.open(os.devnull, os.O_RDWR)
    said = os.memfd_create("said")
    begun = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, c.env, file_actions=[
        (os.POSIX_SPAWN_DUP2, quiet, 0), (os.POSIX_SPAWN_DUP2, write, 1), (os.POSIX_SPAWN_DUP2, said, 2)])
    os.close(write)
    os.close(quiet)
    os.read(read, 1)
    first = time.perf_counter() - begun
    _, status = os.waitpid(pid, 0)
    whole = time.perf_counter() - begun
    os.close(read)
    c.said = os.pread(said, 200, 0).decode(errors="replace").strip() if status else ""
    os.close(said)
    if status and c.undo:
        subprocess.run(c.undo(number), env=c.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return None if status else (first, whole)


def measure(a, all_of_them, raw):
    """{(contestant, program): [seconds…]}, and who failed."""
    times, failed = {}, []
    numbers = iter(range(10 ** 9))
    jobs = [(c, p) for c in all_of_them for p in c.programs if os.path.exists(PROGRAMS[p][0])]
    for c, p in list(jobs):  # the first one warms the caches, and shows who can't
        if run_once(c, p, next(numbers)) is None:
            failed.append(f"{c.name}: {p} ({c.said})")
            jobs.remove((c, p))
    for _ in range(a.n):
        random.shuffle(jobs)
        for c, p in jobs:
            time.sleep(GAP)
            got = run_once(c, p, next(numbers))
            if got is None:
                failed.append(f"{c.name}: {p}")
                continue
            times.setdefault((c.name, p), []).append(got[0 if p == "first output" else 1])
            print("run", p, c.name, f"{got[0] * 1e3:.3f}", f"{got[1] * 1e3:.3f}", sep="\t", file=raw)
    return times, failed


def in_a_row(c, count, raw):
    begun = time.perf_counter()
    good = sum(run_once(c, "sh", f"row-{i}") is not None for i in range(count))
    seconds = time.perf_counter() - begun
    print("row", count, c.name, f"{seconds:.3f}", good, sep="\t", file=raw)
    return seconds, good


def processes():
    """{pid: (ppid, comm)}"""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                text = f.read()
        except OSError:
            continue
        found[int(pid)] = int(text.rsplit(")", 1)[1].split()[1]), text.split("(", 1)[1].rsplit(")", 1)[0]
    return found


def pss(pid):
    try:
        with open(f"/proc/{pid}/smaps_rollup") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0


def available():
    with open("/proc/meminfo") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("MemAvailable:"))


def at_once(a, c, count, raw):
    """Kilobytes a box: of our processes alone, and of the machine (with the program and the kernel's). And seconds until all of them ran."""
    command = c.command("sh", 0)[:-3] + ["/bin/sh", "-c", "echo up; read x"]
    before, begun, boxes = available(), time.perf_counter(), []
    try:
        for _ in range(count):
            boxes.append(subprocess.Popen(command, env=c.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))
        up = sum(b.stdout.readline() == b"up\n" for b in boxes)
        seconds = time.perf_counter() - begun
        machine = (before - available()) / count
        all_of_them = processes()
        ours = {b.pid for b in boxes}
        while True:
            more = {pid for pid, (parent, comm) in all_of_them.items() if parent in ours and comm != "sh"} - ours
            if not more:
                break
            ours |= more
        own = sum(map(pss, ours)) / count
    finally:
        for b in boxes:
            b.stdin.close()
        for b in boxes:
            try:
                b.wait(30)
            except subprocess.TimeoutExpired:
                b.kill()
    print("at_once", count, c.name, f"{seconds:.3f}", up, f"{own:.0f}", f"{machine:.0f}", sep="\t", file=raw)
    return own, machine, seconds, up


# What is watched for in a compile are its opens: of headers, of temporary files, of programs.
COMPILE = "for i in 1 2 3 4; do cc -O1 -DN=$i -x c -c -o /dev/null - <<'END' || exit\n" + "".join(
    f"#include <{h}.h>\n" for h in ("stdio", "stdlib", "string", "unistd", "pthread", "sys/socket", "netinet/in", "math", "time", "signal")) + "".join(
    f"int f{i}(int n, char *p) {{ for (int k = 0; k < n; k++) p[k] = (char)snprintf(p, 9, \"%d\", k * N + {i}); return (int)strlen(p) + abs(n); }}\n"
    for i in range(60)) + "END\ndone"
WATCHING = "none", "calls", "full"


def compile_once(command, env):
    """Seconds of processor time, of all that waited for each other, and by the clock."""
    quiet = os.open(os.devnull, os.O_RDWR)
    begun = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, env, file_actions=[(os.POSIX_SPAWN_DUP2, quiet, fd) for fd in (0, 1, 2)])
    _, status, usage = os.wait4(pid, 0)
    os.close(quiet)
    return None if status else (usage.ru_utime + usage.ru_stime, time.perf_counter() - begun)


def compile_costs(a, do, raw):
    """{how: [(processor, clock)…]} of a compile in a box, by what is watched for. Empty where there is no compiler."""
    program = ["/bin/sh", "-c", COMPILE]
    commands = {"plain": program, **{w: [*do.command("sh", 0)[:-4], "--denials", w, "--", *program] for w in WATCHING}}
    found = {}
    if not os.path.exists("/usr/bin/cc"):
        return found
    for _ in range(max(2, a.n // 3)):
        for how, command in random.sample(list(commands.items()), len(commands)):
            time.sleep(GAP)
            got = compile_once(command, do.env)
            if got is None:
                sys.exit(f"do.py: the compile failed: {how}")
            found.setdefault(how, []).append(got)
            print("compile", how, *(f"{t * 1e3:.1f}" for t in got), sep="\t", file=raw)
    return found


def report_compile(found, out):
    if not found:
        return
    cpu = {how: statistics.median(x[0] for x in v) for how, v in found.items()}
    for how in WATCHING[1:]:
        ratio = cpu[how] / cpu["none"]
        print(f"| a compile with --denials {how}, of none's processor time | {ratio:.3f} | 1.05 | {'met' if ratio <= 1.05 else 'missed'} |", file=out)
    each = ", ".join(f"{how} {cpu[how] * 1e3:.0f} ({statistics.median(x[1] for x in v) * 1e3:.0f})" for how, v in found.items())
    print(f"\nA compile, ms of processor time (and by the clock): {each}.", file=out)


def quantile(values, q):
    return sorted(values)[min(len(values) - 1, int(len(values) * q))] * 1e3


def is_v1():
    with open("/proc/self/mountinfo") as f:
        return " - cgroup " in f.read()


def goals(times):
    """Rows: what, ratio, goal. Of overheads: the median less that of the plain program."""
    def over(name, p):
        both = times.get((name, p)), times.get(("plain", p))
        return statistics.median(both[0]) - statistics.median(both[1]) if all(both) else None
    for p in "sh", "python", "node":
        for peer, most in ("bwrap", 1.6 if is_v1() else 1.3), ("crun", 0.5), ("docker run", 0.05):
            mine, other = over("sbxrun do", p), over(peer, p)
            if mine is not None and other and min(mine, other) > 0:
                yield f"{p}: overhead, of {peer}'s", mine / other, most


def report(a, everybody, times, failed, rows, many, compiles, out):
    names = [c.name for c in everybody]
    print(f"## sbxrun do\n\n{a.n} runs each, cgroup {'v1' if is_v1() else 'v2'}, load {os.getloadavg()[0]:.1f}; milliseconds: p50 / p95 / p99\n", file=out)
    print("| | " + " | ".join(names) + " |\n|---|" + "---|" * len(names), file=out)
    for p in PROGRAMS:
        cells = [" / ".join(f"{quantile(times[n, p], q):.2f}" for q in (0.5, 0.95, 0.99)) if (n, p) in times else "–" for n in names]
        print(f"| {p} | " + " | ".join(cells) + " |", file=out)
    print("\n| goal | ratio | at most | |\n|---|---|---|---|", file=out)
    for what, ratio, most in goals(times):
        print(f"| {what} | {ratio:.2f} | {most} | {'met' if ratio <= most else 'missed'} |", file=out)
    own, machine, seconds, up = many
    print(f"| memory of a box beside its program, MB | {own / 1024:.2f} | 1.5 | {'met' if own <= 1536 else 'missed'} |", file=out)
    report_compile(compiles, out)
    print(f"\n{up} of {a.at_once} boxes at once ran after {seconds:.2f} s; the machine has {machine / 1024:.2f} MB less for each, its shell and the kernel's own with it.", file=out)
    for name, (seconds, good) in rows.items():
        print(f"{good} of {a.row} in a row with {name}: {seconds:.2f} s, {seconds / a.row * 1e3:.2f} ms each.", file=out)
    for line in sorted(set(failed)):
        print(f"{line} failed {failed.count(line)} times.", file=out)


def main():
    a = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    everybody = list(contestants(a))
    with open(a.raw, "w") as raw:
        times, failed = measure(a, everybody, raw)
        rows = {c.name: in_a_row(c, a.row, raw) for c in everybody if c.name in ("sbxrun do", "bwrap")}
        compiles = compile_costs(a, everybody[1], raw)
        many = at_once(a, everybody[1], a.at_once, raw)
    with open(a.table, "w") as out:
        report(a, everybody, times, failed, rows, many, compiles, out)


main()
