"""An explanation with everything in it, as the wire carries it."""

from telha.planner.v1 import explanation_pb2 as pb
from telha.planner.v1 import plan_pb2

SOURCE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
OTHER = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e11"
NODE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e12"
VERSION = 1_780_315_200_000_000


def ref(start: int, end: int, source: str = SOURCE) -> plan_pb2.SpanRef:
    """A span of a source."""
    return plan_pb2.SpanRef(source_id=source, source_version_tx=VERSION, start=start, end=end)


def score(**changed: object) -> pb.ScoreParts:
    """A score of which every part is another number."""
    parts: dict[str, object] = {
        "node_id": NODE,
        "score": 0.5,
        "similarity": 0.25,
        "semantic": 0.125,
        "lexical": 0.375,
        "context": 0.75,
        "source": 0.0625,
        "speaker": 0.03125,
        "days": 0.875,
        "decay": 0.9375,
        "hops": 1,
        "path": [OTHER, NODE],
        "structured": True,
        "evidence": 0.6875,
        "legs": [pb.LegRank(leg=plan_pb2.LEG_LEXICAL, rank=3), pb.LegRank(leg=plan_pb2.LEG_SEMANTIC, rank=70)],
    }
    return pb.ScoreParts(**{**parts, **changed})  # type: ignore[arg-type]  # any field


def candidate(outcome: int = pb.SPAN_OUTCOME_SOURCE_CAP, **changed: object) -> pb.ExplainedSpan:
    """A candidate that the cap turned away."""
    parts: dict[str, object] = {
        "span": ref(0, 40),
        "source_name": "handbook.md",
        "kind": "paragraph",
        "span_class": plan_pb2.SPAN_CLASS_TRUTH,
        "weight": 0.5,
        "kind_prior": 1.0,
        "cache_discount": 1.0,
        "tokens": 100,
        "outcome": outcome,
        "rank": 2,
        "density": 0.005,
        "budget_left": 300,
        "source_spent": 350,
        "score": score(),
        "because": "its source has had 350 of the 400 tokens that one source may take",
    }
    return pb.ExplainedSpan(**{**parts, **changed})  # type: ignore[arg-type]  # any field


def duplicate() -> pb.ExplainedSpan:
    """A candidate that repeats another."""
    return candidate(
        pb.SPAN_OUTCOME_DUPLICATE,
        span=ref(10, 60),
        rank=0,
        budget_left=0,
        source_spent=0,
        duplicate=pb.Duplicate(of=ref(0, 40), overlap=0.75),
        because="repeats 75 % of a heavier span",
    )


def node(verdict: int = pb.VERDICT_NOT_VISIBLE, **changed: object) -> pb.ExplainedNode:
    """A node that was no candidate."""
    parts: dict[str, object] = {
        "node_id": NODE,
        "type": "passage",
        "span": ref(100, 140),
        "verdict": verdict,
        "score": score(hops=0, path=[], structured=False),
        "ranks": [pb.LegRank(leg=plan_pb2.LEG_LEXICAL, rank=71)],
        "axis": pb.TIME_AXIS_VALID_TIME,
        "since_us": 5,
        "until_us": 9,
        "instead": ref(0, 40),
        "because": "true only from 2026-01-01",
    }
    return pb.ExplainedNode(**{**parts, **changed})  # type: ignore[arg-type]  # any field


def subject(**changed: object) -> pb.ExplainedSubject:
    """A section that was asked about."""
    parts: dict[str, object] = {
        "subject": pb.Subject(source=pb.SourceSubject(source="handbook.md", section="Refunds")),
        "verdict": pb.VERDICT_CANDIDATE,
        "candidates": [candidate()],
        "candidates_left_out": 4,
        "nodes": [node()],
        "nodes_left_out": 7,
        "because": "It was a candidate, and its source had no room left.",
    }
    return pb.ExplainedSubject(**{**parts, **changed})  # type: ignore[arg-type]  # any field


def explanation() -> pb.Explanation:
    """Two candidates, a section and a span."""
    return pb.Explanation(
        spans=[candidate(), duplicate()],
        spans_left_out=3,
        source_cap=400,
        top_k=64,
        subjects=[
            subject(),
            subject(
                subject=pb.Subject(span=ref(7, 9)),
                verdict=pb.VERDICT_UNKNOWN,
                candidates=[],
                candidates_left_out=0,
                nodes=[],
                nodes_left_out=0,
            ),
        ],
    )
