"""Laws of the bitemporal store: random histories against a model that is too simple to be wrong."""

import itertools
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_builders import HandClock, a_tenant, rows_of, uid, visible, visible_edges
from memory_histories import START, Ingest, Put, document_of, histories, ingests, run
from telha_planner.core.request import OPEN_END
from telha_planner.memory.store import Store
from telha_planner.memory.writes import Writer

FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

_tenants = itertools.count()


@pytest.fixture(scope="module")
def store(lasting_store: Store) -> Store:
    return lasting_store


Said = tuple[str, tuple[str, ...]]
Intervals = list[tuple[int, int, Said]]


@dataclass
class Model:
    """What is said of each node and edge, as disjoint intervals of valid time; redrawn at every statement."""

    nodes: dict[bytes, Intervals] = field(default_factory=dict)
    edges: dict[bytes, Intervals] = field(default_factory=dict)
    current: dict[str, tuple[tuple[tuple[str, int], ...], int]] = field(default_factory=dict)
    derived: dict[str, tuple[set[bytes], set[bytes]]] = field(default_factory=dict)

    def copy(self) -> tuple[dict[bytes, Intervals], dict[bytes, Intervals]]:
        """What could be read just after a commit."""
        return {key: list(rows) for key, rows in self.nodes.items()}, {
            key: list(rows) for key, rows in self.edges.items()
        }

    def ingest(self, step: Ingest, tx: int) -> None:
        """Everything that the document says from its start on takes the place of what it said."""
        start = tx if step.valid_from is None else step.valid_from
        paragraphs, since = self.current.get(step.name, ((), 0))
        if paragraphs == step.paragraphs and (step.valid_from is None or step.valid_from >= since):
            return
        self.current[step.name] = (step.paragraphs, start)
        document = document_of(step)
        nodes, edges = self.derived.setdefault(step.name, (set(), set()))
        nodes |= {passage.node_id for passage in document.nodes}
        edges |= {passage.edge_id for passage in document.edges}
        said: dict[bytes, Said] = {
            passage.node_id: (passage.properties, (document.text[span.start : span.end].decode(),))
            for passage, span in zip(document.nodes, document.spans, strict=True)
        }
        for node_id in nodes:
            _draw(self.nodes, node_id, start, OPEN_END, said.get(node_id))
        there = {passage.edge_id for passage in document.edges}
        for edge_id in edges:
            _draw(self.edges, edge_id, start, OPEN_END, ("", ()) if edge_id in there else None)

    def put(self, step: Put) -> None:
        """The same for one node, up to its end."""
        end = OPEN_END if step.length is None else step.valid_from + step.length
        _draw(self.nodes, uid(step.name), step.valid_from, end, (f'{{"v":{step.value}}}', ()))


def _draw(held: dict[bytes, Intervals], key: bytes, start: int, end: int, said: Said | None) -> None:
    before = held.get(key, [])
    if any(one <= start and other == end and what == said for one, other, what in before):
        return  # said already, and to say it again for a part of that time is no news
    held[key] = [(one, min(other, start), what) for one, other, what in before if one < start]
    held[key] += [(one, other, what) for one, other, what in before if one >= end]
    if said is not None:
        held[key].append((start, end, said))


def _at(held: dict[bytes, Intervals], valid_t: int) -> dict[bytes, Said]:
    return {key: what for key, rows in held.items() for one, other, what in rows if one <= valid_t < other}


