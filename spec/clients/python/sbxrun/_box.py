"""Boxes that stay between calls (sbxrun-box(8)), for callers of both kinds.

    >>> with sbxrun.Box("python") as box:
    ...     box.write("data.csv", "1,2\\n")
    ...     box.run("python", "print(open('data.csv').read())").stdout
    '1,2\\n\\n'
"""

from __future__ import annotations

import asyncio
import base64
import copy
import json
import os
import subprocess
import tempfile
from typing import Any, Callable, Dict, Generic, Iterable, List, Mapping, Optional, Sequence, TypeVar, Union

from ._command import Path, Text, _hosts, _number, _volumes, find_binary
from ._errors import BoxExpired, BoxNotFound, FileError, SandboxError, raise_for
from ._result import Result
from ._run import _aend, _astart, _end, _read_result, _start

T = TypeVar("T")

_CALL = ("timeout", "cpu_time", "output_limit", "workdir", "denials", "audit")
_LIMITS = ("memory", "cpus", "pids_limit", "timeout", "cpu_time", "disk", "tmpfs", "output_limit", "file_size", "net_limit", "net_rate")
_CREATE = ("id", "idle", "rootfs", "preset", "user", "writable_root", *_LIMITS)
_OURS = ("SandboxError", "UsageError", "SandboxBusy", "SandboxExists")
_GONE = {"SandboxNotFound": BoxNotFound, "SandboxExpired": BoxExpired}


def _bytes(text: Text) -> bytes:
    return text.encode() if isinstance(text, str) else bytes(text)


def _options(known: Iterable[str], values: Mapping[str, Any]) -> List[str]:
    unknown = values.keys() - set(known)
    if unknown:
        raise TypeError(f"unknown arguments: {', '.join(sorted(unknown))}")
    return [w for name, v in values.items() if v is not None for w in ("--" + name.replace("_", "-"), _number(v))]


def _env(env: Optional[Mapping[str, str]]) -> List[str]:
    return [w for name, value in (env or {}).items() for w in ("--env", f"{name}={value}")]


class _Call(Generic[T]):
    """One command line, what it reads, and what its output becomes."""

    def __init__(
        self,
        argv: Sequence[str],
        read: Callable[[bytes, bytes, int], T],
        input: bytes = b"",
        stdin: Optional[Text] = None,
    ) -> None:
        self.argv, self.read, self.input, self.stdin = list(argv), read, input, stdin

    def sync(self) -> T:
        with tempfile.NamedTemporaryFile(prefix="sbxrun-") as file:
            argv = self._with_stdin(file)
            with _start(argv, stderr=subprocess.PIPE) as process:
                try:
                    out, err = process.communicate(self.input)
                except BaseException:
                    _end(process)
                    raise
        return self.read(out, err, process.returncode)

    async def wait(self) -> T:
        with tempfile.NamedTemporaryFile(prefix="sbxrun-") as file:
            process = await _astart(self._with_stdin(file), stderr=subprocess.PIPE)
            try:
                out, err = await process.communicate(self.input)
            except BaseException:
                await asyncio.shield(_aend(process))
                raise
        assert process.returncode is not None
        return self.read(out, err, process.returncode)

    def _with_stdin(self, file: Any) -> List[str]:
        if self.stdin is None:
            return self.argv
        file.write(_bytes(self.stdin))
        file.flush()
        at = self.argv.index("--json")
        return [*self.argv[:at], "--stdin", file.name, *self.argv[at:]]


def _said(out: bytes, err: bytes, status: int) -> Dict[str, Any]:
    """The object that a command printed; a failure is an exception."""
    if not out.strip():
        raise SandboxError(err.decode("utf-8", "replace").strip() or f"sbxrun ended with status {status}")
    try:
        raw = json.loads(out)
    except ValueError as e:
        raise SandboxError(f"sbxrun printed no result: {e}") from None
    error = raw.get("error") if isinstance(raw, dict) else None
    if error:
        kind, message = error["type"], error["message"]
        raise _GONE[kind](message) if kind in _GONE else SandboxError(message) if kind in _OURS else FileError(kind, message)
    return raw  # type: ignore[no-any-return]


