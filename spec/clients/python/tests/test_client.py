"""What the package makes of its arguments, and of what sbxrun says: with a false sbxrun."""

import asyncio
import builtins
import json
import os
import pathlib
import tempfile
import time
import unittest

import sbxrun
from sbxrun.compat import guide, lesson, seatbelt

from .fake import FAKE


class Fake(unittest.TestCase):
    def setUp(self):
        dir = tempfile.TemporaryDirectory()
        self.addCleanup(dir.cleanup)
        self.dir = pathlib.Path(dir.name)
        binary = self.dir / "sbxrun"
        binary.write_text(FAKE)
        binary.chmod(0o755)
        self.setenv("SBXRUN", str(binary))

    def setenv(self, name, value):
        old = os.environ.get(name)
        os.environ[name] = value
        self.addCleanup(lambda: os.environ.pop(name) if old is None else os.environ.__setitem__(name, old))

    def answer(self, **keys):
        self.setenv("FAKE_ANSWER", json.dumps(keys))

    def seen(self, result):
        return json.loads(result.stdout)


class TestRun(Fake):
    def test_code_goes_over_a_pipe(self):
        seen = self.seen(sbxrun.run("python", "print('ä')"))
        self.assertEqual(seen["code"], "print('ä')")
        self.assertEqual(seen["argv"], ["do", "--json", "--stdin", "/dev/null", "python", "-"])

    def test_hosts_are_lists(self):
        seen = self.seen(sbxrun.run("bash", "true", allow=["a.org", "@pypi"], deny=["b.org:22"], net_limit="1m", net_rate=4096))
        line = " ".join(seen["argv"])
        self.assertIn("--allow a.org --allow @pypi --deny b.org:22", line)
        self.assertIn("--net-limit 1m --net-rate 4096", line)
        with self.assertRaises(TypeError):
            sbxrun.run("bash", "true", allow="a.org")

    def test_packages_and_rules_of_a_box(self):
        box = sbxrun.Box.attach("b1")
        seen = self.seen(box.install("tiny==1.0", timeout=9))
        self.assertEqual(seen["argv"], ["box", "install", "--json", "--timeout", "9", "--", "b1", "pypi", "tiny==1.0"])
        self.answer(allow=["a.org"], deny=[])
        self.assertEqual(box.allow("a.org", "b.org", remove=True), {"allow": ["a.org"], "deny": []})
        self.assertEqual(box.rules(), {"allow": ["a.org"], "deny": []})

    def test_every_option_has_its_flag(self):
        seen = self.seen(
            sbxrun.run(
                "bash",
                "true",
                timeout=1.5,
                cpu_time=1e-5,
                memory="1g",
                cpus=0.5,
                pids_limit=9,
                disk=4096,
                tmpfs="1m",
                output_limit=10,
                file_size="2m",
                rootfs="./r",
                preset="judge",
                user="1:2",
                workdir="/w",
                network="none",
                denials="calls",
                copy_out=pathlib.Path("out"),
                audit="log",
                strict_limits=True,
                redact=True,
                env={"A": "b c"},
                ulimits={"core": "0"},
                volumes={"/a": "/b:ro"},
                args=["x", "--y"],
                root="/state",
                policy="code",
            )
        )
        argv = seen["argv"]
        self.assertEqual(argv[:5], ["--root", "/state", "--policy", "code", "do"])
        self.assertEqual(argv[-4:], ["bash", "-", "x", "--y"])
        for words in (
            "--timeout 1.500000", "--cpu-time 0.000010", "--memory 1g", "--cpus 0.500000", "--pids-limit 9", "--disk 4096", "--tmpfs 1m",
            "--output-limit 10", "--file-size 2m", "--rootfs ./r", "--preset judge", "--user 1:2", "--workdir /w", "--network none",
            "--denials calls", "--copy-out out", "--audit log", "--env A=b c", "--ulimit core=0", "--volume /a:/b:ro",
        ):
            flag, value = words.split(" ", 1)
            self.assertEqual(argv[argv.index(flag) + 1], value)
        self.assertIn("--strict-limits", argv)
        self.assertIn("--redact", argv)

    def test_no_option_is_forgotten(self):
        from sbxrun import _command, _run
        import inspect

        known = set(_command._VALUES) | set(inspect.signature(_command.Command.__init__).parameters)
        self.assertLessEqual(set(_run.Options.__annotations__), known)
        self.assertLessEqual(set(_command._VALUES), set(_run.Options.__annotations__))

    def test_unknown_options_are_errors(self):
        with self.assertRaises(TypeError):
            sbxrun.run("python", "1", memmory="1g")

    def test_inputs_are_files(self):
        seen = self.seen(
            sbxrun.run("python", "1", stdin="in\n", files={"a.csv": "1,2", "d/b": b"x"}, redact_rules=[{"name": "r", "pattern": "p"}])
        )
        self.assertEqual(seen["read"]["--stdin "], "in\n")
        self.assertEqual(seen["read"]["--volume /workspace/a.csv:ro"], "1,2")
        self.assertEqual(seen["read"]["--volume /workspace/d/b:ro"], "x")
        self.assertEqual(json.loads(seen["read"]["--redact-rules "])["rules"], [{"name": "r", "pattern": "p"}])
        for word in seen["argv"]:
            self.assertFalse(os.path.exists(word.split(":")[0]) and "sbxrun-" in word, "a file is left")

    def test_files_stay_in_the_workspace(self):
        for name in ("/etc/x", "../x", "a/../../x", "a:b", ""):
            with self.assertRaises(sbxrun.SandboxError):
                sbxrun.run("python", "1", files={name: ""})

    def test_a_command(self):
        self.assertEqual(self.seen(sbxrun.run_command(["ls", "-l"]))["argv"][-3:], ["--", "ls", "-l"])

    def test_a_result_has_every_key(self):
        r = sbxrun.run("python", "1")
        self.assertEqual((r.id, r.success, r.exit_code, r.denials, r.limits), ("do-1", True, 0, [], {"memory": 1}))
        self.assertEqual(r.raw["later"], "key")

    def test_output_that_is_no_text(self):
        self.answer(stdout="Yf8=", stderr="", encoding="base64")
        r = sbxrun.run("python", "1")
        self.assertEqual(r.stdout_bytes, b"a\xff")
        self.assertEqual(r.stdout, "a\ufffd")

    def test_compile_results(self):
        r = sbxrun.run("python", "1").raw
        self.answer(compile={**r, "exit_code": 4})
        self.assertEqual(sbxrun.run("c", "1").compile.exit_code, 4)


