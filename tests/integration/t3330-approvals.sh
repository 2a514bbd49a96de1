#!/bin/bash
# What a person is asked before a call of `sbxrun mcp`, by whom it is answered, and what an answer is good for.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/mcp.sh"

the_clients_user_is_asked_in_the_legacy_era() {
	mcp <<-'END'
	def ask(s, id, answer, code="print(1)", **more):
	    s.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "code_execute", "arguments": {
	        "language": "python", "code": code, **more}}})
	    q = s.line()
	    assert q["method"] == "elicitation/create" and q["params"]["mode"] == "form", q
	    p = q["params"]["requestedSchema"]
	    assert p["required"] == ["decision"] and p["properties"]["decision"]["default"] == "deny", p
	    assert s.request("ping")["result"] == {}
	    s.send({"jsonrpc": "2.0", "id": q["id"], **answer})
	    return s.answer(id)["result"], q["params"]
	yes = {"result": {"action": "accept", "content": {"decision": "allow_once"}}}
	s = Server("", "")
	s.initialize(capabilities={"elicitation": {}})
	r, q = ask(s, "a", yes)
	assert r["structuredContent"]["stdout"] == "1\n", r
	assert "Risk: high" in q["message"] and "| language: python" in q["message"] and "no wall" in q["message"]
	box = r["structuredContent"]["sandbox_id"]
	for no in ({"result": {"action": "decline"}}, {"result": {"action": "cancel"}}, {"error": {"code": -1, "message": "x"}},
	           {"result": {"action": "accept"}}, {"result": {"action": "accept", "content": {}}},
	           {"result": {"action": "accept", "content": {"decision": "ALLOW_ONCE"}}}, {"result": {"action": "decline", "content": {"decision": "allow_once"}}}):
	    r, _ = ask(s, "b", no)
	    assert r["isError"] and "Denied" in r["content"][0]["text"], (no, r)
	r, _ = ask(s, "c", {"result": {"action": "accept", "content": {"decision": "allow_for_box"}}}, sandbox_id=box)
	assert r["structuredContent"]["success"]
	assert s.call("code_execute", language="python", code="print(3)", sandbox_id=box)["structuredContent"]["stdout"] == "3\n"
	r, q = ask(s, "d", yes, code="import os; os.system('true')", sandbox_id=box)
	assert "Risk: critical" in q["message"] and "allow_for_box" not in json.dumps(q), q
	s.end()
	until(lambda: boxes() == [], "the boxes are still there")
	assert "Approval" not in sbxrun("approve", "list") and sbxrun("approve", "list", "--json") == "[]\n"
	END
}

the_clients_user_is_asked_in_the_modern_era() {
	mcp <<-'END'
	asks = {"elicitation": {"form": {}}}
	def first(s, code="print(1)", **more):
	    r = s.modern_call("code_execute", asks, language="python", code=code, **more)["result"]
	    assert r["resultType"] == "input_required" and r["inputRequests"]["approval"]["method"] == "elicitation/create", r
	    return r["requestState"]
	def again(s, state, decision="allow_once", code="print(1)", action="accept", **more):
	    return s.modern_call("code_execute", asks, {"requestState": state, "inputResponses": {"approval": {
	        "action": action, "content": {"decision": decision}}, "extra": {"action": "accept"}}}, language="python", code=code, **more)["result"]
	s = Server("", "")
	state = first(s)
	r = s.modern_call("code_execute", asks, {"requestState": state}, language="python", code="print(1)")["result"]
	assert r["resultType"] == "input_required" and r["requestState"] == state
	assert again(s, state)["structuredContent"]["stdout"] == "1\n"
	assert again(s, state)["isError"], "an answer was used twice"
	state = first(s)
	assert again(s, state, code="print(2)")["isError"], "other code"
	for bad in (state[:-1] + ("0" if state[-1] != "0" else "1"), "ap_" + "0" * 32 + state[35:], "", "x", state + "0"):
	    assert again(s, bad).get("isError") or again(s, bad)["resultType"] == "input_required", bad
	assert again(s, state, decision="deny")["isError"]
	assert again(s, state)["isError"], "no was followed by yes"
	assert again(s, first(s), action="decline")["isError"]
	other = Server("", "")          # another process of the same user goes on
	assert again(other, first(s))["structuredContent"]["success"]
	s.end(), other.end()
	until(lambda: boxes() == [], "the boxes are still there")
	END
}

