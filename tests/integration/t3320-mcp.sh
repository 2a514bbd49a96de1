#!/bin/bash
# sbxrun mcp: the protocol, both eras of it, as clients speak it. What is asked before a call is in t3330.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/mcp.sh"

a_legacy_client_is_greeted_in_its_version() {
	mcp <<-'END'
	for asked, got in (("2025-11-25",) * 2, ("2025-06-18",) * 2, ("2025-03-26",) * 2, ("2024-11-05",) * 2, ("1999-01-01", "2025-11-25")):
	    s = Server()
	    r = s.initialize(asked)
	    assert r["protocolVersion"] == got, r
	    assert r["serverInfo"]["name"] == "sbxrun" and r["capabilities"]["tools"] == {"listChanged": False}
	    assert s.request("ping")["result"] == {}
	    assert s.end() == 0
	END
}

starting_it_makes_nothing() {
	mcp <<-'END'
	s = Server()
	s.initialize()
	s.request("tools/list")
	s.modern("server/discover")
	children = open("/proc/%d/task/%d/children" % (s.pid, s.pid)).read()
	assert children == "", children
	s.end()
	assert not os.listdir(os.environ["T"] + "/state")
	END
}

tools_are_told_whole_and_in_order() {
	mcp <<-'END'
	s = Server()
	s.initialize()
	tools = s.request("tools/list")["result"]["tools"]
	names = [t["name"] for t in tools]
	assert names[:6] == ["code_execute", "code_install_package", "code_write_file", "code_read_file", "code_list_files",
	                     "code_destroy_sandbox"], names
	for t in tools:
	    assert set(t["annotations"]) == {"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}, t
	    assert t["inputSchema"]["type"] == "object" and t["inputSchema"]["additionalProperties"] is False
	    # Those that may show images have none, for clients with one drop them.
	    assert ("outputSchema" in t) == (t["name"] not in ("view_image", "code_execute"))
	    assert all(p in t["inputSchema"]["properties"] for p in t["inputSchema"].get("required", []))
	r = s.modern("tools/list")["result"]
	assert r["tools"] == tools and r["ttlMs"] >= 0 and r["cacheScope"] == "public" and r["resultType"] == "complete"
	assert s.request("tools/list", {"cursor": ""})["result"]["tools"] == tools
	assert s.request("tools/list", {"cursor": "2"})["error"]["code"] == -32602
	END
}

code_runs_in_a_box_that_stays_until_the_server_ends() {
	mcp <<-'END'
	s = Server()
	s.initialize()
	r = s.call("code_execute", language="python", code="open('f','w').write('kept'); print(6*7)")
	o = r["structuredContent"]
	assert "isError" not in r and o["stdout"] == "42\n" and o["exit_code"] == 0 and o["success"] and o["error"] is None, r
	assert json.loads(r["content"][0]["text"]) == o
	box = o["sandbox_id"]
	o = s.call("code_execute", language="python", code="print(open('f').read()); raise SystemExit(3)", sandbox_id=box)["structuredContent"]
	assert (o["stdout"], o["exit_code"], o["status"], o["success"]) == ("kept\n", 3, "error", False), o
	o = s.call("code_execute", language="python", code="import time; time.sleep(60)", sandbox_id=box, timeout=1)["structuredContent"]
	assert o["status"] == "timeout" and o["error"].startswith("TimeoutError"), o
	o = s.call("box_exec", sandbox_id=box, command=["sh", "-c", "echo $0", "-x;y"])["structuredContent"]
	assert o["stdout"] == "-x;y\n"
	assert [b["sandbox_id"] for b in s.call("box_list")["structuredContent"]["boxes"]] == [box]
	assert [b["sandbox_id"] for b in boxes()] == [box]
	assert s.end() == 0
	until(lambda: boxes() == [], "the box is still there")
	END
}

# Variables stay in a session; its values and displays come back, images as images beside the object, or the model would not see them.
sessions_of_code_keep_their_variables() {
	mcp <<-'END'
	s = Server()
	s.initialize()
	o = s.call("code_execute", language="python", code="x = 20", session="a")["structuredContent"]
	box = o["sandbox_id"]
	assert o["success"] and o["session"]["name"] == "a" and o["session"]["began"] and o["result"] is None and o["displays"] == [], o
	def run(code, session="a"): return s.call("code_execute", language="python", code=code, session=session, sandbox_id=box)
	o = run("print('hi'); x + 1")["structuredContent"]
	assert o["stdout"] == "hi\n" and o["result"] == {"text/plain": "21"} and o["session"]["cell"] == 2 and not o["session"]["began"], o
	o = run("x", "b")["structuredContent"]
	assert not o["success"] and o["exception"]["name"] == "NameError" and "x" in o["exception"]["traceback"], o
	assert s.call("code_execute", language="python", code="print('x' in dir())", sandbox_id=box)["structuredContent"]["stdout"] == "False\n"
	image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg=="
	shows = "import base64\nclass P:\n def __init__(s, d): s.d = d\n def _repr_png_(s): return base64.b64decode(s.d)\n def __repr__(s): return 'a picture'\n"
	r = run(shows + "display(P('%s')); P('%s')" % (image, image))
	assert "structuredContent" not in r and [c["type"] for c in r["content"]] == ["text", "image", "image"], r
	assert {(c["mimeType"], c["data"]) for c in r["content"][1:]} == {("image/png", image)}
	o = json.loads(r["content"][0]["text"])
	assert o["result"] == {"text/plain": "a picture", "image/png": "[image 1 of this result]"} and o["displays"][0]["image/png"] == "[image 2 of this result]", o
	# What is no image is none, whatever it is called; and there is an end to all of it.
	r = run("P('%s')" % "bm8gaW1hZ2U=")
	assert "left out" in r["structuredContent"]["result"]["image/png"], r
	r = run("[display(P('%s')) for _ in range(20)]; None" % image)
	assert len(r["content"]) == 9 and r["content"][0]["text"].count("left out") == 12, r["content"][0]
	o = run("'x' * 10**6")["structuredContent"]
	assert len(o["result"]["text/plain"]) < 20000 and "left out" in o["result"]["text/plain"]
	o = run("[display('%d' % i + 'y' * 10000) for i in range(60)]; None")["structuredContent"]
	assert len(json.dumps(o)) < 100000 and len(o["displays"]) == 60
	assert s.call("box_end_session", sandbox_id=box, session="a")["structuredContent"]["success"]
	assert s.call("box_end_session", sandbox_id=box, session="a")["isError"]
	assert run("1")["structuredContent"]["session"]["cell"] == 1
	for wrong in ("a b", "../x", "x" * 100):
	    assert "session" in run("1", wrong)["content"][0]["text"], wrong
	assert s.end() == 0
	until(lambda: boxes() == [], "the box is still there")
	END
}

boxes_are_kept_copied_and_compared() {
	mcp <<-'END'
	s = Server()
	s.initialize()
	box = s.call("box_create", language="python")["structuredContent"]["sandbox_id"]
	s.call("code_write_file", sandbox_id=box, file_path="a", content="1")
	d = s.call("box_diff", sandbox_id=box)["structuredContent"]
	assert [f["path"] for f in d["workspace"]["added"]] == ["a"] and d["sandbox_id"] == box, d
	o = s.call("box_snapshot", sandbox_id=box, snapshot="one")["structuredContent"]
	assert o["success"] and o["snapshot"] == "one", o
	assert s.call("box_snapshot", sandbox_id=box, snapshot="one")["isError"]
	assert [x["snapshot"] for x in s.call("box_snapshots")["structuredContent"]["snapshots"]] == ["one"]
	s.call("code_write_file", sandbox_id=box, file_path="a", content="2")
	read = lambda id: s.call("code_read_file", sandbox_id=id, file_path="a")["structuredContent"]["content"]
	copy = s.call("box_fork", sandbox_id=box)["structuredContent"]["sandbox_id"]
	old = s.call("box_fork", snapshot="one", keep=True)["structuredContent"]["sandbox_id"]
	assert (read(copy), read(old)) == ("2", "1") and copy != box
	assert s.call("box_remove_snapshot", snapshot="one")["structuredContent"] == {"success": True, "snapshot": "one"}
	assert s.call("box_remove_snapshot", snapshot="one")["isError"] and s.call("box_fork", snapshot="one")["isError"]
	for wrong in ({}, {"sandbox_id": box, "snapshot": "one"}, {"sandbox_id": box, "allowed_domains": ["a.org"]}):
	    assert s.call("box_fork", **wrong)["isError"], wrong
	s.end()
	until(lambda: [b["sandbox_id"] for b in boxes()] == [old], "not the one that was to stay")
	sbxrun("box", "destroy", old)
	END
}

# What changes what is reached says so to clients, and a person is asked before it is more.
what_a_box_may_reach_is_changed() {
	mcp <<-'END'
	s = Server()
	s.initialize()
	r = s.call("box_create", language="python", network_enabled=True, allowed_domains=["a.example"])
	assert "structuredContent" in r, r
	box = r["structuredContent"]["sandbox_id"]
	assert s.call("box_rules", sandbox_id=box)["structuredContent"] == {"sandbox_id": box, "allow": ["a.example"], "deny": []}
	o = s.call("box_allow", sandbox_id=box, hosts=["b.example:22", "c.example"])["structuredContent"]
	assert o["allow"] == ["a.example", "b.example:22", "c.example"], o
	o = s.call("box_deny", sandbox_id=box, hosts=["a.example"])["structuredContent"]
	assert o["deny"] == ["a.example"], o
	o = s.call("box_allow", sandbox_id=box, hosts=["c.example"], remove=True)["structuredContent"]
	assert o["allow"] == ["a.example", "b.example:22"], o
	assert s.call("box_deny", sandbox_id=box, hosts=["a.example"], remove=True)["structuredContent"]["deny"] == []
	for wrong in ([], ["*"], ["http://x/"], ["@nosuch"], ["127.0.0.1"]):
	    assert s.call("box_allow", sandbox_id=box, hosts=wrong)["isError"], wrong
	s.end()
	s = Server("")
	s.initialize()
	def risk(tool, **a):
	    text = s.call(tool, **a)["content"][0]["text"]
	    return text.split("risk ")[1].split(":")[0] if "approval_id" in text else None
	own, other, h = "mcp-000000000000", "persons", ["a.example"]
	assert [risk("box_allow", sandbox_id=own, hosts=h), risk("box_allow", sandbox_id=own, hosts=h, remove=True), risk("box_allow", sandbox_id=other, hosts=h, remove=True)] == ["critical", None, "medium"]
	assert [risk("box_deny", sandbox_id=own, hosts=h), risk("box_deny", sandbox_id=own, hosts=h, remove=True), risk("box_deny", sandbox_id=other, hosts=h)] == [None, "critical", "medium"]
	assert [risk("box_fork", sandbox_id=own), risk("box_fork", sandbox_id=other), risk("box_fork", snapshot="x")] == [None, "high", "high"]
	assert risk("box_fork", sandbox_id=own, network_enabled=True, allowed_domains=h) == "critical"
	assert [risk("box_snapshot", sandbox_id=own, snapshot="x"), risk("box_snapshot", sandbox_id=other, snapshot="x"), risk("box_remove_snapshot", snapshot="x")] == ["medium", "high", "high"]
	for tool, a in (("box_rules", {}), ("box_end_session", {"session": "x"})): assert risk(tool, sandbox_id=own, **a) is None
	assert "hosts: a.example" in sbxrun("approve", "list") and "remove: true" in sbxrun("approve", "list")
	s.end()
	until(lambda: boxes() == [], "the box is still there")
	END
}

# Boxes of the server's own are resources; whose files they are is told by reading one, which is a call.
boxes_are_listed_as_resources() {
	export TEST_PREFIX=$P
	mcp <<-'END'
	s = Server()
	s.initialize()
	assert s.request("resources/list")["result"] == {"resources": []}
	box = s.call("box_create", language="python")["structuredContent"]["sandbox_id"]
	name = os.environ["TEST_PREFIX"] + "persons"
	sbxrun("box", "create", "--id", name, "--rootfs", "host", "shell")
	s.call("code_write_file", sandbox_id=box, file_path="a", content="1")
	listed = s.request("resources/list")["result"]["resources"]
	assert [r["uri"] for r in listed] == ["sbx://%s/" % box] and "python" in listed[0]["description"], listed
	files = json.loads(s.request("resources/read", {"uri": listed[0]["uri"]})["result"]["contents"][0]["text"])
	assert [f["name"] for f in files["files"]] == ["a"]
	r = s.modern("resources/list")["result"]
	assert r["resources"] == listed and r["cacheScope"] == "private" and r["ttlMs"] == 0
	assert s.request("resources/list", {"cursor": "2"})["error"]["code"] == -32602
	sbxrun("box", "destroy", name)
	s.end()
	until(lambda: boxes() == [], "the box is still there")
	END
}

boxes_stay_if_asked() {
	mcp <<-'END'
	s = Server()
	s.initialize()
	kept = s.call("box_create", language="python", keep=True)["structuredContent"]["sandbox_id"]
	gone = s.call("box_create", language="python")["structuredContent"]["sandbox_id"]
	assert len(boxes()) == 2
	s.end()
	until(lambda: [b["sandbox_id"] for b in boxes()] == [kept], "not the one that was to stay")
	s = Server("--keep-boxes")
	s.initialize()
	s.call("box_create", language="python")
	assert "success" in s.call("code_destroy_sandbox", sandbox_id=kept)["structuredContent"]
	s.end()
	assert len(boxes()) == 1 and boxes()[0]["sandbox_id"] not in (kept, gone)
	sbxrun("box", "destroy", boxes()[0]["sandbox_id"])
	END
}

files_are_written_read_listed_and_deleted() {
	mcp <<-'END'
	s = Server()
	s.initialize()
	box = s.call("box_create", language="python")["structuredContent"]["sandbox_id"]
	text = "Grüße\n\t\"x\" \\ \u2028 😀"
	assert s.call("code_write_file", sandbox_id=box, file_path="d/e.txt", content=text)["structuredContent"]["success"]
	assert s.call("code_read_file", sandbox_id=box, file_path="d/e.txt")["structuredContent"]["content"] == text
	assert s.call("code_write_file", sandbox_id=box, file_path="empty", content="")["structuredContent"]["bytes"] == 0
	names = [f["name"] for f in s.call("code_list_files", sandbox_id=box)["structuredContent"]["files"]]
	assert names == ["d", "empty"], names
	assert s.call("file_stat", sandbox_id=box, file_path="d")["structuredContent"]["type"] == "directory"
	assert s.call("file_delete", sandbox_id=box, file_path="empty")["structuredContent"]["success"]
	for path in ("empty", "../../etc/passwd", "/etc/shadow"):
	    r = s.call("code_read_file", sandbox_id=box, file_path=path)
	    assert r["isError"] and "structuredContent" not in r, r
	r = s.call("code_read_file", sandbox_id="none-such", file_path="x")
	assert r["isError"] and "SandboxNotFound" in r["content"][0]["text"] or "not found" in r["content"][0]["text"], r
	r = s.request("resources/read", {"uri": "sbx://%s/d/e%%2Etxt" % box})["result"]["contents"]
	assert r[0]["text"] == text and r[0]["mimeType"] == "text/plain"
	r = s.request("resources/read", {"uri": "sbx://%s/" % box})["result"]["contents"][0]
	assert json.loads(r["text"])["files"][0]["name"] == "d"
	assert s.request("resources/read", {"uri": "sbx://%s/no" % box})["error"]["code"] == -32002
	assert s.modern("resources/read", {"uri": "sbx://%s/no" % box})["error"]["code"] == -32602
	assert s.modern("resources/read", {"uri": "sbx://%s/d/e.txt" % box})["result"]["ttlMs"] == 0
	assert s.request("resources/read", {"uri": "file:///etc/passwd"})["error"]["code"] == -32002
	assert s.request("resources/templates/list")["result"]["resourceTemplates"][0]["uriTemplate"].startswith("sbx://")
	s.end()
	until(lambda: boxes() == [], "the box is still there")
	END
}

images_are_images() {
	mcp <<-'END'
	s = Server()
	s.initialize()
	box = s.call("box_create", language="python")["structuredContent"]["sandbox_id"]
	code = """import zlib, struct
	def chunk(t, d): return struct.pack('>I', len(d)) + t + d + struct.pack('>I', zlib.crc32(t + d))
	open('a.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 1, 1, 8, 0, 0, 0, 0))
	    + chunk(b'IDAT', zlib.compress(b'\\0\\0')) + chunk(b'IEND', b''))
	open('b.png', 'w').write('no image')""".replace("\n\t", "\n")
	assert s.call("code_execute", language="python", code=code, sandbox_id=box)["structuredContent"]["success"]
	r = s.call("view_image", sandbox_id=box, file_path="a.png")
	assert r["content"][0]["type"] == "image" and r["content"][0]["mimeType"] == "image/png" and "structuredContent" not in r, r
	assert s.call("view_image", sandbox_id=box, file_path="b.png")["isError"]
	s.end()
	until(lambda: boxes() == [], "the box is still there")
	END
}

a_modern_client_says_who_it_is_each_time() {
	mcp <<-'END'
	s = Server()
	r = s.modern("server/discover")["result"]
	assert r["supportedVersions"] == ["2026-07-28"] and r["resultType"] == "complete" and r["cacheScope"] == "public"
	assert r["_meta"][META + "serverInfo"]["name"] == "sbxrun"
	r = s.modern_call("code_execute", language="python", code="print(1)")["result"]
	assert r["resultType"] == "complete" and r["structuredContent"]["stdout"] == "1\n", r
	e = s.modern("tools/list", version="2030-01-01")["error"]
	assert e["code"] == -32022 and e["data"] == {"supported": ["2026-07-28"], "requested": "2030-01-01"}
	assert s.request("tools/list")["error"]["code"] == -32602
	assert s.request("server/discover")["error"]["code"] == -32602
	assert s.request("tools/list", {"_meta": {META + "protocolVersion": "2026-07-28"}})["error"]["code"] == -32602
	for gone in ("ping", "logging/setLevel", "resources/subscribe", "prompts/list", "completion/complete", "tasks/list"):
	    assert s.modern(gone)["error"]["code"] == -32601, gone
	s.send({"jsonrpc": "2.0", "id": "sub", "method": "subscriptions/listen", "params": {"notifications": {"toolsListChanged": True}, "_meta": {
	    META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}}})
	ack = s.line()
	assert ack["method"] == "notifications/subscriptions/acknowledged" and ack["params"]["_meta"][META + "subscriptionId"] == "sub"
	assert s.request("ping")["result"] == {}
	s.initialize()
	assert s.request("server/discover")["error"]["code"] == -32601
	assert s.modern("tools/list")["result"]["resultType"] == "complete"
	assert "resultType" not in s.request("tools/list")["result"]
	s.end()
	until(lambda: boxes() == [], "the box is still there")
	END
}

wrong_arguments_are_told_to_the_model() {
	mcp <<-'END'
	s = Server()
	s.initialize()
	for tool, arguments, word in (
	    ("code_execute", {}, "code"), ("code_execute", {"language": "cobol", "code": "x"}, "cobol"),
	    ("code_execute", {"language": "python", "code": "x", "timeout": 0}, "timeout"),
	    ("code_execute", {"language": "python", "code": "x", "timeout": "5"}, "timeout"),
	    ("code_execute", {"language": "python", "code": "x", "nonsense": 1}, "nonsense"),
	    ("code_execute", {"language": "python", "code": "x", "network_enabled": True}, "allowed_domains"),
	    ("code_execute", {"language": "python", "code": "x", "sandbox_id": "--root"}, ""),
	    ("code_execute", {"language": "python", "code": "x", "sandbox_id": "../x"}, "sandbox_id"),
	    ("box_exec", {"sandbox_id": "x", "command": []}, "command"), ("code_write_file", {"sandbox_id": "x", "file_path": "f"}, "content"),
	    ("code_install_package", {"sandbox_id": "x", "package": "y", "registry": "evil"}, "registry"),
	):
	    r = s.call(tool, **arguments)
	    assert r["isError"] and word in r["content"][0]["text"], (tool, r)
	assert s.request("tools/call", {"name": "rm", "arguments": {}})["error"]["code"] == -32602
	assert s.request("tools/call", {"arguments": {}})["error"]["code"] == -32602
	assert s.request("tools/call", {"name": "box_list", "arguments": []})["result"]["isError"]
	assert s.request("no/such")["error"]["code"] == -32601
	s.notify("notifications/nobody/knows")
	assert s.request("ping")["result"] == {}
	END
}

a_call_is_cancelled_and_not_answered() {
	mcp <<-'END'
	s = Server()
	s.initialize()
	box = s.call("box_create", language="python")["structuredContent"]["sandbox_id"]
	s.send({"jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": {"name": "code_execute", "arguments": {
	    "language": "python", "code": "open('began','w')\nimport time; time.sleep(1000)", "sandbox_id": box, "timeout": 900}}})
	until(lambda: "began" in sbxrun("box", "ls", box), "it did not begin")
	assert s.request("ping")["result"] == {}
	s.notify("notifications/cancelled", {"requestId": "none-such"})
	s.notify("notifications/cancelled", {"requestId": "long", "reason": "enough"})
	until(lambda: boxes()[0]["status"] == "idle", "it runs on")
	assert s.call("code_execute", language="python", code="print(5)", sandbox_id=box)["structuredContent"]["stdout"] == "5\n"
	assert all(m.get("id") != "long" for m in s.lines)
	s.end()
	until(lambda: boxes() == [], "the box is still there")
	END
}

progress_is_told_to_who_asked() {
	mcp <<-'END'
	s = Server()
	s.initialize()
	seen = []
	r = s.request("tools/call", {"name": "code_execute", "arguments": {"language": "python", "code": "import time; time.sleep(6)"},
	                             "_meta": {"progressToken": "p"}}, seen=seen)
	assert r["result"]["structuredContent"]["success"], r
	assert len(seen) >= 1 and all(m["method"] == "notifications/progress" and m["params"]["progressToken"] == "p" for m in seen), seen
	assert [m["params"]["progress"] for m in seen] == sorted({m["params"]["progress"] for m in seen})
	s.end()
	until(lambda: boxes() == [], "the box is still there")
	END
}

what_it_leaves_when_it_is_killed_is_ended() {
	mcp <<-'END'
	s = Server()
	s.initialize()
	box = s.call("box_create", language="python")["structuredContent"]["sandbox_id"]
	other = sbxrun("box", "create", "python").strip()
	for where in (box, other):
	    s.send({"jsonrpc": "2.0", "id": where, "method": "tools/call", "params": {"name": "code_execute", "arguments": {
	        "language": "python", "code": "open('began','w')\nimport time; time.sleep(1000)", "sandbox_id": where, "timeout": 900}}})
	    until(lambda: "began" in sbxrun("box", "ls", where), "it did not begin")
	s.process.kill()
	s.process.wait()
	until(lambda: [(b["sandbox_id"], b["status"]) for b in boxes()] == [(other, "idle")], "something is left")
	sbxrun("box", "destroy", other)
	END
}

long_output_is_shortened_and_said() {
	mcp <<-'END'
	s = Server()
	s.initialize()
	o = s.call("code_execute", language="python", code="print('é' * 100000); import sys; sys.stderr.buffer.write(b'x' * 10)")["structuredContent"]
	assert o["truncated"] == {"stdout": True, "stderr": False} and len(o["stdout"].encode()) < 17000, o["truncated"]
	assert "left out" in o["stdout"] and o["stdout"].startswith("éé") and o["stdout"].endswith("é\n") and "\ufffd" not in o["stdout"]
	o = s.call("code_execute", language="python", code="import sys; sys.stdout.buffer.write(bytes(range(256)) * 400)")["structuredContent"]
	assert o["encoding"] == "base64" and o["truncated"]["stdout"] and len(o["stdout"]) == 16384
	s.end()
	until(lambda: boxes() == [], "the boxes are still there")
	END
}

it_has_no_rights() {
	mcp <<-'END'
	s = Server()
	s.initialize()
	s.call("box_list")
	def status(pid): return dict(line.rstrip("\n").split(":\t", 1) for line in open("/proc/%s/status" % pid) if ":\t" in line)
	for pid in [s.pid, *open("/proc/%d/task/%d/children" % (s.pid, s.pid)).read().split()]:
	    st = status(pid)
	    assert {st[c] for c in ("CapPrm", "CapEff", "CapInh", "CapAmb")} == {"0" * 16}, st
	    # Children of root's get their rights by execve; an ordinary user's server and what it starts get none by any program.
	    ordinary = os.environ.get("SBX_VIEW", "").startswith("rootless")
	    assert (st["Uid"].split("\t")[0] != "0") == ordinary, st
	    assert st["NoNewPrivs"] == ("1" if ordinary else "0"), st
	END
}

# What a model may ask for is the operator's, and where he says nothing, bounded all the same.
what_a_model_asks_for_is_bounded() {
	mcp <<-'END'
	s = Server()
	s.initialize()
	def denied(**a):
	    r = s.call("box_create", language="shell", **a)
	    if not r.get("isError"): s.call("code_destroy_sandbox", sandbox_id=r["structuredContent"]["sandbox_id"])
	    return r["content"][0]["text"] if r.get("isError") else None
	assert denied(memory_mb=64, cpu_percent=50, disk_mb=8) is None
	for key, value, most in (("memory_mb", 2049, "2048"), ("cpu_percent", 201, "200"), ("disk_mb", 4097, "4096"), ("memory_mb", 4294967295, "2048")):
	    text = denied(**{key: value})
	    assert text.startswith("%s: %d is more than a model may ask for here, which is %s (/etc/sbxrun/boxes.json" % (key, value, most)), text
	o = s.call("box_create", language="shell", memory_mb=64, cpu_percent=50, disk_mb=8)["structuredContent"]
	l = [b for b in boxes() if b["sandbox_id"] == o["sandbox_id"]][0]["limits"]
	assert (l["memory"], l["cpus"], l["disk"]) == (64 << 20, 0.5, 8 << 20), l
	s.end()
	until(lambda: boxes() == [], "the box is still there")
	END
}

what_a_model_asks_for_is_the_operators() {
	mkdir -p etc/up etc/work
	export -f mcp _mcp_failed needs fail
	echo '{"version": 1, "limits": {"max_memory_mb": 64}, "models": {"max_memory_mb": 100, "max_cpu_percent": 50, "max_disk_mb": 16}}' >boxes.json
	cat >client <<-'END'
	s = Server()
	s.initialize()
	def text(**a): return s.call("box_create", language="shell", **a)["content"][0]["text"]
	assert "101 is more than a model may ask for here, which is 100" in text(memory_mb=101)
	assert "which is 64m" in text(memory_mb=100), "within the limits"
	assert "which is 50 (" in text(cpu_percent=51) and "which is 16 (" in text(disk_mb=17)
	assert "sandbox_id" in text(memory_mb=64, cpu_percent=50, disk_mb=16)
	s.end()
	until(lambda: boxes() == [], "the box is still there")
	open("/etc/sbxrun/boxes.json", "w").write('{"version": 1, "models": {"max_memory": 1}}')
	s = Server()
	s.initialize()
	assert "max_memory" in text(memory_mb=64)
	END
	export T TESTS_DIR SBXRUN
	unshare -m --propagation private bash -c 'mount -t overlay -o "lowerdir=/etc,upperdir=$1/etc/up,workdir=$1/etc/work" overlay /etc || exit 99
		mkdir -p /etc/sbxrun && install -m 644 "$1/boxes.json" /etc/sbxrun/boxes.json || exit 99
		mcp <client' _ "$T" || fail 'see above'
}

run_tests