class TestNoOptions(Fake):
    """What a model may have written is no option of sbxrun."""

    BAD = "--rootfs=/"

    def test_words_of_a_box(self):
        self.answer(sandbox_id="b1", bytes=0, content="", encoding="utf-8", files=[], workspace={}, root={}, allow=[], deny=[])
        self.setenv("FAKE_LOG", str(self.dir / "log"))
        bad, box = self.BAD, sbxrun.Box(self.BAD)
        box.run(bad, "1", args=[bad])
        box.run(bad, "1", args=[bad], session=bad)
        box.run_command([bad])
        box = sbxrun.Box.attach(bad)
        box.write(bad, ""), box.read(bad), box.ls(bad), box.remove(bad), box.diff(), box.snapshot(bad), box.fork()
        box.install(bad, bad), box.allow(bad), box.deny(bad), box.rules(), box.end_session(bad), box.destroy()
        sbxrun.Box.from_snapshot(bad)
        lines = [json.loads(line)["argv"] for line in (self.dir / "log").read_text().splitlines()]
        self.assertEqual(len(lines), 18)
        for argv in lines:
            self.assertNotIn(bad, argv[: argv.index("--")], argv)

    def test_a_language(self):
        with self.assertRaisesRegex(sbxrun.SandboxError, "no language"):
            sbxrun.run(self.BAD, "1")


class TestErrors(Fake):
    def test_the_box_is_to_blame(self):
        self.answer(status="sandbox_error", success=False, error={"type": "SandboxError", "message": "no rootfs"})
        with self.assertRaisesRegex(sbxrun.SandboxError, "no rootfs") as e:
            sbxrun.run("python", "1")
        self.assertEqual(e.exception.result.status, "sandbox_error")

    def test_a_wrong_call(self):
        self.setenv("FAKE_ANSWER", "usage")
        with self.assertRaisesRegex(sbxrun.SandboxError, "is no size"):
            sbxrun.run("python", "1", memory="x")
        with self.assertRaisesRegex(sbxrun.SandboxError, "is no size"):
            list(sbxrun.stream("python", "1", memory="x"))

    def test_answers_that_are_none(self):
        self.setenv("FAKE_ANSWER", "nonsense")
        with self.assertRaisesRegex(sbxrun.SandboxError, "no result"):
            sbxrun.run("python", "1")
        self.answer(v=2)
        with self.assertRaisesRegex(sbxrun.SandboxError, "version 2"):
            sbxrun.run("python", "1")

    def test_no_program(self):
        with self.assertRaisesRegex(sbxrun.SandboxError, "No such file"):
            sbxrun.run("python", "1", binary=str(self.dir / "absent"))
        self.setenv("SBXRUN", "")
        self.setenv("PATH", "")
        with self.assertRaisesRegex(sbxrun.SandboxError, "no sbxrun"):
            sbxrun.run("python", "1")

    def test_the_program_is_to_blame_if_asked(self):
        for status, kind, also in (
            ("error", sbxrun.ProgramError, Exception),
            ("signal", sbxrun.ProgramSignal, Exception),
            ("timeout", sbxrun.TimeoutError, builtins.TimeoutError),
            ("oom", sbxrun.OutOfMemory, MemoryError),
        ):
            self.answer(status=status, success=False, exit_code=3)
            self.assertEqual(sbxrun.run("python", "1").status, status)
            for exception in (kind, also, sbxrun.RunError):
                with self.assertRaises(exception) as e:
                    sbxrun.run("python", "1", check=True)
            self.assertEqual(e.exception.result.exit_code, 3)


