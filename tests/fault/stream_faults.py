"""Faults of Valkey and of the way to it: down, cut, silent, full, forgetful, replaced; and planners that come back."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager

from fault.field import FORGOTTEN, ORPHANED, PENDING, REFUSED, Field, back
from fault.proxy import Mode
from fault.settling import spools_left
from fault.system import STREAM
from redis import Redis
from redis.exceptions import ResponseError


def redis_down(field: Field) -> None:
    """Valkey is down for 30 s."""
    valkey = field.system.parts["valkey"]
    valkey.stop()
    _away(field, 30)
    back([valkey])


def redis_cut(field: Field) -> None:
    """Every connection to Valkey is cut, again and again, and refused for 2 s."""
    for _ in range(3):
        for way in field.system.ways.values():
            way.cut()
        time.sleep(0.3)
    _behaving(field, "refuse", 2)


def redis_black_hole(field: Field) -> None:
    """Valkey accepts and never answers, for 12 s."""
    _behaving(field, "swallow", 12)


def redis_full(field: Field) -> None:
    """Valkey is out of memory (`noeviction`) for 8 s."""
    with field.system.redis() as client:
        client.config_set("maxmemory", "1")
        try:
            field.pause(8)
            field.met[REFUSED] += _refuses(client)
        finally:
            client.config_set("maxmemory", "0")


def flushall(field: Field) -> None:
    """FLUSHALL while the writers hang: Valkey forgets what it has acknowledged."""
    with backlog(field), field.system.redis() as client:
        field.met[FORGOTTEN] += client.xlen(STREAM)
        client.flushall()


def fail_over(field: Field) -> None:
    """Failover to an empty Valkey while the writers hang: what was acknowledged is gone."""
    with backlog(field):
        with field.system.redis() as client:
            field.met[FORGOTTEN] += client.xlen(STREAM)
        field.system.fail_over()


def adopt_spool(field: Field) -> None:
    """Both planners are killed with records in their spools; one comes back on the spools of both."""
    system = field.system
    with backlog(field):
        for planner in system.planners:
            planner.kill()
        field.met[ORPHANED] += len(spools_left([system.spool("planner-1")]))
        if not system.shares_spools:
            for spool in system.spool("planner-1").iterdir():
                shutil.move(spool, system.spool("planner-2") / spool.name)
    back(system.planners[1:])
    back(system.planners)


def lose_planner(field: Field) -> None:
    """A planner dies and stays away for 20 s; one that shares its spool folder carries on meanwhile."""
    lost = field.dice.choice(field.system.planners)
    with backlog(field):
        lost.kill()
    field.pause(20)
    back([lost])


def remove_spools(field: Field) -> None:
    """The folders of spools are removed under running planners, with records that nobody else has."""
    with backlog(field):
        with field.system.redis() as client:
            client.flushall()
        for folder in field.system.spools:
            for spool in folder.iterdir():
                shutil.rmtree(spool, ignore_errors=True)
        # Within ten seconds or by the next call they are there again; what dies before that is two faults at once.
        time.sleep(12)


def _behaving(field: Field, mode: Mode, seconds: float) -> None:
    ways = list(field.system.ways.values())
    for way in ways:
        way.set(mode)
    try:
        _away(field, seconds)
    finally:
        for way in ways:
            way.set("pass")


def _away(field: Field, seconds: float) -> None:
    """Last; what one planner has answered meanwhile, the other may call pending and never absent."""
    field.pause(seconds / 2)
    since = time.monotonic()
    for told in field.load.ask_elsewhere():
        field.met[PENDING] += told == "TRACE_PENDING"
        if told == "NOT_FOUND":
            field.wrong.append("while Valkey was away, a planner did not know what the other had answered")
    field.pause(seconds / 2 - (time.monotonic() - since) / field.scale)


def _refuses(client: Redis) -> bool:
    try:
        client.xadd(STREAM, {"f": b""})
    except ResponseError:
        return True
    return False


@contextmanager
def backlog(field: Field) -> Iterator[None]:
    """Hold both writers until something waits for them in the stream, and inside the block."""
    writers = field.system.writers
    for writer in writers:
        writer.hold()
    try:
        end = time.monotonic() + 10
        time.sleep(0.7)
        with field.system.redis() as client:
            while not client.xlen(STREAM) and time.monotonic() < end:
                time.sleep(0.05)
        yield
    finally:
        for writer in writers:
            writer.release()
