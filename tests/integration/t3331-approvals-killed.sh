#!/bin/bash
# SIGKILL and failing system calls, wherever somebody answers, takes back or asks: an answer without a line in the audit is none, what is killed gains nothing, and nothing is left.
# A sample of the points; APPROVE_SAMPLE=0 has all of them.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/mcp.sh"

# Python that both halves have: a question or a grant that is made anew for each point, and strace that ends or fails one call of a command.
_points='
import random, re
SAMPLE = int(os.environ.get("APPROVE_SAMPLE", "8"))
queue = os.environ["T"] + "/state/approvals:queue/"
argv = [os.environ["SBXRUN"], "--root", os.environ["T"] + "/state", "approve"]

def traced(how, words):
    p = subprocess.run(["strace", "-f", "-qq", *how, *argv, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return p.returncode, p.stderr.decode()

def points(words):
    """Of one run that is left alone: each call by its name and which of that name it is."""
    assert traced(["-o", "calls"], words)[0] == 0
    seen, all = {}, []
    for line in open("calls"):
        name = re.match(r"(?:\d+ +)?([a-z0-9_]+)\(", line)
        if name:
            seen[name[1]] = seen.get(name[1], 0) + 1
            all.append((name[1], seen[name[1]]))
    random.seed(1)
    late = all[len(all) // 3:]       # the loading of a program is no part of it
    return all if not SAMPLE else sorted(random.sample(late, min(SAMPLE, len(late))))

def audit(file):
    if not os.path.exists(file): return []
    return [l for l in map(lambda t: json.loads(t) if t.endswith("}\n") else {}, open(file)) if l.get("verb", "").startswith("approve")]

def words_of(line): return dict(w.split("=", 1) for w in line["args"])
'

_answers_at_each_point() {
	needs strace
	export KILLED_VERB=$1
	{ printf '%s\n' "$_points" && cat; } <<-'END' >body.py
	verb = os.environ["KILLED_VERB"].split()
	s = Server("")
	s.initialize()
	def ask(**a): return s.call("code_list_files", sandbox_id="mcp-b", **a)
	first = ask()["content"][0]["text"].split("approval_id \"")[1].split("\"")[0]
	template = json.load(open(queue + first))
	os.unlink(queue + first)
	n = 0
	def question():
	    global n
	    n += 1
	    id = "ap_%032x" % n
	    now = int(time.clock_gettime(time.CLOCK_BOOTTIME))
	    put_file(queue + id, json.dumps({**template, "id": id, "asked": now, "until": now + 3000}), 0o600)
	    return id
	def status(id): return [q["status"] for q in json.loads(sbxrun("approve", "list", "--json")) if q["id"] == id]
	want = verb[0]
	for kind in "kill", "fail":
	    for name, which in points([*verb, "--audit", "plain.log", question()]):
	        id = question()
	        inject = "signal=KILL" if kind == "kill" else "error=EIO"
	        rc, said = traced(["-o", "/dev/null", "-e", "inject=%s:%s:when=%d" % (name, inject, which)], [*verb, "--audit", "mine.log", id])
	        where = (kind, name, which, rc, said)
	        now, lines = status(id), [l for l in audit("mine.log") if words_of(l).get("question") == id]
	        assert now in (["asked"], [want]), where
	        if now == [want]:
	            assert [l["verb"] for l in lines] == ["approve " + want], ("an answer without a line", where)
	        if kind == "fail" and rc == 0: assert now == [want], ("nobody said that it failed", where)
	        if kind == "fail" and rc not in (0, -9) and now == ["asked"]: assert "sbxrun" in said or "strace" in said, ("no word", where)
	        if now == ["asked"] or want == "no": assert ask(approval_id=id)["isError"], where
	        for left in os.listdir(queue):
	            assert left in ("lock", "key", "rate", "next") or re.match("ap_|gr_", left), left
	        if os.path.exists(queue + id): os.unlink(queue + id)
	sbxrun("approve", *verb, "--audit", "mine.log", question())
	report = sbxrun("audit", "verify", "mine.log", ok=False)
	assert ": ok, " in report, report
	s.end()
	END
	mcp <body.py
}

a_yes_that_is_killed() {
	_answers_at_each_point yes
}
a_no_that_is_killed() {
	_answers_at_each_point no
}
a_yes_for_good_that_is_killed() {
	_answers_at_each_point 'yes --always'
}

a_revocation_that_is_killed() {
	needs strace
	{ printf '%s\n' "$_points" && cat; } <<-'END' >body.py
	s = Server("")
	s.initialize()
	id = s.call("code_list_files", sandbox_id="mcp-b")["content"][0]["text"].split("approval_id \"")[1].split("\"")[0]
	sbxrun("approve", "yes", "--always", id)
	s.call("code_list_files", sandbox_id="mcp-b", approval_id=id)
	s.end()
	grant = json.loads(sbxrun("approve", "grants", "--json"))[0]["id"]
	kept = open(queue + grant).read()
	def put():
	    put_file(queue + grant, kept, 0o600)
	for kind in "kill", "fail":
	    put()
	    for name, which in points(["revoke", "--audit", "plain.log", grant]):
	        put()
	        before = len(audit("mine.log"))
	        inject = "signal=KILL" if kind == "kill" else "error=EIO"
	        rc, said = traced(["-o", "/dev/null", "-e", "inject=%s:%s:when=%d" % (name, inject, which)], ["revoke", "--audit", "mine.log", grant])
	        gone = sbxrun("approve", "grants", "--json") == "[]\n"
	        lines = [l["verb"] for l in audit("mine.log")[before:]]
	        assert not gone or lines == ["approve revoked"], ("it is gone without a line", kind, name, which, rc, said)
	        assert kind == "kill" or rc or gone, ("nobody said that it failed", name, which, said)
	report = sbxrun("audit", "verify", "mine.log", ok=False)
	assert ": ok, " in report, report
	END
	mcp <body.py
}

# Each of those who are alive while somebody is asked and while a call runs, at sampled moments: nothing runs that nobody has said yes to, and nothing is left.
_killed_while() {
	export KILLED_WHO=$1
	mcp <<-'END'
	import signal
	who = os.environ["KILLED_WHO"]
	def children(pid):
	    try: return [int(p) for p in open("/proc/%d/task/%d/children" % (pid, pid)).read().split()]
	    except OSError: return []
	def cmdline(pid):
	    try: return open("/proc/%d/cmdline" % pid).read().split("\0")
	    except OSError: return []
	def gone(pid):
	    try: return open("/proc/%d/stat" % pid).read().rpartition(") ")[2][0] == "Z"
	    except OSError: return True
	def kill(pid):
	    try: os.kill(pid, signal.SIGKILL)
	    except ProcessLookupError: pass
	def below(pid):
	    return [pid] + [p for c in children(pid) for p in below(c)]
	for answer in "true", "exit 1":
	    for moment in 0, 0.02, 0.1, 0.3, 0.8:
	        for file in "asker", "audit.log", "audit.log.head", "audit.log.head.next": os.path.exists(file) and os.unlink(file)
	        s = Server("--audit", "audit.log", "--ask", "echo $$ >asker; sleep 0.2; " + answer, stderr=subprocess.DEVNULL)
	        s.initialize()
	        s.call("box_create", language="python") if moment else None
	        s.send({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "code_execute", "arguments": {
	            "language": "python", "code": "open('ran', 'w')\nimport time; time.sleep(2)", "timeout": 10}}})
	        until(lambda: children(s.pid), "it starts nobody")
	        time.sleep(moment)
	        alive = below(s.pid)
	        keepers = [p for p in children(s.pid) if "mcp" in cmdline(p)]
	        askers = [q for p in children(s.pid) if "approve" in cmdline(p) for q in below(p)]
	        if who == "server": victims = [s.pid]
	        elif who == "keeper": victims = keepers
	        elif who == "both": victims = [s.pid, *keepers]
	        else: victims = askers
	        for pid in victims: kill(pid)
	        if who == "approver" and askers:
	            r = s.answer("a")["result"]
	            assert r.get("isError") or answer == "true", r
	        s.process.stdin.close()
	        s.process.wait(DEADLINE)
	        until(lambda: [p for p in alive if not gone(p)] == [], "a process is left: %s" % [cmdline(p) for p in alive if not gone(p)])
	        lines = [json.loads(l) for l in open("audit.log") if l.endswith("}\n")] if os.path.exists("audit.log") else []
	        yes = "approve yes" in [l["verb"] for l in lines]
	        assert not yes or answer == "true", lines
	        if who in ("both", "keeper"):      # nobody is left to end them but their time
	            for b in boxes():
	                until(lambda: all(x["status"] != "busy" for x in boxes()), "a call never ends")
	                ran = "ran" in sbxrun("box", "ls", b["sandbox_id"], ok=False)
	                assert yes or not ran, "it ran, and nobody has said yes"
	                sbxrun("box", "destroy", b["sandbox_id"])
	        until(lambda: boxes() == [], "the boxes are still there")
	        asked = json.loads(sbxrun("approve", "list", "--json"))
	        assert all(q["status"] == "asked" or answer == "true" for q in asked if q["status"] != "no"), asked
	        for q in asked: sbxrun("approve", "no", q["id"], ok=False)
	        for f in os.listdir(os.environ["T"] + "/state/approvals:queue"):
	            if f.startswith("ap_") or f == "rate": os.unlink(os.environ["T"] + "/state/approvals:queue/" + f)
	        # The next line mends what a crash has left of one.
	        sbxrun("box", "list", "--audit", "audit.log")
	        assert ": ok, " in sbxrun("audit", "verify", "audit.log")
	END
}

the_server_is_killed() {
	_killed_while server
}
its_keeper_is_killed() {
	_killed_while keeper
}
both_are_killed() {
	_killed_while both
}
who_asks_is_killed() {
	_killed_while approver
}

run_tests
