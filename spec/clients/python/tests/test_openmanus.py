"""OpenManus's names: with a false sbxrun, and the examples of its manager, sandbox and terminal with the real one."""

import asyncio
import os
import tempfile
import time
import unittest

import sbxrun
from sbxrun.compat import openmanus
from sbxrun.compat.openmanus import DockerSandbox, SandboxManager, SandboxSettings

from .real import Real
from .test_harombe import Tools


class TestOpenManus(Tools):
    def create(self, *given, **how):
        async def main():
            return await DockerSandbox(*given, **how).create()

        before = len(self.calls())
        asyncio.run(main())
        return " ".join(self.calls()[before]["argv"])

    def setUp(self):
        super().setUp()
        self.answer(sandbox_id="b1", stdout="")

    def test_settings_become_options(self):
        line = self.create()
        self.assertIn("--preset openmanus", line)
        self.assertTrue(line.endswith(" python"), line)
        for flag in ("--memory", "--cpus", "--timeout", "--allow", "--idle"):
            self.assertNotIn(flag, line)
        line = self.create(
            SandboxSettings(image="node:20-slim", memory_limit="1g", cpu_limit=0.5, timeout=9, network_enabled=True, allowed_hosts=["a.org"]),
            {"/data": "/workspace/data:ro"},
            idle=60,
        )
        for words in ("--memory 1g", "--cpus 0.5", "--timeout 9", "--allow a.org", "--idle 60", "--volume /data:/workspace/data:ro"):
            self.assertIn(words, line)
        self.assertTrue(line.endswith(" javascript"), line)

    def test_what_there_is_not(self):
        for settings, text in (
            (SandboxSettings(image="nonexistent:latest"), "sbxrun-rootfs import"),
            (SandboxSettings(network_enabled=True), "allowed_hosts"),
            (SandboxSettings(allowed_hosts=["a.org"]), "network_enabled"),
        ):
            with self.assertRaisesRegex(openmanus.SandboxError, text):
                self.create(settings)
        self.assertEqual(self.calls(), [])
        with self.assertRaises(ValueError):
            openmanus.AsyncDockerizedTerminal("b1", env_vars={"A;B": ""})
        for use in (DockerSandbox().run_command("true"), openmanus.create_sandbox_client().read_file("x")):
            with self.assertRaisesRegex(RuntimeError, "not initialized"):
                asyncio.run(use)

    def test_a_box_whose_terminal_fails_is_not_left(self):
        self.answer(sandbox_id="b1", stdout="no\n")
        with self.assertRaisesRegex(openmanus.SandboxError, "working directory"):
            self.create(SandboxSettings(work_dir="/invalid"))
        self.assertEqual([call["argv"][1] for call in self.calls()], ["create", "run", "destroy"])

    def test_files_are_those_of_the_workspace(self):
        sandbox = DockerSandbox(SandboxSettings(work_dir="/workspace/sub"))
        for path, want in (("a", "sub/a"), ("/workspace/a/b", "a/b"), ("../a", "sub/../a")):
            self.assertEqual(sandbox._path(path), want)
        for path in ("/etc/passwd", "/workspaces/x", "/"):
            with self.assertRaisesRegex(openmanus.SandboxError, "not below /workspace"):
                sandbox._path(path)

    def test_errors_by_type(self):
        async def main():
            sandbox = await DockerSandbox().create()
            self.answer(status="timeout", success=False, timed_out=True, error={"type": "TimeoutError", "message": "interrupted"})
            with self.assertRaises(TimeoutError) as e:
                await sandbox.run_command("sleep 9", timeout=1)
            self.assertIsInstance(e.exception, (openmanus.SandboxTimeoutError, openmanus.SandboxError))
            self.answer(status="oom", success=False, oom_killed=True)
            with self.assertRaises(openmanus.SandboxResourceError):
                await sandbox.run_command("x")
            self.answer(stdout="bye\n", success=False, error={"type": "SessionEnded", "message": "it has ended"})
            self.assertEqual(await sandbox.run_command("exit"), "bye")
            self.answer(success=False, error={"type": "SessionError", "message": "no result"})
            with self.assertRaisesRegex(openmanus.SandboxError, "no result"):
                await sandbox.run_command("x")

        asyncio.run(main())


