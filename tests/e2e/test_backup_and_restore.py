"""The commands of docs/operating.md: a backup under load, checked, restored, started; and what it answers then."""

import re
import shlex
import signal
import threading
from pathlib import Path

import pytest
from running_telha import Up, start
from telha_client import Client, Document, TelhaError

PAGE = Path(__file__).parents[2].joinpath("docs/operating.md").read_text(encoding="utf-8")
WORDS = ("trams", "harbour", "面包", "שלום", "🧑‍🚀", "lanterns")


class Load(threading.Thread):
    """Ingests, plans and selects until it is told to stop; remembers every plan that was answered."""

    def __init__(self, up: Up, number: int) -> None:
        super().__init__()
        self.up, self.number, self.plans, self.over = up, number, [], threading.Event()
        self.fault: BaseException | None = None

    def run(self) -> None:
        with Client(self.up.grpc, self.up.key) as client:
            turn = 0
            while not self.over.is_set():
                turn += 1
                word = WORDS[turn % len(WORDS)]
                try:
                    text = f"# Notes\n\nIn year {turn} the {word} of town {self.number} were counted: {turn * 7}.\n"
                    client.memory.ingest([Document(name=f"{self.number}-{turn % 40}.md", content=text)])
                    self.plans.append(client.plan(f"how many {word} in town {self.number}?", max_tokens=300))
                except TelhaError as refusal:
                    if refusal.code != "RESOURCE_EXHAUSTED":
                        self.fault = refusal
                        return


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    up = start(tmp_path_factory.mktemp("backed"))
    yield up
    if up.process.poll() is None:
        up.process.send_signal(signal.SIGTERM)
        assert up.process.wait(60) == 0


def commands(up: Up) -> dict[str, list[str]]:
    """The commands that the page shows for backup, check and restore, by their first word."""
    section = PAGE[PAGE.index("## Backup and restore") : PAGE.index("## Health")]
    (shown,) = re.findall(r"```sh\n(telha backup.*?)```", section, flags=re.DOTALL)
    lines = [shlex.split(line, comments=True) for line in shown.strip().splitlines()]
    return {" ".join(words[1:3] if words[2] == "--check" else words[1:2]): words[1:] for words in lines}


def test_a_backup_under_load_is_a_system_of_its_own(running: Up, tmp_path_factory) -> None:
    """A9, X3, X4: each trace answered before it is in it, each citation resolves, and plans as of then are the same."""
    loads = [Load(running, number) for number in range(3)]
    for load in loads:
        load.start()
    while sum(len(load.plans) for load in loads) < 30 and not any(load.fault for load in loads):
        loads[0].over.wait(0.1)
    before = [plan for load in loads for plan in list(load.plans)]
    folder = tmp_path_factory.mktemp("restored")
    shown = commands(running)
    place, data = str(folder / "backups" / "monday"), str(folder / "data")
    swap = {"data": str(running.data), "backups/monday": place, "new-data": data}

    def run(words):
        done = running.run(*(swap.get(word, word) for word in words), "--json")
        assert done.code == 0, done.err
        return done.json

    taken = run(shown["backup"])
    beside = [plan for load in loads for plan in list(load.plans)][len(before) :]
    for load in loads:
        load.over.set()
        load.join(60)
        assert load.fault is None
    assert beside, "nothing went on while the backup was made"
    assert run(shown["backup --check"])["bytes"] == taken["bytes"]
    run(shown["restore"])

    with Client(running.grpc, running.key) as client:
        expected = {plan.trace_id: client.trace(plan.trace_id) for plan in before}
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(60) == 0
    again = start(folder)
    try:
        assert again.key != running.key
        for key in (again.key, running.key):  # a new first key; the keys of then hold too
            with Client(again.grpc, key) as client:
                assert client.memory.sources(page_size=1).items
        with Client(again.grpc, running.key) as client:
            for plan in before:
                assert client.trace(plan.trace_id) == expected[plan.trace_id]
                for span in plan.spans:
                    at = span.span
                    source = client.memory.source(at.source_id, version=at.source_version_tx, include_text=True)
                    assert source.text.encode()[at.start : at.end].decode() == span.text
            for plan in before[:10]:
                question = expected[plan.trace_id].record["request"]["question"]
                as_of = {"valid_time": plan.window.valid_time, "tx_time": plan.window.tx_time}
                assert client.plan(question, max_tokens=300, **as_of).plan_hash == plan.plan_hash
    finally:
        again.process.send_signal(signal.SIGTERM)
        assert again.process.wait(60) == 0
