"""OpenManus's sandbox: DockerSandbox with a terminal that keeps its state, SandboxManager, LocalSandboxClient.

Sandboxes are boxes of sbxrun (sbxrun-box(8)), and the terminal is a session of bash in one. What is asked for beyond the operator's
file is refused there.
"""

from __future__ import annotations

import asyncio
import builtins
import dataclasses
import pathlib
import re
import shlex
import uuid
from typing import Any, Dict, Mapping, Optional, Sequence, Union

from .._box import AsyncBox
from .._command import Path
from .._errors import FileError, SandboxError
from . import language_of

__all__ = [
    "AsyncDockerizedTerminal",
    "DockerSandbox",
    "LocalSandboxClient",
    "SandboxError",
    "SandboxManager",
    "SandboxResourceError",
    "SandboxSettings",
    "SandboxTimeoutError",
    "create_sandbox_client",
]

_WORKSPACE = pathlib.PurePosixPath("/workspace")


class SandboxTimeoutError(SandboxError, builtins.TimeoutError):
    """The time of a command was over."""


class SandboxResourceError(SandboxError, RuntimeError):
    """There are as many sandboxes as there may be, or one of them hit its limit of memory."""


@dataclasses.dataclass
class SandboxSettings:
    use_sandbox: bool = False  # for the caller: whether he wants one at all
    image: str = "python:3.12-slim"
    work_dir: str = "/workspace"
    memory_limit: str = "512m"
    cpu_limit: float = 1.0
    timeout: float = 300
    network_enabled: bool = False
    allowed_hosts: Sequence[str] = ()  # ours: which ones; there is no network as such


def _options(config: SandboxSettings) -> Dict[str, Any]:
    """The document's own limits are a preset, which the operator's file may lower; others are asked for, and had or refused."""
    if config.network_enabled and not config.allowed_hosts:
        raise SandboxError("network_enabled: allowed_hosts has to name the hosts that the sandbox may reach")
    if config.allowed_hosts and not config.network_enabled:
        raise SandboxError("allowed_hosts: network_enabled has to be true")
    usual = SandboxSettings()
    return {
        "preset": "openmanus",
        "allow": list(config.allowed_hosts),
        "memory": None if config.memory_limit == usual.memory_limit else config.memory_limit,
        "cpus": None if config.cpu_limit == usual.cpu_limit else config.cpu_limit,
        "timeout": None if config.timeout == usual.timeout else config.timeout,
    }


class AsyncDockerizedTerminal:
    """A bash that keeps variables, functions and its directory between commands. If it ends, the next command begins it anew."""

    def __init__(
        self,
        container: Union[str, AsyncBox],
        working_dir: str = "/workspace",
        env_vars: Optional[Mapping[str, str]] = None,
        default_timeout: Optional[float] = 60,
    ) -> None:
        """`container` is a box or its id; `default_timeout` None: what the box was made with."""
        self.box = AsyncBox(container) if isinstance(container, str) else container
        self.working_dir = working_dir
        self.default_timeout = default_timeout
        self._session = f"terminal-{uuid.uuid4().hex[:8]}"
        for name in env_vars or {}:
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
                raise ValueError(f"env_vars: {name!r} is no name of a variable")
        settings = "".join(f"export {name}={shlex.quote(value)}; " for name, value in (env_vars or {}).items())
        directory = shlex.quote(working_dir)
        # Before each command: whether the shell is the one of the command before is known to the shell alone. On a terminal
        # there is one stream.
        self._before = (
            f'[ "${{_sbxrun_terminal-}}" ] || {{ _sbxrun_terminal=1; {settings}'
            f"mkdir -p -- {directory} && cd -- {directory}; }}; exec 2>&1\n"
        )

    async def init(self) -> None:
        said = await self.run_command('[ "$PWD" -ef ' + shlex.quote(self.working_dir) + " ] || echo no")
        if said:
            raise SandboxError(f"{self.working_dir} can't be the working directory: take one below /workspace or /tmp")

    async def run_command(self, cmd: str, timeout: Optional[float] = None) -> str:
        """What it printed, on both streams, without newlines at its end."""
        seconds = self.default_timeout if timeout is None else timeout
        r = await self.box.run("bash", self._before + cmd, session=self._session, timeout=seconds)
        if r.timed_out:
            raise SandboxTimeoutError(f"Command timed out after {r.execution_time:.0f} seconds: {r.describe()}", r)
        if r.oom_killed:
            raise SandboxResourceError(r.describe(), r)
        if r.error and r.error["type"] != "SessionEnded":
            raise SandboxError(r.describe(), r)
        return (r.stdout + r.stderr).rstrip("\n")

    async def close(self) -> None:
        """Ends the shell. That there is none any more is no error."""
        try:
            await self.box.end_session(self._session)
        except SandboxError:
            pass


