"""
One whole Plan at 100,000 spans, lexical leg and two sizes included: in process, and through gRPC from another process.

In process is everything that the plan thread does: key check, recall, Phase B, slices, hash, trace record. Through gRPC
it is what a client waits for, the record's way to the disk included. Floors: one pass over the postings of the
question's terms; and for gRPC an empty call beside it.
"""

import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from uuid import UUID

import grpc
import numpy as np
from grpc_health.v1 import health_pb2, health_pb2_grpc
from measure import Row, percentile, show, times_ms
from telha.planner.v1 import planner_pb2, planner_pb2_grpc
from telha_planner.answers import Answer
from telha_planner.columns.tenant import Columns
from telha_planner.config import PlannerConfig
from telha_planner.core.request import PlanRequest
from telha_planner.memory import keys
from telha_planner.memory.texts import SourceTexts
from telha_planner.models.analysis import term_counts
from telha_planner.models.embedders.questions import Questions, embedded_first
from telha_planner.models.embedders.seam import Model, Vector
from telha_planner.models.tokenizers import Tokenizers
from telha_planner.pipeline import Planning
from tenant import DIMENSIONS, TENANT, TX, Synthetic, build

SPANS = 100_000
BUDGET = 4000
IN_PROCESS_TARGET_MS = 3.5
GRPC_TARGET_MS = 5.0
READY_SECONDS = 120


def rows() -> Iterator[Row]:
    """The three rows of the table."""
    with tempfile.TemporaryDirectory(prefix="telha-") as folder:
        tenant = build(Path(folder), SPANS)
        key, _ = keys.create(tenant.store, "bench", name="bench", rights=("read",), spaces=None, now=lambda: TX)
        yield in_process(tenant, key, _postings_read(tenant), Questions(Topics(tenant)))
        tenant.store.close()
    with tempfile.TemporaryDirectory(prefix="telha-") as folder:
        tenant = build(Path(folder), SPANS, vectors=False)
        key, _ = keys.create(tenant.store, "bench", name="bench", rights=("read",), spaces=None, now=lambda: TX)
        postings = _postings_read(tenant)
        yield in_process(tenant, key, postings)
        tenant.store.close()
        yield through_grpc(Path(folder), tenant.questions, key, postings)


class Topics:
    """An embedder whose vectors are at hand: what it costs to make one, bench/embedders.py measures."""

    head_characters = 4096
    parallel = 1

    def __init__(self, tenant: Synthetic) -> None:
        self.model = Model("bench", DIMENSIONS, 0.1)
        self._vectors = itertools.cycle(tenant.vectors)

    def load(self) -> None:
        """Nothing to load."""

    def question(self, _: str) -> Vector:
        """The next of them."""
        return np.asarray(next(self._vectors), np.float32)

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """As many of them."""
        return [self.question(text) for text in texts]

    def close(self) -> None:
        """Nothing to close."""


def asking(tenant: Synthetic, key: str, questions: Questions | None = None) -> Callable[[PlanRequest], Answer]:
    """Plans in process: everything on the plan thread, without a server; with *questions* the semantic leg too."""
    config = PlannerConfig()
    numbers = itertools.count()
    planning = Planning(
        store=tenant.store,
        columns=Columns(tenant.store, 4 << 30),
        texts=SourceTexts(tenant.store, 128 << 20),
        tokenizers=Tokenizers(config.tokens),
        config=config,
        now=lambda: TX + 1,
        new_trace_id=lambda: str(UUID(int=next(numbers))),
        questions=questions,
    )

    def plan(request: PlanRequest) -> Answer:
        sent = {"question": request.question}
        return embedded_first(questions, lambda vector: planning.plan(key, request, sent, vector))

    return plan


def in_process(tenant: Synthetic, key: str, postings: Callable[[], None], questions: Questions | None = None) -> Row:
    """One Plan of `asking`."""
    plan = asking(tenant, key, questions)
    requests = [PlanRequest(question=question, max_tokens=BUDGET) for question in tenant.questions]
    answers = [plan(one) for one in requests]
    pools = sorted(one.plan.stats.pool_spans for one in answers)
    legs = "words alone" if questions is None else "semantic leg too"
    assert all((one.plan.stats.recall.legs.vector > 0) == (questions is not None) for one in answers)
    turn = itertools.cycle(requests)

    measured = times_ms(lambda: plan(next(turn)), seconds=3.0)
    floor = times_ms(postings, seconds=0.5)
    return _row(
        f"one Plan in process, {legs}, {SPANS:,} spans, pool {pools[len(pools) // 2]}",
        measured,
        percentile(floor, 0.5),
        "postings read",
        IN_PROCESS_TARGET_MS if questions is None else None,
    )


def through_grpc(folder: Path, questions: list[str], key: str, postings: Callable[[], None]) -> Row:
    """The same through the real stack: planner, spool, Valkey, writer; one call in flight."""
    command = [str(Path(sys.executable).with_name("telha")), "up", "--data", str(folder), "--ephemeral-ports", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True) as stack:
        try:
            assert stack.stdout is not None
            address = json.loads(stack.stdout.readline())["grpc"]
            with grpc.insecure_channel(address) as channel:
                planner = planner_pb2_grpc.PlannerStub(channel)
                health = health_pb2_grpc.HealthStub(channel)
                metadata = (("authorization", f"Bearer {key}"),)
                # Of random words, some questions find nothing that is evidence; they cost what the others do.
                requests = itertools.cycle(
                    planner_pb2.PlanRequest(question=question, budget={"max_tokens": BUDGET}, allow_ungrounded=True)
                    for question in questions
                )
                for _ in questions:
                    planner.Plan(next(requests), metadata=metadata, timeout=60)
                measured = times_ms(lambda: planner.Plan(next(requests), metadata=metadata, timeout=60), seconds=3.0)
                empty = times_ms(lambda: health.Check(health_pb2.HealthCheckRequest(), timeout=60), seconds=0.5)
        finally:
            os.kill(stack.pid, signal.SIGTERM)
            stack.wait(READY_SECONDS)
    floor = percentile(times_ms(postings, seconds=0.5), 0.5) + percentile(empty, 0.5)
    return _row(
        f"the same through gRPC, {SPANS:,} spans", measured, floor, "empty gRPC call + postings read", GRPC_TARGET_MS
    )


def _postings_read(tenant: Synthetic) -> Callable[[], None]:
    columns = Columns(tenant.store, 4 << 30).at(TENANT, TX).columns
    scores = np.zeros(len(columns.versions))
    terms = itertools.cycle([sorted(term_counts(question)) for question in tenant.questions])

    def once() -> None:
        scores[:] = 0.0
        for term in next(terms):
            found, counts = columns.postings.occurrences(term, [0])
            scores[found] += counts

    return once


def _row(name: str, measured: list[float], floor_ms: float, floor: str, target_ms: float | None) -> Row:
    return Row(
        name=name,
        p50_ms=percentile(measured, 0.5),
        p95_ms=percentile(measured, 0.95),
        floor_ms=floor_ms,
        floor=floor,
        target_ms=target_ms,
    )


if __name__ == "__main__":
    show(rows())
