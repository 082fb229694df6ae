"""
What "why not?" costs: one Plan with 1 and with 32 subjects; the floor of each row is the same call with explain.

At 100,000 spans with a semantic leg, as in bench/plan.py, in process. Subjects are whole sources by id, half of them
far from the question.
"""

import gc
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter_ns

import plan
import sqlalchemy as sa
from measure import Row, percentile, show
from telha_planner.core.request import PlanRequest
from telha_planner.core.subject import SourceSubject
from telha_planner.core.value import format_uuid
from telha_planner.memory import keys, tables
from telha_planner.models.embedders.questions import Questions
from tenant import TENANT, TX, Synthetic, build

SUBJECTS = (1, 32)
TIMES = 3


def rows() -> Iterator[Row]:
    """The rows of the table."""
    with tempfile.TemporaryDirectory(prefix="telha-") as folder:
        tenant = build(Path(folder), plan.SPANS)
        key, _ = keys.create(tenant.store, "bench", name="bench", rights=("read",), spaces=None, now=lambda: TX)
        ask = plan.asking(tenant, key, Questions(plan.Topics(tenant)))
        requests = [PlanRequest(question=question, max_tokens=plan.BUDGET) for question in tenant.questions[:10]]
        for count in SUBJECTS:
            explained, asked = in_turns(ask, requests, _subjects(tenant, count))
            yield Row(
                name=f"one Plan with why-not of {count}",
                p50_ms=percentile(asked, 0.5),
                p95_ms=percentile(asked, 0.95),
                floor_ms=percentile(explained, 0.5),
                floor="the same with explain",
            )
        tenant.store.close()


def in_turns(
    ask: Callable[[PlanRequest], object], requests: Sequence[PlanRequest], subjects: tuple[SourceSubject, ...]
) -> tuple[list[float], list[float]]:
    """Ascending milliseconds of *requests* with explain, and with *subjects* besides, in turns, once warm."""
    found: tuple[list[float], list[float]] = [], []
    gc.disable()
    try:
        for count in range(TIMES + 1):
            for request in requests:
                for why_not, durations in zip(((), subjects), found, strict=True):
                    one = replace(request, explain=True, why_not=why_not)
                    begin = perf_counter_ns()
                    ask(one)
                    if count:
                        durations.append((perf_counter_ns() - begin) / 1e6)
    finally:
        gc.enable()
    return sorted(found[0]), sorted(found[1])


def _subjects(tenant: Synthetic, count: int) -> tuple[SourceSubject, ...]:
    with tenant.store.reading(TENANT) as connection:
        ids = (
            connection.execute(sa.select(tables.source.c.source_id).order_by(tables.source.c.source_no)).scalars().all()
        )
    return tuple(SourceSubject(format_uuid(ids[number * len(ids) // count])) for number in range(count))


if __name__ == "__main__":
    show(rows())