class DockerSandbox:
    """One box. As a context manager it is destroyed at the end."""

    def __init__(
        self,
        config: Optional[SandboxSettings] = None,
        volume_bindings: Optional[Mapping[str, str]] = None,
        *,
        idle: Optional[float] = None,
        root: Optional[Path] = None,
        binary: Optional[Path] = None,
    ) -> None:
        """`volume_bindings`: directories of the host, and where they are in the sandbox (with `:ro`, if nobody may write there)."""
        self.config = config or SandboxSettings()
        self.volume_bindings = dict(volume_bindings or {})
        self.id = f"sandbox-{uuid.uuid4().hex[:12]}"
        self._idle = idle
        self._where: Dict[str, Any] = {"root": root, "binary": binary}
        self._box: Optional[AsyncBox] = None
        self._terminal: Optional[AsyncDockerizedTerminal] = None

    async def create(self) -> "DockerSandbox":
        if self._box:
            raise SandboxError("the sandbox is there already")
        language, _ = language_of(self.config.image)
        options = _options(self.config)
        try:
            box = await AsyncBox.create(
                language, id=self.id, idle=self._idle, volumes=self.volume_bindings, **options, **self._where
            )
            terminal = AsyncDockerizedTerminal(box, self.config.work_dir, default_timeout=None)
            await terminal.init()
        except BaseException:
            await asyncio.shield(AsyncBox(self.id, **self._where).destroy())
            raise
        self._box, self._terminal = box, terminal
        return self

    @property
    def box(self) -> AsyncBox:
        if not self._box:
            raise RuntimeError("Sandbox not initialized")
        return self._box

    @property
    def terminal(self) -> AsyncDockerizedTerminal:
        if not self._terminal:
            raise RuntimeError("Sandbox not initialized")
        return self._terminal

    async def run_command(self, cmd: str, timeout: Optional[float] = None) -> str:
        return await self.terminal.run_command(cmd, timeout)

    def _path(self, path: str) -> str:
        whole = pathlib.PurePosixPath(self.config.work_dir, path)
        try:
            return str(whole.relative_to(_WORKSPACE))
        except ValueError:
            raise SandboxError(f"{path} is not below /workspace, where the files of a sandbox are; a command can reach it") from None

    async def read_file(self, path: str) -> str:
        """Of a file below /workspace; `path` begins at the working directory, unless it begins with a slash."""
        return (await self._read(path)).decode()

    async def _read(self, path: str) -> bytes:
        try:
            return await self.box.read(self._path(path))
        except FileError as e:
            if e.type == "FileNotFoundError":
                raise FileNotFoundError(f"File not found: {path}") from e
            raise

    async def write_file(self, path: str, content: str) -> None:
        """Makes the directories on the way; a reader sees the old file or the new one."""
        await self.box.write(self._path(path), content)

    async def copy_from(self, container_path: str, local_path: str) -> None:
        """One regular file."""
        pathlib.Path(local_path).write_bytes(await self._read(container_path))

    async def copy_to(self, local_path: str, container_path: str) -> None:
        await self.box.write(self._path(container_path), pathlib.Path(local_path).read_bytes())

    async def cleanup(self) -> None:
        """Destroys it. That it is gone already is no error."""
        if self._box:
            await self._box.destroy()
        self._box = self._terminal = None

    async def __aenter__(self) -> "DockerSandbox":
        return await self.create()

    async def __aexit__(self, *exc: object) -> None:
        await self.cleanup()


