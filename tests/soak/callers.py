#!/usr/bin/env python3
"""Callers of `sbxrun box` who know nothing of each other: for so many seconds each does one thing after the other, chosen at random, to any of the boxes.

callers.py SBXRUN STATE ROOTFS PREFIX BOXES CALLERS SECONDS SEED

What must hold of each call: it ends; it succeeds, or says one of the things that another caller can bring about (ANSWERS); a file, wherever it has been
copied to, has the content that belongs to its name. One call of twenty is killed at a random moment. At the end all keepers must have as few descriptors
as new ones. Prints a line of JSON with what was done, after a line for each thing that was wrong; status 1 if there was any.
"""
import base64, collections, glob, json, os, random, re, signal, subprocess, sys, threading, time

SBXRUN, STATE, ROOTFS, PREFIX = sys.argv[1:5]
BOXES, CALLERS, SECONDS, SEED = (int(word) for word in sys.argv[5:9])
HANGS = 240  # seconds; a call on a busy machine takes a few
SNAPSHOTS, FILES = 8, 20

gone = r"sandbox not found"
slow = r"another sbxrun makes or sweeps boxes, and does not finish"  # in the time that it has, on a busy machine
cut = r"the process that carried the connections of box .* has ended"  # the first allow was killed; it makes no other one
paused = r"is paused"
# What others do to the box that is called: destroy it, pause it, end its session, hold its lock for longer than a call waits.
common = [gone, paused, r"another call", r"sandbox expired: .* (has ended by itself|was never finished)"]
ANSWERS = {
    "create": [r"there are \d+ boxes", slow],
    "fork": [r"there are \d+ boxes", slow, r"no box and no snapshot"],
    "snapshot": [r"snapshot .* already|there is a snapshot", r"there are \d+ snapshots"],
    "snapshots": [r"there is no snapshot", r"there are no snapshots"],
    "read": [r"there is no such file"], "stat": [r"there is no such file"], "rm-file": [r"there is no such file"],
    "end-session": [r"no session"], # … in ten seconds; and a box that is destroyed takes along what begins in it.
    "run": [r"the keeper of session .* does not answer", r"session .* has ended as soon as it had begun"],
    "allow": [r"there is no such rule", r"is denied, and stays so", cut], "deny": [cut],
    "pause": [r"container not running", r"already paused"], "resume": [r"container not paused"],
}


def content(name):
    """All that a file of that name ever has."""
    number = int(name[1:])
    return (name.encode() + b" ") * (1 + number * number * 40)


class World:
    def __init__(self):
        self.lock = threading.Lock()
        self.boxes = {}  # id: options; also of those that others have destroyed meanwhile, or that were never made
        self.serial = 0
        self.wrong = []
        self.counts = collections.Counter()
        self.slowest = (0, "")
        self.end = 0.0

    def new_id(self):
        with self.lock:
            self.serial += 1
            return "%s.%d" % (PREFIX, self.serial)

    def note(self, what):
        with self.lock:
            self.wrong.append(what)
            print("wrong:", what[:600], flush=True)


world = World()


def processes_of(pid):
    """Who waits for what, below a process that hangs."""
    said = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as f:
                head, tail = f.read().rsplit(")", 1)
            own = path.split("/")[2]
            if int(own) == pid or int(tail.split()[1]) == pid:
                with open("/proc/%s/wchan" % own) as f:
                    said.append("%s) %s %s" % (head, tail.split()[0], f.read()))
        except OSError:
            pass
    return "; ".join(said)


