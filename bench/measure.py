"""
How a row of `make bench` is measured and shown.

A figure means little alone: each row stands beside its floor, the least that any implementation on this machine must
spend, measured in the same run.
"""

import gc
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter_ns

_NAME = 56
"""Cells of a row's name: more than the longest."""


@dataclass(frozen=True, slots=True)
class Row:
    """
    One line of the table, times in ms.

    Attributes:
        floor: What the floor is, in words.
        target_ms: The p50 to reach, or None.
    """

    name: str
    p50_ms: float
    p95_ms: float
    floor_ms: float
    floor: str
    target_ms: float | None = None

    @property
    def ratio(self) -> float:
        """How many times its floor the row takes."""
        return self.p50_ms / self.floor_ms

    @property
    def met(self) -> bool | None:
        """Whether the target was reached, None without one."""
        return None if self.target_ms is None else self.p50_ms <= self.target_ms


def times_ms(call: Callable[[], object], seconds: float = 1.0, least: int = 5, most: int = 500) -> list[float]:
    """Ascending durations of *call* over about *seconds*, after one call to warm up, without the collector's pauses."""
    call()
    durations: list[float] = []
    enabled = gc.isenabled()
    gc.disable()
    try:
        while len(durations) < least or (sum(durations) < seconds * 1000 and len(durations) < most):
            begin = perf_counter_ns()
            call()
            durations.append((perf_counter_ns() - begin) / 1e6)
    finally:
        if enabled:
            gc.enable()
    return sorted(durations)


def percentile(ascending: list[float], share: float) -> float:
    """The nearest-rank percentile of *ascending*."""
    return ascending[max(0, math.ceil(share * len(ascending)) - 1)]


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """The head, then each row as soon as it is measured, aligned."""
    yield f"{'row':<{_NAME}}{'p50 ms':>10}{'p95 ms':>10}{'target':>9}{'met':>5}{'floor ms':>10}{'ratio':>8}  floor"
    for row in rows:
        target = "" if row.target_ms is None else f"{row.target_ms:g}"
        met = {None: "", True: "yes", False: "no"}[row.met]
        yield (
            f"{row.name:<{_NAME}}{row.p50_ms:>10.3f}{row.p95_ms:>10.3f}{target:>9}{met:>5}{row.floor_ms:>10.3f}"
            f"{row.ratio:>8.1f}  {row.floor}"
        )


def show(rows: Iterable[Row]) -> None:
    """Print the table, row by row, and the time it took."""
    began = perf_counter_ns()
    for line in lines(rows):
        print(line, flush=True)
    print(f"measured in {(perf_counter_ns() - began) / 1e9:.0f} s")
