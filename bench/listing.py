"""
Listing 10,000 traces of one tenant: what the trace viewer waits for.

The writer's store is filled with records as a planner writes them, and a whole running system then answers pages of 50,
over gRPC and through the gateway, one call in flight. Floor: a call on the same connection that reads nothing.
"""

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit
from uuid import UUID

import grpc
import msgpack
from grpc_health.v1 import health_pb2, health_pb2_grpc
from measure import Row, percentile, show, times_ms
from telha.trace.v1 import traces_pb2, traces_pb2_grpc
from telha_planner.memory import keys
from telha_planner.memory.store import Store
from telha_runtime.frame import Frame
from telha_trace_writer.opening import open_store
from telha_trace_writer.record import row_of

TRACES = 10_000
PAGE = 50
ITEMS = 24
"""Spans of each plan: a record is about 3 kB."""

APART_US = 60_000_000
TENANT = "bench"
TARGET_MS = {"gRPC": 5.0, "REST": 7.0}
"""Less than half of one picture of a screen at 60 Hz, so that the page's own work decides."""

_READY_SECONDS = 120


@dataclass(frozen=True)
class System:
    """What answers, and the two connections to it."""

    channel: grpc.Channel
    rest: http.client.HTTPConnection
    key: str
    newest_us: int


def rows() -> Iterator[Row]:
    """Two rows, gRPC and REST, for the first page, a deep one, and each filter."""
    with tempfile.TemporaryDirectory(prefix="telha-") as folder, _running(Path(folder)) as system:
        deep = _token_of_a_deep_page(system)
        floors = {"gRPC": _p50(_empty_call(system)), "REST": _p50(_empty_request(system))}
        middle = system.newest_us - TRACES // 2 * APART_US
        asked: dict[str, dict[str, object]] = {
            f"first page of {TRACES:,} traces": {},
            f"page after {TRACES - 2 * PAGE:,} of them": {"page_token": deep},
            "of one kind in ten": {"kind": "select"},
            "of one space in twenty": {"space": "space 7"},
            "of an hour": {"from_us": middle, "to_us": middle + 60 * APART_US},
        }
        for name, filters in asked.items():
            for way, call in (("gRPC", _over_grpc(system, filters)), ("REST", _over_rest(system, filters))):
                assert call() == PAGE, (name, way)
                measured = times_ms(call, seconds=0.5)
                yield Row(
                    name=f"{name}, {way}",
                    p50_ms=percentile(measured, 0.5),
                    p95_ms=percentile(measured, 0.95),
                    floor_ms=floors[way],
                    floor="empty gRPC call" if way == "gRPC" else "GET /healthz",
                    target_ms=TARGET_MS[way],
                )


def _over_grpc(system: System, filters: dict[str, object]) -> Callable[[], int]:
    stub = traces_pb2_grpc.TracesStub(system.channel)
    request = traces_pb2.ListRequest(page_size=PAGE, **filters)  # type: ignore[arg-type]  # names are the message's own
    metadata = (("authorization", f"Bearer {system.key}"),)
    return lambda: len(stub.List(request, metadata=metadata, timeout=60).traces)


def _over_rest(system: System, filters: dict[str, object]) -> Callable[[], int]:
    names = {"page_token": "pageToken", "from_us": "from", "to_us": "to"}
    query = urlencode({"pageSize": PAGE, **{names.get(name, name): value for name, value in filters.items()}})
    return lambda: len(json.loads(_get(system, f"/v1/traces?{query}"))["traces"])


def _get(system: System, path: str) -> bytes:
    system.rest.request("GET", path, headers={"authorization": f"Bearer {system.key}"})
    answer = system.rest.getresponse()
    body = answer.read()
    assert answer.status == http.client.OK, body
    return body


def _empty_call(system: System) -> Callable[[], object]:
    stub = health_pb2_grpc.HealthStub(system.channel)
    return lambda: stub.Check(health_pb2.HealthCheckRequest(), timeout=60)


def _empty_request(system: System) -> Callable[[], object]:
    return lambda: _get(system, "/healthz")


def _p50(call: Callable[[], object]) -> float:
    return percentile(times_ms(call, seconds=0.5), 0.5)


def _token_of_a_deep_page(system: System) -> str:
    stub = traces_pb2_grpc.TracesStub(system.channel)
    metadata = (("authorization", f"Bearer {system.key}"),)
    token, left = "", TRACES - 2 * PAGE
    while left:
        step = min(left, 1000)
        # A token is bound to filters, not to the size of a page.
        page = stub.List(traces_pb2.ListRequest(page_size=step, page_token=token), metadata=metadata, timeout=60)
        token, left = page.next_page_token, left - len(page.traces)
    return token


@contextmanager
def _running(folder: Path) -> Iterator[System]:
    key = _a_key(folder)
    newest_us = time.time_ns() // 1000
    _fill(folder, newest_us)
    program = str(Path(sys.executable).with_name("telha"))
    command = [program, "up", "--data", str(folder), "--ephemeral-ports", "--embedder", "none", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True) as stack:
        try:
            assert stack.stdout is not None
            told = json.loads(stack.stdout.readline())
            rest = http.client.HTTPConnection(urlsplit(told["http"]).netloc, timeout=60)
            with grpc.insecure_channel(told["grpc"]) as channel:
                yield System(channel, rest, key, newest_us)
            rest.close()
        finally:
            os.kill(stack.pid, signal.SIGTERM)
            stack.wait(_READY_SECONDS)


def _a_key(folder: Path) -> str:
    store = Store.open(f"sqlite:///{folder}/memory.db", busy_timeout_ms=10_000)
    rights = {"name": "bench", "rights": ("read",), "spaces": None, "create_tenant": True}
    key, _ = keys.create(store, TENANT, now=lambda: time.time_ns() // 1000, **rights)  # type: ignore[arg-type]
    store.close()
    return key


def _fill(folder: Path, newest_us: int) -> None:
    dice = random.Random(6)
    store = open_store(folder / "traces.db", 10_000)
    made = []
    for number in range(TRACES):
        record = _record(dice, newest_us - number * APART_US)
        made.append(row_of(Frame("bench", number, str(record["trace_id"]), TENANT, msgpack.packb(record))))
    assert store.insert(made).stored == TRACES
    store.close()


def _record(dice: random.Random, recorded_us: int) -> dict[str, object]:
    """What docs/trace-record.md describes, as far as a listing and its cost depend on it."""
    used = dice.randrange(2000)
    starts = [200 * place for place in range(ITEMS)]
    sources = [str(UUID(int=dice.getrandbits(128))) for _ in range(6)]
    return {
        "v": 1,
        "kind": dice.choices(("context", "plan", "select"), (6, 3, 1))[0],
        "trace_id": str(UUID(int=recorded_us // 1000 << 80 | 7 << 76 | dice.getrandbits(76))),
        "tenant": TENANT,
        "key_id": "abcdefghijkl",
        "recorded_us": recorded_us,
        "request": {"question": "what is lost after kill -9?", "budget": {"maxTokens": 2000}},
        "window": {"validTime": recorded_us, "txTime": recorded_us},
        "spaces": [f"space {dice.randrange(20)}"],
        "budget": {"requested": 2000, "applied": 2000, "used": used, "stranded": max(0, 200 - used)},
        "plan_hash": f"b3:{dice.getrandbits(256):064x}",
        "item_coords": [[dice.choice(sources), recorded_us, start, start + 180] for start in starts],
        "item_facts": [["paragraph", 0, dice.random(), 41] for _ in starts],
        "stats": {"poolSpans": 400},
    }


if __name__ == "__main__":
    show(rows())
