"""What a person is asked before a tool of harombe.py runs.

No boundary: the gate is a part of the caller's program, and whoever runs Python there can call a box without it. It keeps
a model, which has nothing but the tools, from doing what nobody agreed to. Where the answer has to come from another user, and to
be bound to exactly what runs, `sbxrun mcp` asks (sbxrun-approve(8)); RiskClassifier.document() gives it the same rules.
"""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import datetime
import enum
import inspect
import re
import threading
import uuid
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple


class RiskLevel(str, enum.Enum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


_ORDER = list(RiskLevel)
# Fillers, joiners and selectors of variants, which count as printable.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
_SECONDS = {RiskLevel.LOW: 120, RiskLevel.MEDIUM: 120, RiskLevel.HIGH: 60, RiskLevel.CRITICAL: 30}
# A model writes what is searched. What is longer is not searched, and counts as found.
_SEARCHED = 64 << 10


def _shown(c: str) -> str:
    return c if c.isprintable() and not _UNSEEN.match(c) else f"\\u{{{ord(c):x}}}"


@dataclasses.dataclass
class Operation:
    """A call of a tool, as it will be made."""

    tool_name: str
    params: Dict[str, Any]
    correlation_id: str = dataclasses.field(default_factory=lambda: uuid.uuid4().hex)
    session_id: Optional[str] = None
    metadata: Dict[str, Any] = dataclasses.field(default_factory=dict)

    def show(self) -> str:
        """For a person to read: a model's text in lines that begin with "| ", and what hides, turns or imitates text as its number."""
        lines = [f"{self.tool_name}:"]
        for name, value in self.params.items():
            lines.append(f"{name}:")
            lines += ["| " + "".join(map(_shown, line)) for line in str(value).split("\n")]
        return "\n".join(lines)


@dataclasses.dataclass
class HITLRule:
    """A condition has `param` and one of `matches` (an expression, found anywhere), `equals` and `in`; all of them must fit."""

    tools: Sequence[str]
    risk: RiskLevel
    conditions: Optional[Sequence[Mapping[str, Any]]] = None
    timeout: Optional[float] = None  # None: that of the risk
    description: Optional[str] = None
    require_approval: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.tools, str):
            raise TypeError("tools: a list of names, not a text")
        self.risk = RiskLevel(self.risk)
        for c in self.conditions or ():
            if "param" not in c or len(c) != 2 or not c.keys() & {"matches", "equals", "in"}:
                raise ValueError(f"conditions: {dict(c)!r} is not param and one of matches, equals, in")
            if "matches" in c:
                re.compile(c["matches"])

    def seconds(self) -> float:
        return _SECONDS[self.risk] if self.timeout is None else self.timeout

    def fits(self, operation: Operation) -> bool:
        return ("*" in self.tools or operation.tool_name in self.tools) and all(
            c["param"] in operation.params and _holds(c, operation.params[c["param"]]) for c in self.conditions or ()
        )


def _holds(condition: Mapping[str, Any], value: Any) -> bool:
    if "matches" not in condition:
        return bool(value == condition["equals"] if "equals" in condition else value in condition["in"])
    text = str(value)
    return len(text) > _SEARCHED or re.search(condition["matches"], text) is not None


# Every part of it has an end, so that no text makes it slow.
_DANGEROUS = (
    r"(?i)\brm\s{1,99}-[a-z]{0,9}(?:rf|fr)|\b(?:curl|wget)\b[^\n]{0,200}\|\s{0,99}(?:ba|da|z)?sh\b"
    r"|\b(?:eval|exec)\s{0,99}\(|\bsubprocess\b|\bos\s{0,99}\.\s{0,99}system\b|__import__"
)


def _when(param: str, **condition: Any) -> List[Dict[str, Any]]:
    return [{"param": param, **condition}]


