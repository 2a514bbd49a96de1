"""Harombe's code execution: DockerManager, SandboxManager, CodeExecutionTools with its six tools, and the gate before them.

Sandboxes are boxes of sbxrun (sbxrun-box(8)). What a caller or a model asks for beyond the operator's file is refused there.
"""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import uuid
from typing import Any, Awaitable, Callable, Dict, FrozenSet, List, Optional, Sequence

from .._box import AsyncBox
from .._command import Path, find_binary
from .._errors import BoxExpired, BoxNotFound, SandboxError
from .._result import Result
from ._hitl import (
    ApprovalDecision,
    ApprovalStatus,
    HITLGate,
    HITLRule,
    Operation,
    PendingApproval,
    RiskClassifier,
    RiskLevel,
    get_sandbox_hitl_rules,
)

__all__ = [
    "ApprovalDecision",
    "ApprovalStatus",
    "CodeExecutionTools",
    "DockerManager",
    "HITLGate",
    "HITLRule",
    "Operation",
    "PendingApproval",
    "RiskClassifier",
    "RiskLevel",
    "SandboxManager",
    "get_sandbox_hitl_rules",
]

# The runtimes of the document's managers; there is one sandbox here, whatever they are called.
_RUNTIMES = ("runsc", "runc", "sbxrun")


class DockerManager:
    """Knows where sbxrun is, and where its state lies. Nothing is started: there is no daemon."""

    def __init__(self, *, root: Optional[Path] = None, binary: Optional[Path] = None) -> None:
        self.root, self.binary, self.started = root, binary, False

    async def start(self) -> None:
        find_binary(self.binary)
        self.started = True

    async def stop(self) -> None:
        self.started = False


@dataclasses.dataclass
class _Sandbox:
    box: AsyncBox
    network_enabled: bool
    allowed_domains: FrozenSet[str]


class SandboxManager:
    """Makes boxes with limits, and removes those that are left when it stops."""

    def __init__(
        self,
        docker_manager: DockerManager,
        runtime: str = "runsc",
        max_memory_mb: int = 512,
        max_cpu_cores: float = 0.5,
        max_disk_mb: int = 1024,
        max_execution_time: float = 30,
    ) -> None:
        if runtime not in _RUNTIMES:
            raise ValueError(f"runtime: {runtime!r} is none of {', '.join(_RUNTIMES)}, all of which are sbxrun here")
        self.docker_manager = docker_manager
        self.runtime = runtime
        self.max_execution_time = max_execution_time
        # The document's own limits are a preset, which the host and the operator's file may lower: a workspace of 1 GB is for root
        # alone. Others are asked for, and had or refused.
        asked = (
            ("memory", f"{max_memory_mb}m", max_memory_mb != 512),
            ("cpus", max_cpu_cores, max_cpu_cores != 0.5),
            ("disk", f"{max_disk_mb}m", max_disk_mb != 1024),
            ("timeout", max_execution_time, max_execution_time != 30),
        )
        self._options: Dict[str, Any] = {name: value for name, value, other in asked if other}
        self._sandboxes: Dict[str, _Sandbox] = {}

    async def start(self) -> None:
        if not self.docker_manager.started:
            raise RuntimeError("Docker manager not started")

    async def stop(self) -> None:
        """Destroys what this manager has made, all of it, also where one of them fails."""
        failed = await asyncio.gather(*(self.destroy_sandbox(id) for id in list(self._sandboxes)), return_exceptions=True)
        for e in failed:
            if isinstance(e, BaseException):
                raise e

    async def create_sandbox(
        self, language: str, network_enabled: bool = False, allowed_domains: Optional[Sequence[str]] = None
    ) -> str:
        await self.start()
        hosts = list(allowed_domains or ())
        if network_enabled and not hosts:
            raise ValueError("network_enabled: allowed_domains has to name the hosts that the sandbox may reach")
        if hosts and not network_enabled:
            raise ValueError("allowed_domains: network_enabled has to be true")
        # Known beforehand: whatever interrupts us, it can be removed.
        id, docker = f"sandbox-{uuid.uuid4().hex[:12]}", self.docker_manager
        try:
            box = await AsyncBox.create(
                language, id=id, preset="harombe", allow=hosts, root=docker.root, binary=docker.binary, **self._options
            )
        except BaseException:
            await asyncio.shield(AsyncBox(id, root=docker.root, binary=docker.binary).destroy())
            raise
        self._sandboxes[id] = _Sandbox(box, network_enabled, frozenset(hosts))
        return id

    def sandbox(self, sandbox_id: str) -> _Sandbox:
        try:
            return self._sandboxes[sandbox_id]
        except KeyError:
            raise BoxNotFound("Sandbox not found") from None

    async def destroy_sandbox(self, sandbox_id: str) -> None:
        await self.sandbox(sandbox_id).box.destroy()
        self._sandboxes.pop(sandbox_id, None)