class TestStream(Fake):
    KINDS = ["start", "stdout", "stderr", "denial", "end"]

    def test_events(self):
        events = list(sbxrun.stream("python", "1"))
        self.assertEqual([e.kind for e in events], self.KINDS)
        self.assertEqual((events[1].text, events[2].data), ("a\n", b"\xff"))
        self.assertEqual(events[-1].result.id, "do-1")
        self.assertEqual(events[3].raw["denial"], {"kind": "syscall"})

    def test_check(self):
        self.answer(status="timeout", success=False)
        with self.assertRaises(sbxrun.TimeoutError):
            list(sbxrun.stream("python", "1", check=True))

    def test_a_closed_generator_ends_the_box(self):
        self.setenv("FAKE_ANSWER", "hang")
        self.setenv("FAKE_ENDED", str(self.dir / "ended"))
        events = sbxrun.stream("python", "1")
        self.assertEqual(next(events).kind, "start")
        events.close()
        self.assertTrue((self.dir / "ended").exists())


class TestAsync(Fake):
    def test_run(self):
        async def main():
            return await asyncio.gather(*(sbxrun.arun("python", str(i)) for i in range(4)), sbxrun.arun_command(["ls"]))

        results = asyncio.run(main())
        self.assertEqual([self.seen(r)["code"] for r in results], ["0", "1", "2", "3", ""])

    def test_stream(self):
        async def main():
            return [e.kind async for e in sbxrun.astream("python", "1")]

        self.assertEqual(asyncio.run(main()), TestStream.KINDS)

    def test_a_cancelled_task_ends_the_box(self):
        self.setenv("FAKE_ANSWER", "hang")
        self.setenv("FAKE_ENDED", str(self.dir / "ended"))

        async def main():
            stream = sbxrun.astream("python", "1")
            await stream.__anext__()  # its handler is there
            await stream.aclose()
            self.assertTrue((self.dir / "ended").exists())
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(sbxrun.arun("python", "1"), 0.2)

        started = time.monotonic()
        asyncio.run(main())
        self.assertLess(time.monotonic() - started, 300)  # and not the 600 s that it sleeps

    def test_errors(self):
        self.setenv("FAKE_ANSWER", "usage")
        with self.assertRaises(sbxrun.SandboxError):
            asyncio.run(sbxrun.arun("python", "1"))


class TestCompat(Fake):
    def test_guide(self):
        self.answer(status="timeout", success=False, timed_out=True, exit_code=-1, stdout="x")
        self.assertEqual(
            guide.run_sandboxed("1", timeout=2),
            {"stdout": "x", "stderr": "Execution timed out after 2s", "returncode": -1, "timed_out": True},
        )

    def test_seatbelt(self):
        self.answer(stdout="o", stderr="e", exit_code=1, success=False, status="error")
        self.assertEqual(seatbelt.Sandbox(allowed_dirs=["/usr"]).run("1"), {"stdout": "o", "stderr": "e", "code": 1})
        self.assertEqual(seatbelt.DockerSandbox().execute("1"), {"output": "o", "error": "e", "exit_code": 1})
        with self.assertRaisesRegex(sbxrun.SandboxError, "sbxrun-rootfs import"):
            seatbelt.DockerSandbox(image="golang:1.22")
        with self.assertRaisesRegex(sbxrun.SandboxError, "no network"):
            seatbelt.DockerSandbox(network=True)

    def test_lesson(self):
        self.answer(stdout="o", stderr="", exit_code=0)
        want = {"stdout": "o", "stderr": "", "returncode": 0, "success": True}
        self.assertEqual(lesson.ProcessSandbox(lesson.SandboxConfig()).execute("1"), want)
        self.assertEqual(lesson.DockerSandbox().execute("1", lesson.ContainerSandboxConfig(image="node:20-slim")), want)
        with self.assertRaises(ValueError):
            lesson.CodeSandbox().execute("1", backend="none")
        text = lesson.OutputSanitizer().check_output_size("x" * 20, max_chars=5)
        self.assertEqual(text, "xxxxx\n[OUTPUT TRUNCATED: 20 chars, showing first 5]")

    def test_rules_of_python_become_ours(self):
        import re

        rule = lesson.SanitizationRule("r", re.compile("a.b", re.I | re.S), "[X]")
        self.assertEqual(rule.as_rule(), {"name": "r", "pattern": "(?is)a.b", "replacement": "[X]"})


if __name__ == "__main__":
    unittest.main()