class Caller:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def call(self, verb, *words, stdin=b"", kill=False):
        """Status and output; a call that was killed has None for a status."""
        began = time.monotonic()
        argv = [SBXRUN, "--root", STATE, "box", verb, *words]
        p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if kill:
            timer = threading.Timer(self.r.random() ** 2 * 0.15, lambda: p.poll() is None and p.send_signal(signal.SIGKILL))
            timer.start()
        try:
            out, err = p.communicate(stdin, timeout=HANGS)
        except subprocess.TimeoutExpired:
            world.note("hangs: %s: %s" % (" ".join(argv[3:]), processes_of(p.pid)))
            p.kill()
            out, err = p.communicate()
        took = time.monotonic() - began
        with world.lock:
            world.counts[verb] += 1
            world.slowest = max(world.slowest, (took, verb))
            if p.returncode == -signal.SIGKILL:
                world.counts["killed"] += 1
        err = err.decode(errors="replace")
        if p.returncode < 0 and not (kill and p.returncode == -signal.SIGKILL):
            world.note("%s: ended by signal %d: %s" % (" ".join(words), -p.returncode, err))
        return (None if p.returncode < 0 else p.returncode), out, err

    def expect(self, verb, box, status, err, more=()):
        """Whether it was done; what nobody can have brought about is wrong."""
        if status == 0 or status is None:
            return status == 0
        allowed = common + ANSWERS.get(verb, []) + list(more)
        # Whose end nobody was told of may be unknown by now.
        if world.boxes.get(box, {"short": True}).get("short"):
            allowed.append("sandbox expired")
        if not any(re.search(a, err) for a in allowed):
            world.note("%s %s: status %s: %s" % (verb, box, status, err.strip()))
        with world.lock:
            world.counts["refused"] += 1
            if "sandbox not found" in err or "sandbox expired" in err:
                world.boxes.pop(box, None)
        return False

    def any_box(self):
        with world.lock:
            return self.r.choice(list(world.boxes)) if world.boxes else None

    def any_file(self):
        return "f%d" % self.r.randrange(FILES)

    # ---- what is done ----

    def create(self, box=None, kill=False):
        words, facts = ["--rootfs", ROOTFS, "--memory", "64m"], {"language": "bash"}
        kind = self.r.random()
        if kind < 0.08:
            words, facts = ["--rootfs", "host", "--memory", "128m"], {"language": "python"}
        elif kind < 0.13:
            words += ["--disk", "40m"]  # more than half of the memory: on disk
        elif kind < 0.18:
            words += ["--writable-root", "4m", "-u", "0"]
        if self.r.random() < 0.05:
            words, facts["short"] = words + ["--idle", str(self.r.randrange(1, 4))], True
        box = world.new_id()
        status, _, err = self.call("create", "--id", box, *words, kill=kill)
        self.add("create", box, status, err, facts)

    def add(self, verb, box, status, err, facts):
        """Also one that was killed may be there."""
        if self.expect(verb, box, status, err) or status is None:
            with world.lock:
                world.boxes[box] = facts

    def execute(self, box, kill=False):
        name = self.any_file()
        status, out, err = self.call("exec", box, "--", "/bin/sh", "-c", "cat %s 2>/dev/null; (sleep 1000 &); exit 0" % name, kill=kill)
        if self.expect("exec", box, status, err, [r"Killed|SIGKILL|ended"]) and out not in (b"", content(name)):
            world.note("exec in %s: %s has %d bytes, not %d" % (box, name, len(out), len(content(name))))

    def cell(self, box, kill=False):
        language = world.boxes.get(box, {}).get("language", "bash")
        code = {"bash": "n=$((n + 1)); echo cell $n", "python": "n = globals().get('n', 0) + 1\nprint('cell', n)"}[language]
        words = ["--session"]
        odd = self.r.random()
        if odd < 0.03:
            code, words = {"bash": "sleep 1000", "python": "while True: pass"}[language], words + ["--timeout", "0.3"]
        elif odd < 0.05:
            code = {"bash": "kill -KILL $$", "python": "import os; os.kill(os.getpid(), 9)"}[language]
        status, out, err = self.call("run", *words, "--json", box, language, code, kill=kill)
        if status is None:
            return
        try:
            result = json.loads(out)
        except ValueError:
            world.note("cell in %s: no JSON: %r %s" % (box, out[:100], err))
            return
        error = (result.get("error") or {}).get("message", "")
        if result["status"] == "sandbox_error":
            self.expect("run", box, status, error or err)
        elif odd < 0.05 or (result.get("session") or {}).get("lost"):
            pass
        elif not (status == 0 and re.fullmatch(r"cell \d+\n", result["stdout"])):
            world.note("cell in %s: %s" % (box, out.decode(errors="replace")[:500]))

    def write(self, box, kill=False):
        name = self.any_file()
        status, _, err = self.call("write", box, name, stdin=content(name), kill=kill)
        self.expect("write", box, status, err)

    def read(self, box, kill=False):
        name = self.any_file()
        if self.r.random() < 0.5:
            status, out, err = self.call("read", box, name, kill=kill)
        else:
            status, out, err = self.call("read", "--json", box, name, kill=kill)
            if status == 0:
                answer = json.loads(out)
                out = base64.b64decode(answer["content"]) if answer.get("encoding") == "base64" else answer["content"].encode()
            elif status is not None:
                err = json.loads(out)["error"]["message"]
        if self.expect("read", box, status, err) and out != content(name):
            world.note("read of %s in %s: %d bytes, not %d" % (name, box, len(out), len(content(name))))

    def look(self, box, kill=False):
        verb = self.r.choice(["ls", "stat", "rm-file", "logs", "list", "rules", "sessions", "diff", "end-session"])
        words = [] if verb == "list" else [box]
        if verb in ("stat", "rm-file"):
            words.append(self.any_file())
        status, _, err = self.call(verb, *words, kill=kill)
        self.expect(verb, box, status, err)

    def snapshot(self, box, kill=False):
        name = "%s.s%d" % (PREFIX, self.r.randrange(SNAPSHOTS))
        what = self.r.random()
        if what < 0.4:
            status, _, err = self.call("snapshot", box, name, kill=kill)
            self.expect("snapshot", box, status, err)
        elif what < 0.6:
            status, _, err = self.call("snapshots", "--remove", name, kill=kill)
            self.expect("snapshots", box, status, err)
        else:
            source, new = self.r.choice([box, name]), world.new_id()
            status, _, err = self.call("fork", "--id", new, source, kill=kill)
            # A snapshot's box may have been one of those that expire; and each has a bash.
            self.add("fork", new, status, err, {"language": "bash", "short": True})

    def pause(self, box, kill=False):
        status, _, err = self.call("pause", box, kill=kill)
        if self.expect("pause", box, status, err):
            time.sleep(self.r.random() * 0.05)
        # Also after a pause that was killed: a box that stays paused is no use to anybody.
        status, _, err = self.call("resume", box)
        self.expect("resume", box, status, err)

    def allow(self, box, kill=False):
        verb, words = self.r.choice([("allow", []), ("deny", []), ("allow", ["--remove"])])
        host = "h%d.example" % self.r.randrange(5)
        status, _, err = self.call(verb, *words, box, host, kill=kill)
        self.expect(verb, box, status, err)

    def destroy(self, box, kill=False):
        status, _, err = self.call("destroy", box, kill=kill)
        if self.expect("destroy", box, status, err):
            with world.lock:
                world.boxes.pop(box, None)

    def sweep(self, box, kill=False):
        status, _, err = self.call("gc", kill=kill)
        self.expect("gc", box, status, err)

    # ---- one after the other ----

    def act(self):
        box = self.any_box()
        if box is None or (len(world.boxes) < BOXES and self.r.random() < 0.5):
            self.create(kill=self.r.random() < 0.05)
            return
        if len(world.boxes) > BOXES:
            self.destroy(box, kill=self.r.random() < 0.05)
            return
        todo = self.r.choices(
            [self.execute, self.cell, self.write, self.read, self.look, self.snapshot, self.pause, self.allow, self.destroy, self.sweep],
            [20, 20, 16, 16, 14, 6, 3, 4, 4, 1])[0]
        todo(box, kill=self.r.random() < 0.05)

    def work(self):
        while time.monotonic() < world.end:
            try:
                self.act()
            except Exception as e:  # of a caller that is gone nobody would hear
                world.note("caller: %r" % e)


