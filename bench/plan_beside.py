"""
Plans of one tenant while another's columns load: what a cold start costs its neighbours.

The load of 100,000 spans goes through the plan thread in slices, as in the server. Floor: the same plans with nothing
beside them, in the same run. Both figures are the 99th percentile.
"""

import asyncio
import itertools
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from uuid import UUID

from measure import Row, percentile, show
from telha_planner.bootstrap import MOST_ROWS_AT_ONCE
from telha_planner.columns.tenant import Columns
from telha_planner.config import PlannerConfig
from telha_planner.core.request import PlanRequest
from telha_planner.ingest.document import DocumentInput
from telha_planner.ingest.parse import parse
from telha_planner.memory import keys
from telha_planner.memory.store import Store
from telha_planner.memory.texts import SourceTexts
from telha_planner.memory.writes import Writer
from telha_planner.models.tokenizers import Tokenizers
from telha_planner.pipeline import Planning
from telha_planner.server.dispatch import PlanThread
from tenant import TX, build

SPANS = 100_000
IDLE_PLANS = 400
MOST_TIMES_IDLE = 3.0
DOCS = Path(__file__).parents[1] / "docs"
QUESTION = "what is lost after kill -9?"


def rows() -> Iterator[Row]:
    """The row of the table."""
    with tempfile.TemporaryDirectory(prefix="telha-") as folder:
        tenant = build(Path(folder), SPANS, vectors=False)
        loads, _ = keys.create(tenant.store, "bench", name="bench", rights=("read",), spaces=None, now=lambda: TX)
        idle, beside = asyncio.run(_measured(tenant.store, loads, tenant.questions[0]))
        tenant.store.close()
    floor = percentile(idle, 0.99)
    yield Row(
        name=f"p99 of a plan while another tenant's {SPANS:,} spans load",
        p50_ms=percentile(beside, 0.99),
        p95_ms=beside[-1],
        floor_ms=floor,
        floor="p99 with nothing beside it",
        target_ms=MOST_TIMES_IDLE * floor,
    )


async def _measured(store: Store, loads: str, far: str) -> tuple[list[float], list[float]]:
    near = _neighbour(store)
    columns = Columns(store, 4 << 30, MOST_ROWS_AT_ONCE)
    config, numbers = PlannerConfig(), itertools.count()
    planning = Planning(
        store=store,
        columns=columns,
        texts=SourceTexts(store, 128 << 20),
        tokenizers=Tokenizers(config.tokens),
        config=config,
        now=lambda: TX + 1,
        new_trace_id=lambda: str(UUID(int=next(numbers))),
    )
    thread = PlanThread(config.server.max_waiting, columns.advance)

    def asking(key: str, question: str) -> Callable[[], object]:
        request = PlanRequest(question=question, max_tokens=2000)
        return lambda: planning.plan(key, request, {"question": question})

    async def timed() -> float:
        begin = perf_counter()
        await thread.run(asking(near, QUESTION), time.monotonic() + 60)
        return (perf_counter() - begin) * 1000

    idle = sorted([await timed() for _ in range(IDLE_PLANS)])
    load = asyncio.ensure_future(thread.run(asking(loads, far), time.monotonic() + 60))
    beside: list[float] = []
    while not load.done():
        beside.append(await timed())
    await load
    thread.close()
    return idle, sorted(beside)


def _neighbour(store: Store) -> str:
    key, _ = keys.create(store, "near", name="bench", rights=("read",), spaces=None, now=lambda: TX, create_tenant=True)
    pages = [
        DocumentInput(
            source_id=None,
            name=page.name,
            uri=None,
            space="main",
            media_type="text/markdown",
            content=page.read_bytes(),
            valid_from=None,
        )
        for page in sorted(DOCS.glob("*.md"))
    ]
    Writer(store, lambda: TX).write_documents(2, [parse(page, "near") for page in pages])
    return key


if __name__ == "__main__":
    show(rows())
