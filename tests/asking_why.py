"""Asking why not, in process: of one subject or several, with what the answers name."""

from uuid import UUID, uuid4

from planner_parts import Parts
from telha_planner.core.explained import ExplainedNode, ExplainedSubject, Verdict
from telha_planner.core.model import SpanRef
from telha_planner.memory.records import NodeRecord

SECOND = 1_000_000
HARBOUR = "# Harbour\n\nThe harbour opens at six.\n\n# Bread\n\nBread is baked at four.\n"


def why(parts: Parts, question: str | None, *subjects, **changes) -> tuple[ExplainedSubject, ...]:
    """The answers, and that they alter no plan."""
    answer = parts.plan(question, why_not=subjects, **changes)
    if "window" not in changes:
        changes["window"] = answer.window
    assert answer.plan.plan_hash == parts.plan(question, **changes).plan.plan_hash
    told = answer.explanation.subjects
    assert [one.subject for one in told] == list(subjects)
    assert not answer.explanation.spans
    return told


def why_one(parts: Parts, question: str | None, subject, **changes) -> ExplainedSubject:
    (told,) = why(parts, question, subject, **changes)
    return told


def node_of(told: ExplainedSubject, verdict: Verdict) -> ExplainedNode:
    """The first node of *told* with *verdict*."""
    return next(node for node in told.nodes if node.verdict is verdict)


def version_of(parts: Parts, question: str, **changes) -> int:
    """Commit of the version that answers *question*."""
    return parts.plan(question, **changes).plan.spans[0].span.source_version_tx


def at(source: UUID, version: int, text: str, piece: str) -> SpanRef:
    start = text.encode().index(piece.encode())
    return SpanRef(source.bytes, version, start, start + len(piece.encode()))


def tenant_of(parts: Parts) -> int:
    return parts.planning.caller(parts.key()).tenant


def a_fact(parts: Parts, span: SpanRef | None, **more) -> UUID:
    """A node written by API."""
    node_id = more.pop("node_id", None) or uuid4()
    provenance = () if span is None else (span,)
    record = NodeRecord(node_id.bytes, "main", more.pop("type", "fact"), "{}", provenance=provenance, **more)
    parts.writer.put_nodes(tenant_of(parts), [record])
    return node_id
