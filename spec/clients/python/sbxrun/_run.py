"""Starting sbxrun and reading what it says, for callers of both kinds."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import tempfile
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterator,
    Iterable,
    Iterator,
    Mapping,
    Optional,
    Sequence,
    TypedDict,
    Union,
)

from ._command import Command, Path, Text
from ._errors import SandboxError, raise_for
from ._result import Event, Result

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Seconds in which sbxrun ends a box and says so; then it is killed.
_END_SECONDS = 15
# A line of a stream: what one read of the program's output gave, and at its end the result.
_LINE_MAX = 512 << 20


class Options(TypedDict, total=False):
    """The keyword arguments of all functions; those of sbxrun-do(8). None is as good as nothing."""

    timeout: Optional[float]
    cpu_time: Optional[float]
    memory: Optional[Union[str, int]]
    cpus: Optional[float]
    pids_limit: Optional[int]
    disk: Optional[Union[str, int]]
    tmpfs: Optional[Union[str, int]]
    output_limit: Optional[Union[str, int]]
    file_size: Optional[Union[str, int]]
    allow: Sequence[str]
    deny: Sequence[str]
    net_limit: Optional[Union[str, int]]
    net_rate: Optional[Union[str, int]]
    stdin: Union[Text, "os.PathLike[str]", None]
    args: Sequence[str]
    files: Optional[Mapping[str, Text]]
    env: Optional[Mapping[str, str]]
    volumes: Optional[Union[Mapping[str, str], Iterable[str]]]
    ulimits: Optional[Mapping[str, str]]
    rootfs: Optional[str]
    workdir: Optional[str]
    user: Optional[str]
    network: Optional[str]
    preset: Optional[str]
    policy: Optional[str]
    redact: bool
    redact_rules: Optional[Union[Path, Sequence[Mapping[str, Any]]]]
    denials: Optional[str]
    copy_out: Optional[Path]
    audit: Optional[Path]
    strict_limits: bool
    root: Optional[Path]
    binary: Optional[Path]


def _read_result(out: bytes, err: bytes, status: int) -> Result:
    if not out.strip():
        said = err.decode("utf-8", "replace").strip()
        raise SandboxError(said or f"sbxrun ended with status {status} and said nothing")
    try:
        raw = json.loads(out)
    except ValueError as e:
        raise SandboxError(f"sbxrun printed no result: {e}") from None
    return Result.from_json(raw)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ends sbxrun, and with it the box."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _start(argv: Sequence[str], **how: Any) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **how)
    except OSError as e:
        raise SandboxError(f"{argv[0]}: {e.strerror}") from None


def _run(command: Command, check: bool) -> Result:
    with command, _start(command.argv, stderr=subprocess.PIPE) as process:
        try:
            out, err = process.communicate(command.input)
        except BaseException:
            _end(process)
            raise
    return raise_for(_read_result(out, err, process.returncode), check)


def run(language: str, code: Text, *, check: bool = False, **options: "Unpack[Options]") -> Result:
    """Runs code in a box of its own. `options` are those of `Options`."""
    return _run(Command(language, code, None, **options), check)


def run_command(command: Sequence[str], *, check: bool = False, **options: "Unpack[Options]") -> Result:
    """Runs a program of the root filesystem."""
    return _run(Command(None, None, command, **options), check)


def _feed(process: "subprocess.Popen[bytes]", code: bytes) -> None:
    assert process.stdin
    try:
        process.stdin.write(code)
        process.stdin.close()
    except BrokenPipeError:
        pass  # why will be said


def stream(
    language: Optional[str] = None,
    code: Optional[Text] = None,
    *,
    command: Optional[Sequence[str]] = None,
    check: bool = False,
    **options: "Unpack[Options]",
) -> Iterator[Event]:
    """Yields what happens when it happens. The box ends when the generator is closed."""
    result: Optional[Result] = None
    with tempfile.TemporaryFile() as err, Command(language, code, command, stream=True, **options) as c:
        with _start(c.argv, stderr=err) as process:
            assert process.stdout
            try:
                _feed(process, c.input)
                for line in process.stdout:
                    event = Event.from_line(line)
                    result = event.result or result
                    yield event
                process.wait()
            finally:
                _end(process)
        err.seek(0)
        if result is None:
            _read_result(b"", err.read(), process.returncode)
            return
    raise_for(result, check)


# ---- the same for asyncio ----


async def _aend(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    try:
        process.terminate()
        await asyncio.wait_for(process.wait(), _END_SECONDS)
    except ProcessLookupError:
        pass
    except asyncio.TimeoutError:
        process.kill()
        await process.wait()


async def _astart(argv: Sequence[str], **how: Any) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, limit=_LINE_MAX, **how
        )
    except OSError as e:
        raise SandboxError(f"{argv[0]}: {e.strerror}") from None


async def _arun(command: Command, check: bool) -> Result:
    with command:
        process = await _astart(command.argv, stderr=subprocess.PIPE)
        try:
            out, err = await process.communicate(command.input)
        except BaseException:
            await asyncio.shield(_aend(process))
            raise
    assert process.returncode is not None
    return raise_for(_read_result(out, err, process.returncode), check)


async def arun(language: str, code: Text, *, check: bool = False, **options: "Unpack[Options]") -> Result:
    """run() for asyncio. A task that is cancelled ends its box."""
    return await _arun(Command(language, code, None, **options), check)


async def arun_command(command: Sequence[str], *, check: bool = False, **options: "Unpack[Options]") -> Result:
    """run_command() for asyncio."""
    return await _arun(Command(None, None, command, **options), check)


async def astream(
    language: Optional[str] = None,
    code: Optional[Text] = None,
    *,
    command: Optional[Sequence[str]] = None,
    check: bool = False,
    **options: "Unpack[Options]",
) -> AsyncIterator[Event]:
    """stream() for asyncio."""
    result: Optional[Result] = None
    with tempfile.TemporaryFile() as err, Command(language, code, command, stream=True, **options) as c:
        process = await _astart(c.argv, stderr=err)
        assert process.stdin and process.stdout
        try:
            process.stdin.write(c.input)
            process.stdin.close()
            async for line in process.stdout:
                event = Event.from_line(line)
                result = event.result or result
                yield event
            await process.wait()
        finally:
            await asyncio.shield(_aend(process))
        err.seek(0)
        if result is None:
            _read_result(b"", err.read(), process.returncode or 0)
            return
    raise_for(result, check)
