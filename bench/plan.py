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
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import grpc
import numpy as np
from grpc_health.v1 import health_pb2, health_pb2_grpc
from measure import Row, percentile, show, times_ms
from telha.planner.v1 import planner_pb2, planner_pb2_grpc
from telha_planner.columns.tenant import Columns
from telha_planner.config import PlannerConfig
from telha_planner.core.request import PlanRequest
from telha_planner.memory import keys
from telha_planner.memory.texts import SourceTexts
from telha_planner.models.analysis import term_counts
from telha_planner.models.tokenizers import Tokenizers
from telha_planner.pipeline import Planning
from tenant import TENANT, TX, Synthetic, build

SPANS = 100_000
BUDGET = 4000
IN_PROCESS_TARGET_MS = 3.5
GRPC_TARGET_MS = 5.0
READY_SECONDS = 120


def rows() -> Iterator[Row]:
    """The two rows of the table."""
    with tempfile.TemporaryDirectory(prefix="telha-") as folder:
        tenant = build(Path(folder), SPANS, vectors=False)
        key, _ = keys.create(tenant.store, "bench", name="bench", rights=("read",), spaces=None, now=lambda: TX)
        postings = _postings_read(tenant)
        yield in_process(tenant, key, postings)
        tenant.store.close()
        yield through_grpc(Path(folder), tenant.questions, key, postings)


def in_process(tenant: Synthetic, key: str, postings: Callable[[], None]) -> Row:
    """Everything on the plan thread, without a server."""
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
    )
    requests = [PlanRequest(question=question, max_tokens=BUDGET) for question in tenant.questions]
    pools = sorted(planning.plan(key, one, {"question": one.question}).plan.stats.pool_spans for one in requests)
    turn = itertools.cycle(requests)

    def once() -> None:
        request = next(turn)
        planning.plan(key, request, {"question": request.question})

    measured = times_ms(once, seconds=3.0)
    floor = times_ms(postings, seconds=0.5)
    return _row(
        f"one Plan in process, {SPANS:,} spans, pool {pools[len(pools) // 2]}",
        measured,
        percentile(floor, 0.5),
        "postings read",
        IN_PROCESS_TARGET_MS,
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
                requests = itertools.cycle(
                    planner_pb2.PlanRequest(question=question, budget={"max_tokens": BUDGET}) for question in questions
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


def _row(name: str, measured: list[float], floor_ms: float, floor: str, target_ms: float) -> Row:
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
