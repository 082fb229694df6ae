"""
Phase A over columns: a tenant's first load, and recall at 100,000 spans with and without a vector.

Floors: for the load, the driver handing over the same rows; for recall, one pass over the postings of the question's
terms (and, with a vector, one exact integer scan of all vectors).
"""

import itertools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
from measure import Row, percentile, show, times_ms
from telha_planner.columns.snapshot import Snapshot
from telha_planner.columns.tenant import Columns
from telha_planner.columns.vectors import integer_dots, quantised
from telha_planner.config import ScoringSettings
from telha_planner.core.request import Leg
from telha_planner.memory import projection
from telha_planner.models.analysis import term_counts
from telha_planner.recall.ports import RecallQuery, Scoring
from telha_planner.recall.recall import recall
from tenant import TENANT, TX, Synthetic, build

SPANS = 100_000
LOAD_TARGET_MS = 3000.0
RECALL_TARGET_MS = 2.5


def query(tenant: Synthetic, index: int, *, vector: bool, **changes: object) -> RecallQuery:
    """The *index*-th question, perhaps with a vector."""
    values: dict[str, object] = {
        "valid_t": TX + 1,
        "tx_t": TX,
        "spaces": ("main",),
        "question": tenant.questions[index % len(tenant.questions)],
        "find": None,
        "find_limit": 64,
        "vector": tenant.vectors[index % len(tenant.vectors)] if vector else None,
        "vector_model": None,
        "expand_depth": 1,
        "top_k": 64,
        "legs": frozenset(Leg),
        "skipped": None,
        "encoding": "o200k_base",
        "largest_window": 2000,
        "scoring": Scoring(),
        "min_similarity": ScoringSettings().min_similarity,
    }
    return RecallQuery(**(values | changes))  # type: ignore[arg-type]  # a table of mixed values


def rows() -> Iterator[Row]:
    """The rows of the table."""
    with tempfile.TemporaryDirectory() as folder:
        tenant = build(Path(folder), SPANS)
        columns = Columns(tenant.store, 4 << 30)
        yield load_row(tenant)
        snapshot = columns.at(TENANT, TX)
        for vector in (False, True):
            yield recall_row(tenant, snapshot, vector=vector)
        tenant.store.close()


def load_row(tenant: Synthetic) -> Row:
    """A cold tenant's first load."""
    loads, floors = [], []
    for _ in range(3):
        begin = perf_counter()
        projection.changes(tenant.store, TENANT)
        floors.append((perf_counter() - begin) * 1000)
        begin = perf_counter()
        Columns(tenant.store, 4 << 30).at(TENANT, TX)
        loads.append((perf_counter() - begin) * 1000)
    return Row(
        name=f"load a tenant of {SPANS:,} spans, {tenant.nodes:,} nodes",
        p50_ms=sorted(loads)[1],
        p95_ms=max(loads),
        floor_ms=sorted(floors)[1],
        floor="the driver's rows",
        target_ms=LOAD_TARGET_MS,
    )


def recall_row(tenant: Synthetic, snapshot: Snapshot, *, vector: bool) -> Row:
    """Recall with a question, perhaps with a vector, over different questions in turn."""
    turn = itertools.count()
    queries = [query(tenant, index, vector=vector) for index in range(len(tenant.questions))]
    pool = sorted(len(recall(snapshot, one)) for one in queries)
    measured = times_ms(lambda: recall(snapshot, queries[next(turn) % len(queries)]), seconds=2.0)
    floor = times_ms(_floor(tenant, snapshot, vector=vector), seconds=0.5)
    legs = "question and vector" if vector else "question"
    return Row(
        name=f"recall, {legs}, {SPANS:,} spans, pool {pool[len(pool) // 2]}",
        p50_ms=percentile(measured, 0.5),
        p95_ms=percentile(measured, 0.95),
        floor_ms=percentile(floor, 0.5),
        floor="postings read and scan" if vector else "postings read",
        target_ms=RECALL_TARGET_MS,
    )


def _floor(tenant: Synthetic, snapshot: Snapshot, *, vector: bool) -> Callable[[], None]:
    columns = snapshot.columns
    turn = itertools.count()
    scores = np.zeros(len(columns.versions))
    model = columns.vectors["bench"]
    asked = quantised(tenant.vectors[0][None])[0]
    terms = [sorted(term_counts(question)) for question in tenant.questions]

    def once() -> None:
        scores[:] = 0.0
        for term in terms[next(turn) % len(terms)]:
            found, counts = columns.postings.occurrences(term, [0])
            scores[found] += counts
        if vector:
            integer_dots(model.small, asked)

    return once


if __name__ == "__main__":
    show(rows())
