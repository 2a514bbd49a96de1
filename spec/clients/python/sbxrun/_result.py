"""The JSON result of `sbxrun do --json` as a dataclass, and the lines of `--stream` as events."""

from __future__ import annotations

import base64
import dataclasses
import json
from typing import Any, Dict, List, Mapping, Optional

from ._errors import SandboxError


def _decode(data: Optional[str], encoding: Optional[str]) -> bytes:
    if data is None:
        return b""
    if encoding == "base64":
        return base64.b64decode(data, validate=True)
    return data.encode("utf-8", "surrogatepass")


@dataclasses.dataclass(frozen=True)
class Result:
    """One run. The names are those of the JSON object, which `raw` has whole."""

    v: int
    id: str
    sandbox_id: Optional[str]
    success: bool
    status: str  # ok, error, signal, timeout, oom, sandbox_error
    language: Optional[str]
    rootfs: Optional[str]
    code_sha256: Optional[str]
    exit_code: int
    signal: Optional[str]
    timed_out: bool
    oom_killed: bool
    error: Optional[Dict[str, str]]  # type, message
    stdout_bytes: bytes
    stderr_bytes: bytes
    encoding: str  # how the two were sent: utf-8, or base64 where they are not UTF-8
    truncated: Dict[str, bool]
    bytes: Dict[str, int]
    redactions: List[Dict[str, Any]]
    execution_time: float
    usage: Dict[str, Any]
    limits: Dict[str, Any]
    denials: Optional[List[Dict[str, Any]]]  # None: they are not known
    files: Optional[Dict[str, List[str]]]
    notes: List[str]
    compile: Optional["Result"] = None  # of languages that are compiled first
    more_denials: bool = False
    profile: Optional[str] = None  # of its system calls; None: what the policy gives
    disk_backing: Optional[str] = None  # what the workspace lies on: "memory", "disk" or "volume"
    session: Optional[Dict[str, Any]] = None  # of a call in one: name, cell, began, lost, lost_before, bytes_between
    result: Optional[Dict[str, str]] = None  # what its code came to: kinds and texts, base64 where a kind is of bytes
    displays: List[Dict[str, str]] = dataclasses.field(default_factory=list)  # figures and the like, in the same form
    exception: Optional[Dict[str, str]] = None  # name, value, traceback
    raw: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False, compare=False)

    @property
    def stdout(self) -> str:
        return self.stdout_bytes.decode("utf-8", "replace")

    @property
    def stderr(self) -> str:
        return self.stderr_bytes.decode("utf-8", "replace")

    def describe(self) -> str:
        """In a few words, how it ended."""
        if self.error:
            return self.error.get("message") or self.error.get("type") or self.status
        if self.signal:
            return f"ended by {self.signal}"
        return self.status if self.success else f"ended with status {self.exit_code}"

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "Result":
        """From an object as sbxrun prints it. Keys of later versions stay in `raw`."""
        if raw.get("v") != 1:
            raise SandboxError(f"a result of version {raw.get('v')!r}, and this package knows 1")
        taken = {
            f.name: raw[f.name]
            for f in dataclasses.fields(cls)
            if f.name in raw and f.name != "compile"
        }
        taken["stdout_bytes"] = _decode(raw.get("stdout"), raw.get("encoding"))
        taken["stderr_bytes"] = _decode(raw.get("stderr"), raw.get("encoding"))
        if raw.get("compile"):
            taken["compile"] = cls.from_json(raw["compile"])
        taken.setdefault("notes", [])
        try:
            return cls(raw=raw, **taken)
        except TypeError as e:
            raise SandboxError(f"a result that lacks a key: {e}") from None


@dataclasses.dataclass(frozen=True)
class Event:
    """One line of a stream."""

    kind: str  # note, stdout, stderr, end
    data: bytes = b""  # of stdout and stderr
    result: Optional[Result] = None  # of end
    raw: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False, compare=False)

    @property
    def text(self) -> str:
        """A character may be cut in two by the end of an event; `data` has its bytes."""
        return self.data.decode("utf-8", "replace")

    @classmethod
    def from_line(cls, line: "bytes | str") -> "Event":
        raw = json.loads(line)
        result = raw.get("result")
        return cls(
            kind=raw["event"],
            data=_decode(raw.get("data"), raw.get("encoding")),
            result=Result.from_json(result) if result else None,
            raw=raw,
        )
