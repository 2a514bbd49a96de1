"""A false sbxrun: says how it was called (and in FAKE_LOG, if there is one), and answers what FAKE_ANSWER says."""

FAKE = r"""#!/usr/bin/env -S -u PYTHONHOME python3
import json, os, signal, sys, time
result = {"v": 1, "id": "do-1", "sandbox_id": None, "success": True, "status": "ok", "language": "python", "rootfs": "python",
    "code_sha256": "00", "exit_code": 0, "signal": None, "timed_out": False, "oom_killed": False, "error": None,
    "stdout": "", "stderr": "", "encoding": "utf-8", "truncated": {"stdout": False, "stderr": False},
    "bytes": {"stdout": 0, "stderr": 0}, "redactions": [], "execution_time": 0.01, "usage": {"cpu_s": 0.0},
    "limits": {"memory": 1}, "denials": [], "files": {"added": [], "modified": [], "deleted": []}, "later": "key"}
how = os.environ.get("FAKE_ANSWER", "{}")
argv = sys.argv[1:]
if how == "hang":
    def end(*_):
        open(os.environ["FAKE_ENDED"], "w").close()
        sys.exit(143)
    signal.signal(signal.SIGTERM, end)
    print(json.dumps({"event": "start"}), flush=True)
    time.sleep(600)
code = sys.stdin.read()
if "FAKE_LOG" in os.environ:
    with open(os.environ["FAKE_LOG"], "a") as log:
        log.write(json.dumps({"argv": argv, "code": code}) + "\n")
if how == "usage":
    print('sbxrun: --memory: "x" is no size', file=sys.stderr)
    sys.exit(125)
if how == "nonsense":
    print("{nonsense")
    sys.exit(0)
seen = {"argv": argv, "code": code, "read": {}}
for i, word in enumerate(argv):
    path = argv[i + 1].split(":")[0] if word in ("--stdin", "--redact-rules", "--volume") else None
    if path and os.path.isfile(path):
        seen["read"][word + " " + argv[i + 1].partition(":")[2]] = open(path).read()
result["stdout"] = json.dumps(seen)
result.update(json.loads(how))
if "--stream" in argv:
    for event in ({"event": "start", "id": "do-1"}, {"event": "stdout", "data": "a\n", "encoding": "utf-8"},
                  {"event": "stderr", "data": "/w==", "encoding": "base64"}, {"event": "denial", "denial": {"kind": "syscall"}},
                  {"event": "end", "result": result}):
        print(json.dumps(event), flush=True)
else:
    print(json.dumps(result))
"""
