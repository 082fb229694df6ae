"""
Phase B, transcribed word by word from the requirements' text, with no thought of speed.

It shares no line with the product: its own total order, its own comparisons, its own hash. `S2`, `S3` … name the
sentence that a step stands for.
"""

import functools
import math
import struct
from dataclasses import dataclass

from blake3 import blake3
from telha_planner.core.model import Candidate, PackingRule


@dataclass
class Verdict:
    """What the oracle says: outcomes by coordinate, and the plan's numbers."""

    survivors: list[Candidate]
    outcome: dict[tuple, str]
    packed: list[Candidate]
    used: int
    stranded: int
    plan_hash: str


def decide(candidates: list[Candidate], rule: PackingRule) -> Verdict:
    """Run S2 to S9."""
    outcome: dict[tuple, str] = {}
    survivors = collapse(candidates)
    kept = deduplicate(survivors, rule, outcome)
    packed = pack(kept, rule, outcome)
    used = sum(cost(c, rule) for c in packed)
    return Verdict(
        survivors=survivors,
        outcome=outcome,
        packed=packed,
        used=used,
        # S5: B − used if at least one span was blocked by the cap when it fitted.
        stranded=rule.budget - used if "CAP_SKIPPED" in outcome.values() else 0,
        plan_hash=hash_of(rule.budget, used, packed),
    )


def collapse(candidates: list[Candidate]) -> list[Candidate]:
    """S2: one per exact coordinate; weight desc, truth before cache, kind, tokens asc, text bytes."""

    def better(a: Candidate, b: Candidate) -> int:
        return compare(
            (a.weight, b.weight),
            (int(a.span_class), int(b.span_class)),
            (a.kind.encode(), b.kind.encode()),
            (a.tokens, b.tokens),
            (a.text.encode(), b.text.encode()),
        )

    survivors = []
    for span in sorted({tuple(candidate.span) for candidate in candidates}):
        rivals = [candidate for candidate in candidates if tuple(candidate.span) == span]
        survivors.append(min(rivals, key=functools.cmp_to_key(better)))
    return survivors


def deduplicate(survivors: list[Candidate], rule: PackingRule, outcome: dict[tuple, str]) -> list[Candidate]:
    """S3: by (weight desc, source_id, source_version_tx, start, end), each against every span already kept."""

    def heavier(a: Candidate, b: Candidate) -> int:
        return compare((a.weight, b.weight), *zip(a.span, b.span, strict=True))

    kept: list[Candidate] = []
    for candidate in sorted(survivors, key=functools.cmp_to_key(heavier)):
        _, _, start, end = candidate.span
        duplicate = False
        for other in kept:
            if candidate.span[:2] == other.span[:2]:
                common = max(0, min(end, other.span.end) - max(start, other.span.start))
                ratio = float(common) / float(min(end - start, other.span.end - other.span.start))
                duplicate = duplicate or ratio > rule.dedup_overlap or ratio == 1.0
        if duplicate:
            outcome[candidate.span] = "DEDUPED"
        else:
            kept.append(candidate)
    return kept


def pack(kept: list[Candidate], rule: PackingRule, outcome: dict[tuple, str]) -> list[Candidate]:
    """S4: by density desc, ties by (weight desc, coordinate, kind, tokens); S5, S6: cap and span limit. S8: sorted."""
    budget = rule.budget

    def denser(a: Candidate, b: Candidate) -> int:
        return compare(
            (a.weight / float(max(1, cost(a, rule))), b.weight / float(max(1, cost(b, rule)))),
            (a.weight, b.weight),
            *zip(a.span, b.span, strict=True),
            (a.kind.encode(), b.kind.encode()),
            (a.tokens, b.tokens),
        )

    packed: list[Candidate] = []
    for candidate in sorted(kept, key=functools.cmp_to_key(denser)):
        used = sum(cost(c, rule) for c in packed)
        spent = sum(cost(c, rule) for c in packed if c.span.source_id == candidate.span.source_id)
        t = cost(candidate, rule)
        if t > budget:
            outcome[candidate.span] = "UNPACKABLE"
        elif used + t > budget:
            outcome[candidate.span] = "BUDGET_SKIPPED"
        elif rule.max_spans > 0 and len(packed) >= rule.max_spans:
            outcome[candidate.span] = "SPAN_LIMIT_SKIPPED"
        elif spent + t > math.floor(rule.max_frac_per_source * float(budget)):
            outcome[candidate.span] = "CAP_SKIPPED"
        else:
            outcome[candidate.span] = "PACKED"
            packed.append(candidate)
    return sorted(packed, key=lambda c: tuple(c.span))


def cost(candidate: Candidate, rule: PackingRule) -> int:
    """S4: t = tokens + span_overhead_tokens."""
    return candidate.tokens + rule.span_overhead_tokens


def compare(*pairs) -> int:
    """Compare pair by pair until one decides; floats descend by total order, all else ascends."""
    for a, b in pairs:
        result = -total_cmp(a, b) if isinstance(a, float) else (a > b) - (a < b)
        if result:
            return result
    return 0


def total_cmp(a: float, b: float) -> int:
    """S7: as Rust's `f64::total_cmp`: −NaN below −∞ below −0.0 below +0.0 below +∞ below +NaN."""

    def ordinal(value: float) -> int:
        (bits,) = struct.unpack(">Q", struct.pack(">d", value))
        return (1 << 63) - 1 - bits if bits >> 63 else bits

    x, y = ordinal(a), ordinal(b)
    return (x > y) - (x < y)


def hash_of(budget: int, used: int, packed: list[Candidate], model: str = "v1") -> str:
    """S9, byte by byte; *packed* in canonical order."""
    digest = blake3()
    digest.update(len(model.encode()).to_bytes(4, "big") + model.encode())
    for number in (budget, used, len(packed)):
        digest.update(number.to_bytes(8, "big"))
    for c in packed:
        digest.update(c.span.source_id)
        digest.update(c.span.source_version_tx.to_bytes(8, "big", signed=True))
        digest.update(c.span.start.to_bytes(8, "big") + c.span.end.to_bytes(8, "big"))
        digest.update(len(c.kind.encode()).to_bytes(4, "big") + c.kind.encode())
        digest.update(bytes([int(c.span_class)]))
        digest.update(struct.pack("!d", c.weight))
        digest.update(c.tokens.to_bytes(8, "big"))
    return "b3:" + digest.hexdigest()