def get_sandbox_hitl_rules() -> List[HITLRule]:
    """What is how risky if nobody says otherwise: what `sbxrun mcp` takes, too. A pattern is a hint, and never the protection."""
    low, medium, high, critical = _ORDER
    rows: List[Tuple[str, RiskLevel, Optional[List[Dict[str, Any]]], str]] = [
        ("code_execute", critical, _when("network_enabled", equals=True), "code that reaches the network"),
        ("code_execute", critical, _when("code", matches=_DANGEROUS), "code with a dangerous pattern"),
        ("code_execute", high, None, "code"),
        ("code_install_package", high, _when("registry", matches=r"^(?:pypi|npm)$(?!\n)"), "a package of a registry"),
        ("code_install_package", critical, _when("registry", matches=r"^(?!(?:pypi|npm)$(?!\n))"), "a package of another registry"),
        ("code_write_file", high, _when("file_path", matches=r"(?i)\.(?:sh|py|js|exe|bin)$"), "a file that can be run"),
        ("code_write_file", medium, None, "writing a file"),
        ("code_read_file", medium, None, "reading a file"),
        ("code_list_files", medium, None, "listing files"),
        ("code_destroy_sandbox", low, None, "cleaning up"),
    ]
    return [
        HITLRule([tool], risk, conditions, description=why, require_approval=risk is not low)
        for tool, risk, conditions, why in rows
    ]


_UNKNOWN = HITLRule(["*"], RiskLevel.CRITICAL, description="nothing is known of it")


class RiskClassifier:
    """Of all rules that fit, the riskiest holds; of several such, the last. So a rule that is appended is not hidden by one before."""

    def __init__(self, rules: Optional[Sequence[HITLRule]] = None) -> None:
        self.rules = get_sandbox_hitl_rules() if rules is None else list(rules)

    def rule(self, operation: Operation) -> HITLRule:
        found = _UNKNOWN
        for rule in self.rules:
            if rule.fits(operation) and (found is _UNKNOWN or _ORDER.index(rule.risk) >= _ORDER.index(found.risk)):
                found = rule
        return found

    def classify(self, operation: Operation) -> RiskLevel:
        return self.rule(operation).risk

    def requires_approval(self, operation: Operation) -> bool:
        return self.rule(operation).require_approval

    def get_timeout(self, operation: Operation) -> float:
        return self.rule(operation).seconds()

    def document(self) -> Dict[str, Any]:
        """The rules as `sbxrun mcp --rules FILE` reads them, as JSON: then sbxrun asks, and this gate is not needed."""
        return {"version": 1, "rules": [_as_json(rule) for rule in self.rules]}


def _as_json(rule: HITLRule) -> Dict[str, Any]:
    if not rule.require_approval and rule.risk is not RiskLevel.LOW:
        raise ValueError(f"{rule.description}: sbxrun asks about everything but what is low")
    conditions = []
    for c in rule.conditions or ():
        if "in" in c:
            raise ValueError(f"{rule.description}: sbxrun knows no condition with `in`; write it as `matches`")
        key = "matches" if "matches" in c else "equals"
        value = c[key]
        conditions.append({"param": c["param"], key: str(value).lower() if isinstance(value, bool) else str(value)})
    made: Dict[str, Any] = {"tools": list(rule.tools), "risk": rule.risk.value, "timeout": max(1, round(rule.seconds()))}
    if rule.description is not None:
        made["description"] = rule.description
    return {**made, "conditions": conditions} if conditions else made


class ApprovalStatus(str, enum.Enum):
    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    TIMEOUT = "timeout"
    AUTO_APPROVED = "auto_approved"


@dataclasses.dataclass
class ApprovalDecision:
    decision: ApprovalStatus
    user: Optional[str] = None
    reason: Optional[str] = None
    timeout_seconds: Optional[float] = None
    approval_id: Optional[str] = None
    timestamp: datetime.datetime = dataclasses.field(default_factory=lambda: datetime.datetime.now(datetime.timezone.utc))

    @property
    def allowed(self) -> bool:
        return self.decision in (ApprovalStatus.APPROVED, ApprovalStatus.AUTO_APPROVED)


@dataclasses.dataclass
class PendingApproval:
    approval_id: str
    operation: Operation
    risk_level: RiskLevel
    timeout: float
    answer: "asyncio.Future[ApprovalDecision]"


