"""The emitter of a planner that runs in this process: what its spool holds goes to the stream."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from planner_server import RealPlanner
from telha_planner.trace.emitter import Emitter
from telha_runtime import redis
from trace_path import STREAM, now_us


@contextmanager
def shipping(planner: RealPlanner, url: str) -> Iterator[None]:
    """Carry on the planner's own loop until the `with` block ends, which is before the planner does."""

    async def start() -> tuple[Any, Emitter]:
        client = redis.connect(url, reply_within_s=2)
        emitter = Emitter(planner.spool, client, planner.writer, STREAM, now_us=now_us, confirm_every_s=0.02)
        emitter.start()
        return client, emitter

    async def stop() -> None:
        await emitter.stop(10)
        await client.aclose()

    client, emitter = planner.run(start())
    try:
        yield
    finally:
        planner.run(stop())
