"""Which server a command finds."""

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from telha_cli import folder, target
from telha_cli.folder import Connection
from telha_cli.problems import Problem

_ALIVE = Connection("127.0.0.1:1", "http://127.0.0.1:2", "telha_key", os.getpid())


def _dead_pid() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    return process.pid


def test_flags_win_over_the_environment_and_both_over_what_runs(tmp_path: Path) -> None:
    """A3: --address/--key, TELHA_ADDRESS/TELHA_KEY, --data, the running `telha up`: in this order."""
    environ = {"TELHA_ADDRESS": "env:1", "TELHA_KEY": "env-key", "XDG_STATE_HOME": str(tmp_path)}
    folder.write(tmp_path, _ALIVE)
    assert target.find("flag:1", "flag-key", None, environ) == target.Target("flag:1", "flag-key")
    assert target.find("flag:1", None, None, environ) == target.Target("flag:1", "env-key")
    assert target.find(None, None, None, environ) == target.Target("env:1", "env-key")
    assert target.find(None, None, tmp_path, environ) == target.Target("127.0.0.1:1", "telha_key", "http://127.0.0.1:2")


def test_the_newest_running_system_of_this_user_is_found(tmp_path: Path) -> None:
    """A3: a pointer counts only while its supervisor lives."""
    environ = {"XDG_STATE_HOME": str(tmp_path / "state")}
    with pytest.raises(Problem, match="no running telha was found") as none:
        target.find(None, None, None, environ)
    assert none.value.hint is not None
    assert "telha up" in none.value.hint
    data = tmp_path / "data"
    data.mkdir()
    folder.write(data, _ALIVE)
    with folder.announced(data, environ):
        assert target.find(None, None, None, environ).address == "127.0.0.1:1"
        assert target.find(None, "mine", None, environ).key == "mine"
    with pytest.raises(Problem):
        target.find(None, None, None, environ)