@FEW
@given(histories)
def test_reads_as_of_any_two_instants_equal_the_model(store: Store, history: list[Ingest | Put]) -> None:
    """M1: every (valid time, transaction time) shows what was said of then by then, text included."""
    tenant, _ = a_tenant(store, f"history {next(_tenants)}")
    clock = HandClock(START)
    writer = Writer(store, clock)
    model = Model()
    known: dict[int, tuple[dict[bytes, Intervals], dict[bytes, Intervals]]] = {0: ({}, {})}
    for step in history:
        tx = run(writer, clock, tenant, step)
        if isinstance(step, Ingest):
            model.ingest(step, tx)
        else:
            model.put(step)
        assert tx >= max(known)
        known[tx] = model.copy()
    instants = {899, 1000, 1400, OPEN_END - 1} | {
        edge + shift
        for nodes, edges in known.values()
        for rows in (*nodes.values(), *edges.values())
        for one, other, _ in rows
        for edge in (one, other)
        for shift in (-1, 0)
        if edge + shift < OPEN_END
    }
    commits = sorted(known)
    for tx, following in itertools.pairwise([*commits, commits[-1] + 2]):
        nodes, edges = known[tx]
        for tx_t in {tx, following - 1}:
            for valid_t in sorted(instants)[:: max(1, len(instants) // 12)]:
                assert visible(store, tenant, valid_t, tx_t) == _at(nodes, valid_t)
                assert visible_edges(store, tenant, valid_t, tx_t) == sorted(_at(edges, valid_t))


@FEW
@given(histories, histories)
def test_tenants_do_not_touch_each_other(store: Store, history: list[Ingest | Put], other: list[Ingest | Put]) -> None:
    """A6, M6: beside another tenant with the same ids, a history leaves the very rows that it leaves alone."""
    number = next(_tenants)
    tenants = [a_tenant(store, f"{name} {number}")[0] for name in ("one", "two", "alone")]
    clocks = [HandClock(START) for _ in tenants]
    for step, foreign in itertools.zip_longest(history, other):
        for tenant, clock, what in zip(tenants, clocks, (step, foreign, step), strict=True):
            if what is not None:
                run(Writer(store, clock), clock, tenant, what)
    assert rows_of(store, tenants[0]) == rows_of(store, tenants[2])


@FEW
@given(histories)
def test_the_last_statement_again_writes_nothing(store: Store, history: list[Ingest | Put]) -> None:
    """M2: idempotent at any moment of any history."""
    tenant, _ = a_tenant(store, f"again {next(_tenants)}")
    clock = HandClock(START)
    writer = Writer(store, clock)
    for step in history:
        tx = run(writer, clock, tenant, step)
        before = rows_of(store, tenant)
        assert run(writer, clock, tenant, step._replace(step=7)) == tx
        assert rows_of(store, tenant) == before


@FEW
@given(ingests, ingests)
def test_a_changed_document_keeps_what_stayed(store: Store, one: Ingest, two: Ingest) -> None:
    """M2: what both versions say at the same place keeps its row; the counts tell the rest."""
    tenant, _ = a_tenant(store, f"kept {next(_tenants)}")
    clock = HandClock(START)
    writer = Writer(store, clock)
    one, two = one._replace(name="a", valid_from=None, step=0), two._replace(name="a", valid_from=None, step=5)
    run(writer, clock, tenant, one)
    before = {row[0]: row for row in rows_of(store, tenant)["node_version"]}
    clock.time += two.step
    outcome = writer.write_documents(tenant, [document_of(two)]).sources[0]
    stayed = set(one.paragraphs) & set(two.paragraphs)
    gone = {label for label, _ in one.paragraphs} - {label for label, _ in stayed}
    if one.paragraphs == two.paragraphs:
        assert outcome.outcome == "unchanged"
    else:
        assert outcome.nodes_kept == len(stayed)
        assert outcome.nodes_opened == len(two.paragraphs) - len(stayed)
        assert outcome.nodes_closed == len(gone)
    after = {row[0]: row for row in rows_of(store, tenant)["node_version"]}
    assert len([number for number in before if after[number] == before[number]]) == len(stayed)


@FEW
@given(histories, st.lists(st.integers(-(2**40), 2**50), min_size=12, max_size=12))
def test_commits_are_strictly_ordered_under_any_clock(
    store: Store, history: list[Ingest | Put], times: list[int]
) -> None:
    """M1: no two commits share an instant, and none is before the wall clock."""
    tenant, _ = a_tenant(store, f"clock {next(_tenants)}")
    clock = HandClock(START)
    writer = Writer(store, clock)
    last = 0
    for step, time in zip(history, times, strict=False):
        clock.time = time
        before = rows_of(store, tenant)
        tx = run(writer, clock, tenant, step._replace(step=0))
        if rows_of(store, tenant) == before:
            assert tx == last
        else:
            assert tx == max(time, last + 1)
            last = tx