def _boxes(out: bytes, err: bytes, status: int) -> List[Dict[str, Any]]:
    said: Any = _said(out, err, status)
    return list(said)


def _changes(raw: Dict[str, Any]) -> Dict[str, Any]:
    return {place: raw[place] for place in ("workspace", "root")}


class _Calls:
    """What can be asked of a box, as calls that somebody has to make.

    Whatever may come from a model (a language, an id, a path) stands behind "--", where it is no option.
    """

    def __init__(self, id: str, root: Optional[Path], binary: Optional[Path], audit: Optional[Path] = None) -> None:
        self.id = id
        self.audit = audit
        self._head = [find_binary(binary), *(["--root", os.fspath(root)] if root else []), "box"]

    def _verb(self, verb: str, *words: str, audit: Optional[Path] = None) -> List[str]:
        """Its command line, up to its own options; each is recorded where that is asked for."""
        file = audit or self.audit
        return [*self._head, verb, "--json", *(["--audit", os.fspath(file)] if file else []), *words]

    def of(self, id: str) -> "_Calls":
        """The same for another box."""
        calls = copy.copy(self)
        calls.id = id
        return calls

    def create(
        self,
        language: Optional[str],
        env: Optional[Mapping[str, str]],
        volumes: Any,
        strict_limits: bool,
        allow: Sequence[str] = (),
        deny: Sequence[str] = (),
        ulimits: Optional[Mapping[str, str]] = None,
        **values: Any,
    ) -> "_Call[Dict[str, Any]]":
        words = [*_options(_CREATE, values), *_env(env), *_hosts("--allow", allow), *_hosts("--deny", deny)]
        for name, value in (ulimits or {}).items():
            words += ["--ulimit", f"{name}={value}"]
        for volume in _volumes(volumes):
            words += ["--volume", volume]
        words += ["--strict-limits"] * bool(strict_limits) + (["--", language] if language else [])
        return _Call(self._verb("create", *words), _said)

    def fork(
        self, kind: str, name: str, allow: Sequence[str] = (), deny: Sequence[str] = (), **values: Any
    ) -> "_Call[Dict[str, Any]]":
        words = [*_options(("id", "idle"), values), *_hosts("--allow", allow), *_hosts("--deny", deny)]
        return _Call(self._verb("fork", "--from", kind, *words, "--", name), _said)

    def list(self) -> "_Call[List[Dict[str, Any]]]":
        return _Call(self._verb("list"), _boxes)

    def end_session(self, name: Optional[str]) -> "_Call[None]":
        words = [self.id, *([name] if name else [])]
        return _Call(self._verb("end-session", "--", *words), lambda *said: None if _said(*said) else None)

    def call(
        self,
        verb: str,
        words: Sequence[str],
        input: bytes,
        stdin: Optional[Text],
        check: bool,
        env: Optional[Mapping[str, str]],
        redact: bool,
        session: Union[str, bool, None] = None,
        restart: bool = False,
        **values: Any,
    ) -> "_Call[Result]":
        def read(out: bytes, err: bytes, status: int) -> Result:
            result = _read_result(out, err, status)
            kind = (result.error or {}).get("type", "")
            if kind in _GONE:
                raise _GONE[kind](result.describe(), result)
            return raise_for(result, check)

        audit = values.pop("audit", None)
        options = [*_options(_CALL, values), *_env(env), *["--redact"] * bool(redact)]
        if session:
            options.append("--session" if session is True else f"--session={session}")
        options += ["--restart"] * bool(restart)
        return _Call(self._verb(verb, *options, "--", self.id, *words, audit=audit), read, input, stdin)

    def run(
        self,
        language: str,
        code: Text,
        args: Sequence[str],
        stdin: Optional[Text],
        **how: Any,
    ) -> "_Call[Result]":
        if stdin is None and not how.get("session"):
            stdin = ""
        return self.call("run", [language, "-", *args], _bytes(code), stdin, **how)

    def command(self, command: Sequence[str], stdin: Optional[Text], **how: Any) -> "_Call[Result]":
        return self.call("exec", list(command), _bytes(stdin or ""), None, **how)

    def file(self, verb: str, read: Callable[[Dict[str, Any]], T], *words: str, input: bytes = b"") -> "_Call[T]":
        return _Call(self._verb(verb, "--", self.id, *words), lambda *said: read(_said(*said)), input)

    def rules(self, verb: str, hosts: Sequence[str], remove: bool) -> "_Call[Dict[str, List[str]]]":
        def read(out: bytes, err: bytes, status: int) -> Dict[str, List[str]]:
            said = _said(out, err, status)
            return {"allow": list(said["allow"]), "deny": list(said["deny"])}

        words = ["--remove"] * remove + ["--", self.id, *hosts]
        return _Call(self._verb(verb, *words), read)

    def install(self, registry: str, package: str, check: bool, **values: Any) -> "_Call[Result]":
        def read(out: bytes, err: bytes, status: int) -> Result:
            result = _read_result(out, err, status)
            kind = (result.error or {}).get("type", "")
            if kind in _GONE:
                raise _GONE[kind](result.describe(), result)
            return raise_for(result, check)

        audit = values.pop("audit", None)
        options = _options(("timeout", "output_limit"), values)
        return _Call(self._verb("install", *options, "--", self.id, registry, package, audit=audit), read)

    def write(self, path: str, content: Text) -> "_Call[int]":
        return self.file("write", lambda o: int(o["bytes"]), path, input=_bytes(content))

    def read(self, path: str) -> "_Call[bytes]":
        def content(o: Dict[str, Any]) -> bytes:
            text: str = o["content"]
            return base64.b64decode(text) if o["encoding"] == "base64" else text.encode()

        return self.file("read", content, path)

    def ls(self, path: str) -> "_Call[List[Dict[str, Any]]]":
        return self.file("ls", lambda o: list(o["files"]), path)

    def stat(self, path: str) -> "_Call[Dict[str, Any]]":
        return self.file("stat", lambda o: {k: o[k] for k in ("type", "size", "mode", "modified")}, path)

    def remove(self, path: str) -> "_Call[None]":
        return self.file("rm-file", lambda o: None, path)

    def diff(self) -> "_Call[Dict[str, Any]]":
        return _Call(self._verb("diff", "--", self.id), lambda *said: _changes(_said(*said)))

    def snapshot(self, name: str) -> "_Call[Dict[str, Any]]":
        return _Call(self._verb("snapshot", "--", self.id, name), _said)

    def snapshots(self) -> "_Call[List[Dict[str, Any]]]":
        return _Call(self._verb("snapshots"), _boxes)

    def remove_snapshot(self, name: str) -> "_Call[None]":
        def read(out: bytes, err: bytes, status: int) -> None:
            if out.strip() or status:
                _said(out, err, status)

        return _Call(self._verb("snapshots", "--remove", "--", name), read)

    def sessions(self) -> "_Call[List[Dict[str, Any]]]":
        return _Call(self._verb("sessions", "--", self.id), _boxes)

    def do(self, verb: str) -> "_Call[None]":
        """Of pause and resume: there is nothing to say but that it is done."""
        return _Call(self._verb(verb, "--", self.id), lambda *said: None if _said(*said) else None)

    def logs(self) -> "_Call[List[Dict[str, Any]]]":
        def read(out: bytes, err: bytes, status: int) -> List[Dict[str, Any]]:
            if status:
                _said(out, err, status)
            return [json.loads(line) for line in out.splitlines()]

        return _Call(self._verb("logs", "--", self.id), read)

    def destroy(self) -> "_Call[None]":
        def read(out: bytes, err: bytes, status: int) -> None:
            try:
                _said(out, err, status)
            except (BoxNotFound, BoxExpired):
                pass

        return _Call(self._verb("destroy", "--", self.id), read)


