"""What can go wrong: with the box (SandboxError), or with the program in it (RunError)."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from ._result import Result


class SandboxError(Exception):
    """The box could not be made, or sbxrun was called wrongly; the code is not to blame."""

    def __init__(self, message: str, result: Optional["Result"] = None) -> None:
        super().__init__(message)
        self.result = result


class BoxNotFound(SandboxError):
    """There is no box of that id."""


class BoxExpired(SandboxError):
    """There was one: nobody has used it for its time, or it has ended by itself."""


class FileError(SandboxError):
    """A file of a box is not as it would have to be; `type` says how."""

    def __init__(self, type: str, message: str) -> None:
        super().__init__(message)
        self.type = type


class RunError(Exception):
    """The program did not end well. Raised with check=True alone."""

    def __init__(self, result: "Result") -> None:
        super().__init__(result.describe())
        self.result = result


class ProgramError(RunError):
    """It ended with another status than 0."""


class ProgramSignal(RunError):
    """A signal ended it."""


class TimeoutError(RunError, builtins.TimeoutError):
    """Its time was over."""


class OutOfMemory(RunError, MemoryError):
    """It hit its limit of memory."""


_BY_STATUS = {
    "error": ProgramError,
    "signal": ProgramSignal,
    "timeout": TimeoutError,
    "oom": OutOfMemory,
}


def raise_for(result: "Result", check: bool) -> "Result":
    """Returns the result, or raises what it says."""
    if result.status == "sandbox_error":
        raise SandboxError(result.describe(), result)
    if check and result.status != "ok":
        raise _BY_STATUS.get(result.status, RunError)(result)
    return result
