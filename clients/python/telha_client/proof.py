"""
The plan hash, recomputed: proof of a plan, or of the trace of one, without trust in the server.

BLAKE3 over, all big-endian: u32 length and UTF-8 of the plan model; u64 budget; u64 used; u64 number of spans; then
each span: 16 bytes of the source's UUID, i64 version, u64 start, u64 end, u32 length and UTF-8 of the kind, u8 class
(0 truth, 1 cache), u64 bits of the float64 weight, u64 tokens. docs/plan-hash.md has the reasons and test vectors.
"""

import struct
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from blake3 import blake3

from .results import Plan, Trace

_CLASSES = {"truth": 0, "cache": 1}


class _Hashed(NamedTuple):
    """What the hash covers of one span; sorts in canonical order."""

    source: bytes
    version: int
    start: int
    end: int
    kind: str
    span_class: int
    weight: float
    tokens: int


def plan_hash(plan: Plan) -> str:
    """The hash of *plan* as this side computes it: `b3:` and 64 hexadecimal digits."""
    spans = [
        _Hashed(
            UUID(planned.span.source_id).bytes,
            planned.span.source_version_tx,
            planned.span.start,
            planned.span.end,
            planned.kind,
            _CLASSES[planned.span_class],
            planned.weight,
            planned.tokens,
        )
        for planned in plan.spans
    ]
    return _hash(plan.plan_model, plan.budget, plan.used, spans)


def verify_hash(plan: Plan) -> bool:
    """
    Whether *plan* is what its hash says.

    Raises:
        TypeError: It is no plan. The items of a context are not all that the hash covers; its trace is.
    """
    if not isinstance(plan, Plan):
        raise TypeError(f"verify_hash takes a Plan, not {type(plan).__name__}; see verify_trace for all other answers")
    return plan_hash(plan) == plan.plan_hash


def trace_hash(trace: Trace) -> str:
    """
    The plan hash as this side computes it from the record of *trace*.

    Raises:
        ValueError: The record does not hold what the hash covers: it is of another kind or of an earlier version.
        TypeError: It is no trace.
    """
    if not isinstance(trace, Trace):
        raise TypeError(f"a trace is needed, as `client.trace(trace_id)` gives it, not {type(trace).__name__}")
    record = trace.record
    try:
        coordinates, facts = record["item_coords"], record["item_facts"]
        spans = [
            # A number that JSON cannot hold exactly is shown as a string.
            _Hashed(UUID(source).bytes, int(version), int(start), int(end), kind, int(of), float(weight), int(tokens))
            for (source, version, start, end), (kind, of, weight, tokens) in zip(coordinates, facts, strict=True)
        ]
        budget = record["budget"]
        return _hash(record["plan_model"], int(budget["applied"]), int(budget["used"]), sorted(spans))
    except (KeyError, TypeError, ValueError, AttributeError, struct.error) as fault:
        raise ValueError("the record of this trace does not hold what its plan hash covers") from fault


def verify_trace(trace: Trace) -> bool:
    """
    Whether the plan that *trace* records is what its hash says.

    Raises:
        ValueError: The record does not hold what the hash covers.
    """
    return trace_hash(trace) == trace.summary.plan_hash


def _hash(plan_model: str, budget: int, used: int, spans: Sequence[_Hashed]) -> str:
    model = plan_model.encode()
    hashed = blake3(struct.pack(">I", len(model)) + model)
    hashed.update(struct.pack(">QQQ", budget, used, len(spans)))
    for span in spans:
        kind = span.kind.encode()
        hashed.update(span.source + struct.pack(">qQQ", span.version, span.start, span.end))
        hashed.update(struct.pack(">I", len(kind)) + kind)
        hashed.update(struct.pack(">BdQ", span.span_class, span.weight, span.tokens))
    return f"b3:{hashed.hexdigest()}"
