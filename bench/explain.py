"""
What explain costs: the same Plan and Select with and without it, in turns; the floor of each row is the call without.

Plan at 100,000 spans, as in bench/plan.py, in process; Select over fragments that bring tokens and scores, so that
nothing but Phase B stands beside it. The record of the trace is part of a Plan.
"""

import gc
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter_ns
from typing import TypeVar

import numpy as np
import plan
import shapes
from measure import Row, percentile, show
from telha_planner.columns.ids import whole
from telha_planner.config import PlannerConfig
from telha_planner.core.model import SpanRef
from telha_planner.core.request import Fragment, PlanRequest, SelectRequest
from telha_planner.memory import keys
from telha_planner.models.embedders.questions import Questions
from telha_planner.models.tokenizers import Tokenizers
from telha_planner.select import select_pool
from tenant import TX, build

R = TypeVar("R", PlanRequest, SelectRequest)

FRAGMENTS = {1_000: 40, 100_000: 5}
"""Sizes of the pools, and how often each is selected from."""


def rows() -> Iterator[Row]:
    """The rows of the table."""
    for vectors in (False, True):
        with tempfile.TemporaryDirectory(prefix="telha-") as folder:
            tenant = build(Path(folder), plan.SPANS, vectors=vectors)
            key, _ = keys.create(tenant.store, "bench", name="bench", rights=("read",), spaces=None, now=lambda: TX)
            ask = plan.asking(tenant, key, Questions(plan.Topics(tenant)) if vectors else None)
            requests = [PlanRequest(question=question, max_tokens=plan.BUDGET) for question in tenant.questions]
            pools = sorted(ask(request).plan.stats.pool_spans for request in requests)
            measured = in_turns(ask, requests, 5)
            tenant.store.close()
        legs = "semantic leg too" if vectors else "words alone"
        yield row(f"one Plan explained, {legs}, pool {pools[len(pools) // 2]}", *measured)
    config = PlannerConfig()
    tokenizers = Tokenizers(config.tokens)
    for size, times in FRAGMENTS.items():
        request = SelectRequest(fragments(size), max_tokens=plan.BUDGET)
        measured = in_turns(partial(select_pool, config=config, tokenizers=tokenizers), [request], times)
        yield row(f"one Select explained, {size:,} fragments", *measured)


def in_turns(ask: Callable[[R], object], requests: Sequence[R], times: int) -> list[list[float]]:
    """Ascending milliseconds of *requests* without explain and with it, in turns, after a round to warm up."""
    found: list[list[float]] = [[], []]
    gc.disable()
    try:
        for count in range(times + 1):
            for request in requests:
                for explain, durations in enumerate(found):
                    one = replace(request, explain=bool(explain))
                    begin = perf_counter_ns()
                    ask(one)
                    if count:
                        durations.append((perf_counter_ns() - begin) / 1e6)
    finally:
        gc.enable()
    return [sorted(durations) for durations in found]


def fragments(size: int) -> list[Fragment]:
    """A typical pool as a caller sends it."""
    pool = shapes.typical(size)
    numbers = (pool.version, pool.start, pool.end, pool.kind, pool.weight, pool.tokens)
    columns = zip(whole(pool.source_hi, pool.source_lo), *(np.asarray(of).tolist() for of in numbers), strict=True)
    return [
        Fragment(SpanRef(source, version, start, end), shapes.KINDS[kind], tokens=tokens, score=score)
        for source, version, start, end, kind, score, tokens in columns
    ]


def row(name: str, plain: list[float], explained: list[float]) -> Row:
    """The call with explain beside the call without."""
    return Row(
        name=name,
        p50_ms=percentile(explained, 0.5),
        p95_ms=percentile(explained, 0.95),
        floor_ms=percentile(plain, 0.5),
        floor="the same without explain",
    )


if __name__ == "__main__":
    show(rows())