who_has_no_such_client_answers_in_a_terminal() {
	mcp <<-'END'
	s = Server("", "")
	s.initialize()
	def ask(**a):
	    r = s.call("code_execute", language="python", **a)
	    assert r["isError"] and "approval_id" in r["content"][0]["text"], r
	    # What it tells a person to type finds the question: --root was given to the server.
	    assert "`sbxrun --root %s/state approve yes ap_" % os.environ["T"] in r["content"][0]["text"], r
	    return r["content"][0]["text"].split("approval_id \"")[1].split("\"")[0]
	code = "print(1)\u202e\u200b\x1b[31m<b>"
	id = ask(code="#" + code)
	text = sbxrun("approve", "show", id)
	assert "\\u{202e}\\u{200b}\\u{1b}[31m\\u{3c}b" in text and "\x1b" not in text and "\u202e" not in text, text
	assert id in sbxrun("approve", "list")
	assert s.call("code_execute", language="python", code="#" + code, approval_id=id)["isError"], "nobody has answered"
	sbxrun("approve", "yes", id)
	assert s.call("code_execute", language="python", code="print(2)", approval_id=id)["isError"], "for other code"
	assert s.call("code_execute", language="python", code="#" + code, approval_id=id)["structuredContent"]["success"]
	assert s.call("code_execute", language="python", code="#" + code, approval_id=id)["isError"], "used twice"
	id = ask(code="print(3)")
	sbxrun("approve", "no", id)
	try:
	    sbxrun("approve", "yes", id)
	except AssertionError:
	    pass
	else:
	    raise SystemExit("no became yes")
	assert s.call("code_execute", language="python", code="print(3)", approval_id=id)["isError"]
	for bad in ("../../x", "ap_", "ap_" + "0" * 32, "x" * 1000):
	    assert s.call("code_execute", language="python", code="print(3)", approval_id=bad)["isError"]
	assert "sandbox_id" in s.call("box_create", language="python")["structuredContent"], "low passes"
	s.end()
	until(lambda: boxes() == [], "the boxes are still there")
	END
}

a_command_answers() {
	mcp <<-'END'
	for command, success in (("grep -q 'language: python'", True), ("exit 1", False)):
	    s = Server("--ask", command)
	    s.initialize()
	    r = s.call("code_execute", language="python", code="print(1)")
	    assert ("structuredContent" in r) == success, r
	    s.end()
	s = Server("--ask", "terminal")      # there is none
	s.initialize()
	assert s.call("code_execute", language="python", code="print(1)")["isError"]
	s.end()
	until(lambda: boxes() == [], "the boxes are still there")
	END
}

rules_of_the_operator_count() {
	cat >rules.json <<-'END'
	{"version": 1, "rules": [
		{"tools": ["code_execute"], "risk": "low", "conditions": [{"param": "language", "equals": "python"}]},
		{"tools": ["code_execute"], "risk": "critical", "deny": true, "description": "no secrets", "conditions": [{"param": "code", "matches": "(?i)secret"}]},
		{"tools": ["box_list"], "risk": "high", "timeout": 5}]}
	END
	chmod 644 rules.json
	mcp <<-'END'
	s = Server("--rules", "rules.json")
	s.initialize()
	assert s.call("code_execute", language="python", code="print(1)")["structuredContent"]["success"]
	r = s.call("code_execute", language="python", code="print('SECRET')")
	assert r["isError"] and "no secrets" in r["content"][0]["text"], r
	assert "within 5 seconds" in s.call("box_list")["content"][0]["text"]
	s.end()
	until(lambda: boxes() == [], "the boxes are still there")
	for wrong in ('{"version":2,"rules":[]}', '{"version":1,"rules":[{"tools":["x"],"risk":"none"}]}', "[]", '{"version":1,"rules":[{"tools":["x"],"risk":"low","nonsense":1}]}',
	              '{"version":1,"rules":[{"tools":["x"],"risk":"low","conditions":[{"param":"code","matches":"("}]}]}'):
	    put_file("rules.json", wrong)
	    s = Server("--rules", "rules.json", stderr=subprocess.DEVNULL)
	    assert s.process.wait(DEADLINE) == 1, wrong
	END
}

people_are_not_asked_too_often() {
	mcp <<-'END'
	s = Server("", "")
	s.initialize()
	texts = [s.call("code_execute", language="python", code="print(%d)" % i)["content"][0]["text"] for i in range(20)]
	assert sum("approval_id" in t for t in texts) == 16, texts
	assert "16 questions" in texts[-1]
	assert len(json.loads(sbxrun("approve", "list", "--json"))) == 16
	END
}

