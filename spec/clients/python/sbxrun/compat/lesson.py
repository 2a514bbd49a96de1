"""The lesson on sandboxing: ProcessSandbox, DockerSandbox, OutputSanitizer, CodeSandbox."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Dict, Iterable, List, Optional, Pattern, Sequence, Tuple, Union

from .. import _run
from .._errors import SandboxError
from .._result import Result
from . import language_of, no_network

# Modules that the import guard names. The protection is the box's; this is for the message.
_BLOCKED = (
    "asyncio ctypes ftplib http importlib multiprocessing os pathlib pickle pty shutil signal smtplib socket "
    "subprocess sys tempfile threading urllib webbrowser"
)

# Stands before the code, inside the box. Imports of the library itself are not the code's.
_GUARD = """\
def _sandbox(code, allowed, blocked):
    import builtins
    real = builtins.__import__
    def guarded(name, globals=None, locals=None, fromlist=(), level=0):
        module = name.partition(".")[0]
        if (globals or {{}}).get("__name__") == "__main__" and (
                module not in allowed if allowed is not None else module in blocked):
            raise ImportError(f"Module '{{module}}' is blocked in sandbox")
        return real(name, globals, locals, fromlist, level)
    builtins.__import__ = guarded
    exec(compile(code, "<sandbox>", "exec"), {{"__name__": "__main__"}})
_sandbox({code!r}, {allowed!r}, {blocked!r})
"""


def _guarded(code: str, allowed: Optional[Iterable[str]]) -> str:
    return _GUARD.format(code=code, allowed=None if allowed is None else sorted(allowed), blocked=_BLOCKED.split())


def _outcome(r: Result) -> Dict[str, Any]:
    return {
        "stdout": r.stdout,
        "stderr": r.stderr or (r.describe() if r.error else ""),
        "returncode": r.exit_code,
        "success": r.success,
    }


@dataclasses.dataclass
class SandboxConfig:
    timeout_seconds: float = 10
    max_memory_mb: int = 100
    max_cpu_seconds: float = 5
    max_file_size_mb: int = 1
    max_processes: int = 1
    allowed_modules: Optional[Sequence[str]] = None


class ProcessSandbox:
    def __init__(self, config: Optional[SandboxConfig] = None) -> None:
        self.config = config or SandboxConfig()

    def execute(self, code: str) -> Dict[str, Any]:
        """A dict of stdout, stderr, returncode and success."""
        c = self.config
        return _outcome(
            _run.run(
                "python",
                _guarded(code, c.allowed_modules),
                timeout=c.timeout_seconds,
                memory=f"{c.max_memory_mb}m",
                cpu_time=c.max_cpu_seconds,
                file_size=f"{c.max_file_size_mb}m",
                pids_limit=c.max_processes + 1,  # the first process of a box is not the program's
            )
        )


@dataclasses.dataclass
class ContainerSandboxConfig:
    image: str = "python:3.11-slim"
    memory_limit: str = "128m"
    cpu_limit: float = 0.5
    timeout_seconds: float = 30
    network_disabled: bool = True
    read_only_rootfs: bool = True
    no_new_privileges: bool = True
    tmpfs_size: str = "64m"


class DockerSandbox:
    def execute(self, code: str, config: Optional[ContainerSandboxConfig] = None) -> Dict[str, Any]:
        """A dict of stdout, stderr, returncode and success."""
        c = config or ContainerSandboxConfig()
        language, _ = language_of(c.image)
        no_network(not c.network_disabled)
        if not c.read_only_rootfs or not c.no_new_privileges:
            raise SandboxError("the root of a box is read-only, and nothing in it gains privileges")
        return _outcome(
            _run.run(
                language,
                code,
                timeout=c.timeout_seconds,
                memory=c.memory_limit,
                cpus=c.cpu_limit,
                tmpfs=c.tmpfs_size,
            )
        )


@dataclasses.dataclass
class SanitizationRule:
    name: str
    pattern: Union[str, Pattern[str]]
    replacement: str = "[REDACTED]"

    def as_rule(self) -> Dict[str, str]:
        """As sbxrun reads it: an expression of PCRE2, and the replacement as it is."""
        if isinstance(self.pattern, str):
            text = self.pattern
        else:
            flags = "".join(
                letter
                for letter, flag in (("i", re.IGNORECASE), ("m", re.MULTILINE), ("s", re.DOTALL), ("x", re.VERBOSE))
                if self.pattern.flags & flag
            )
            text = f"(?{flags}){self.pattern.pattern}" if flags else self.pattern.pattern
        return {"name": self.name, "pattern": text, "replacement": self.replacement}


class Detection(str):
    """The name of a rule that has found something; `times`: how often."""

    times: int

    def __new__(cls, name: str, times: int) -> "Detection":
        self = super().__new__(cls, name)
        self.times = times
        return self


def _detections(r: Result) -> List[Detection]:
    counts: Dict[str, int] = {}
    for found in r.redactions:
        counts[found["rule"]] = counts.get(found["rule"], 0) + found["count"] + found.get("unchecked", 0)
    return [Detection(name, count) for name, count in counts.items()]


class OutputSanitizer:
    """Redacts by the rules of sbxrun, and by further ones."""

    def __init__(self, extra_rules: Optional[Iterable[SanitizationRule]] = None) -> None:
        self.extra_rules = list(extra_rules or ())

    def rules(self) -> Optional[List[Dict[str, str]]]:
        return [rule.as_rule() for rule in self.extra_rules] or None

    def sanitize(self, text: str) -> Tuple[str, List[Detection]]:
        """The text without secrets, and which rules found some. sbxrun does it: a box prints the text."""
        r = _run.run_command(["cat"], stdin=text, redact=True, redact_rules=self.rules(), output_limit="64m", denials="none", check=True)
        if r.truncated["stdout"]:
            raise SandboxError("a text of more than 64 MB")
        return r.stdout, _detections(r)

    def check_output_size(self, text: str, max_chars: int = 10000) -> str:
        """The text, or its beginning with a mark."""
        if len(text) <= max_chars:
            return text
        return f"{text[:max_chars]}\n[OUTPUT TRUNCATED: {len(text)} chars, showing first {max_chars}]"


@dataclasses.dataclass
class SandboxResult:
    stdout: str
    stderr: str
    success: bool
    sanitized: bool
    detections: List[Detection]
    backend: str


class CodeSandbox:
    """The lesson's three backends. `restricted` is pure computation, by the kernel: no processes, no sockets, nothing is written."""

    def __init__(self, sanitizer: Optional[OutputSanitizer] = None) -> None:
        self.sanitizer = sanitizer or OutputSanitizer()

    def execute(self, code: str, backend: str = "restricted") -> SandboxResult:
        limits: Dict[str, _run.Options] = {
            "restricted": {"preset": "pure", "timeout": 5, "memory": "64m"},
            "subprocess": {"timeout": 10, "memory": "100m", "cpu_time": 5, "pids_limit": 2, "file_size": "1m"},
            "docker": {"timeout": 30, "memory": "128m", "cpus": 0.5},
        }
        if backend not in limits:
            raise ValueError(f"Unknown backend: {backend}")
        options = limits[backend]
        options["redact"] = True
        options["redact_rules"] = self.sanitizer.rules()
        r = _run.run("python", code if backend == "docker" else _guarded(code, None), **options)
        found = _detections(r)
        return SandboxResult(
            stdout=self.sanitizer.check_output_size(r.stdout),
            stderr=r.stderr or (r.describe() if r.error else ""),
            success=r.success,
            sanitized=bool(found),
            detections=found,
            backend=backend,
        )