def _in_thread(ask: Callable[..., Any], *question: Any) -> "asyncio.Future[Any]":
    """Of its own, which nobody waits for: one of a pool that waits at a terminal would keep the program from ending."""
    loop = asyncio.get_running_loop()
    done: "asyncio.Future[Any]" = loop.create_future()

    def tell(set: Callable[[Any], None], value: Any) -> None:
        try:
            loop.call_soon_threadsafe(lambda: done.done() or set(value))
        except RuntimeError:
            pass  # the loop has ended, and nobody wants to know any more

    def run() -> None:
        try:
            tell(done.set_result, ask(*question))
        except Exception as e:
            tell(done.set_exception, e)

    threading.Thread(target=run, daemon=True, name="sbxrun-ask").start()
    return done


# A function that asks: of the operation, its risk and the seconds for an answer. True or an ApprovalDecision is the answer, as is what either is
# awaited for; None: somebody will call approve() or deny(). It may block, in a thread of its own.
Ask = Callable[[Operation, RiskLevel, float], Any]


class HITLGate:
    """Asks, and waits for the answer. No answer in time is no, and so is an answer that is neither True nor an ApprovalDecision."""

    def __init__(
        self, classifier: Optional[RiskClassifier] = None, auto_approve_low_risk: bool = True, ask: Optional[Ask] = None
    ) -> None:
        self.classifier = classifier or RiskClassifier()
        self.auto_approve_low_risk = auto_approve_low_risk
        self.ask = ask
        self.pending_approvals: Dict[str, PendingApproval] = {}

    async def check_approval(
        self, operation: Operation, user: Optional[str] = None, prompt_callback: Optional[Ask] = None
    ) -> ApprovalDecision:
        """The decision; `allowed` says whether it is a yes."""
        rule = self.classifier.rule(operation)
        if not rule.require_approval or (self.auto_approve_low_risk and rule.risk is RiskLevel.LOW):
            return ApprovalDecision(ApprovalStatus.AUTO_APPROVED, user, rule.description)
        # A copy: whoever asks can't change what was asked about.
        pending = PendingApproval(
            uuid.uuid4().hex, copy.deepcopy(operation), rule.risk, rule.seconds(), asyncio.get_running_loop().create_future()
        )
        self.pending_approvals[pending.approval_id] = pending
        asking = asyncio.ensure_future(self._ask(pending, prompt_callback or self.ask))
        try:
            return await asyncio.wait_for(asyncio.shield(pending.answer), pending.timeout)
        except asyncio.TimeoutError:
            return ApprovalDecision(
                ApprovalStatus.TIMEOUT, user, "nobody has answered", pending.timeout, pending.approval_id
            )
        finally:
            asking.cancel()
            pending.answer.cancel()
            del self.pending_approvals[pending.approval_id]

    async def _ask(self, pending: PendingApproval, ask: Optional[Ask]) -> None:
        if ask is None:
            return
        question = (pending.operation, pending.risk_level, pending.timeout)
        try:
            if inspect.iscoroutinefunction(ask):
                answer = await ask(*question)
            else:
                answer = await _in_thread(ask, *question)
            if inspect.isawaitable(answer):
                answer = await answer
        except Exception as e:
            answer = ApprovalDecision(ApprovalStatus.DENIED, reason=f"asking failed: {e}")
        if answer is None:
            return
        if not isinstance(answer, ApprovalDecision):
            answer = ApprovalDecision(ApprovalStatus.APPROVED if answer is True else ApprovalStatus.DENIED)
        answer.approval_id = pending.approval_id
        self._answer(pending.approval_id, answer)

    def _answer(self, approval_id: str, decision: ApprovalDecision) -> bool:
        pending = self.pending_approvals.get(approval_id)
        if pending is None or pending.answer.done():
            return False
        pending.answer.set_result(decision)
        return True

    def approve(self, approval_id: str, user: str, reason: Optional[str] = None) -> bool:
        """Yes; False: that question is answered, or its time is over. To be called in the thread of the event loop."""
        return self._answer(approval_id, ApprovalDecision(ApprovalStatus.APPROVED, user, reason, approval_id=approval_id))

    def deny(self, approval_id: str, user: str, reason: Optional[str] = None) -> bool:
        return self._answer(approval_id, ApprovalDecision(ApprovalStatus.DENIED, user, reason, approval_id=approval_id))

    def get_pending(self, approval_id: str) -> Optional[PendingApproval]:
        return self.pending_approvals.get(approval_id)

    def list_pending(self) -> List[PendingApproval]:
        return list(self.pending_approvals.values())