def test_a_system_on_the_folder_here_wins_over_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A3: who stands beside ./data means that one; and where address and key come from is said."""
    environ = {"XDG_STATE_HOME": str(tmp_path / "state")}
    here, away = tmp_path / "here", tmp_path / "away"
    for data, port in ((here / "data", 1), (away / "data", 2)):
        data.mkdir(parents=True)
        folder.write(data, Connection(f"127.0.0.1:{port}", f"http://127.0.0.1:{port}", "telha_key", os.getpid()))
    with folder.announced(away / "data", environ):
        monkeypatch.chdir(here)
        found = target.find(None, None, None, environ)
        assert found.address == "127.0.0.1:1"
        assert found.origin == "the address is from data/connection.json, the key from there too"
        assert target.find(None, "mine", None, environ).origin.endswith("the key from --key")
        monkeypatch.chdir(tmp_path)
        found = target.find(None, None, None, environ)
        assert found.address == "127.0.0.1:2"
        assert found.origin.startswith("the address is from the newest `telha up` of yours")
        told = target.find(None, None, None, environ | {"TELHA_ADDRESS": "a:1", "TELHA_KEY": "k"})
        assert told.origin == "the address is from TELHA_ADDRESS, the key from TELHA_KEY"


def test_a_copy_of_a_running_folder_is_not_the_running_folder(tmp_path: Path) -> None:
    """A3: a copy answers nothing of its own, and starting it leaves the sockets of the first alone."""
    first, copy = tmp_path / "first", tmp_path / "copy"
    folder.lay_out(first)
    folder.write(first, _ALIVE)
    sockets = folder.sockets(first)
    shutil.copytree(first, copy)
    assert folder.standing(first) == _ALIVE
    assert folder.standing(copy) is None
    with pytest.raises(Problem, match="no telha runs on the data folder"):
        target.find(None, None, copy, {})
    known = folder.read(copy)
    assert known is not None
    assert known.key == _ALIVE.key, "a restored backup keeps its key"
    folder.sockets(copy).rmdir()
    assert sockets.exists()
    folder.sockets(first).rmdir()
    assert not sockets.exists()


def test_pointers_of_killed_supervisors_are_removed(tmp_path: Path) -> None:
    """A3: kill -9 leaves one behind; the next `telha up` clears it away and keeps those that run."""
    environ = {"XDG_STATE_HOME": str(tmp_path / "state")}
    pointers = tmp_path / "state" / "telha"
    pointers.mkdir(parents=True)
    (pointers / str(_dead_pid())).write_text(str(tmp_path))
    (pointers / str(os.getppid())).write_text(str(tmp_path))
    (pointers / "notes.txt").write_text("not ours")
    with folder.announced(tmp_path, environ):
        assert {each.name for each in pointers.iterdir()} == {str(os.getpid()), str(os.getppid()), "notes.txt"}


def test_a_dead_supervisor_is_not_called(tmp_path: Path) -> None:
    """A3: neither through its folder nor through its pointer."""
    dead = _dead_pid()
    environ = {"XDG_STATE_HOME": str(tmp_path / "state")}
    folder.write(tmp_path, Connection("127.0.0.1:1", "http://127.0.0.1:2", "k", dead))
    with pytest.raises(Problem, match="no telha runs on the data folder"):
        target.find(None, None, tmp_path, environ)
    pointer = tmp_path / "state" / "telha" / str(dead)
    pointer.parent.mkdir(parents=True)
    pointer.write_text(str(tmp_path))
    assert folder.running(environ) is None


def test_an_address_needs_a_key() -> None:
    """A6: no call without a credential, and the reason is said before the call."""
    with pytest.raises(Problem, match="an API key is required"):
        target.find("somewhere:1", None, None, {})


def test_the_key_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    """A6: connection.json has mode 0600 from its first byte on."""
    before = os.umask(0)
    try:
        folder.write(tmp_path, _ALIVE)
    finally:
        os.umask(before)
    path = tmp_path / "connection.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert folder.read(tmp_path) == _ALIVE
    path.write_text(json.dumps({"half": "written"}))
    assert folder.read(tmp_path) is None


def test_a_folder_serves_one_supervisor(tmp_path: Path) -> None:
    """A3: a second `telha up` on the folder is refused, for as long as the first one's parts live."""
    folder.lay_out(tmp_path)
    held = folder.lock(tmp_path)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], pass_fds=(held,))
    try:
        with pytest.raises(Problem, match="another telha up is using the data folder"):
            folder.lock(tmp_path)
        os.close(held)
        with pytest.raises(Problem):
            folder.lock(tmp_path)
    finally:
        child.kill()
        child.wait()
    os.close(folder.lock(tmp_path))


def test_an_unwritable_folder_is_one_sentence(tmp_path: Path) -> None:
    """A3: a file where a folder should be; the user learns which and why."""
    (tmp_path / "file").write_text("")
    with pytest.raises(Problem, match=r"the data folder .*file.* cannot be written: Not a directory"):
        folder.lay_out(tmp_path / "file" / "data")


def test_a_folder_that_the_system_refuses_is_told_truly(tmp_path: Path) -> None:
    """A3: the reason is the one that holds, not the error code's usual words."""
    with pytest.raises(Problem, match=r"the data folder /proc/x/y cannot be made: /proc takes no new files"):
        folder.lay_out(Path("/proc/x/y"))


def test_sockets_have_a_short_private_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A3: unix socket paths hold about 100 bytes, whatever TMPDIR is; what a killed supervisor left is removed."""
    deep = tmp_path / ("d" * 90)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    first = folder.sockets(tmp_path)
    assert len(str(first / "writer")) < 104
    assert stat.S_IMODE(first.stat().st_mode) == 0o700
    assert list(deep.iterdir()) == []
    second = folder.sockets(tmp_path)
    assert not first.exists()
    second.rmdir()
    status = tmp_path.stat()
    (tmp_path / "sockets").write_text(f"{tmp_path}\n{status.st_dev}:{status.st_ino}")
    folder.sockets(tmp_path).rmdir()
    assert tmp_path.exists(), "a note that names another folder was followed"
