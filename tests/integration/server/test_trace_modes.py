"""How a planner process treats its traces: in the stream alone, not required, and beside another planner."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fixtures.valkey import ValkeyServer
from ports import free_port
from running_writer import running_writer
from telha_client import Client, DeadlineExceeded, Fragment, NotFound, Span, Unavailable
from telha_planner.memory import keys
from telha_planner.memory.store import Store
from trace_path import TOKEN

pytestmark = pytest.mark.process

POOL = [Fragment(span=Span("5d2f0c3b-0000-4000-8000-000000000001", 1, 0, 5), tokens=3, score=1.0)]


@pytest.fixture
def key(tmp_path: Path) -> str:
    store = Store.open(f"sqlite:///{tmp_path / 'memory.db'}", busy_timeout_ms=1000)
    made, _ = keys.create(
        store, "acme", name="k", rights=["read", "write"], spaces=None, now=lambda: 1, create_tenant=True
    )
    store.close()
    return made


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("t")


class Planner:
    """A running `telha-planner serve`."""

    def __init__(self, process: subprocess.Popen[str], address: str, metrics: int) -> None:
        self.process, self.address, self._metrics = process, address, metrics

    def meter(self, name: str) -> float:
        """The value of *name* on the metrics page."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self._metrics}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


@contextmanager
def a_planner(folder: Path, **changes: str) -> Iterator[Planner]:
    port = free_port()
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TELHA_")}
    environ = {
        **clean,
        "TELHA_STORE__URL": f"sqlite:///{folder / 'memory.db'}",
        "TELHA_SERVER__PORT": "0",
        "TELHA_SERVER__METRICS_PORT": str(port),
        "TELHA_TRACE__SPOOL": str(folder / "spool"),
        "TELHA_TRACE__REDIS_URL": f"unix://{folder / 'no-redis'}",
        "TELHA_TRACE__WRITER": f"unix:{folder / 'no-writer'}",
        "TELHA_TRACE__INTERNAL_TOKEN": TOKEN,
        **changes,
    }
    command = [sys.executable, "-P", "-m", "telha_planner", "serve"]
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            address = next(
                str(json.loads(line)["address"]) for line in process.stderr if json.loads(line)["event"] == "listening"
            )
            # A pipe that nobody empties would sooner or later hold the planner up.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield Planner(process, address, port)
        finally:
            process.kill()


def test_a_planner_without_a_spool_waits_for_redis(
    tmp_path: Path, folder: Path, key: str, own_valkey: ValkeyServer, one_attempt: None
) -> None:
    """X3: `durability = "stream"`: no folder is made, the trace is read at once, and Redis away is `UNAVAILABLE`."""
    with running_writer(folder, own_valkey.url) as writer:
        mode = {
            "TELHA_TRACE__DURABILITY": "stream",
            "TELHA_TRACE__REDIS_URL": own_valkey.url,
            "TELHA_TRACE__WRITER": writer,
        }
        with a_planner(tmp_path, **mode) as planner, Client(planner.address, key) as client:
            plan = client.select(POOL, max_tokens=20)
            assert client.trace(plan.trace_id).summary.plan_hash == plan.plan_hash
            assert planner.meter("telha_trace_shipped_total") == 1
            own_valkey.stop()
            with pytest.raises(Unavailable) as refusal:
                client.select(POOL, max_tokens=20, timeout=10)
            assert (refusal.value.reason, "the trace stream" in refusal.value.message) == ("UNAVAILABLE", True)
            assert planner.meter("telha_trace_refused_total") >= 1
            own_valkey.start()
            assert client.select(POOL, max_tokens=20).plan_hash == plan.plan_hash
            assert not (tmp_path / "spool").exists()
            planner.process.send_signal(signal.SIGTERM)
            assert planner.process.wait(30) == 0


def test_calls_go_on_without_a_trace_where_none_is_required(tmp_path: Path, key: str) -> None:
    """X3: `required = false`: answered without a trace id, counted; traced again as soon as it can be."""
    mode = {"TELHA_TRACE__REQUIRED": "false"}
    with a_planner(tmp_path, **mode) as planner, Client(planner.address, key) as client:
        traced = client.select(POOL, max_tokens=20)
        spool = tmp_path / "spool"
        shutil.rmtree(spool)
        spool.write_text("in the way")
        untraced = client.select(POOL, max_tokens=20)
        context = client.memory.context("what is known of nothing?")
        assert (untraced.plan_hash, untraced.trace_id, context.trace_id) == (traced.plan_hash, "", "")
        assert planner.meter("telha_trace_missed_total") == 2
        assert planner.meter("telha_spool_refused_total") == 2
        spool.unlink()
        again = client.select(POOL, max_tokens=20)
        # What was taken before the folder vanished is there again too.
        assert client.trace(again.trace_id).summary.trace_id == again.trace_id
        assert client.trace(traced.trace_id).summary.trace_id == traced.trace_id
        assert planner.meter("telha_spool_records") == 2
        assert planner.meter("telha_spool_commit_seconds_count") == 2


def test_two_planners_tell_what_is_on_its_way(
    tmp_path: Path,
    folder: Path,
    key: str,
    valkey_server: ValkeyServer,
    one_attempt: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """X4, X3: one that cannot reach Redis reports to the writer, so the other neither denies nor loses its traces."""
    monkeypatch.setattr("telha_trace_writer.spools.GRACE_US", 1_000_000)
    with running_writer(folder, valkey_server.url) as writer:
        cut_off = {"TELHA_TRACE__WRITER": writer, "TELHA_TRACE__SPOOL": str(tmp_path / "spools")}
        well = cut_off | {"TELHA_TRACE__REDIS_URL": valkey_server.url}
        with (
            a_planner(tmp_path, **cut_off) as one,
            a_planner(tmp_path, **well) as two,
            Client(one.address, key) as client,
            Client(two.address, key) as other,
        ):
            trace_id = client.select(POOL, max_tokens=20).trace_id
            never = f"{trace_id[:24]}00000000{trace_id[32:]}"
            time.sleep(2)  # longer than a spool that nobody knows is waited for
            for asked in (trace_id, never):
                with pytest.raises(Unavailable) as refusal:
                    other.trace(asked, timeout=6)
                assert refusal.value.reason == "TRACE_PENDING"
            with pytest.raises(NotFound):
                client.trace(never)
            one.process.kill()
            one.process.wait()
            # The sibling beside it takes its spool over.
            deadline = time.monotonic() + 90
            while two.meter("telha_spool_adopted_total") < 1 or two.meter("telha_spool_records") > 0:
                assert time.monotonic() < deadline
                time.sleep(0.2)
            assert other.trace(trace_id).summary.trace_id == trace_id
            deadline = time.monotonic() + 90
            # Its spool is gone, so what is not there now never was.
            while True:
                try:
                    other.trace(never, timeout=6)
                except NotFound:
                    break
                except (Unavailable, DeadlineExceeded):
                    assert time.monotonic() < deadline
                    time.sleep(0.2)