a_queue_that_others_can_write_to_is_not_trusted() {
	mcp <<-'END'
	s = Server("", "")
	s.initialize()
	id = s.call("code_execute", language="python", code="print(1)")["content"][0]["text"].split("approval_id \"")[1].split("\"")[0]
	queue = os.environ["T"] + "/state/approvals:queue"
	assert os.stat(queue).st_mode & 0o777 == 0o700
	assert os.stat(queue + "/" + id).st_mode & 0o777 == 0o600
	sbxrun("approve", "yes", id)
	os.chmod(queue, 0o770)
	assert s.call("code_execute", language="python", code="print(1)", approval_id=id)["isError"]
	os.chmod(queue, 0o700)
	os.link(queue + "/" + id, os.environ["T"] + "/link")
	assert s.call("code_execute", language="python", code="print(1)", approval_id=id)["isError"]
	os.unlink(os.environ["T"] + "/link")
	assert s.call("code_execute", language="python", code="print(1)", approval_id=id)["structuredContent"]["success"]
	s.end()
	until(lambda: boxes() == [], "the box is still there")
	END
}

calls_are_recorded() {
	mcp <<-'END'
	s = Server("--audit", "audit.log", "--ask", "exit 1")
	s.initialize()
	assert s.call("code_execute", language="python", code="print(1)")["isError"]
	assert "sandbox_id" in s.call("box_create", language="python")["structuredContent"]
	s.end()
	until(lambda: boxes() == [], "the box is still there")
	lines = [json.loads(line) for line in open("audit.log")]
	assert [(line["verb"], line["status"]) for line in lines] == [("approve asked", "ok"), ("approve no", "ok"), ("mcp code_execute", "denied"), ("mcp box_create", "ok")], lines
	assert lines[2]["args"] == ["approval=none", 'client="tests"'] and "command, uid %d" % UID in lines[1]["args"][-1], lines
	assert ": ok, 4 lines" in sbxrun("audit", "verify", "audit.log")
	END
}

# A question, each way to answer it, and what stays of an answer have a line: before it is so, in the server's file and in that of who answers.
approvals_are_recorded() {
	mcp <<-'END'
	def lines(file="audit.log"): return [json.loads(line) for line in open(file)]
	def words(line): return dict(word.split("=", 1) for word in line["args"])
	def events(file="audit.log"): return [(line["verb"], words(line)) for line in lines(file)]
	def asked(r): return r["content"][0]["text"].split("approval_id \"")[1].split("\"")[0]
	put_file("rules.json", '{"version": 1, "rules": [{"tools": ["file_stat"], "risk": "medium", "timeout": 1}]}')
	s = Server("--audit", "audit.log", "--rules", "rules.json")
	s.initialize()
	def ask(**a): return s.call("code_list_files", sandbox_id="mcp-b", **a)
	id = asked(ask())
	digest = [q["digest"] for q in json.loads(sbxrun("approve", "list", "--json"))][0]
	(verb, w), (call, _) = events()
	assert (verb, call) == ("approve asked", "mcp code_list_files") and lines()[0]["id"] == "mcp-b" and lines()[0]["uid"] == UID, lines()
	assert w == {"question": id, "tool": "code_list_files", "risk": "medium", "channel": "queue", "client": '"tests"', "seconds": "120"}, w
	assert {line["code_sha256"] for line in lines()} == {digest}, "not what will run"
	sbxrun("approve", "yes", "--always", "--audit", "mine.log", id)
	(verb, w), = events("mine.log")
	assert verb == "approve yes" and w == {"question": id, "tool": "code_list_files", "risk": "medium", "scope": "always", "by": "approve, uid %d" % UID}, w
	assert lines("mine.log")[0]["code_sha256"] == digest
	ask(approval_id=id)
	(verb, w), (call, used) = events()[2:]
	assert verb == "approve granted" and w["question"] == id and w["scope"] == "always" and w["by"] == "approve, uid %d" % UID, w
	assert call == "mcp code_list_files" and used == {"approval": "%s by approve, uid %d" % (id, UID), "client": '"tests"'}, used
	ask()
	assert words(lines()[-1])["approval"] == "for good"
	sbxrun("approve", "revoke", "--audit", "mine.log", w["grant"])
	assert events("mine.log")[-1] == ("approve revoked", {k: v for k, v in w.items() if k != "question"}), events("mine.log")
	no = asked(ask())
	sbxrun("approve", "no", "--audit", "mine.log", no)
	assert events("mine.log")[-1][0] == "approve no" and words(lines("mine.log")[-1])["question"] == no
	# Nobody answers: whoever comes upon it next says so.
	late = asked(s.call("file_stat", sandbox_id="mcp-b", file_path="x"))
	until(lambda: late not in sbxrun("approve", "list", "--audit", "mine.log"), "it never ends")
	assert events("mine.log")[-1] == ("approve expired", {"question": late, "tool": "file_stat", "risk": "medium", "was": "asked"}), events("mine.log")[-1]
	s.end()
	# The client's user, and a question that nobody waits for any more.
	s = Server("--audit", "client.log", "")
	s.initialize(capabilities={"elicitation": {}})
	for answer in ({"action": "accept", "content": {"decision": "allow_once"}}, {"action": "decline"}, None):
	    s.send({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "code_list_files", "arguments": {"sandbox_id": "mcp-b"}}})
	    q = s.line()
	    if answer:
	        s.send({"jsonrpc": "2.0", "id": q["id"], "result": answer})
	        s.answer("a")
	    else:
	        s.notify("notifications/cancelled", {"requestId": "a"})
	s.request("ping")
	s.end()
	assert [verb for verb, _ in events("client.log")] == ["approve asked", "approve yes", "mcp code_list_files", "approve asked", "approve no", "mcp code_list_files",
	                                                      "approve asked", "approve withdrawn", "mcp code_list_files"], events("client.log")
	assert events("client.log")[0][1]["channel"] == "client" and events("client.log")[1][1]["by"] == 'client "tests"'
	assert [line["status"] for line in lines("client.log") if line["verb"].startswith("mcp")] == ["error", "denied", "cancelled"]
	for file in ("audit.log", "mine.log", "client.log"): assert ": ok, " in sbxrun("audit", "verify", file)
	END
}