class SandboxManager:
    """Several sandboxes, by their ids. Which of them nobody has used for `idle_timeout` seconds, sbxrun knows, and removes them."""

    def __init__(
        self,
        max_sandboxes: int = 100,
        idle_timeout: float = 3600,
        cleanup_interval: float = 300,
        *,
        root: Optional[Path] = None,
        binary: Optional[Path] = None,
    ) -> None:
        self.max_sandboxes = max_sandboxes
        self.idle_timeout = idle_timeout
        self.cleanup_interval = cleanup_interval
        self._where: Dict[str, Any] = {"root": root, "binary": binary}
        self._sandboxes: Dict[str, DockerSandbox] = {}
        self._making = asyncio.Lock()
        self._sweeper: "Optional[asyncio.Task[None]]" = None

    async def create_sandbox(
        self, config: Optional[SandboxSettings] = None, volume_bindings: Optional[Mapping[str, str]] = None
    ) -> str:
        async with self._making:
            if len(self._sandboxes) >= self.max_sandboxes:
                await self._sweep()
            if len(self._sandboxes) >= self.max_sandboxes:
                raise SandboxResourceError(f"Maximum number of sandboxes ({self.max_sandboxes}) reached")
            idle = None if self.idle_timeout == 3600 else self.idle_timeout
            sandbox = DockerSandbox(config, volume_bindings, idle=idle, **self._where)
            await sandbox.create()
            self._sandboxes[sandbox.id] = sandbox
        if not self._sweeper or self._sweeper.done():
            self._sweeper = asyncio.ensure_future(self._sweep_always())
        return sandbox.id

    async def get_sandbox(self, sandbox_id: str) -> DockerSandbox:
        try:
            return self._sandboxes[sandbox_id]
        except KeyError:
            raise KeyError(f"Sandbox {sandbox_id} not found") from None

    async def delete_sandbox(self, sandbox_id: str) -> None:
        """That there is none of that id is no error."""
        sandbox = self._sandboxes.get(sandbox_id)
        if sandbox:
            await sandbox.cleanup()
            self._sandboxes.pop(sandbox_id, None)

    async def _sweep(self) -> None:
        # Those that are being made are not among ours yet.
        ours = list(self._sandboxes)
        there = {box["sandbox_id"] for box in await AsyncBox.list(**self._where)}
        for id in ours:
            if id not in there:
                self._sandboxes.pop(id, None)

    async def _sweep_always(self) -> None:
        while True:
            await asyncio.sleep(self.cleanup_interval)
            try:
                await self._sweep()
            except SandboxError:
                pass  # the next one, or whoever uses a sandbox, will see

    async def cleanup(self) -> None:
        """Destroys all of them, also where one fails."""
        if self._sweeper:
            self._sweeper.cancel()
            await asyncio.gather(self._sweeper, return_exceptions=True)
            self._sweeper = None
        async with self._making:
            failed = await asyncio.gather(*map(self.delete_sandbox, list(self._sandboxes)), return_exceptions=True)
        for e in failed:
            if isinstance(e, BaseException):
                raise e

    async def __aenter__(self) -> "SandboxManager":
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.cleanup()


class LocalSandboxClient:
    """One sandbox at a time."""

    def __init__(self) -> None:
        self.sandbox: Optional[DockerSandbox] = None

    def _there(self) -> DockerSandbox:
        if not self.sandbox:
            raise RuntimeError("Sandbox not initialized")
        return self.sandbox

    async def create(
        self, config: Optional[SandboxSettings] = None, volume_bindings: Optional[Mapping[str, str]] = None
    ) -> None:
        """If it has one already, that one is destroyed first."""
        await self.cleanup()
        self.sandbox = await DockerSandbox(config, volume_bindings).create()

    async def run_command(self, command: str, timeout: Optional[float] = None) -> str:
        return await self._there().run_command(command, timeout)

    async def read_file(self, path: str) -> str:
        return await self._there().read_file(path)

    async def write_file(self, path: str, content: str) -> None:
        await self._there().write_file(path, content)

    async def copy_from(self, container_path: str, local_path: str) -> None:
        await self._there().copy_from(container_path, local_path)

    async def copy_to(self, local_path: str, container_path: str) -> None:
        await self._there().copy_to(local_path, container_path)

    async def cleanup(self) -> None:
        if self.sandbox:
            await self.sandbox.cleanup()
        self.sandbox = None


def create_sandbox_client() -> LocalSandboxClient:
    return LocalSandboxClient()
