"""A real trace writer in this process, for planners that run beside it."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trace_path import a_writer, config


@contextmanager
def running_writer(folder: Path, url: str) -> Iterator[str]:
    """A trace writer on a loop in a thread of its own; gives its address."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    writer = a_writer(config(folder, url))
    asyncio.run_coroutine_threadsafe(writer.__aenter__(), loop).result(30)
    try:
        yield config(folder, url).trace.writer
    finally:
        asyncio.run_coroutine_threadsafe(writer.__aexit__(None, None, None), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