# What can't be recorded is not done: no answer, no grant, no call, and nothing is told that has no line.
what_can_not_be_recorded_is_not_done() {
	mcp <<-'END'
	def asked(r): return r["content"][0]["text"].split("approval_id \"")[1].split("\"")[0]
	def status(id): return [q["status"] for q in json.loads(sbxrun("approve", "list", "--json")) if q["id"] == id]
	s = Server("--audit", "audit.log", "")
	s.initialize()
	def ask(**a): return s.call("code_list_files", sandbox_id="mcp-b", **a)
	id = asked(ask())
	os.mkdir("dir")
	for verb in ("yes", "no"):
	    assert "--audit" in sbxrun("approve", verb, "--audit", "dir", id, ok=False, errors=True)
	    assert status(id) == ["asked"], verb
	# It could be tried, and fails all the same: the next head can't be made.
	os.mkdir("mine.log.head.next")
	assert "has no line about it, so it is not done" in sbxrun("approve", "yes", "--audit", "mine.log", id, ok=False, errors=True)
	assert status(id) == ["asked"]
	sbxrun("approve", "yes", "--always", id)
	os.mkdir("audit.log.head.next")
	r = ask(approval_id=id)
	assert r["isError"] and "has no line about" in r["content"][0]["text"] and "Denied" not in r["content"][0]["text"], r
	assert sbxrun("approve", "grants", "--json") == "[]\n", "a grant without a line"
	r = ask()
	assert r["isError"] and "approval_id" not in r["content"][0]["text"], r
	assert json.loads(sbxrun("approve", "list", "--json")) == [], "a question without a line"
	r = s.call("box_list")
	assert r["isError"] and "has no line about this call" in r["content"][0]["text"], r
	os.rmdir("audit.log.head.next")
	assert "approval_id" in ask()["content"][0]["text"]
	END
}