class Box:
    """A box; made at once, or `attach`ed to. As a context manager it is destroyed at the end."""

    def __init__(
        self,
        language: Optional[str] = None,
        *,
        env: Optional[Mapping[str, str]] = None,
        volumes: Union[Mapping[str, str], Iterable[str], None] = None,
        strict_limits: bool = False,
        root: Optional[Path] = None,
        binary: Optional[Path] = None,
        audit: Optional[Path] = None,
        **options: Any,
    ) -> None:
        """`options` are those of `box create`: id, idle, memory, cpus, pids_limit, timeout, disk, rootfs …

        `audit` is a file that gets a line of all that is done with the box through this object (sbxrun-audit(8)).
        """
        self._calls = _Calls("", root, binary, audit)
        self.info = self._calls.create(language, env, volumes, strict_limits, **options).sync()
        self._calls.id = self.id = str(self.info["sandbox_id"])

    @classmethod
    def attach(
        cls, id: str, *, root: Optional[Path] = None, binary: Optional[Path] = None, audit: Optional[Path] = None
    ) -> "Box":
        """One that is there already; whether it is, the first call says."""
        box = cls.__new__(cls)
        box._calls, box.id, box.info = _Calls(id, root, binary, audit), id, {}
        return box

    def __enter__(self) -> "Box":
        return self

    def __exit__(self, *exc: object) -> None:
        self.destroy()

    def run(
        self,
        language: str,
        code: Text,
        *,
        args: Sequence[str] = (),
        stdin: Optional[Text] = None,
        check: bool = False,
        env: Optional[Mapping[str, str]] = None,
        redact: bool = False,
        session: Union[str, bool, None] = None,
        restart: bool = False,
        **options: Any,
    ) -> Result:
        """Runs code. `options` are timeout, cpu_time, output_limit, workdir, denials, audit.

        `session` runs it in an interpreter that stays, with its variables: a name, or True for the default one.
        The result has `result`, `displays`, `exception` and `session` then. `restart` begins it anew.
        """
        how = dict(options, check=check, env=env, redact=redact, session=session, restart=restart)
        return self._calls.run(language, code, args, stdin, **how).sync()

    def run_command(
        self,
        command: Sequence[str],
        *,
        stdin: Optional[Text] = None,
        check: bool = False,
        env: Optional[Mapping[str, str]] = None,
        redact: bool = False,
        **options: Any,
    ) -> Result:
        return self._calls.command(command, stdin, check=check, env=env, redact=redact, **options).sync()

    def allow(self, *hosts: str, remove: bool = False) -> Dict[str, List[str]]:
        """Lets it reach hosts, or no longer; the rules that hold now."""
        return self._calls.rules("allow", hosts, remove).sync()

    def deny(self, *hosts: str, remove: bool = False) -> Dict[str, List[str]]:
        """What is denied is so, whatever is allowed."""
        return self._calls.rules("deny", hosts, remove).sync()

    def rules(self) -> Dict[str, List[str]]:
        return self._calls.rules("rules", (), False).sync()

    def install(self, package: str, registry: str = "pypi", *, check: bool = False, **options: Any) -> Result:
        """Puts a package (NAME, NAME==VERSION) into the workspace. What was installed is in `raw["install"]`."""
        return self._calls.install(registry, package, check, **options).sync()

    def write(self, path: str, content: Text) -> int:
        """Writes a file of /workspace, whole or not at all; how many bytes."""
        return self._calls.write(path, content).sync()

    def read(self, path: str) -> bytes:
        return self._calls.read(path).sync()

    def ls(self, path: str = ".") -> List[Dict[str, Any]]:
        return self._calls.ls(path).sync()

    def stat(self, path: str) -> Dict[str, Any]:
        return self._calls.stat(path).sync()

    def remove(self, path: str) -> None:
        return self._calls.remove(path).sync()

    def diff(self) -> Dict[str, Any]:
        """What changed since it was made: workspace and root, each with added, modified, deleted (or None)."""
        return self._calls.diff().sync()

    def snapshot(self, name: str) -> Dict[str, Any]:
        """Keeps its files under a name, for `from_snapshot`."""
        return self._calls.snapshot(name).sync()

    def fork(self, **options: Any) -> "Box":
        """A new box that begins with the files of this one. `options` are id, idle, allow and deny."""
        return self._made(self._calls, "box", self.id, options)

    @classmethod
    def from_snapshot(
        cls,
        name: str,
        *,
        root: Optional[Path] = None,
        binary: Optional[Path] = None,
        audit: Optional[Path] = None,
        **options: Any,
    ) -> "Box":
        """A new box that begins with the files of a snapshot."""
        return cls._made(_Calls("", root, binary, audit), "snapshot", name, options)

    @classmethod
    def _made(cls, calls: _Calls, kind: str, name: str, options: Mapping[str, Any]) -> "Box":
        info = calls.fork(kind, name, **options).sync()
        box = cls.__new__(cls)
        box.id, box.info = str(info["sandbox_id"]), info
        box._calls = calls.of(box.id)
        return box

    @staticmethod
    def list(*, root: Optional[Path] = None, binary: Optional[Path] = None) -> List[Dict[str, Any]]:
        """The boxes that there are; one of them has the keys of `info`."""
        return _Calls("", root, binary).list().sync()

    @staticmethod
    def snapshots(*, root: Optional[Path] = None, binary: Optional[Path] = None) -> List[Dict[str, Any]]:
        """The snapshots that there are; each has the keys that `snapshot` returns."""
        return _Calls("", root, binary).snapshots().sync()

    @staticmethod
    def remove_snapshot(name: str, *, root: Optional[Path] = None, binary: Optional[Path] = None) -> None:
        return _Calls("", root, binary).remove_snapshot(name).sync()

    def pause(self) -> None:
        """Freezes the call that runs, and lets no other in. Needs cgroups."""
        return self._calls.do("pause").sync()

    def resume(self) -> None:
        return self._calls.do("resume").sync()

    def logs(self) -> List[Dict[str, Any]]:
        """What was done in it: time, verb, success and more, the newest last."""
        return self._calls.logs().sync()

    def sessions(self) -> List[Dict[str, Any]]:
        """Interpreters that stay in it: session, language, cells …"""
        return self._calls.sessions().sync()

    def end_session(self, name: Optional[str] = None) -> None:
        return self._calls.end_session(name).sync()

    def destroy(self) -> None:
        """Ends it. That it is gone already is no error."""
        self._calls.destroy().sync()


