"""The same with the real program, where SBXRUN_REAL names it: what the documents show."""

import asyncio
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import sbxrun
from sbxrun.compat import guide, lesson, seatbelt

from .real import REAL, Real


class TestReal(Real):
    def test_code_and_result(self):
        r = sbxrun.run("python", "import sys; print(2 + 2); print('e', file=sys.stderr); sys.exit(3)")
        self.assertEqual((r.stdout, r.stderr, r.exit_code, r.status, r.success), ("4\n", "e\n", 3, "error", False))
        self.assertGreater(r.execution_time, 0)
        self.assertIn("pids_peak", r.usage)  # None where nobody counts

    def test_every_key_of_the_result_is_known(self):
        import dataclasses

        r = sbxrun.run("bash", "true")
        known = {f.name for f in dataclasses.fields(sbxrun.Result)} | {"stdout", "stderr"}
        self.assertLessEqual(set(r.raw), known)

    def test_bytes(self):
        self.assertEqual(sbxrun.run("bash", r"printf '\377\0'").stdout_bytes, b"\xff\0")

    def test_inputs(self):
        with tempfile.TemporaryDirectory() as out:
            r = sbxrun.run(
                "bash",
                'cat data.csv sub/x - >result; cat result; echo "$A" "$@"; echo no >data.csv',
                stdin="in\n",
                files={"data.csv": "1,2\n", "sub/x": b"x\n"},
                env={"A": "b c"},
                args=["y z"],
                copy_out=os.path.join(out, "o"),
            )
            self.assertEqual(r.stdout, "1,2\nx\nin\nb c y z\n", r.stderr)
            self.assertIn("Read-only", r.stderr)
            self.assertEqual(pathlib.Path(out, "o", "result").read_text(), "1,2\nx\nin\n")

    def test_statuses(self):
        with self.assertRaises(sbxrun.TimeoutError) as e:
            sbxrun.run("bash", "echo so far; sleep 60", timeout=0.5, check=True)
        self.assertEqual(e.exception.result.stdout, "so far\n")
        with self.assertRaises(sbxrun.SandboxError):
            sbxrun.run("python", "1", rootfs="/nonexistent")
        with self.assertRaisesRegex(sbxrun.SandboxError, "memory"):
            sbxrun.run("python", "1", memory="1x")

    def test_streams(self):
        code = "echo a; sleep 0.2; echo b >&2; exit 2"
        events = list(sbxrun.stream("bash", code))
        self.assertEqual([e.data for e in events if e.kind == "stdout"], [b"a\n"])
        self.assertEqual([e.data for e in events if e.kind == "stderr"], [b"b\n"])
        self.assertEqual((events[-1].kind, events[-1].result.exit_code), ("end", 2))

        async def main():
            return [e.kind async for e in sbxrun.astream("bash", code)]

        self.assertEqual(asyncio.run(main()), [e.kind for e in events])

    def test_async(self):
        async def main():
            return await asyncio.gather(*(sbxrun.arun("bash", f"echo {i}") for i in range(3)))

        self.assertEqual([r.stdout for r in asyncio.run(main())], ["0\n", "1\n", "2\n"])

    def test_what_changed_in_a_box(self):
        with sbxrun.Box("bash", rootfs="host") as box:
            box.write("d/f", "x")
            changed = box.diff()
            self.assertEqual([c["path"] for c in changed["workspace"]["added"]], ["d", "d/f"])
            self.assertIsNone(changed["root"])
            self.assertEqual(box.snapshot("kept-" + box.id)["files"], 2)
            name = "kept-" + box.id
            with box.fork() as copy, sbxrun.Box.from_snapshot(name, id="from-" + box.id) as later:
                copy.write("d/f", "y")
                self.assertEqual((box.read("d/f"), copy.read("d/f"), later.read("d/f")), (b"x", b"y", b"x"))
                self.assertLessEqual({box.id, copy.id, "from-" + box.id}, {b["sandbox_id"] for b in sbxrun.Box.list()})
            self.assertNotIn(copy.id, [b["sandbox_id"] for b in sbxrun.Box.list()])
        with self.assertRaises(sbxrun.SandboxError):
            box.diff()
        with self.assertRaises(sbxrun.SandboxError):
            box.fork()

    def test_no_option_of_a_box_is_forgotten(self):
        from sbxrun import _box
        import inspect

        text = subprocess.run([REAL, "box", "--help"], stdout=subprocess.PIPE, check=True).stdout.decode()
        there = {name for name, about in re.findall(r"^ +(?:-\w, )?--([a-z-]+)\S*(.*)$", text, re.M) if "create" in about}
        self.assertIn("memory", there)
        known = set(_box._CREATE) | set(inspect.signature(_box._Calls.create).parameters)
        known = {name.replace("_", "-") for name in known}
        self.assertEqual(there - known - {"volume", "ulimit", "env-file"}, set())

    # ---- the documents ----

    MEAN = "import statistics\nx = [2, 4, 4, 4, 5, 5, 7, 9]\nprint(statistics.mean(x), statistics.pstdev(x))"

    def test_guide(self):
        self.assertEqual(
            guide.run_sandboxed(self.MEAN), {"stdout": "5 2.0\n", "stderr": "", "returncode": 0, "timed_out": False}
        )
        r = guide.run_sandboxed("while True: pass", timeout=1)
        self.assertEqual((r["returncode"], r["timed_out"]), (-1, True))
        self.assertIn("Execution timed out after 1s", r["stderr"])

    def test_seatbelt(self):
        r = seatbelt.Sandbox().run("import socket\nsocket.create_connection(('evil.com', 80))")
        self.assertNotEqual(r["code"], 0)
        r = seatbelt.Sandbox().run("import os\nprint(os.system('rm -rf / 2>/dev/null') != 0)")
        self.assertEqual(r["stdout"], "True\n")
        with tempfile.TemporaryDirectory() as d:
            pathlib.Path(d, "f").write_text("here")
            os.chmod(d, 0o755)
            self.assertEqual(seatbelt.Sandbox(allowed_dirs=[d]).run(f"print(open('{os.path.realpath(d)}/f').read())")["stdout"], "here\n")
        self.assertEqual(seatbelt.DockerSandbox(image="bash:5.2").execute("echo $((6 * 7))")["output"], "42\n")

    def test_lesson(self):
        sandbox = lesson.ProcessSandbox(lesson.SandboxConfig(timeout_seconds=5))
        self.assertEqual(sandbox.execute(self.MEAN)["stdout"], "5 2.0\n")
        r = sandbox.execute("import os\nos.system('id')")
        self.assertFalse(r["success"])
        self.assertIn("Module 'os' is blocked in sandbox", r["stderr"])
        self.assertTrue(lesson.ProcessSandbox(lesson.SandboxConfig(allowed_modules=["math"])).execute("import math")["success"])
        r = sandbox.execute("open('/etc/shadow')")
        self.assertFalse(r["success"])
        self.assertEqual(lesson.DockerSandbox().execute("print(1)", lesson.ContainerSandboxConfig())["stdout"], "1\n")

    def test_lesson_backends(self):
        for backend in ("restricted", "subprocess", "docker"):
            r = lesson.CodeSandbox().execute("print('mail bob@example.com from 10.0.0.5')", backend=backend)
            self.assertTrue(r.success, r.stderr)
            self.assertEqual(r.stdout, "mail [REDACTED_EMAIL] from [REDACTED_INTERNAL_IP]\n")
            self.assertTrue(r.sanitized)
            self.assertEqual(r.detections, ["email", "internal_ip"])
        r = lesson.CodeSandbox().execute("print(open('/etc/hostname', 'w'))", backend="restricted")
        self.assertFalse(r.success)
        self.assertIn("not permitted", r.stderr)
        r = lesson.CodeSandbox().execute("import subprocess", backend="restricted")
        self.assertIn("Module 'subprocess' is blocked in sandbox", r.stderr)

    def test_lesson_sanitizer(self):
        text, found = lesson.OutputSanitizer([lesson.SanitizationRule("ticket", r"TICKET-\d+", "[T]")]).sanitize(
            "postgresql://admin:secret@10.0.1.50/db\n/etc/app.yaml for admin@company.com\nsk-proj-abc123def456ghi789\nTICKET-42\n"
        )
        self.assertEqual(
            text, "[REDACTED_CONNECTION_STRING]\n[REDACTED_SYSTEM_PATH] for [REDACTED_EMAIL]\n[REDACTED_API_KEY]\n[T]\n"
        )
        self.assertEqual(sorted(found), ["api_key", "connection_string", "email", "system_path", "ticket"])
        self.assertEqual([d.times for d in found], [1] * 5)

    def test_a_box_stays(self):
        with sbxrun.Box("bash", memory="64m", env={"WHO": "all"}) as box:
            self.assertEqual(box.write("d/data", b"1\xff\n"), 3)
            self.assertEqual(box.run("bash", 'cat >in; cat d/data >>in; echo $WHO "$@"', args=["-x"], stdin="0").stdout, "all -x\n")
            self.assertEqual(box.read("in"), b"01\xff\n")
            self.assertEqual(box.run_command(["cat", "in"], stdin="no").stdout_bytes, b"01\xff\n")
            self.assertEqual([f["name"] for f in box.ls()], ["d", "in"])
            self.assertEqual(box.stat("in")["size"], 4)
            box.remove("in")
            with self.assertRaises(sbxrun.FileError) as e:
                box.read("in")
            self.assertEqual(e.exception.type, "FileNotFoundError")
            with self.assertRaises(sbxrun.TimeoutError):
                box.run("bash", "sleep 60", timeout=0.3, check=True)
            same = sbxrun.Box.attach(box.id)
            self.assertEqual(same.run_command(["cat", "d/data"]).sandbox_id, box.id)
        for use in (lambda: same.read("x"), lambda: same.run("bash", "true")):
            with self.assertRaises(sbxrun.BoxNotFound):
                use()
        same.destroy()

    def test_what_is_done_with_a_box(self):
        with tempfile.TemporaryDirectory() as d:
            log = pathlib.Path(d, "audit")
            with sbxrun.Box("bash", rootfs="host", audit=log) as box:
                box.write("f", "x")
                box.run("bash", "exit 3")
                self.assertEqual([e["verb"] for e in box.logs()], ["write", "run"])
                self.assertEqual(box.sessions(), [])
                box.run("bash", "x=1", session="s")
                self.assertEqual([(s["session"], s["language"]) for s in box.sessions()], [("s", "shell")])
                box.end_session("s")
                name = "of-" + box.id
                box.snapshot(name)
                self.assertIn(name, [s["snapshot"] for s in sbxrun.Box.snapshots()])
                sbxrun.Box.remove_snapshot(name)
                self.assertNotIn(name, [s["snapshot"] for s in sbxrun.Box.snapshots()])
                with self.assertRaisesRegex(sbxrun.SandboxError, "no snapshot"):
                    sbxrun.Box.remove_snapshot(name)
                box.pause()
                with self.assertRaisesRegex(sbxrun.SandboxError, "is paused"):
                    box.run("bash", "true")
                self.assertEqual([b["status"] for b in sbxrun.Box.list() if b["sandbox_id"] == box.id], ["paused"])
                box.resume()
                self.assertTrue(box.run("bash", "true").success)
            done = [json.loads(line)["verb"] for line in log.read_text().splitlines()]
            self.assertEqual(
                done,
                ["box " + v for v in "create write run logs sessions run sessions end-session snapshot pause run resume run destroy".split()],
            )
        gone = sbxrun.Box.attach(box.id)
        for use in (gone.pause, gone.resume, gone.logs, gone.sessions):
            with self.assertRaises(sbxrun.BoxNotFound):
                use()
        with self.assertRaises(sbxrun.SandboxError) as e:
            sbxrun.Box("bash", memory="x")
        self.assertNotIsInstance(e.exception, sbxrun.FileError)

    def test_the_same_for_asyncio(self):
        async def use():
            async with await sbxrun.AsyncBox.create("bash", rootfs="host") as box:
                await box.pause()
                await box.resume()
                await box.run("bash", "x=1", session=True)
                name = "later-" + box.id
                await box.snapshot(name)
                there = [s["snapshot"] for s in await sbxrun.AsyncBox.snapshots()]
                await sbxrun.AsyncBox.remove_snapshot(name)
                return name in there, len(await box.sessions()), [e["verb"] for e in await box.logs()]

        self.assertEqual(asyncio.run(use()), (True, 1, ["run", "snapshot"]))

    def test_a_session_stays(self):
        with sbxrun.Box(rootfs="host") as box:
            self.assertEqual((box.run("python", "x = 41", session=True).session or {})["cell"], 1)
            result = box.run("python", "display(x); x + 1", session=True)
            self.assertEqual((result.result, result.displays), ({"text/plain": "42"}, [{"text/plain": "41"}]))
            result = box.run("python", "x", session="other")
            self.assertEqual((result.exception or {})["name"], "NameError")
            result = box.run("python", "x", session=True, restart=True)
            self.assertEqual((result.exception or {})["name"], "NameError")

    def test_a_box_for_asyncio(self):
        async def use():
            async with await sbxrun.AsyncBox.create("bash") as box:
                await box.write("f", "x")
                call = asyncio.create_task(box.run("bash", "sleep 60"))
                await asyncio.sleep(1)
                call.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await call
                return (await box.run("bash", "cat f")).stdout

        self.assertEqual(asyncio.run(use()), "x")


if __name__ == "__main__":
    unittest.main()
