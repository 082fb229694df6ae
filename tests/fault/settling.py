"""Wait until a system that is left alone has brought everything home, and look whether it has."""

import time
from pathlib import Path

from fault.journal import Read
from fault.stores import stored_traces
from fault.system import STREAM, System
from telha_planner.trace.segment import Segment, segments


def settle(system: System, journal: Read, seconds: float) -> float | None:
    """
    Wait until every answered call's trace is stored and the stream is trimmed, at most *seconds*.

    Returns:
        How long it took, or None.
    """
    since = time.monotonic()
    promised = {answer.trace_id for answer in journal.traced}

    def settled() -> bool:
        return not stream_left(system) and promised <= {trace.trace_id for trace in stored_traces(system.stores)}

    while not settled():
        if time.monotonic() > since + seconds:
            return None
        time.sleep(0.5)
    return time.monotonic() - since


def stream_left(system: System) -> list[str]:
    """What is left in the stream, its dead letters included; empty once it is trimmed."""
    with system.redis() as client:
        dead, waiting = client.xlen(f"{STREAM}:dead"), client.xlen(STREAM)
    left = {"entries in the stream": waiting, "dead letters in the stream": dead}
    return [f"{count} {what}" for what, count in left.items() if count]


def spools_left(folders: list[Path]) -> list[str]:
    """Records in the spools of planners that have ended."""
    left = []
    for folder in folders:
        for spool in folder.iterdir() if folder.is_dir() else ():
            for path in segments(spool):
                segment, entries, _ = Segment.reopen(path)
                segment.close()
                left += [f"{spool.name}: trace {entry.trace_id}" for entry in entries]
    return left


def stop_all(system: System) -> list[str]:
    """End every part in order, as an operator does; those that did not end well."""
    order = ("gateway", "planner-1", "planner-2", "writer-1", "writer-2", "valkey")
    codes = {name: system.parts[name].stop() for name in order}
    return [f"{name} ended with {code} at the end" for name, code in codes.items() if code]
