"""What hides a node at the instants of a read, and when it is not hidden."""

from pathlib import Path

import numpy as np
import pytest
from recall_memory import SECOND, START, Memory, uid
from telha_planner.columns.tenant import Columns
from telha_planner.core.request import INT64_MIN, OPEN_END
from telha_planner.memory import tables
from telha_planner.recall.visibility import Hidden, nodes_of


@pytest.fixture
def memory(tmp_path: Path):
    made = Memory(tmp_path)
    yield made
    made.close()


def a_node(commit, space: str = "main", **valid: int) -> tuple[int, int]:
    """A node that rests on a span of a source of its own; both."""
    source = commit.source(uid(space), space)
    commit.source_version(source, 100)
    node = commit.node(uid("n", space), space)
    span = commit.span(source, 0, 9)
    commit.version(node, "words", spans=[span], **valid)
    return node, span


def seen(memory: Memory, valid_t: int, tx_t: int, spaces: tuple[str, ...] | None = ("main",)):
    """Everything in memory, seen at two instants: what hides it, and the interval that is told."""
    snapshot = Columns(memory.store, 1 << 30).at(1, memory.tx)
    links = np.arange(len(snapshot.columns.links))
    found = nodes_of(snapshot.view(spaces, valid_t, tx_t), spaces, links)
    assert (found.place >= 0).tolist() == found.visible.tolist()
    columns = zip(found.hidden.tolist(), found.since.tolist(), found.until.tolist(), strict=True)
    return [(Hidden(hidden), since, until) for hidden, since, until in columns]


def test_valid_time_hides_before_and_after(memory):
    """M1, X6: the axis is valid time, and the interval says when it is visible."""
    with memory.commit() as commit:
        a_node(commit, valid_from=START + 10, valid_to=START + 20)
    for valid_t, axis in (
        (START + 9, Hidden.VALID_TIME),
        (START + 10, Hidden.NOTHING),
        (START + 19, Hidden.NOTHING),
        (START + 20, Hidden.VALID_TIME),
        (INT64_MIN, Hidden.VALID_TIME),
        (OPEN_END - 1, Hidden.VALID_TIME),
    ):
        assert seen(memory, valid_t, memory.tx) == [(axis, START + 10, START + 20)]


def test_transaction_time_hides_what_was_learnt_later_or_is_known_no_more(memory):
    """M1, X6: the axis is transaction time, and the interval says when memory knew it."""
    with memory.commit() as commit:
        a_node(commit, valid_from=INT64_MIN)
    with memory.commit() as commit:
        commit.close(tables.node_version)
    assert seen(memory, START, START - 1) == [(Hidden.TX_TIME, START, START + SECOND)]
    assert seen(memory, START, START) == [(Hidden.NOTHING, INT64_MIN, OPEN_END)]
    assert seen(memory, START, START + SECOND) == [(Hidden.TX_TIME, START, START + SECOND)]


def test_a_link_that_ended_hides_what_it_led_to(memory):
    """M2, X6: a node that stays while its source changes rests on the old span no more."""
    with memory.commit() as commit:
        a_node(commit, valid_from=START)
    with memory.commit() as commit:
        commit.close(tables.node_span)
    assert seen(memory, START, memory.tx) == [(Hidden.TX_TIME, START, START + SECOND)]


def test_valid_time_is_told_where_both_hide(memory):
    """X6: the axis is valid time if both do."""
    with memory.commit() as commit:
        a_node(commit, valid_from=START + 10, valid_to=START + 20)
    with memory.commit() as commit:
        commit.close(tables.node_version)
    assert seen(memory, START, memory.tx) == [(Hidden.BOTH, START + 10, START + 20)]


def test_what_memory_believes_now_speaks_before_what_it_believed(memory):
    """X6: of a superseded statement, that it was true until then, rather than that it was known until then."""
    with memory.commit() as commit:
        node, span = a_node(commit, valid_from=START)
    with memory.commit() as commit:
        commit.version(node, "words", spans=[span], valid_from=START, valid_to=memory.tx + SECOND)
    until = START + SECOND
    assert seen(memory, until, memory.tx) == [(Hidden.VALID_TIME, START, until)]


def test_of_several_intervals_the_nearest_is_told(memory):
    """X6: stated by the name, on either side, also where an interval begins with time itself."""
    with memory.commit() as commit:
        source = commit.source(uid("s"))
        commit.source_version(source, 100)
        node, span = commit.node(uid("n")), commit.span(source, 0, 9)
        for number, (begin, end) in enumerate(((INT64_MIN, START), (START + 10, START + 20), (START + 90, OPEN_END))):
            version = commit.version(node, f"words {number}", spans=[span], valid_from=begin, valid_to=end)
            reopened = tables.node_version.update().where(tables.node_version.c.version_no <= version)
            commit.connection.execute(reopened.values(tx_to=OPEN_END))
    for valid_t, interval in (
        (START + 2, (INT64_MIN, START)),
        (START + 8, (START + 10, START + 20)),
        (START + 30, (START + 10, START + 20)),
        (START + 80, (START + 90, OPEN_END)),
    ):
        assert seen(memory, valid_t, memory.tx) == [(Hidden.VALID_TIME, *interval)]


def test_a_space_that_is_not_read_hides_whatever_time_says(memory):
    """M7, X6: and the spaces that are read are not touched by it."""
    with memory.commit() as commit:
        a_node(commit, valid_from=START)
    with memory.commit() as commit:
        a_node(commit, "other", valid_from=START + 10, valid_to=START + 20)
    now = memory.tx
    assert [hidden for hidden, *_ in seen(memory, now, now)] == [Hidden.NOTHING, Hidden.SPACE]
    assert [hidden for hidden, *_ in seen(memory, now, now, ("other",))] == [Hidden.SPACE, Hidden.VALID_TIME]
    assert [hidden for hidden, *_ in seen(memory, now, now, None)] == [Hidden.NOTHING, Hidden.VALID_TIME]
    assert [hidden for hidden, *_ in seen(memory, now, now, ("neither",))] == [Hidden.SPACE, Hidden.SPACE]
