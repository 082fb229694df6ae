"""Query over random histories: what was written, closed, moved in time and kept in spaces, against a list of writes."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import rfc8785
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_builders import JUNE, HandClock, a_tenant, uid
from query_oracle import satisfies
from query_strategies import properties, wheres
from telha_planner.columns.tenant import Columns
from telha_planner.config import PlannerConfig
from telha_planner.core.predicate import read_where
from telha_planner.core.request import OPEN_END, PlanRequest, QueryPosition, QueryRequest, Window
from telha_planner.memory.records import NodeRecord
from telha_planner.memory.store import Store
from telha_planner.memory.texts import SourceTexts
from telha_planner.memory.writes import Writer
from telha_planner.models.tokenizers import Tokenizers
from telha_planner.pipeline import Planning

SPACE = {"a": "main", "b": "main", "c": "other", "d": "main", "e": "other"}
TYPES = ("fact", "fact", "claim")
INSTANTS = st.integers(0, 12).map(lambda step: JUNE + 10 * step)


@dataclass(frozen=True)
class Write:
    """One node as written in one commit."""

    name: str
    type: str
    properties: dict[str, Any]
    valid_from: int
    valid_to: int
    tx: int = 0

    @property
    def said(self) -> tuple[str, bytes]:
        """What two writes must share to say the same."""
        return self.type, rfc8785.dumps(self.properties)


@st.composite
def writes(draw: st.DrawFn) -> Write:
    begin = draw(INSTANTS)
    end = draw(st.one_of(st.just(OPEN_END), st.integers(1, 60).map(lambda length: begin + length)))
    return Write(draw(st.sampled_from(sorted(SPACE))), draw(st.sampled_from(TYPES)), draw(properties), begin, end)


def standing(history: list[Write]) -> list[Write]:
    """What is left of *history*: a write takes the place of what was said about its time, and ends what went on."""
    rows: list[Write] = []
    for write in history:
        mine = [row for row in rows if row.name == write.name]
        if any(
            row.said == write.said and row.valid_to == write.valid_to and row.valid_from <= write.valid_from
            for row in mine
        ):
            continue
        for row in mine:
            if row.valid_to > write.valid_from and row.valid_from < write.valid_to:
                rows.remove(row)
                if row.valid_from < write.valid_from:
                    rows.append(replace(row, valid_to=write.valid_from))
        rows.append(write)
    return rows


def as_node(one: Write) -> dict[str, Any]:
    """*one* for the other evaluator."""
    node = {
        "properties": one.properties,
        "@id": str(uuid.UUID(bytes=uid(one.name))),
        "@type": one.type,
        "@space": SPACE[one.name],
        "@validFrom": one.valid_from,
    }
    return node if one.valid_to == OPEN_END else {**node, "@validTo": one.valid_to}


class Memory:
    """A store, a planner over it, and the same history as a list."""

    def __init__(self, url: str) -> None:
        self.store = Store.open(url, busy_timeout_ms=10_000)
        self.tenant, self.key = a_tenant(self.store)
        self.clock = HandClock()
        self.writer = Writer(self.store, self.clock)
        self.history: list[Write] = []
        self.followed = self._planning()

    def _planning(self) -> Planning:
        config = PlannerConfig()
        return Planning(
            store=self.store,
            columns=Columns(self.store, 1 << 30),
            texts=SourceTexts(self.store, 1 << 20),
            tokenizers=TOKENIZERS,
            config=config,
            now=self.clock,
            new_trace_id=lambda: str(uuid.UUID(int=1)),
        )

    def put(self, batch: list[Write]) -> None:
        records = [
            NodeRecord(
                node_id=uid(one.name),
                space=SPACE[one.name],
                type=one.type,
                properties=rfc8785.dumps(one.properties).decode(),
                valid_from=one.valid_from,
                valid_to=None if one.valid_to == OPEN_END else one.valid_to,
            )
            for one in batch
        ]
        tx = self.writer.put_nodes(self.tenant, records).tx
        self.history += [Write(one.name, one.type, one.properties, one.valid_from, one.valid_to, tx) for one in batch]

    def wanted(self, find: str, where: dict[str, Any], valid_t: int, tx_t: int, spaces: tuple[str, ...]) -> list[bytes]:
        """By the list alone: what stands of the writes up to tx_t, and is true at valid_t."""
        return sorted(
            uid(one.name)
            for one in standing([write for write in self.history if write.tx <= tx_t])
            if one.type == find
            and SPACE[one.name] in spaces
            and one.valid_from <= valid_t < one.valid_to
            and satisfies(as_node(one), where)
        )

    def pages(self, planning: Planning, size: int, **asked: Any) -> list[bytes]:
        found: list[bytes] = []
        after = None
        while True:
            answer = planning.query(self.key, QueryRequest(page_size=size, after=after, **asked))
            found += [node.node_id for node in answer.nodes]
            if not answer.more:
                return found
            assert len(answer.nodes) == size
            window = answer.window
            after = QueryPosition(answer.nodes[-1].node_id, window.valid_time or 0, window.tx_time or 0)


TOKENIZERS = Tokenizers(PlannerConfig().tokens)
questions = st.tuples(
    st.sampled_from(["fact", "claim", "never"]), wheres, INSTANTS, st.integers(0, 7), st.integers(1, 4)
)
batches = st.lists(st.lists(writes(), min_size=1, max_size=4, unique_by=lambda one: one.name), min_size=1, max_size=6)


SUPPRESSED = [HealthCheck.data_too_large, HealthCheck.too_slow, HealthCheck.function_scoped_fixture]


@settings(max_examples=25, deadline=None, suppress_health_check=SUPPRESSED)
@given(
    batches, st.lists(questions, min_size=1, max_size=3), st.sampled_from([("main",), ("other",), ("main", "other")])
)
def test_a_query_finds_what_a_history_says(
    new_store_url: Callable[[], str],
    history: list[list[Write]],
    asked: list[tuple[Any, ...]],
    spaces: tuple[str, ...],
) -> None:
    """M4, R3, M7: at any instants, in any spaces, page by page, columns that followed or fresh; Plan alike."""
    memory = Memory(new_store_url())
    for batch in history:
        memory.put(batch)
        memory.followed.query(memory.key, QueryRequest(find="fact"))
    commits = sorted({one.tx for one in memory.history})
    fresh = memory._planning()
    for find, where, valid_t, back, size in asked:
        tx_t = commits[-1 - back % len(commits)] - (back == 7)
        window = Window(valid_t, tx_t)
        wanted = memory.wanted(find, where, valid_t, tx_t, spaces)
        query = {"find": find, "where": read_where("where", where), "window": window, "spaces": spaces}
        assert memory.pages(memory.followed, size, **query) == wanted
        assert memory.pages(fresh, size, **query) == wanted
        request = PlanRequest(expand_depth=0, find_limit=size, allow_ungrounded=True, **query)
        for _ in range(2):  # the second time, what the first one found is remembered
            stats = memory.followed.plan(memory.key, request, {}).plan.stats
            assert stats.recall is not None
            assert stats.recall.legs.query == min(size, len(wanted))
    memory.store.close()
