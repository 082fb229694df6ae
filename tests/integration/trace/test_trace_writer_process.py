"""`telha-trace-writer serve` as a process: it starts without Redis, drains on SIGTERM, and refuses in one sentence."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fixtures.valkey import ValkeyServer
from telha_runtime import health
from telha_trace_writer.opening import open_store
from telha_trace_writer.store import Filters
from trace_path import STREAM, TOKEN, an_entry, place_of

pytestmark = pytest.mark.process


def environ(folder: Path, **changes: str) -> dict[str, str]:
    return (
        {"PATH": os.environ["PATH"]}
        | {
            "TELHA_TRACE__REDIS_URL": f"unix://{folder / 'nobody'}",
            "TELHA_TRACE__WRITER": f"unix:{folder / 'w'}",
            "TELHA_TRACE__INTERNAL_TOKEN": TOKEN,
            "TELHA_TRACE__SPOOL": "a key of the planner's",
            "TELHA_WRITER__STORE": str(folder / "traces.db"),
        }
        | changes
    )


def start(environment: dict[str, str], *arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "telha_trace_writer", "serve", *arguments]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def refusal(environment: dict[str, str], *arguments: str) -> tuple[int, str]:
    with start(environment, *arguments) as process:
        _, said = process.communicate(timeout=30)
    return process.returncode, said.strip()


def until_serving(folder: Path) -> None:
    deadline = time.monotonic() + 60
    while not health.serving(f"unix:{folder / 'w'}"):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_it_stores_what_is_in_the_stream_and_drains_on_sigterm(valkey_server: ValkeyServer, folder: Path) -> None:
    """X2, A1: ready means health SERVING; SIGTERM ends it with exit code 0 and nothing pending."""
    with valkey_server.client() as client:
        for _ in range(500):
            client.xadd(STREAM, an_entry())
        with start(
            environ(folder, TELHA_TRACE__REDIS_URL=valkey_server.url, TELHA_WRITER__BATCH_ENTRIES="7")
        ) as process:
            until_serving(folder)
            while client.xlen(STREAM) == 500:
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=60)
        assert process.returncode == 0, said
        store = open_store(place_of(folder), 1000)
        count = len(store.browse("acme", Filters(), None, 1000))
        store.close()
        group = client.xinfo_groups(STREAM)[0]
        assert group["pending"] == 0
        assert count == group["entries-read"] > 0


def test_it_serves_while_redis_is_away(folder: Path) -> None:
    """X3: the store can be read; Redis is waited for."""
    with start(environ(folder)) as process:
        until_serving(folder)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Redis is away" in said


def test_wrong_configuration_is_refused_with_every_fault(folder: Path) -> None:
    """G1: exit code 78, one line per fault."""
    code, said = refusal(
        environ(folder, TELHA_TRACE__INTERNAL_TOKEN="", TELHA_WRITER__BATCH_ENTRIES="0", TELHA_WRITER__STROE="x")
    )
    allowed = "must be a whole number, at least 1 and at most 10000"
    assert code == 78
    assert said.splitlines() == [
        "TELHA_WRITER__STROE: unknown key; did you mean TELHA_WRITER__STORE?",
        "trace.internal_token: is required",
        f"writer.batch_entries = 0 (from TELHA_WRITER__BATCH_ENTRIES): {allowed}",
    ]
    code, said = refusal(environ(folder, TELHA_TRACE__REDIS_URL="http://secret@host"))
    assert (code, "secret" in said) == (78, False)
    assert said.startswith("trace.redis_url: ")


def test_what_cannot_be_had_is_one_sentence(folder: Path) -> None:
    """X2: exit code 69: a store that is a folder, no database, or of a newer version; an address that is taken."""
    (folder / "dir").mkdir()
    (folder / "text").write_text("no database, but long enough to look like one" * 10)
    newer = sqlite3.connect(folder / "newer.db")
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    for name, words in (("dir", "cannot be used"), ("text", "not a database"), ("newer.db", "has version 99")):
        code, said = refusal(environ(folder, TELHA_WRITER__STORE=str(folder / name)))
        assert (code, words in said, "\n" in said) == (69, True, False), said
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        code, said = refusal(environ(folder, TELHA_TRACE__WRITER=address, TELHA_WRITER__LOG_LEVEL="error"))
    assert code == 69
    assert address in said
    with start(environ(folder)) as process:
        until_serving(folder)
        code, said = refusal(environ(folder, TELHA_WRITER__LOG_LEVEL="error"))
        assert (code, "another process listens on" in said) == (69, True)
        assert health.serving(f"unix:{folder / 'w'}")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 0
