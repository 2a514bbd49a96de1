"""From arguments to a command line of `sbxrun do`, and the files that it needs."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import tempfile
from typing import Any, Iterable, List, Mapping, Optional, Sequence, Union

from ._errors import SandboxError

Text = Union[str, bytes]
Path = Union[str, "os.PathLike[str]"]

# Options whose value is passed on as it is.
_VALUES = {
    "timeout": "--timeout",
    "cpu_time": "--cpu-time",
    "memory": "--memory",
    "cpus": "--cpus",
    "pids_limit": "--pids-limit",
    "disk": "--disk",
    "tmpfs": "--tmpfs",
    "output_limit": "--output-limit",
    "file_size": "--file-size",
    "rootfs": "--rootfs",
    "preset": "--preset",
    "user": "--user",
    "workdir": "--workdir",
    "network": "--network",
    "denials": "--denials",
    "copy_out": "--copy-out",
    "audit": "--audit",
    "net_limit": "--net-limit",
    "net_rate": "--net-rate",
}


def find_binary(binary: Optional[Path]) -> str:
    found = os.fspath(binary) if binary else os.environ.get("SBXRUN") or shutil.which("sbxrun")
    if not found:
        raise SandboxError("there is no sbxrun in the PATH; binary= or SBXRUN names it")
    return found


def _number(value: Any) -> str:
    # 1e-05 is no number to sbxrun.
    if isinstance(value, float):
        return format(value, "f")
    return str(os.fspath(value)) if isinstance(value, os.PathLike) else str(value)


def _volumes(volumes: Union[Mapping[str, str], Iterable[str], None]) -> List[str]:
    if volumes is None:
        return []
    if isinstance(volumes, str):
        return [volumes]
    if isinstance(volumes, Mapping):
        return [f"{os.fspath(source)}:{target}" for source, target in volumes.items()]
    return list(volumes)


def _hosts(option: str, hosts: Sequence[str]) -> List[str]:
    if isinstance(hosts, str):
        raise TypeError(f"{option[2:]}: a list of hosts, not a text")
    return [w for host in hosts for w in (option, host)]


class Command:
    """A command line, and the directory with what it reads; a context manager."""

    def __init__(
        self,
        language: Optional[str],
        code: Optional[Text],
        command: Optional[Sequence[str]],
        *,
        stream: bool = False,
        args: Sequence[str] = (),
        stdin: Union[Text, "os.PathLike[str]", None] = None,
        files: Optional[Mapping[str, Text]] = None,
        env: Optional[Mapping[str, str]] = None,
        volumes: Union[Mapping[str, str], Iterable[str], None] = None,
        ulimits: Optional[Mapping[str, str]] = None,
        allow: Sequence[str] = (),
        deny: Sequence[str] = (),
        redact: bool = False,
        redact_rules: Union[Path, Sequence[Mapping[str, Any]], None] = None,
        strict_limits: bool = False,
        policy: Optional[str] = None,
        root: Optional[Path] = None,
        binary: Optional[Path] = None,
        **values: Any,
    ) -> None:
        unknown = values.keys() - _VALUES.keys()
        if unknown:
            raise TypeError(f"unknown arguments: {', '.join(sorted(unknown))}")
        self._dir: Optional[tempfile.TemporaryDirectory[str]] = None
        self._binary = find_binary(binary)
        self._globals = [w for name, v in (("--root", root), ("--policy", policy)) if v for w in (name, os.fspath(v))]
        self._options = ["--stream" if stream else "--json"]
        for name, value in values.items():
            if value is not None:
                self._options += [_VALUES[name], _number(value)]
        self._options += ["--redact"] * bool(redact) + ["--strict-limits"] * bool(strict_limits)
        for name, value in (env or {}).items():
            self._options += ["--env", f"{name}={value}"]
        for name, value in (ulimits or {}).items():
            self._options += ["--ulimit", f"{name}={value}"]
        for volume in _volumes(volumes):
            self._options += ["--volume", volume]
        self._options += _hosts("--allow", allow) + _hosts("--deny", deny)
        self._stdin, self._files, self._rules = stdin, files or {}, redact_rules
        self._words = ["--", *command] if command is not None else [str(language), "-", *args]
        # The code comes over our standard input: a command line can be read by others, and is short.
        self.input = b"" if code is None else code.encode() if isinstance(code, str) else bytes(code)
        # It has to stand where an option could, too.
        if command is None and str(language).startswith("-"):
            raise SandboxError(f"there is no language {language!r}")
        if command is None and not self.input.strip():
            raise SandboxError("there is no code")

    def __enter__(self) -> "Command":
        self._dir = tempfile.TemporaryDirectory(prefix="sbxrun-")
        try:
            self.argv = [self._binary, *self._globals, "do", *self._options, *self._inputs(), *self._words]
        except BaseException:
            self._dir.cleanup()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._dir
        self._dir.cleanup()

    def _write(self, name: str, content: Text) -> str:
        assert self._dir
        path = pathlib.Path(self._dir.name, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else bytes(content))
        path.chmod(0o644)  # the directory around is ours alone; in the box another user reads it
        return str(path)

    def _inputs(self) -> List[str]:
        if self._stdin is None:
            words = ["--stdin", os.devnull]
        elif isinstance(self._stdin, os.PathLike):
            words = ["--stdin", os.fspath(self._stdin)]
        else:
            words = ["--stdin", self._write("stdin", self._stdin)]
        for name, content in self._files.items():
            pure = pathlib.PurePosixPath(name)
            if pure.is_absolute() or ".." in pure.parts or ":" in name or not pure.parts:
                raise SandboxError(f"files: {name!r} is no name below /workspace")
            words += ["--volume", f"{self._write(f'files/{pure}', content)}:/workspace/{pure}:ro"]
        if isinstance(self._rules, (str, os.PathLike)):
            words += ["--redact-rules", os.fspath(self._rules)]
        elif self._rules is not None:
            document = json.dumps({"version": 1, "rules": [dict(rule) for rule in self._rules]})
            words += ["--redact-rules", self._write("rules.json", document)]
        return words
