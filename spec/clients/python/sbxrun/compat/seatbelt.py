"""Seatbelt Sandboxer: Sandbox and DockerSandbox."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterable, Optional

from .. import _run
from . import language_of, no_network


class Sandbox:
    """Runs Python code. Directories of `allowed_dirs` are there under their own names, read-only."""

    def __init__(self, max_mem_mb: int = 256, max_cpu_sec: float = 10, allowed_dirs: Optional[Iterable[str]] = None) -> None:
        self.max_mem_mb = max_mem_mb
        self.max_cpu_sec = max_cpu_sec
        self.allowed_dirs = [os.path.realpath(d) for d in allowed_dirs or ()]

    def run(self, code: str) -> Dict[str, Any]:
        """A dict of stdout, stderr and code, the exit status."""
        r = _run.run(
            "python",
            code,
            memory=f"{self.max_mem_mb}m",
            cpu_time=self.max_cpu_sec,
            timeout=self.max_cpu_sec,
            volumes=[f"{d}:{d}:ro" for d in self.allowed_dirs],
        )
        return {"stdout": r.stdout, "stderr": r.stderr or (r.describe() if r.error else ""), "code": r.exit_code}


class DockerSandbox:
    """Runs code in the language of an image."""

    def __init__(self, image: str = "python:3.11-slim", memory: str = "256m", cpus: str = "0.5", network: bool = False) -> None:
        self.language, self.rootfs = language_of(image)
        no_network(network)
        self.memory = memory
        self.cpus = cpus

    def execute(self, code: str, timeout: float = 30) -> Dict[str, Any]:
        """A dict of output, error and exit_code."""
        r = _run.run(self.language, code, memory=self.memory, cpus=float(self.cpus), timeout=timeout)
        return {"output": r.stdout, "error": r.stderr or (r.describe() if r.error else ""), "exit_code": r.exit_code}
