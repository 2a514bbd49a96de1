"""A client of `sbxrun mcp` for tests: lines as they are, and calls for people who are in a hurry.

    s = Server()                    # $SBXRUN --root $T/state mcp …; the environment says how
    s.initialize("2025-06-18")
    r = s.call("code_execute", language="python", code="print(1)")     # the result of tools/call
"""
import json
import os
import select
import subprocess
import time

# Whom the server and `sbxrun` are: in the views of an ordinary user he, while the tests stay root.
UID = int(os.environ["SBX_UID"]) if os.environ.get("SBX_VIEW", "").startswith("rootless") else os.getuid()
DEADLINE = float(os.environ.get("WAIT_MOST", "60"))
META = "io.modelcontextprotocol/"


class Server:
    def __init__(self, *options, globals=(), env=None, **popen):
        # Most tests are about something else than a person's answer.
        options = options if "--ask" in options or "--rules" in options or "" in options else ("--ask", "none", *options)
        options = [o for o in options if o]
        runtime, root = os.environ["SBXRUN"], os.environ["T"] + "/state"
        self.process = subprocess.Popen(
            [runtime, "--root", root, *globals, "mcp", *options],
            stdin=subprocess.PIPE, stdout=popen.pop("stdout", subprocess.PIPE), stderr=popen.pop("stderr", None),
            env={**os.environ, **(env or {})}, **popen)
        self.pid, self.rest, self.n, self.lines = self.process.pid, b"", 0, []

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.write(json.dumps(message).encode() + b"\n")

    def line(self, deadline=DEADLINE):
        """The next line as an object; None: there will be none."""
        end = time.monotonic() + deadline
        while b"\n" not in self.rest:
            left = end - time.monotonic()
            assert left > 0, "no line came"
            if not select.select([self.process.stdout], [], [], left)[0]:
                continue
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                assert not self.rest, "half a line: %r" % self.rest[:200]
                return None
            self.rest += data
        line, _, self.rest = self.rest.partition(b"\n")
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        self.lines.append(message)
        return message

    def answer(self, id, seen=None):
        """The answer to a request; what comes before it is put into `seen`."""
        while True:
            message = self.line()
            assert message is not None, "the server has ended"
            if message.get("id") == id and type(message["id"]) is type(id) and "method" not in message:
                return message
            assert seen is not None, "unexpected: %r" % message
            seen.append(message)

    def request(self, method, params=None, id=None, seen=None):
        if id is None:
            self.n += 1
            id = self.n
        self.send({"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})})
        return self.answer(id, seen)

    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})})

    def initialize(self, version="2025-11-25", capabilities=None):
        r = self.request("initialize", {"protocolVersion": version, "capabilities": capabilities or {},
                                        "clientInfo": {"name": "tests", "version": "1"}})
        self.notify("notifications/initialized")
        return r["result"]

    def call(self, tool, seen=None, **arguments):
        return self.request("tools/call", {"name": tool, "arguments": arguments}, seen=seen)["result"]

    def modern(self, method, params=None, capabilities=None, version="2026-07-28", **how):
        meta = {META + "protocolVersion": version, META + "clientCapabilities": capabilities or {}}
        return self.request(method, {**(params or {}), "_meta": {**meta, **(params or {}).get("_meta", {})}}, **how)

    def modern_call(self, tool, capabilities=None, more=None, **arguments):
        return self.modern("tools/call", {"name": tool, "arguments": arguments, **(more or {})}, capabilities)

    def end(self):
        """Its input ends; the status that it ends with."""
        self.process.stdin.close()
        return self.process.wait(DEADLINE)


def until(what, why, deadline=DEADLINE):
    end = time.monotonic() + deadline
    while not what():
        assert time.monotonic() < end, why
        time.sleep(0.02)


def sbxrun(*words, ok=True, errors=False):
    p = subprocess.run([os.environ["SBXRUN"], "--root", os.environ["T"] + "/state", *words],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    assert not ok or p.returncode == 0, p.stderr
    assert not errors or p.returncode != 0, p.stdout
    return (p.stderr if errors else p.stdout).decode()


def put_file(path, text, mode=0o644):
    """A file of the user's."""
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, mode)
    os.chown(path, UID, UID)


def boxes():
    return json.loads(sbxrun("box", "list", "--json"))
