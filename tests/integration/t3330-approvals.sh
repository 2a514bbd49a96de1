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
	    open("rules.json", "w").write(wrong)
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
	assert [(line["verb"], line["status"]) for line in lines] == [("mcp code_execute", "denied"), ("mcp box_create", "ok")], lines
	assert ": ok, 2 lines" in sbxrun("audit", "verify", "audit.log")
	END
}

run_tests