# No answer is no: the call is denied when the time of its question is over, and what comes afterwards is no answer to it.
no_answer_is_no() {
	echo '{"version": 1, "rules": [{"tools": ["*"], "risk": "medium", "timeout": 1}]}' >rules.json
	chmod 644 rules.json
	mcp <<-'END'
	s = Server("--rules", "rules.json")
	s.initialize(capabilities={"elicitation": {}})
	s.send({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "code_execute", "arguments": {"language": "python", "code": "print(1)"}}})
	q = s.line()
	r = s.answer("a")["result"]
	assert r["isError"] and "Denied: nobody answered in time" in r["content"][0]["text"], r
	# His answer, when he is back: nothing waits for it, and nothing runs.
	s.send({"jsonrpc": "2.0", "id": q["id"], "result": {"action": "accept", "content": {"decision": "allow_once"}}})
	assert s.request("ping")["result"] == {} and boxes() == [] and sbxrun("approve", "list", "--json") == "[]\n"
	s.end()
	s = Server("--rules", "rules.json")
	s.initialize()
	def ask(**a): return s.call("code_execute", language="python", code="print(1)", **a)
	id = ask()["content"][0]["text"].split("approval_id \"")[1].split("\"")[0]
	until(lambda: sbxrun("approve", "list", "--json") == "[]\n", "the question stays for ever")
	for verb in ("yes", "no", "show", "ask"):
	    assert "there is no question" in sbxrun("approve", verb, id, ok=False, errors=True), verb
	r = ask(approval_id=id)
	assert r["isError"] and "its time is over" in r["content"][0]["text"], r
	s.end()
	assert boxes() == []
	END
}

# A yes is good for five minutes, and a minute has twenty questions: by the machine's clock since it was started, which nobody sets.
a_yes_ends_and_so_does_patience() {
	mcp <<-'END'
	s = Server("")
	s.initialize()
	def ask(**a): return s.call("code_list_files", sandbox_id="mcp-b", **a)
	def text(r): return r["content"][0]["text"]
	id = text(ask()).split("approval_id \"")[1].split("\"")[0]
	sbxrun("approve", "yes", id)
	queue = os.environ["T"] + "/state/approvals:queue/"
	now = lambda: int(time.clock_gettime(time.CLOCK_BOOTTIME))
	kept = json.load(open(queue + id))
	assert kept["status"] == "yes" and 120 < kept["until"] - kept["asked"] and kept["until"] <= now() + 300, kept
	def put(**more):
	    put_file(queue + id, json.dumps({**kept, **more}), 0o600)
	put(until=now())
	assert "its time is over" in text(ask(approval_id=id))
	put(boot="another")
	assert "its time is over" in text(ask(approval_id=id)), "a yes of another life of the machine"
	put()
	r = ask(approval_id=id)
	assert "Denied" not in text(r), r
	def rate(began, n):
	    put_file(queue + "rate", "%d %d" % (began, n), 0o600)
	    return text(ask())
	assert "20 questions were asked within a minute" in rate(now(), 20)
	assert "approval_id" in rate(now() - 61, 20), "a minute never ends"
	assert "approval_id" in rate(now(), 19) and "20 questions" in text(ask())
	assert "approval_id" in rate(now() + 1000, 20), "a moment that is to come"
	assert "approval_id" in rate(0, 10**18)
	s.end()
	END
}

# `approve ask` by a command and at a terminal; one that hangs is ended with the question's time.
a_person_is_asked_by_approve_ask() {
	mcp <<-'END'
	import fcntl, pty, termios
	s = Server("")
	s.initialize()
	def asked(tool="code_list_files"):
	    r = s.call(tool, sandbox_id="mcp-b", file_path="x") if tool == "file_stat" else s.call(tool, sandbox_id="mcp-b")
	    return r["content"][0]["text"].split("approval_id \"")[1].split("\"")[0]
	def status(id): return [(q["status"], q["by"]) for q in json.loads(sbxrun("approve", "list", "--json")) if q["id"] == id]
	me = "command, uid %d" % UID
	id = asked()
	said = sbxrun("approve", "--by", "grep -q '| sandbox_id: mcp-b'", "ask", id)
	assert said.startswith(id + ": yes to code_list_files") and status(id) == [("yes", me)], said
	assert "answered already" in sbxrun("approve", "--by", "true", "ask", id, ok=False, errors=True)
	for no in ("exit 3", "kill -KILL $$", "/nonexistent", "cat >/dev/full"):
	    id = asked()
	    assert ": no to " in sbxrun("approve", "--by", no, "ask", id), no
	    assert status(id) == [("no", me)]
	id = asked()
	p = subprocess.run([os.environ["SBXRUN"], "--root", os.environ["T"] + "/state", "approve", "ask", id], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
	assert p.returncode and b"no terminal" in p.stderr and status(id) == [("asked", None)], p
	ours, theirs = pty.openpty()
	p = subprocess.Popen([os.environ["SBXRUN"], "--root", os.environ["T"] + "/state", "approve", "ask", id], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True,
	                     preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0))
	seen, end = b"", time.monotonic() + DEADLINE
	while b"or no? " not in seen:
	    assert time.monotonic() < end, seen
	    if select.select([ours], [], [], 0.1)[0]: seen += os.read(ours, 1 << 16)
	os.write(ours, b"yes\n")
	assert p.communicate(timeout=DEADLINE)[0].decode().startswith(id + ": yes to") and status(id) == [("yes", "terminal, uid %d" % UID)]
	s.end()
	put_file("rules.json", '{"version": 1, "rules": [{"tools": ["*"], "risk": "medium", "timeout": 5}]}')
	s = Server("--rules", "rules.json")
	s.initialize()
	id = asked("file_stat")
	sbxrun("approve", "--by", "echo $$ >pid; exec sleep 1000", "ask", id, ok=False, errors=True)
	assert status(id) == []
	if os.path.exists("pid"): until(lambda: not os.path.exists("/proc/" + open("pid").read().strip()), "the command is still there")
	s.end()
	END
}