def _error(r: Result) -> Optional[str]:
    """The document's error is a text, and ours an object."""
    return r.error["type"] if r.error else None


def _judge_types(given: Dict[str, Any]) -> None:
    """A model may have written them: what rules look at has to be what runs, and "true" is not True."""
    for name, value in given.items():
        if name == "network_enabled":
            fits = isinstance(value, bool)
        elif name == "allowed_domains":
            fits = isinstance(value, (list, tuple)) and all(isinstance(host, str) for host in value)
        elif name == "timeout":
            fits = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < float("inf")
        else:
            fits = isinstance(value, str) or (name == "sandbox_id" and value is None)
        if not fits:
            raise TypeError(f"{name}: {type(value).__name__} {str(value)[:40]!r} is nothing that it can be")


class CodeExecutionTools:
    """The six tools. None of them raises: what went wrong is `error`, and `error_type` its kind.

    With a gate each call is asked about before anything is done. What runs are copies of the arguments that were asked about.
    """

    def __init__(self, sandbox_manager: SandboxManager, hitl_gate: Optional[HITLGate] = None) -> None:
        self.sandbox_manager = sandbox_manager
        self.hitl_gate = hitl_gate

    async def code_execute(
        self,
        language: str,
        code: str,
        sandbox_id: Optional[str] = None,
        timeout: float = 30,
        network_enabled: bool = False,
        allowed_domains: Optional[Sequence[str]] = None,
    ) -> Dict[str, Any]:
        """success, sandbox_id, stdout, stderr, exit_code, execution_time, error. Without sandbox_id it makes a sandbox."""
        return await self._asked(
            "code_execute",
            self._execute,
            language=language,
            code=code,
            sandbox_id=sandbox_id,
            timeout=timeout,
            network_enabled=network_enabled,
            allowed_domains=[] if allowed_domains is None else allowed_domains,
        )

    async def code_install_package(self, sandbox_id: str, package: str, registry: str = "pypi") -> Dict[str, Any]:
        """success, sandbox_id, package, registry, stdout, stderr, error. The sandbox was made with network_enabled."""
        return await self._asked(
            "code_install_package", self._install, sandbox_id=sandbox_id, package=package, registry=registry
        )

    async def code_write_file(self, sandbox_id: str, file_path: str, content: str) -> Dict[str, Any]:
        """success, sandbox_id, file_path, error."""
        return await self._asked(
            "code_write_file", self._write, sandbox_id=sandbox_id, file_path=file_path, content=content
        )

    async def code_read_file(self, sandbox_id: str, file_path: str) -> Dict[str, Any]:
        """success, sandbox_id, file_path, content, error."""
        return await self._asked("code_read_file", self._read, sandbox_id=sandbox_id, file_path=file_path)

    async def code_list_files(self, sandbox_id: str, path: str = ".") -> Dict[str, Any]:
        """success, sandbox_id, path, files (their names), error."""
        return await self._asked("code_list_files", self._list, sandbox_id=sandbox_id, path=path)

    async def code_destroy_sandbox(self, sandbox_id: str) -> Dict[str, Any]:
        """success, sandbox_id, message."""
        return await self._asked("code_destroy_sandbox", self._destroy, sandbox_id=sandbox_id)

    async def _asked(self, tool: str, do: Callable[..., Awaitable[Dict[str, Any]]], **given: Any) -> Dict[str, Any]:
        id = given["sandbox_id"]
        try:
            _judge_types(given)
            params = copy.deepcopy(given)
            if self.hitl_gate:
                decision = await self.hitl_gate.check_approval(Operation(tool, copy.deepcopy(given)))
                if not decision.allowed:
                    raise PermissionError(f"{tool}: {decision.decision.value}: {decision.reason or 'the answer was no'}")
            return {"success": True, "sandbox_id": id, **await do(**params)}
        except (BoxNotFound, BoxExpired) as e:
            self.sandbox_manager._sandboxes.pop(str(id), None)
            text = "Sandbox not found" if isinstance(e, BoxNotFound) else str(e)
            return {"success": False, "sandbox_id": id, "error": text, "error_type": type(e).__name__}
        except Exception as e:
            return {"success": False, "sandbox_id": id, "error": str(e), "error_type": getattr(e, "type", type(e).__name__)}

    async def _execute(
        self,
        language: str,
        code: str,
        sandbox_id: Optional[str],
        timeout: float,
        network_enabled: bool,
        allowed_domains: List[str],
    ) -> Dict[str, Any]:
        manager, made = self.sandbox_manager, sandbox_id is None
        if sandbox_id is None:
            sandbox_id = await manager.create_sandbox(language, network_enabled, allowed_domains)
        sandbox = manager.sandbox(sandbox_id)
        if network_enabled > sandbox.network_enabled or not sandbox.allowed_domains.issuperset(allowed_domains):
            raise ValueError("allowed_domains: what a sandbox reaches is said when it is made; leave sandbox_id out for a new one")
        # One that is the box's own needs not be asked for.
        own = timeout == manager.max_execution_time
        try:
            r = await sandbox.box.run(language, code, timeout=None if own else timeout)
        except BaseException:
            if made:
                await asyncio.shield(manager.destroy_sandbox(sandbox_id))
            raise
        return {
            "success": r.success,
            "sandbox_id": sandbox_id,
            "stdout": r.stdout,
            "stderr": r.stderr,
            "exit_code": r.exit_code,
            "execution_time": r.execution_time,
            "error": _error(r),
        }

    async def _install(self, sandbox_id: str, package: str, registry: str) -> Dict[str, Any]:
        sandbox = self.sandbox_manager.sandbox(sandbox_id)
        if not sandbox.network_enabled:
            raise SandboxError("Network access required for package installation")
        r = await sandbox.box.install(package, registry)
        return {
            "success": r.success,
            "package": package,
            "registry": registry,
            "stdout": r.stdout,
            "stderr": r.stderr,
            "error": _error(r),
        }

    async def _write(self, sandbox_id: str, file_path: str, content: str) -> Dict[str, Any]:
        await self.sandbox_manager.sandbox(sandbox_id).box.write(file_path, content)
        return {"file_path": file_path, "error": None}

    async def _read(self, sandbox_id: str, file_path: str) -> Dict[str, Any]:
        data = await self.sandbox_manager.sandbox(sandbox_id).box.read(file_path)
        try:
            content = data.decode()
        except UnicodeDecodeError:
            raise SandboxError(f"{file_path} is no text: `sbxrun box read` and sbxrun.Box.read() give its bytes") from None
        return {"file_path": file_path, "content": content, "error": None}

    async def _list(self, sandbox_id: str, path: str) -> Dict[str, Any]:
        files = await self.sandbox_manager.sandbox(sandbox_id).box.ls(path)
        return {"path": path, "files": [f["name"] for f in files], "error": None}

    async def _destroy(self, sandbox_id: str) -> Dict[str, Any]:
        await self.sandbox_manager.destroy_sandbox(sandbox_id)
        return {"message": "Sandbox destroyed successfully"}