class TestRealOpenManus(Real):
    def test_manager(self):
        async def main():
            async with SandboxManager(max_sandboxes=2, idle_timeout=60, cleanup_interval=30) as manager:
                first = await manager.create_sandbox()
                sandbox = await manager.get_sandbox(first)
                self.assertEqual((await sandbox.run_command("echo 'test'")).strip(), "test")
                second = await manager.create_sandbox()
                with self.assertRaises(RuntimeError) as e:
                    await manager.create_sandbox()
                self.assertEqual(str(e.exception), "Maximum number of sandboxes (2) reached")
                self.assertIsInstance(e.exception, openmanus.SandboxResourceError)
                with self.assertRaisesRegex(KeyError, "Sandbox .* not found"):
                    await manager.get_sandbox("nonexistent-id")
                await manager.delete_sandbox(first)
                await manager.delete_sandbox(first)
                with self.assertRaises(KeyError):
                    await manager.get_sandbox(first)
                # One that sbxrun has removed makes room for another.
                third = await manager.create_sandbox()
                await sbxrun.AsyncBox(second).destroy()
                fourth = await manager.create_sandbox()
                with self.assertRaises(KeyError):
                    await manager.get_sandbox(second)
            there = [box["sandbox_id"] for box in sbxrun.Box.list()]
            self.assertFalse({first, second, third, fourth} & set(there))

        asyncio.run(main())

    def test_idle_timeout(self):
        def there():
            return {box["sandbox_id"] for box in sbxrun.Box.list()}

        async def main():
            async with SandboxManager(max_sandboxes=1, idle_timeout=6, cleanup_interval=0.5) as manager, SandboxManager(max_sandboxes=1) as other:
                idle, kept = await manager.create_sandbox(), await other.create_sandbox()
                self.assertLessEqual({idle, kept}, there())
                with self.assertRaises(openmanus.SandboxResourceError):
                    await manager.create_sandbox()
                # It is the manager that notices, every now and then.
                end = time.monotonic() + 120
                while idle in manager._sandboxes and time.monotonic() < end:
                    await asyncio.sleep(0.1)
                with self.assertRaisesRegex(KeyError, "Sandbox .* not found"):
                    await manager.get_sandbox(idle)
                self.assertEqual({idle, kept} & there(), {kept})
                # It makes room for another.
                await manager.create_sandbox()

        asyncio.run(main())

    def test_sandbox(self):
        async def main():
            config = SandboxSettings(image="python:3.12-slim", work_dir="/workspace/w", memory_limit="256m", cpu_limit=0.5)
            with tempfile.TemporaryDirectory() as d:
                os.chmod(d, 0o755)
                async with DockerSandbox(config, {d: "/data:ro"}) as sandbox:
                    self.assertEqual(await sandbox.terminal.run_command("pwd; ls -d /data"), "/workspace/w\n/data")
                    await sandbox.write_file("nested/test.txt", "Hello from file!")
                    self.assertEqual(await sandbox.read_file("/workspace/w/nested/test.txt"), "Hello from file!")
                    await sandbox.write_file("test.py", "print('Hello from Python!')\nprint(open('nested/test.txt').read())\n")
                    self.assertEqual(await sandbox.run_command("python3 test.py"), "Hello from Python!\nHello from file!")
                    with self.assertRaises(FileNotFoundError):
                        await sandbox.read_file("absent")
                    with self.assertRaises(openmanus.SandboxError):
                        await sandbox.read_file("../../etc/passwd")
                    await sandbox.copy_from("test.py", os.path.join(d, "out"))
                    await sandbox.copy_to(os.path.join(d, "out"), "again.py")
                    self.assertEqual(await sandbox.run_command("cmp test.py again.py && echo same"), "same")
            with self.assertRaisesRegex(openmanus.SandboxError, "working directory"):
                await DockerSandbox(SandboxSettings(work_dir="/invalid")).create()

        asyncio.run(main())
        self.assertEqual([b for b in sbxrun.Box.list() if b["sandbox_id"].startswith("sandbox-")], [])

    def test_terminal_keeps_its_state(self):
        async def main():
            async with await sbxrun.AsyncBox.create("bash") as box:
                terminal = openmanus.AsyncDockerizedTerminal(box.id, env_vars={"TEST_VAR": "it's"}, default_timeout=30)
                await terminal.init()
                self.assertEqual(await terminal.run_command("echo $TEST_VAR; pwd"), "it's\n/workspace")
                self.assertEqual(await terminal.run_command("x=1; f() { echo $((x + 1)); }; cd /tmp; echo a; echo b >&2"), "a\nb")
                self.assertEqual(await terminal.run_command("f; pwd"), "2\n/tmp")
                with self.assertRaises(TimeoutError):
                    await terminal.run_command("sleep 60", timeout=1)
                self.assertEqual(await terminal.run_command("f; exit 3"), "2")
                self.assertEqual(await terminal.run_command("echo ${x-none} $TEST_VAR; pwd; echo c >&2"), "none it's\n/workspace\nc")
                await terminal.close()
                await terminal.close()

        asyncio.run(main())

    def test_client(self):
        async def main():
            client = openmanus.create_sandbox_client()
            await client.create(SandboxSettings(image="bash:5.2"))
            try:
                await client.write_file("f", "x\n")
                self.assertEqual((await client.run_command("cat f"), await client.read_file("f")), ("x", "x\n"))
            finally:
                await client.cleanup()
            with self.assertRaises(RuntimeError):
                await client.run_command("true")

        asyncio.run(main())


if __name__ == "__main__":
    unittest.main()
