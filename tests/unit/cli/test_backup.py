"""`telha backup` and `telha restore` on a data folder at rest: what is copied, what is refused, what stays behind."""

import asyncio
import json
import os
import shutil
import sqlite3
import stat
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from blake3 import blake3
from memory_builders import a_document, a_tenant, a_writer, dump, opened
from telha_cli import backup, manifest, restore, snapshot
from telha_cli.problems import Problem, UsageInvalid
from telha_planner.trace.spool import Spool
from telha_trace_writer.opening import open_store

KEPT = "data folder 秘密"


def filled(folder: Path) -> Path:
    """A data folder with a document, a spooled record, and what must not be backed up."""
    data = folder / KEPT
    data.mkdir()
    store = opened(data)
    tenant, _ = a_tenant(store)
    a_writer(store)[0].write_documents(tenant, [a_document("a", ["alpha", "beta 面包 🧑‍🚀"])])
    store.close()
    open_store(data / "traces.db", 1000).close()

    async def spooled() -> None:
        spool = Spool.open(data / "spool", 1 << 20)
        record = b"\x82\xa6tenant\xa4acme\xa1x\x01"
        await spool.append(record, "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e99")
        await spool.close()

    asyncio.run(spooled())
    (data / "connection.json").write_text('{"key": "telha_secret"}')
    (data / "embedder").write_text("none\n")
    (data / "logs").mkdir()
    (data / "logs" / "up.log").write_text("started")
    return data


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a data folder and a backup of it, to be copied."""
    folder = tmp_path_factory.mktemp("made")
    told = backup.take(filled(folder), folder / "backups" / "monday", os.environ)
    (folder / "told.json").write_text(json.dumps(told))
    return folder


@pytest.fixture
def data(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / KEPT, tmp_path / KEPT))


@pytest.fixture
def taken(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "backups", tmp_path / "backups")) / "monday"


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).parts[0] for path in folder.iterdir()}


def test_a_backup_is_whole_and_private(made: Path) -> None:
    """A9, A6: databases, spool and choice of embedder; no key in clear, no log; nobody else can read it."""
    target = made / "backups" / "monday"
    told = json.loads((made / "told.json").read_text())
    assert names(target) == {"memory.db", "traces.db", "spool", "embedder", "manifest.json"}
    assert b"telha_secret" not in b"".join(path.read_bytes() for path in snapshot.files(target))
    modes = {stat.S_IMODE(path.stat().st_mode) for path in target.rglob("*") if path.is_file()}
    folders = {stat.S_IMODE(path.stat().st_mode) for path in (target, *target.rglob("*")) if path.is_dir()}
    assert (modes, folders) == ({0o600}, {0o700})
    assert told["files"] == 4
    assert told["stores"].keys() == {"memory", "traces"}
    assert names(target.parent) == {"monday"}


def test_what_is_restored_is_what_was_backed_up(data: Path, taken: Path, tmp_path: Path) -> None:
    """A9: every row of memory, every spooled record; and with the modes of a data folder."""
    again = tmp_path / "again"
    told = restore.run(taken, again, os.environ)
    assert told["data"] == str(again)
    assert names(again) == {"memory.db", "traces.db", "spool", "embedder"}
    before, after = opened(data), opened(again)
    assert dump(after) == dump(before)
    before.close()
    after.close()
    assert stat.S_IMODE(again.stat().st_mode) == 0o700

    async def held() -> int:
        spool = Spool.open(again / "spool", 1 << 20)
        depth = spool.depth
        await spool.close()
        return depth

    assert asyncio.run(held()) == 1


def test_a_backup_that_is_as_it_was_holds(taken: Path) -> None:
    """A9: and the check changes nothing, not even on a medium that cannot be written."""
    before = {path: path.read_bytes() for path in snapshot.files(taken)}
    for path in (*before, taken):
        path.chmod(0o500 if path.is_dir() else 0o400)
    assert backup.check(taken)["files"] == 4
    assert {path: path.read_bytes() for path in snapshot.files(taken)} == before


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


HARM = {
    "changed": (lambda taken: flipped(taken / "memory.db"), "memory.db has changed"),
    "cut": (lambda taken: os.truncate(taken / "traces.db", 100), "traces.db has changed"),
    "missing": (lambda taken: (taken / "embedder").unlink(), "embedder is missing"),
    "more": (lambda taken: (taken / "spool" / "x").write_text(""), "spool/x does not belong to it"),
    "no manifest": (lambda taken: (taken / "manifest.json").unlink(), "is no backup"),
    "half a manifest": (lambda taken: os.truncate(taken / "manifest.json", 40), "it is no JSON"),
    "a manifest of something else": (
        lambda taken: (taken / "manifest.json").write_text('{"format": 1}'),
        "a member is absent",
    ),
    "a newer format": (
        lambda taken: (taken / "manifest.json").write_text('{"format": 2}'),
        "its format is 2, and this version knows 1",
    ),
}


@pytest.mark.parametrize("harm", HARM)
def test_a_backup_that_was_harmed_is_told_and_not_restored(taken: Path, tmp_path: Path, harm: str) -> None:
    """A9: whatever happened to it, in one sentence; no folder is made."""
    act, words = HARM[harm]
    act(taken)
    for attempt in (lambda: backup.check(taken), lambda: restore.run(taken, tmp_path / "again", os.environ)):
        with pytest.raises(Problem, match=words):
            attempt()
    assert names(tmp_path) == {"backups"}


def test_a_database_that_is_damaged_inside_is_told(taken: Path) -> None:
    """A9: also where the manifest was made of the damage, as by a disk that lies."""
    content = bytearray((taken / "memory.db").read_bytes())
    content[4096:8192] = bytes(4096)
    (taken / "memory.db").write_bytes(content)
    made = manifest.read(taken)
    manifest.write(taken, manifest.Manifest(made.made_us, made.telha, made.stores, manifest.describe(taken)))
    with pytest.raises(Problem, match=r"memory\.db: "):
        backup.check(taken)


@pytest.mark.parametrize(
    "path",
    [
        "../evil",
        "/etc/passwd",
        "spool/../../evil",
        "spool/..",
        "connection.json",
        "logs/up.log",
        "memory.db/x",
        "",
        "spool/a\nb",
    ],
)
def test_a_manifest_names_nothing_outside(taken: Path, tmp_path: Path, path: str) -> None:
    """S10, A6: a backup may come from anywhere."""
    told = json.loads((taken / "manifest.json").read_text())
    told["files"].append({"path": path, "bytes": 0, "blake3": blake3(b"").hexdigest()})
    (taken / "manifest.json").write_text(json.dumps(told))
    with pytest.raises(Problem, match="names what no backup holds"):
        restore.run(taken, tmp_path / "again", os.environ)


def test_nothing_is_written_over(data: Path, taken: Path, tmp_path: Path) -> None:
    """A9: neither a backup nor a data folder, running or not; an empty folder is taken."""
    for place in (taken, data):
        with pytest.raises(Problem, match="is there already"):
            restore.run(taken, place, os.environ)
    with pytest.raises(Problem, match="is there already"):
        backup.take(data, taken, os.environ)
    for inside in (data, data / "backup"):
        with pytest.raises(UsageInvalid, match="outside of the data folder"):
            backup.take(data, inside, os.environ)
    (tmp_path / "empty").mkdir()
    assert restore.run(taken, tmp_path / "empty", os.environ)["files"] == 4
    (tmp_path / "a file").write_text("")
    with pytest.raises(Problem, match="is there already"):
        restore.run(taken, tmp_path / "a file", os.environ)


def test_a_folder_without_memory_is_no_data_folder(tmp_path: Path) -> None:
    """A9: a misspelt one must not give an empty backup."""
    with pytest.raises(Problem, match="holds no memory"):
        backup.take(tmp_path / "dat", tmp_path / "b", os.environ)
    assert not list(tmp_path.iterdir())


def test_half_a_backup_is_no_backup(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A9: whatever fails on the way, nothing is left."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(manifest, "describe", full)
    with pytest.raises(Problem, match="No space left on device"):
        backup.take(data, tmp_path / "backups" / "b", os.environ)
    assert list((tmp_path / "backups").iterdir()) == []


def test_a_store_of_a_newer_version_is_refused(data: Path, taken: Path, tmp_path: Path) -> None:
    """A9: when it is backed up, and when it is restored."""
    for folder in (data, taken):
        with closing(sqlite3.connect(folder / "memory.db")) as memory:
            memory.execute("UPDATE telha_schema SET version_num = '9999'")
            memory.commit()
            memory.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with pytest.raises(Problem, match="newer version"):
        backup.take(data, tmp_path / "b", os.environ)
    made = manifest.read(taken)
    manifest.write(taken, manifest.Manifest(made.made_us, made.telha, made.stores, manifest.describe(taken)))
    with pytest.raises(Problem, match="newer version"):
        restore.run(taken, tmp_path / "again", os.environ)
    assert not (tmp_path / "again").exists()


def test_a_copy_is_of_one_moment_and_holds_nobody_up(tmp_path: Path) -> None:
    """A9: while another connection commits, each commit is in the copy whole or not at all; none waits."""
    source, stop, longest = tmp_path / "s.db", threading.Event(), [0.0]
    with closing(sqlite3.connect(source)) as making:
        making.execute("PRAGMA journal_mode = WAL")
        making.execute("CREATE TABLE one (n INTEGER)")
        making.execute("CREATE TABLE two (n INTEGER, pad BLOB)")
        making.executemany("INSERT INTO two VALUES (0, ?)", [(bytes(4000),)] * 2000)
        making.commit()

    def write() -> None:
        with closing(sqlite3.connect(source, timeout=10)) as writing:
            number = 0
            while not stop.is_set():
                number += 1
                begun = time.monotonic()
                writing.execute("INSERT INTO one VALUES (?)", (number,))
                writing.execute("INSERT INTO two VALUES (?, ?)", (number, bytes(4000)))
                writing.commit()
                longest[0] = max(longest[0], time.monotonic() - begun)
                time.sleep(0.002)  # else the copies grow with the time they take

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for copy in range(3):
            target = tmp_path / f"copy{copy}.db"
            snapshot.database(source, target)
            assert snapshot.faults(target) == []
            with closing(sqlite3.connect(f"file:{target}?immutable=1", uri=True)) as reading:
                ones, twos = (
                    [row[0] for row in reading.execute(f"SELECT n FROM {table} WHERE n > 0 ORDER BY n")]
                    for table in ("one", "two")
                )
            assert ones == twos == list(range(1, len(ones) + 1))
            assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(f"copy{copy}.db-")]
    finally:
        stop.set()
        writer.join()
    assert ones
    assert longest[0] < 9.0, "whoever waits for ten seconds gives up"


@pytest.mark.parametrize("missed", ["both", "the look after"])
def test_a_listing_that_misses_a_file_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missed: str
) -> None:
    """A9, X3: an entry whose old file went while the folder was read, and whose new one was not shown, is copied."""
    source = tmp_path / "spool"
    source.mkdir()
    (source / "1.spool").write_text("the entry")
    listed, scandir, times = [], os.scandir, []

    class Late:
        """A listing that was read up to where nothing is any more, while the entry moved to a place before."""

        def __init__(self, folder: Path) -> None:
            (source / f"{len(times) + 1}.spool").rename(source / f"{len(times) + 2}.spool")
            times.append(folder)

        def __enter__(self) -> list[object]:
            return []

        def __exit__(self, *_: object) -> None: ...

    def read(folder: Path) -> object:
        listed.append(folder)
        late = Path(folder) == source and len(listed) <= (2 if missed == "both" else 1)
        return Late(folder) if late else scandir(folder)

    monkeypatch.setattr(snapshot.os, "scandir", read)
    snapshot.tree(source, tmp_path / "copy")
    assert "the entry" in [path.read_text() for path in snapshot.files(tmp_path / "copy")]


def test_a_spool_is_copied_while_its_files_come_and_go(tmp_path: Path) -> None:
    """A9, X3: an entry that moves from file to file is in the copy, whenever it moved."""
    source, stop = tmp_path / "spool", threading.Event()
    source.mkdir()
    (source / "0.spool").write_text("the entry")

    def move() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            (source / f"{number}.spool").write_text("the entry")
            (source / f"{number - 1}.spool").unlink()
            time.sleep(0.003)

    mover = threading.Thread(target=move)
    mover.start()
    try:
        for copy in range(100):
            snapshot.tree(source, tmp_path / str(copy))
            assert "the entry" in [path.read_text() for path in snapshot.files(tmp_path / str(copy))]
    finally:
        stop.set()
        mover.join()


def test_what_was_erased_while_a_copy_was_made_leaves_the_log_after_it(tmp_path: Path) -> None:
    """M5: the copy's snapshot kept it there; the copier empties the log when it is done."""
    source = tmp_path / "s.db"
    with closing(sqlite3.connect(source)) as writing:
        writing.execute("PRAGMA journal_mode = WAL")
        writing.execute("PRAGMA secure_delete = ON")
        writing.execute("CREATE TABLE told (word TEXT)")
        writing.execute("INSERT INTO told VALUES ('zanzibarquokka')")
        writing.commit()
        writing.execute("DELETE FROM told")
        writing.commit()
        assert b"zanzibarquokka" in (tmp_path / "s.db-wal").read_bytes()
        snapshot.database(source, tmp_path / "copy.db")
        for path in tmp_path.iterdir():
            assert b"zanzibarquokka" not in path.read_bytes(), path
