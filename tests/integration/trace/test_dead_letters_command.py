"""`telha-trace-writer dead-letters`: looked at without a question in sight, brought back, dropped."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import msgpack
import pytest
from fixtures.valkey import ValkeyServer
from redis import Redis
from telha_runtime import frame
from telha_runtime.frame import Frame
from telha_trace_writer import letters
from telha_trace_writer.__main__ import main
from telha_trace_writer.opening import open_store
from telha_trace_writer.store import Buried, Store
from trace_path import STREAM, a_record, a_writer, an_entry, config, on_both_engines, place_of, until

QUESTION = "o que mudou?"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def client(valkey_server: ValkeyServer) -> Iterator[Redis]:
    with valkey_server.client() as client:
        yield client


@pytest.fixture
def command(
    folder: Path, valkey_server: ValkeyServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Run:
    """Runs `dead-letters` on the store and stream of the test: exit code, standard output, standard error."""
    monkeypatch.setenv("TELHA_WRITER__STORE", place_of(folder))
    monkeypatch.setenv("TELHA_TRACE__REDIS_URL", valkey_server.url)

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["dead-letters", *words])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def store(folder: Path) -> Iterator[Store]:
    opened = open_store(place_of(folder), 1000)
    yield opened
    opened.close()


def buried(server: ValkeyServer, client: Redis, folder: Path) -> tuple[list[str], str, str]:
    """
    Ids of three letters, and the traces of the first two.

    The first was delivered too often and is well; the second is of a kind without a name, the third no frame at all.
    """
    well, wrong = str(uuid4()), str(uuid4())
    client.xgroup_create(STREAM, "writer", id="0", mkstream=True)
    first = client.xadd(STREAM, an_entry(well))
    client.xreadgroup("writer", "dead", {STREAM: ">"})
    client.xclaim(STREAM, "writer", "dead", 0, [first], retrycount=9)
    record = Frame(str(uuid4()), 1, wrong, "acme", a_record(wrong, kind=""))
    second = client.xadd(STREAM, {frame.FIELD: frame.encode(record)})
    third = client.xadd(STREAM, {b"other": b"field"})

    async def bury() -> None:
        async with a_writer(config(folder, server.url, reclaim_idle_ms=50)):
            await until(lambda: client.xlen(f"{STREAM}:dead") == 3)

    asyncio.run(bury())
    return [first.decode(), second.decode(), third.decode()], well, wrong


@on_both_engines
def test_letters_are_listed_shown_brought_back_and_dropped(
    valkey_server: ValkeyServer, client: Redis, folder: Path, store: Store, command: Run
) -> None:
    """X2: what can be a trace becomes one and leaves both places; the rest stays, with its reason, until dropped."""
    ids, well, wrong = buried(valkey_server, client, folder)
    code, listed, _ = command("list", "--json")
    shown = [json.loads(line) for line in listed.splitlines()]
    assert (code, [letter["id"] for letter in shown]) == (0, ids)
    assert [letter["traceId"] for letter in shown] == [well, wrong, None]
    assert "delivered 10 times" in shown[0]["reason"]
    people = command("list")[1]
    assert all(entry_id in people for entry_id in ids)
    assert QUESTION not in listed + people
    code, letter, _ = command("show", ids[0])
    assert (code, json.loads(letter)["frame"]["seq"]) == (0, 1)
    assert QUESTION not in letter
    assert QUESTION in command("show", ids[0], "--content")[1]
    assert json.loads(command("show", ids[2], "--json")[1])["frame"] is None

    code, told, _ = command("redrive", "--all", "--json")
    assert code == 1
    assert json.loads(told)["stored"] == [ids[0]]
    assert list(json.loads(told)["left"]) == ids[1:]
    assert store.fetch("acme", well) is not None
    assert [letter.entry_id for letter in letters.listed(store)] == ids[1:]
    assert client.xlen(f"{STREAM}:dead") == 2
    assert set(store.persisted([well, wrong])) == {well, wrong}

    assert command("drop", ids[1])[0] == 0
    assert [letter.entry_id for letter in letters.listed(store)] == ids[2:]
    assert command("drop", "--all", "--json")[:2] == (0, json.dumps({"dropped": [ids[2]], "left": {}}) + "\n")
    assert command("list")[:2] == (0, "no dead letters\n")
    assert client.xlen(f"{STREAM}:dead") == 0


def test_a_newer_program_brings_back_what_an_older_one_buried(
    store: Store, command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X2: re-driving reads as the present version reads; a frame that it does not know stays."""
    trace_id = str(uuid4())
    (value,) = an_entry(trace_id).values()
    fields = {frame.FIELD: msgpack.packb(msgpack.unpackb(value) | {"v": 2})}
    store.bury([Buried("5-0", "acme", trace_id, 1, 1, "delivered too often", msgpack.packb(fields))])
    code, told, _ = command("redrive", "5-0")
    assert (code, store.fetch("acme", trace_id)) == (1, None)
    assert "frame version 2" in told
    monkeypatch.setattr(frame, "VERSION", 2)
    assert command("redrive", "5-0")[:2] == (0, "stored 1, left 0\n")
    assert store.fetch("acme", trace_id) is not None


