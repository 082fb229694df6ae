"""Faults of processes: they are killed, asked to end, and hang."""

import os
import signal
import time

from fault.field import Field, NotHere, back
from fault.part import Part


def kill_planner(field: Field) -> None:
    """`kill -9` of one planner, at times of both."""
    _killed(field, field.some(field.system.planners))


def kill_ingest(field: Field) -> None:
    """`kill -9` of a planner's ingest children."""
    for child in field.dice.choice(field.system.planners).children():
        child.kill()


def kill_writer(field: Field) -> None:
    """`kill -9` of one trace writer, at times of both."""
    _killed(field, field.some(field.system.writers))


def kill_gateway(field: Field) -> None:
    """`kill -9` of the gateway."""
    _killed(field, [field.system.parts["gateway"]])


def kill_valkey(field: Field) -> None:
    """`kill -9` of Valkey."""
    _killed(field, [field.system.parts["valkey"]])


def kill_all(field: Field) -> None:
    """`kill -9` of every process at once."""
    _killed(field, [*field.system.parts.values()])


def crash_database(field: Field) -> None:
    """PostgreSQL crashes, and recovers."""
    if not field.system.stores.crash():
        raise NotHere("SQLite has no process of its own")


def terminate_planner(field: Field) -> None:
    """SIGTERM to a planner, which drains."""
    _terminated(field, field.dice.choice(field.system.planners))


def terminate_writer(field: Field) -> None:
    """SIGTERM to a trace writer, which drains."""
    _terminated(field, field.dice.choice(field.system.writers))


def terminate_gateway(field: Field) -> None:
    """SIGTERM to the gateway, which drains."""
    _terminated(field, field.system.parts["gateway"])


def hang_planner(field: Field) -> None:
    """SIGSTOP of a planner, at times with its ingest children, for 6 s, then SIGCONT."""
    planner = field.dice.choice(field.system.planners)
    children = [child.pid for child in planner.children()] if field.dice.random() < 0.5 else []
    _hung(field, [planner.pid, *children], 6)


def hang_writer(field: Field) -> None:
    """SIGSTOP of a trace writer until the other has taken over what it held (8 s), then SIGCONT."""
    _hung(field, [field.dice.choice(field.system.writers).pid], 8)


def _killed(field: Field, parts: list[Part]) -> None:
    for part in parts:
        part.kill()
    time.sleep(field.dice.uniform(0, 1))
    if field.dice.random() < 0.3:  # and once more while they start
        for part in parts:
            part.start()
        time.sleep(field.dice.uniform(0, 2))
        for part in parts:
            part.kill()
    back(parts)


def _terminated(field: Field, part: Part) -> None:
    code = part.stop()
    if code != 0:
        field.wrong.append(f"{part.name} ended with {code} after SIGTERM")
    back([part])


def _hung(field: Field, pids: list[int], seconds: float) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        field.pause(seconds)
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
