"""Run code that is not trusted in a box: a client of the program sbxrun.

    >>> import sbxrun
    >>> sbxrun.run("python", "print(2 + 2)").stdout
    '4\\n'
"""

from ._box import AsyncBox, Box
from ._errors import (
    BoxExpired,
    BoxNotFound,
    FileError,
    OutOfMemory,
    ProgramError,
    ProgramSignal,
    RunError,
    SandboxError,
    TimeoutError,
)
from ._result import Event, Result
from ._run import arun, arun_command, astream, run, run_command, stream

__all__ = [
    "AsyncBox",
    "Box",
    "BoxExpired",
    "BoxNotFound",
    "Event",
    "FileError",
    "OutOfMemory",
    "ProgramError",
    "ProgramSignal",
    "Result",
    "RunError",
    "SandboxError",
    "TimeoutError",
    "arun",
    "arun_command",
    "astream",
    "run",
    "run_command",
    "stream",
]
__version__ = "0.1.0"