# What a person allows for good holds in boxes of the server's own, also of another server, until he takes it back.
what_is_allowed_for_good_is_listed_and_taken_back() {
	mcp <<-'END'
	s = Server("", "")
	s.initialize()
	def ask(**a): return s.call("code_execute", language="python", **a)
	def asked(r): return r["content"][0]["text"].split("approval_id \"")[1].split("\"")[0] if r.get("isError") else None
	id = asked(ask(code="print(1)"))
	said = sbxrun("approve", "yes", "--always", id)
	assert said.startswith(id + ": yes to code_execute, risk high, and this tool in all boxes of sbxrun mcp"), said
	assert ask(code="print(1)", approval_id=id)["structuredContent"]["success"]
	assert asked(ask(code="print(2)")) is None, "it was allowed for good"
	assert asked(ask(code="import subprocess")), "what is critical was not"
	assert asked(s.call("box_exec", sandbox_id="b", command=["true"])), "nor another tool"
	s.end()
	s = Server("", "")
	s.initialize()
	o = ask(code="print(3)")["structuredContent"]
	assert asked(ask(code="print(4)", sandbox_id=o["sandbox_id"])) is None
	assert "Denied" not in json.dumps(o)
	id = asked(ask(code="print(4)", sandbox_id="somebodys"))
	assert id, "a box that a person has made"
	assert "its owner's" in sbxrun("approve", "yes", "--always", id, ok=False, errors=True)
	grants = json.loads(sbxrun("approve", "grants", "--json"))
	assert [(g["tool"], g["box"], g["risk"]) for g in grants] == [("code_execute", None, "high")], grants
	assert grants[0]["id"] in sbxrun("approve", "grants") and "all boxes of sbxrun mcp" in sbxrun("approve", "grants")
	assert "taken back" in sbxrun("approve", "revoke", grants[0]["id"])
	assert "no grant" in sbxrun("approve", "revoke", grants[0]["id"], ok=False, errors=True)
	assert "no id" in sbxrun("approve", "revoke", "../key", ok=False, errors=True)
	assert sbxrun("approve", "grants", "--json") == "[]\n"
	assert asked(ask(code="print(5)", sandbox_id=o["sandbox_id"])), "it was taken back"
	id = asked(ask(code="eval(1)"))
	for how in ("--always", "--for-box"):
	    assert "critical" in sbxrun("approve", "yes", how, id, ok=False, errors=True)
	assert sbxrun("approve", "no", id) == id + ": no to code_execute, risk critical\n"
	s.end()
	until(lambda: boxes() == [], "the boxes are still there")
	END
}