def keepers():
    """Descriptors of each process that stays beside a box of ours."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/comm"):
        try:
            with open(path) as f:
                name = f.read().strip()
            if name not in ("sbxrun-session", "sbxrun-net"):
                continue
            own = os.path.dirname(path)
            # They have wiped their environment; but nobody else is in this mount namespace.
            if os.readlink(own + "/ns/mnt") == os.readlink("/proc/self/ns/mnt"):
                found[int(own.split("/")[2])] = (name, sorted(os.readlink(fd) for fd in glob.glob(own + "/fd/*")))
        except OSError:
            pass
    return found


def judge_keepers():
    """Each has as many as one that has served a single call."""
    caller = Caller(0)
    old, box = keepers(), world.new_id()
    world.boxes[box] = {"language": "bash"}
    for words in (["create", "--id", box, "--rootfs", ROOTFS], ["allow", box, "h0.example"], ["run", "--session", box, "bash", "x=1"]):
        status, _, err = caller.call(*words)
        if status != 0:
            world.note("the box to compare with: %s: %s" % (words[0], err))
    new = {name: fds for pid, (name, fds) in keepers().items() if pid not in old}
    if sorted(new) != ["sbxrun-net", "sbxrun-session"]:
        world.note("the box to compare with has these keepers: %s" % sorted(new))
        return 0
    for pid, (name, fds) in old.items():
        # What calls are answered by comes and goes; it must not stay.
        if len(fds) > len(new[name]):
            world.note("%s %d has %d descriptors, a new one %d: %s" % (name, pid, len(fds), len(new[name]), fds))
    return len(old)


def share(todo):
    def work(words):
        caller = Caller(1)
        for word in words:
            todo(caller, word)

    everything = list(world.boxes)
    threads = [threading.Thread(target=work, args=(everything[i::CALLERS],)) for i in range(CALLERS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def main():
    threads = [threading.Thread(target=Caller(SEED * 1000 + i).work) for i in range(CALLERS)]
    caller = Caller(SEED)
    while len(world.boxes) < BOXES:
        caller.create()
    status, out, err = caller.call("list", "--json")
    began = len(json.loads(out))
    world.end = time.monotonic() + SECONDS
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    status, out, err = caller.call("list", "--json")
    left = [b["sandbox_id"] for b in json.loads(out)]
    unknown = [box for box in left if box not in world.boxes]
    for box in left:
        world.boxes.setdefault(box, {"short": True})
    # There is room for one more.
    if left:
        caller.destroy(left[0])
    kept = judge_keepers()
    share(lambda c, box: c.destroy(box))
    caller.call("gc")
    status, out, err = caller.call("list", "--json")
    if status != 0 or json.loads(out):
        world.note("boxes are left: %s %s" % (out[:300], err))
    status, out, err = caller.call("snapshots", "--json")
    snapshots = [s["snapshot"] for s in json.loads(out)]
    for name in snapshots:
        caller.call("snapshots", "--remove", name)
    print(json.dumps({"seconds": SECONDS, "boxes": began, "boxes_at_the_end": len(left), "unknown": len(unknown), "keepers": kept, "snapshots": len(snapshots), "calls": sum(
        n for verb, n in world.counts.items() if verb not in ("killed", "refused")), "slowest_s": [round(world.slowest[0], 1), world.slowest[1]],
        "wrong": len(world.wrong), **dict(sorted(world.counts.items()))}))
    return 1 if world.wrong else 0


sys.exit(main())
