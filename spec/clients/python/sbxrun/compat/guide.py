"""The research guide: run_sandboxed()."""

from __future__ import annotations

from typing import Any, Dict

from .. import _run


def run_sandboxed(code: str, timeout: float = 60, max_memory_mb: int = 512) -> Dict[str, Any]:
    """Runs Python code; a dict of stdout, stderr, returncode (-1: its time was over) and timed_out."""
    r = _run.run("python", code, timeout=timeout, memory=f"{max_memory_mb}m")
    stderr = r.stderr
    if r.timed_out:
        stderr += f"Execution timed out after {timeout}s"
    return {
        "stdout": r.stdout,
        "stderr": stderr,
        "returncode": -1 if r.timed_out else r.exit_code,
        "timed_out": r.timed_out,
    }
