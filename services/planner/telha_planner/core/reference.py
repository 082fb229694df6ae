"""
Phase B in plain Python: what `selection.py` computes over columns, said so that it can be checked by reading.

It serves nobody; tests compare it with the serving implementation and with a literal transcription of the
requirements. Quadratic in the spans of one source version.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from .model import Candidate, Outcome, PackingRule, Selection, SpanRef
from .ordering import descending_key_of


def collapse(candidates: Iterable[Candidate]) -> list[Candidate]:
    """One candidate per exact coordinate, in canonical order."""
    best: dict[SpanRef, Candidate] = {}
    for candidate in candidates:
        rival = best.get(candidate.span)
        if rival is None or _rank(candidate) < _rank(rival):
            best[candidate.span] = candidate
    return sorted(best.values(), key=lambda candidate: candidate.span)


def select(candidates: Sequence[Candidate], rule: PackingRule) -> Selection:
    """
    Decide about every candidate.

    Args:
        candidates: Collapsed and in canonical order, as `collapse` gives them.
        rule: The limits.
    """
    outcomes = [Outcome.DEDUPED] * len(candidates)
    used = 0
    spent: dict[bytes, int] = defaultdict(int)
    packed: list[int] = []
    cap = math.floor(rule.max_frac_per_source * rule.budget)

    for row in sorted(_deduplicated(candidates, rule.dedup_overlap), key=lambda row: _density(candidates[row], rule)):
        source = candidates[row].span.source_id
        cost = candidates[row].tokens + rule.span_overhead_tokens
        if cost > rule.budget:
            outcomes[row] = Outcome.UNPACKABLE
        elif used + cost > rule.budget:
            outcomes[row] = Outcome.BUDGET_SKIPPED
        elif rule.max_spans and len(packed) == rule.max_spans:
            outcomes[row] = Outcome.SPAN_LIMIT_SKIPPED
        elif spent[source] + cost > cap:
            outcomes[row] = Outcome.CAP_SKIPPED
        else:
            outcomes[row] = Outcome.PACKED
            packed.append(row)
            spent[source] += cost
            used += cost

    return Selection(
        outcome=np.array(outcomes, dtype=np.uint8),
        packed=np.array(sorted(packed), dtype=np.int64),
        used=used,
        stranded_by_cap=rule.budget - used if Outcome.CAP_SKIPPED in outcomes else 0,
    )


def _rank(candidate: Candidate) -> tuple[int, int, bytes, int, bytes]:
    """Orders candidates of one coordinate, the one that stays first."""
    return (
        descending_key_of(candidate.weight),
        candidate.span_class,
        candidate.kind.encode(),
        candidate.tokens,
        candidate.text.encode(),
    )


def _deduplicated(candidates: Sequence[Candidate], overlap: float) -> list[int]:
    """The candidates that no heavier kept one of the same source version overlaps too much."""
    kept: dict[tuple[bytes, int], list[SpanRef]] = defaultdict(list)
    rows: list[int] = []
    for row in sorted(range(len(candidates)), key=lambda row: descending_key_of(candidates[row].weight)):
        span = candidates[row].span
        rivals = kept[span.source_id, span.source_version_tx]
        if not any(_duplicates(span, rival, overlap) for rival in rivals):
            rivals.append(span)
            rows.append(row)
    return rows


def _duplicates(one: SpanRef, other: SpanRef, overlap: float) -> bool:
    shared = max(0, min(one.end, other.end) - max(one.start, other.start))
    quotient = shared / min(one.end - one.start, other.end - other.start)
    return quotient > overlap or quotient == 1.0


def _density(candidate: Candidate, rule: PackingRule) -> tuple[int, int, SpanRef]:
    """Orders candidates for packing; coordinates are distinct, so kind and tokens never have to decide."""
    cost = candidate.tokens + rule.span_overhead_tokens
    density = candidate.weight / max(1, cost)
    return descending_key_of(density), descending_key_of(candidate.weight), candidate.span