class AsyncBox:
    """The same for asyncio. A task that is cancelled ends its call, and not the box.

        async with await AsyncBox.create("python") as box: …
    """

    def __init__(
        self, id: str, *, root: Optional[Path] = None, binary: Optional[Path] = None, audit: Optional[Path] = None
    ) -> None:
        """One that is there already."""
        self._calls, self.id = _Calls(id, root, binary, audit), id
        self.info: Dict[str, Any] = {}

    @classmethod
    async def create(
        cls,
        language: Optional[str] = None,
        *,
        env: Optional[Mapping[str, str]] = None,
        volumes: Union[Mapping[str, str], Iterable[str], None] = None,
        strict_limits: bool = False,
        root: Optional[Path] = None,
        binary: Optional[Path] = None,
        audit: Optional[Path] = None,
        **options: Any,
    ) -> "AsyncBox":
        info = await _Calls("", root, binary, audit).create(language, env, volumes, strict_limits, **options).wait()
        box = cls(str(info["sandbox_id"]), root=root, binary=binary, audit=audit)
        box.info = info
        return box

    async def __aenter__(self) -> "AsyncBox":
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.destroy()

    async def run(
        self,
        language: str,
        code: Text,
        *,
        args: Sequence[str] = (),
        stdin: Optional[Text] = None,
        check: bool = False,
        env: Optional[Mapping[str, str]] = None,
        redact: bool = False,
        session: Union[str, bool, None] = None,
        restart: bool = False,
        **options: Any,
    ) -> Result:
        how = dict(options, check=check, env=env, redact=redact, session=session, restart=restart)
        return await self._calls.run(language, code, args, stdin, **how).wait()

    async def run_command(
        self,
        command: Sequence[str],
        *,
        stdin: Optional[Text] = None,
        check: bool = False,
        env: Optional[Mapping[str, str]] = None,
        redact: bool = False,
        **options: Any,
    ) -> Result:
        return await self._calls.command(command, stdin, check=check, env=env, redact=redact, **options).wait()

    async def allow(self, *hosts: str, remove: bool = False) -> Dict[str, List[str]]:
        return await self._calls.rules("allow", hosts, remove).wait()

    async def deny(self, *hosts: str, remove: bool = False) -> Dict[str, List[str]]:
        return await self._calls.rules("deny", hosts, remove).wait()

    async def rules(self) -> Dict[str, List[str]]:
        return await self._calls.rules("rules", (), False).wait()

    async def install(self, package: str, registry: str = "pypi", *, check: bool = False, **options: Any) -> Result:
        return await self._calls.install(registry, package, check, **options).wait()

    async def write(self, path: str, content: Text) -> int:
        return await self._calls.write(path, content).wait()

    async def read(self, path: str) -> bytes:
        return await self._calls.read(path).wait()

    async def ls(self, path: str = ".") -> List[Dict[str, Any]]:
        return await self._calls.ls(path).wait()

    async def stat(self, path: str) -> Dict[str, Any]:
        return await self._calls.stat(path).wait()

    async def remove(self, path: str) -> None:
        return await self._calls.remove(path).wait()

    async def diff(self) -> Dict[str, Any]:
        return await self._calls.diff().wait()

    async def snapshot(self, name: str) -> Dict[str, Any]:
        return await self._calls.snapshot(name).wait()

    async def fork(self, **options: Any) -> "AsyncBox":
        return await self._made(self._calls, "box", self.id, options)

    @classmethod
    async def from_snapshot(
        cls,
        name: str,
        *,
        root: Optional[Path] = None,
        binary: Optional[Path] = None,
        audit: Optional[Path] = None,
        **options: Any,
    ) -> "AsyncBox":
        return await cls._made(_Calls("", root, binary, audit), "snapshot", name, options)

    @classmethod
    async def _made(cls, calls: _Calls, kind: str, name: str, options: Mapping[str, Any]) -> "AsyncBox":
        info = await calls.fork(kind, name, **options).wait()
        box = cls.__new__(cls)
        box.id, box.info = str(info["sandbox_id"]), info
        box._calls = calls.of(box.id)
        return box

    @staticmethod
    async def list(*, root: Optional[Path] = None, binary: Optional[Path] = None) -> List[Dict[str, Any]]:
        return await _Calls("", root, binary).list().wait()

    @staticmethod
    async def snapshots(*, root: Optional[Path] = None, binary: Optional[Path] = None) -> List[Dict[str, Any]]:
        return await _Calls("", root, binary).snapshots().wait()

    @staticmethod
    async def remove_snapshot(name: str, *, root: Optional[Path] = None, binary: Optional[Path] = None) -> None:
        await _Calls("", root, binary).remove_snapshot(name).wait()

    async def pause(self) -> None:
        await self._calls.do("pause").wait()

    async def resume(self) -> None:
        await self._calls.do("resume").wait()

    async def logs(self) -> List[Dict[str, Any]]:
        return await self._calls.logs().wait()

    async def sessions(self) -> List[Dict[str, Any]]:
        return await self._calls.sessions().wait()

    async def end_session(self, name: Optional[str] = None) -> None:
        return await self._calls.end_session(name).wait()

    async def destroy(self) -> None:
        await self._calls.destroy().wait()
