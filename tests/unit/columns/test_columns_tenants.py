"""Which tenants are in memory: erasure, the ceiling, threads."""

import threading
from pathlib import Path

import pytest
from recall_histories import History
from recall_memory import Memory, a_query, erase, facts, recalled, uid
from telha_planner.columns.tenant import Columns
from telha_planner.core.errors import Unavailable
from telha_planner.memory import projection, tables
from telha_planner.recall.recall import recall


def catch_up(columns, memory):
    while not columns.advance(memory.tenant):
        pass


@pytest.fixture
def memory(tmp_path: Path):
    made = Memory(tmp_path)
    yield made
    made.close()


def test_an_erasure_drops_what_was_read_before_it(memory):
    """M5: columns on every replica forget an erased source, at every instant."""
    with memory.commit() as commit:
        commit.document("secret", ["the harbour code is red"])
        commit.document("plain", ["the harbour opens at six"])
    before = memory.tx
    columns = Columns(memory.store, 1 << 30)
    assert recalled(memory, columns, question="code red").stats.legs.lexical == 1
    erase(memory, uid("main", "secret"))
    for tx_t in (memory.tx, before):
        assert recalled(memory, columns, question="code red", tx_t=tx_t).stats.nodes == 0
        assert recalled(memory, columns, question="harbour", tx_t=tx_t).stats.nodes == 1


def test_the_least_recently_used_tenant_leaves_when_the_ceiling_is_passed(tmp_path):
    """M1: columns are bounded by a ceiling; the tenant being asked never leaves, and who left comes back equal."""
    memories = [Memory(tmp_path, tenant) for tenant in (1, 2, 3)]
    try:
        for memory in memories:
            History(memory, 7).run(4)
        roomy = Columns(memories[0].store, 1 << 30)
        sizes = []
        for memory in memories:
            recalled(memory, roomy, question="harbour")
            sizes.append(roomy.nbytes - sum(sizes))
        tight = Columns(memories[0].store, sizes[0] + sizes[1] + 1)
        told = [facts(recalled(memory, tight, question="harbour")) for memory in memories]
        assert tight.tenants == (2, 3)
        assert [facts(recalled(memory, tight, question="harbour")) for memory in memories] == told
        assert Columns(memories[0].store, 1).at(1, memories[0].tx).last_tx == memories[0].tx
    finally:
        for memory in memories:
            memory.close()


def test_a_tenant_that_is_being_read_is_not_sent_back_by_its_neighbours(tmp_path):
    """M1: however tight the ceiling and however busy a neighbour, slices come to their end, and count as memory."""
    slow, busy = memories = [Memory(tmp_path, tenant) for tenant in (1, 2)]
    try:
        for memory in memories:
            History(memory, memory.tenant).run(6)
        columns = Columns(slow.store, 1, 7)
        catch_up(columns, busy)
        held, slices = columns.nbytes, 0
        while not columns.advance(slow.tenant):
            slices += 1
            assert slices < 200
            with busy.commit() as commit:
                commit.document(f"note {slices}", ["the ferry"])
            catch_up(columns, busy)
            assert slow.tenant in columns.tenants
        assert slices > 10
        assert held
        alone = columns.nbytes
        told = facts(recalled(slow, columns, question="harbour"))
        assert told == facts(recalled(slow, question="harbour"))
        assert columns.tenants == (slow.tenant,)
        assert not columns.advance(busy.tenant)
        columns.advance(busy.tenant)
        assert columns.nbytes < alone + held
    finally:
        for memory in memories:
            memory.close()


def test_a_load_that_failed_may_leave(tmp_path, monkeypatch):
    """M1: what nobody comes back for takes no memory from those who ask."""
    failed, asked = memories = [Memory(tmp_path, tenant) for tenant in (1, 2)]
    try:
        for memory in memories:
            History(memory, memory.tenant).run(6)
        columns = Columns(failed.store, 1, 7)
        for _ in range(4):
            assert not columns.advance(failed.tenant)

        def away(_self):
            raise Unavailable(part="the store")

        with monkeypatch.context() as patched:
            patched.setattr(projection.Slices, "next", away)
            with pytest.raises(Unavailable):
                columns.advance(failed.tenant)
        catch_up(columns, asked)
        assert columns.tenants == (asked.tenant,)
        catch_up(columns, failed)
        assert facts(recalled(failed, columns, question="harbour")) == facts(recalled(failed, question="harbour"))
    finally:
        for memory in memories:
            memory.close()


def test_threads_may_load_tenants_at_once(tmp_path):
    """M1: a lock per tenant; several threads asking for tenants all get the right one."""
    memories = [Memory(tmp_path, tenant) for tenant in (1, 2, 3)]
    try:
        for memory in memories:
            History(memory, memory.tenant).run(6)
        columns = Columns(memories[0].store, 1 << 30)
        expected = [facts(recalled(memory, question="harbour opens", spaces=None)) for memory in memories]
        wrong: list[int] = []
        start = threading.Barrier(6)

        def ask(memory: Memory, told: dict) -> None:
            start.wait()
            snapshot = columns.at(memory.tenant, memory.tx)
            if facts(recall(snapshot, a_query(memory, question="harbour opens", spaces=None))) != told:
                wrong.append(memory.tenant)

        threads = [
            threading.Thread(target=ask, args=pair)
            for pair in [*zip(memories, expected, strict=True), *zip(memories, expected, strict=True)]
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
    finally:
        for memory in memories:
            memory.close()


def test_a_snapshot_does_not_know_what_comes_after_it(memory):
    """R3: tx_t is at most last_tx."""
    with memory.commit() as commit:
        commit.document("a", ["one"])
    snapshot = Columns(memory.store, 1 << 30).at(1, memory.tx)
    with pytest.raises(ValueError, match="after the snapshot"):
        recall(snapshot, a_query(memory, question="one", tx_t=memory.tx + 1))


def test_names_of_sources_and_spaces(memory):
    """C4: the name that a source had in the version that was quoted."""
    with memory.commit() as commit:
        commit.document("a", ["one"], "other")
    snapshot = Columns(memory.store, 1 << 30).at(1, memory.tx)
    source_no = memory._sources[uid("other", "a")]
    assert snapshot.source_name(source_no, memory.tx) == "a"
    assert snapshot.source_name(source_no, 5) is None
    assert snapshot.spaces() == {"other": memory._spaces["other"]}


def test_a_closing_that_was_loaded_with_its_row_still_separates_the_instants(memory):
    """R3: a node that ended before the columns were loaded is found before its end, also after a question about now."""
    with memory.commit() as commit:
        node, *_ = commit.document("a", ["the harbour opens"])
    before = memory.tx
    with memory.commit() as commit:
        commit.close(tables.node_version, node_no=node)
    columns = Columns(memory.store, 1 << 30)
    assert recalled(memory, columns, question="harbour").stats.nodes == 0
    assert recalled(memory, columns, question="harbour", tx_t=before).stats.nodes == 1