def test_mistakes_are_told_in_one_sentence(store: Store, command: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """X2: no id and no --all, both, an unknown id, an unusable store."""
    assert command("redrive") == (78, "", "dead-letters redrive needs ids, or --all\n")
    assert command("drop", "1-0", "--all")[0] == 78
    assert command("show", "1-0") == (1, "", "no dead letter 1-0\n")
    assert command("drop", "1-0")[::2] == (1, "no dead letter 1-0\n")
    monkeypatch.setenv("TELHA_WRITER__STORE", "/dev/null/traces.db")
    code, _, told = command("list")
    assert (code, told.count("\n")) == (69, 1)


def test_a_place_without_a_store_is_told_and_left_alone(
    command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X2: nobody is told that all is well at a place that holds nothing."""
    mistyped = tmp_path / "nope" / "traces.db"
    monkeypatch.setenv("TELHA_WRITER__STORE", str(mistyped))
    assert command("list") == (69, "", f"there is no trace store at {mistyped}\n")
    assert not mistyped.parent.exists()


def test_redis_away_hinders_nothing(store: Store, command: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """X2: the dead-letter stream holds copies; that they stay is told."""
    monkeypatch.setenv("TELHA_TRACE__REDIS_URL", "unix:///nowhere/at/all")
    store.bury([Buried("5-0", "acme", str(uuid4()), 1, 1, "r", msgpack.packb({b"x": b"y"}))])
    code, told, warned = command("drop", "5-0")
    assert (code, told) == (0, "dropped 1, left 0\n")
    assert "copies stay in the dead-letter stream" in warned


@pytest.mark.process
def test_the_letters_of_a_data_folder(tmp_path: Path) -> None:
    """X2, A3: `telha trace dead-letters --data`, while no system runs on the folder."""
    store = open_store(tmp_path / "traces.db", 1000)
    trace_id = str(uuid4())
    store.bury([Buried("5-0", "acme", trace_id, 1, 1, "r", msgpack.packb(dict(an_entry(trace_id))))])
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TELHA_")}

    def telha(*words: str) -> tuple[int, str]:
        command = [Path(sys.executable).with_name("telha"), "trace", "dead-letters", *words, "--data", str(tmp_path)]
        done = subprocess.run(command, env=clean, capture_output=True, text=True, check=False, timeout=60)
        return done.returncode, done.stdout

    assert json.loads(telha("list", "--json")[1])["traceId"] == trace_id
    assert QUESTION in telha("show", "5-0", "--content")[1]
    assert telha("redrive", "--all") == (0, "stored 1, left 0\n")
    assert telha("list") == (0, "no dead letters\n")
    assert telha("drop", "5-0")[0] == 1
    assert telha("bury")[0] == 2
    assert store.fetch("acme", trace_id) is not None
    store.close()