no_answer_is_good_for_more_than_the_rules_say() {
	mcp <<-'END'
	def rules(text):
	    put_file("rules.json", text)
	    s = Server("--rules", "rules.json")
	    s.initialize()
	    return s
	def ask(s, tool="code_list_files", **a):
	    r = s.call(tool, sandbox_id="mcp-b", **a)
	    assert r["isError"], r
	    text = r["content"][0]["text"]
	    return text.split("approval_id \"")[1].split("\"")[0] if "approval_id" in text else None
	def most(id): return [q["most"] for q in json.loads(sbxrun("approve", "list", "--json")) if q["id"] == id][0]
	s = rules('{"version": 1, "grants": "box", "rules": [{"tools": ["code_list_files"], "risk": "medium", "grants": "always"}, {"tools": ["file_stat"], "risk": "low", "grants": "once"}, {"tools": ["*"], "risk": "medium"}]}')
	id = ask(s)
	assert most(id) == "box"
	assert 'no answer be good for more than "box"' in sbxrun("approve", "yes", "--always", id, ok=False, errors=True)
	id = ask(s, "file_stat", file_path="x")
	assert most(id) == "once", "the least counts, also of a rule whose risk is lower"
	assert "once" in sbxrun("approve", "yes", "--for-box", id, ok=False, errors=True)
	s.end()
	# What was granted before the rules said less is asked about again, and holds again when they say more.
	s = rules('{"version": 1, "rules": []}')
	id = ask(s)
	sbxrun("approve", "yes", "--always", id)
	s.call("code_list_files", sandbox_id="mcp-b", approval_id=id)
	assert ask(s) is None
	s.end()
	for text, held in (('{"version": 1, "grants": "once", "rules": []}', True), ('{"version": 1, "rules": [{"tools": ["code_list_files"], "risk": "high"}]}', True),
	                   ('{"version": 1, "rules": [{"tools": ["code_list_files"], "risk": "medium", "deny": true}]}', None), ('{"version": 1, "rules": []}', False)):
	    s = rules(text)
	    id, text = ask(s), s.call("code_list_files", sandbox_id="mcp-b")["content"][0]["text"]
	    assert bool(id) == bool(held) and (held is not None or "rules forbid" in text), (held, text)
	    s.end()
	END
}

# Another box of that name is another box.
what_is_allowed_for_a_box_ends_with_it() {
	export TEST_PREFIX=$P
	mcp <<-'END'
	name = os.environ["TEST_PREFIX"] + "named"
	s = Server("", "")
	s.initialize()
	def asked(): return "approval_id" in s.call("code_list_files", sandbox_id=name)["content"][0].get("text", "")
	def make(): sbxrun("box", "create", "--id", name, "--rootfs", "host", "shell")
	make()
	try:
	    text = s.call("code_list_files", sandbox_id=name)["content"][0]["text"]
	    id = text.split("approval_id \"")[1].split("\"")[0]
	    assert "in this box" in sbxrun("approve", "yes", "--for-box", id)
	    assert s.call("code_list_files", sandbox_id=name, approval_id=id)["structuredContent"]["success"]
	    assert not asked()
	    assert json.loads(sbxrun("approve", "grants", "--json"))[0]["box"] == name
	    sbxrun("box", "destroy", name)
	    assert sbxrun("approve", "grants", "--json") == "[]\n"
	    make()
	    assert asked(), "the new box has the old one's grant"
	finally:
	    sbxrun("box", "destroy", name)
	END
}

# Who keeps the lock keeps nobody waiting for good.
a_lock_that_is_kept_is_no_wait_for_good() {
	mcp <<-'END'
	import fcntl
	s = Server("", "")
	s.initialize()
	s.call("code_list_files", sandbox_id="mcp-b")
	lock = open(os.environ["T"] + "/state/approvals:queue/lock")
	fcntl.flock(lock, fcntl.LOCK_EX)
	s.send({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "code_list_files", "arguments": {"sandbox_id": "mcp-b"}}})
	assert "keeps it" in sbxrun("approve", "list", ok=False, errors=True)
	r = s.answer("a")["result"]
	assert r["isError"] and "Denied" in r["content"][0]["text"] and "keeps it" in r["content"][0]["text"], r
	fcntl.flock(lock, fcntl.LOCK_UN)
	assert "approval_id" in s.call("code_list_files", sandbox_id="mcp-b")["content"][0]["text"]
	END
}

what_does_not_fit_is_said_before_what_does() {
	mcp <<-'END'
	s = Server("", "")
	s.initialize(capabilities={"elicitation": {}})
	def question(code):
	    s.send({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "code_execute", "arguments": {"language": "python", "code": code}}})
	    q = s.line()
	    s.send({"jsonrpc": "2.0", "id": q["id"], "result": {"action": "decline"}})
	    s.answer("a")
	    return q["params"]["message"]
	text = question("print(1)")
	assert "Exactly this, as the model wrote it:\n| " in text and "too long" not in text, text
	text = question("x = 1\n" * 2000 + "evil()")
	assert "Exactly" not in text and "evil" not in text, text
	assert text.index("It is too long to be shown here. These are the first ") < text.index("| x = 1"), text
	s.end()
	s = Server("", "")
	s.initialize()
	r = s.call("code_execute", language="python", code="\u202e" * 20000 + "\nevil()")
	id = r["content"][0]["text"].split("approval_id \"")[1].split("\"")[0]
	text = sbxrun("approve", "show", id)
	assert "Exactly this" in text and text.count("\\u{202e}") == 20000 and "| evil()" in text
	END
}

