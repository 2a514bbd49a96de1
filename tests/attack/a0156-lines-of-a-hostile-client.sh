#!/bin/bash
# What a client, or the model behind it, writes to `sbxrun mcp`: stray bytes, floods, depth, huge lines, ids, and answers that nobody reads.
# The server answers what it can, keeps its memory, and goes on.
# Escape: the server dies, hangs, takes memory without bound, or answers somebody else.
# Views: own
# shellcheck disable=SC2016,SC2034,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/mcp.sh"
ASSERTION_IS=FAKED

stray_bytes_are_refused_and_reading_goes_on() {
	mcp <<-'END'
	s = Server()
	for junk in (b"\x00\x01\xff\xfe\n", b"\xef\xbb\xbf{}\n", b"nonsense\n", b"[]\n", b"{}\n", b'"x"\n', b"[" * 100000 + b"\n",
	             b'{"a":' * 1000 + b"1" + b"}" * 1000 + b"\n", b'{"jsonrpc":"2.0","id":1,"method":"ping"} x\n',
	             b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}\n', b'{"jsonrpc":"2.0","id":1,"method":"p\\u0000"}\n'):
	    s.write(junk)
	    m = s.line()
	    assert m and "error" in m and m["error"]["code"] in (-32700, -32600), (junk[:40], m)
	s.write(b"\n\r\n  \n")
	assert s.request("ping")["result"] == {}
	END
}

a_huge_line_is_dropped_and_costs_a_bounded_memory() {
	mcp <<-'END'
	def peak(pid): return int(next(l for l in open("/proc/%d/status" % pid) if l.startswith("VmHWM")).split()[1])
	s = Server()
	for i in range(40):
	    s.write(b"x" * (1 << 20))
	assert s.line()["error"]["code"] == -32600
	s.write(b"\n")
	assert s.request("ping")["result"] == {}
	assert peak(s.pid) < 64 << 10, peak(s.pid)
	END
}

hostile_ids_are_no_ids() {
	mcp <<-'END'
	s = Server()
	s.initialize()
	for id in (b"null", b"1.5", b"{}", b"[1]", b"true", b'"' + b"x" * 1000 + b'"'):
	    s.write(b'{"jsonrpc":"2.0","id":' + id + b',"method":"ping"}\n')
	    m = s.line()
	    assert m["id"] is None and m["error"]["code"] == -32600, (id[:20], m)
	for id in ('a"b\\', "\u2028", "", -1, 2 ** 60, "1", 1):
	    assert s.request("ping", id=id)["id"] == id
	# Two calls of one id, and answers to questions that nobody asked.
	for id in ("sbx-1", "sbx-999", "sbx--1"):
	    s.send({"jsonrpc": "2.0", "id": id, "result": {"action": "accept", "content": {"decision": "allow_once"}}})
	s.send({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "code_execute", "arguments": {"language": "python", "code": "import time; time.sleep(2)"}}})
	s.send({"jsonrpc": "2.0", "id": 5, "method": "ping"})
	assert s.line()["error"]["code"] == -32600
	assert "result" in s.answer(5)
	s.end()
	until(lambda: boxes() == [], "the box is still there")
	END
}

who_does_not_read_is_not_read_from() {
	mcp <<-'END'
	import threading
	def peak(pid): return int(next(l for l in open("/proc/%d/status" % pid) if l.startswith("VmHWM")).split()[1])
	s = Server()
	s.initialize()
	n, sent = 20000, []
	def flood():
	    for i in range(n):
	        s.send({"jsonrpc": "2.0", "id": i, "method": "tools/list"})
	        sent.append(i)
	t = threading.Thread(target=flood, daemon=True)
	t.start()
	until(lambda: len(sent) > 300, "it takes nothing")
	last = -1
	while last != len(sent):
	    last = len(sent)
	    time.sleep(0.5)
	assert len(sent) < n and peak(s.pid) < 64 << 10, (len(sent), peak(s.pid))
	for i in range(300):
	    assert s.line()["id"] == i
	s.process.kill()
	END
}

a_flood_of_calls_is_bounded() {
	mcp <<-'END'
	s = Server()
	s.initialize()
	for i in range(100):
	    s.send({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": "box_logs", "arguments": {"sandbox_id": "none"}}})
	answers = {s.line()["id"] for i in range(100)}
	assert answers == set(range(100))
	assert s.request("ping")["result"] == {}
	END
}

# Calls that take their time: 64 at once, each a process; what is more is refused at once, and told so.
calls_at_once_are_bounded() {
	mcp <<-'END'
	s = Server()
	s.initialize()
	box = s.call("box_create", language="python")["structuredContent"]["sandbox_id"]
	for i in range(70):
	    s.send({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": "box_exec", "arguments": {"sandbox_id": box, "command": ["sleep", "1000"], "timeout": 3600}}})
	s.send({"jsonrpc": "2.0", "id": "last", "method": "ping"})
	seen = []
	s.answer("last", seen)
	refused = [m for m in seen if "error" in m]
	assert len(refused) == len(seen) == 6, (len(refused), seen[:3])
	assert all(m["error"]["code"] == -32603 and "64 calls run already" in m["error"]["message"] for m in refused), refused[0]
	assert len(open("/proc/%d/task/%d/children" % (s.pid, s.pid)).read().split()) <= 65
	s.notify("notifications/cancelled", {"requestId": 63})
	until(lambda: "error" not in s.request("tools/call", {"name": "box_list", "arguments": {}}, seen=[]), "no place becomes free")
	assert s.end() == 0
	until(lambda: boxes() == [], "the box is still there")
	END
}

run_tests
