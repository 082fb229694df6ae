"""docs/operating.md: its commands work, and its tables are those of the code."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

from prometheus_client.registry import Collector
from telha_planner.memory.keys import RIGHTS
from telha_planner.server.load_meters import GAUGES
from telha_planner.server.meters import Meters
from telha_planner.server.trace_meters import MissedMeters, SpoolMeters, StreamMeters
from telha_planner.server.trace_writer_port import TraceWriter
from telha_planner.trace.best_effort import BestEffort
from telha_planner.trace.direct import StreamRecords
from telha_planner.trace.emitter import Emitter
from telha_planner.trace.spool import Spool
from telha_runtime import redis
from telha_trace_writer.intake import Intake
from telha_trace_writer.meters import Metrics
from telha_trace_writer.opening import open_store
from telha_trace_writer.reclaim import Reclaim
from telha_trace_writer.retention import Retention
from telha_trace_writer.stream import Stream

PAGE = Path(__file__).parents[2].joinpath("docs/operating.md").read_text(encoding="utf-8")


def test_every_meter_is_listed() -> None:
    """C9: the page's names are those that are served."""
    families = {family.name + ("_total" if family.type == "counter" else "") for family in Meters().registry.collect()}
    assert set(re.findall(r"^\| `(\w+)` \| `(?:method|tenant|reason|stage)`", PAGE, flags=re.MULTILINE)) == families


def test_every_gauge_is_listed_as_the_page_of_metrics_tells_it() -> None:
    """A8: how much is held at this moment."""
    table = PAGE[PAGE.index("| gauge | what it is |") :].split("\n\n")[0]
    assert dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", table, flags=re.MULTILINE)) == dict(GAUGES)


def test_every_meter_of_the_trace_path_is_listed(tmp_path: Path) -> None:
    """A8: the page's names are those that are served, by a planner with a spool, one without, and one that may miss."""

    async def planner() -> set[str]:
        spool = Spool.open(tmp_path, 1 << 20)
        client = redis.connect("redis://127.0.0.1:1/0")
        emitter = Emitter(spool, client, TraceWriter("127.0.0.1:1", ""), "s", now_us=lambda: 0)
        served = names(SpoolMeters(spool, emitter, lambda: 0), StreamMeters(StreamRecords(client, "s", 1, "p")))
        await spool.close()
        return served | names(MissedMeters(BestEffort(spool)))

    assert listed("planner") == asyncio.run(planner())


def test_every_meter_of_the_trace_writer_is_listed(tmp_path: Path) -> None:
    """A8: the page's names are those that are served."""
    store = open_store(tmp_path / "traces.db", 1000)
    stream = Stream(redis.connect("redis://127.0.0.1:1/0"), "s", "g", "c")
    intake = Intake(store, stream, 5, lambda: 0)
    metrics = Metrics(store, intake, Reclaim(stream, intake, 1000, 10), Retention(store, 0, 0, lambda: 0))
    assert listed("trace writer") == names(metrics)
    store.close()


def names(*collectors: Collector) -> set[str]:
    """What *collectors* serve, as Prometheus names it."""
    families = [family for collector in collectors for family in collector.collect()]
    return {family.name + ("_total" if family.type == "counter" else "") for family in families}


def listed(service: str) -> set[str]:
    """The first column of the table of *service*."""
    table = PAGE[PAGE.index(f"| {service} | what it is |") :].split("\n\n")[0]
    return set(re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE))


def test_every_right_is_explained() -> None:
    """A6: those that a key can have."""
    table = PAGE[PAGE.index("| right |") :].split("\n\n")[0]
    assert tuple(re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE)) == RIGHTS


def test_the_file_for_three_processes_is_read_by_each(tmp_path: Path) -> None:
    """A9: as shown; none of them finds a fault, and each command begins with a program that is installed."""
    section = PAGE[PAGE.index("### By hand") : PAGE.index("### Roles and rights")]
    (shown,) = re.findall(r"```toml\n(.*?)```", section, flags=re.DOTALL)
    file = tmp_path / "telha.toml"
    file.write_text(shown, encoding="utf-8")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TELHA_")}
    programs = re.findall(r"^(telha-[\w-]+) serve --config telha\.toml$", section, flags=re.MULTILINE)
    assert len(programs) == 3
    for program in programs:
        command = [Path(sys.executable).with_name(program), "check", "--config", file]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