# At a terminal: what can be said there, and that its beginning has gone by.
a_terminal_is_asked() {
	mcp <<-'END'
	import fcntl, pty, struct, termios
	def at_terminal(code, answer):
	    ours, theirs = pty.openpty()
	    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
	    s = Server("--ask", "terminal", start_new_session=True, preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0))
	    s.initialize()
	    s.send({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "code_execute", "arguments": {"language": "python", "code": code}}})
	    seen, end = b"", time.monotonic() + DEADLINE
	    while b"or no? " not in seen:
	        assert time.monotonic() < end, seen
	        if select.select([ours], [], [], 0.1)[0]:
	            seen += os.read(ours, 1 << 16)
	    os.write(ours, answer + b"\n")
	    r = s.answer("a")["result"]
	    assert s.end() == 0
	    os.close(ours), os.close(theirs)
	    return seen.decode(), r
	seen, r = at_terminal("x=1\n" * 40, b"no")
	assert "lines, and the terminal has 24: scroll up" in seen and "Denied" in r["content"][0]["text"], (seen, r)
	assert ", box (yes" not in seen and ", always (yes" in seen, seen
	seen, r = at_terminal("print(7)", b"always")
	assert r["structuredContent"]["stdout"] == "7\n" and "scroll up" not in seen, (seen, r)
	assert [g["tool"] for g in json.loads(sbxrun("approve", "grants", "--json"))] == ["code_execute"]
	until(lambda: boxes() == [], "the boxes are still there")
	END
}

# The schema for editors says what the program takes, and nothing else is taken.
the_schema_has_all_keys() {
	local schema=${TESTS_DIR%/*}/spec/schema/approvals.json
	needs jq
	jq -c '.properties as $p | $p.rules.items.properties as $r | {whole: {version: 1, grants: $p.grants.enum[0], rules: [
		{tools: ["x"], risk: $r.risk.enum[0], timeout: $r.timeout.maximum, description: "d", deny: true, grants: $r.grants.enum[0],
		conditions: [{param: "a", matches: "b"}, {param: "a", equals: "b"}]}]},
		keys: ($p | keys), rule: ($r | keys), condition: ($r.conditions.items.properties | keys), risks: $r.risk.enum, scopes: $r.grants.enum, more: $p.grants.enum}' "$schema" >schema.json
	mcp <<-'END'
	d = json.load(open("schema.json"))
	whole = d["whole"]
	assert sorted(whole) == d["keys"] and sorted(whole["rules"][0]) == d["rule"] and d["scopes"] == d["more"]
	assert sorted({k for c in whole["rules"][0]["conditions"] for k in c}) == d["condition"]
	def takes(file):
	    put_file("rules.json", json.dumps(file))
	    s = Server("--rules", "rules.json", stderr=subprocess.PIPE)
	    s.process.stdin.close()
	    err = s.process.stderr.read().decode()
	    assert (s.process.wait(DEADLINE) == 0) == (err == ""), err
	    return err
	assert takes(whole) == "", takes(whole)
	def but(**more): return {**whole, "rules": [{**whole["rules"][0], **more}]}
	for risk in d["risks"]: assert takes(but(risk=risk)) == ""
	for scope in d["scopes"]: assert takes(but(grants=scope)) == "" and takes({**whole, "grants": scope}) == ""
	for wrong in (but(risk="none"), but(grants="ever"), but(grants=None), but(timeout=3601), but(timeout=0), but(more=1), {**whole, "more": 1}, {**whole, "version": 2},
	              but(conditions=[{"param": "a"}]), but(conditions=[{"param": "a", "matches": "b", "equals": "b"}]), but(conditions=[{"param": "a", "equals": "b", "more": 1}]),
	              but(tools=["x"] * 65), but(conditions=[{"param": "a", "equals": "b"}] * 17), {**whole, "rules": whole["rules"] * 257}):
	    assert "rules.json" in takes(wrong), str(wrong)[:200]
	END
}

run_tests
