"""
The plan hash, recomputed: proof of a plan without trust in the server.

BLAKE3 over, all big-endian: u32 length and UTF-8 of the plan model; u64 budget; u64 used; u64 number of spans; then
each span: 16 bytes of the source's UUID, i64 version, u64 start, u64 end, u32 length and UTF-8 of the kind, u8 class
(0 truth, 1 cache), u64 bits of the float64 weight, u64 tokens. docs/plan-hash.md has the reasons and test vectors.
"""

import struct
from uuid import UUID

from blake3 import blake3

from .results import Plan

_CLASSES = {"truth": 0, "cache": 1}


def plan_hash(plan: Plan) -> str:
    """The hash of *plan* as this side computes it: `b3:` and 64 hexadecimal digits."""
    model = plan.plan_model.encode()
    hashed = blake3(struct.pack(">I", len(model)) + model)
    hashed.update(struct.pack(">QQQ", plan.budget, plan.used, len(plan.spans)))
    for planned in plan.spans:
        span, kind = planned.span, planned.kind.encode()
        hashed.update(UUID(span.source_id).bytes + struct.pack(">qQQ", span.source_version_tx, span.start, span.end))
        hashed.update(struct.pack(">I", len(kind)) + kind)
        hashed.update(struct.pack(">BdQ", _CLASSES[planned.span_class], planned.weight, planned.tokens))
    return f"b3:{hashed.hexdigest()}"


def verify_hash(plan: Plan) -> bool:
    """Whether *plan* is what its hash says."""
    return plan_hash(plan) == plan.plan_hash
