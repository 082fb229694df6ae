"""
Phase B, from a pool to the hash: collapse, select, plan, at 500, 10,000 and 100,000 candidates.

The floor is sorting: the weights once and the densities once, which no exact packing by density can leave out.
"""

from collections.abc import Iterator

import numpy as np
import shapes
from measure import Row, percentile, show, times_ms
from telha_planner.core import selection
from telha_planner.core.model import PackingRule, Pool
from telha_planner.core.plan import plan_hash, planned_spans

BUDGET = 4000
TARGETS_MS = {500: 0.5, 10_000: 8.0, 100_000: 200.0}
ADVERSARIAL_SIZES = (10_000, 100_000)
ADVERSARIAL_TARGET_MS = 1000.0


def rows() -> Iterator[Row]:
    """The rows of the table, typical pools first."""
    for size, target in TARGETS_MS.items():
        yield row(f"Phase B, typical, {size:,}", shapes.typical(size), PackingRule(BUDGET, 0.4, 0.8), target)
    for name, shape, overlap in shapes.ADVERSARIAL:
        for size in ADVERSARIAL_SIZES:
            target = ADVERSARIAL_TARGET_MS if size == max(ADVERSARIAL_SIZES) else None
            yield row(f"Phase B, {name}, {size:,}", shape(size), PackingRule(BUDGET, 0.4, overlap), target)


def row(name: str, pool: Pool, rule: PackingRule, target_ms: float | None) -> Row:
    """Measure one pool beside its floor."""
    measured = times_ms(lambda: phase_b(pool, rule))
    floor = times_ms(lambda: sort_twice(pool), seconds=0.2)
    return Row(
        name=name,
        p50_ms=percentile(measured, 0.5),
        p95_ms=percentile(measured, 0.95),
        floor_ms=percentile(floor, 0.5),
        floor="two sorts of float64",
        target_ms=target_ms,
    )


def phase_b(pool: Pool, rule: PackingRule) -> str:
    """All of Phase B but the texts, which a plan slices elsewhere."""
    collapsed = selection.take(pool, selection.collapse(pool))
    chosen = selection.select(collapsed, rule)
    spans = planned_spans(collapsed, chosen.packed, [""] * len(chosen.packed))
    return plan_hash(rule.budget, chosen.used, spans)


def sort_twice(pool: Pool) -> None:
    """The floor."""
    np.argsort(pool.weight)
    np.argsort(pool.weight / pool.tokens)


if __name__ == "__main__":
    show(rows())
