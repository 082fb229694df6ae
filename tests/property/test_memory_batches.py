"""Law: a bad item at any place of a batch leaves the store as it was, to the byte."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_builders import DAY, HandClock, a_document, a_tenant, rows_of, uid
from telha_planner.core.errors import RequestInvalid
from telha_planner.core.model import SpanRef
from telha_planner.memory.records import ClarificationRecord, EdgeRecord, NodeRecord, VectorRecord
from telha_planner.memory.store import Store
from telha_planner.memory.writes import Writer

_tenants = itertools.count()
_TEXT = "二 👩‍👩‍👧 שלום"


@pytest.fixture(scope="module")
def store(lasting_store: Store) -> Store:
    return lasting_store


def _inside_a_character(offset: int) -> bool:
    return 0xC0 & _TEXT.encode()[offset] == 0x80


def _documents(_number: int) -> tuple[Any, str]:
    return a_document("stolen", ["x"], source_id=uid("thief")), "source_id"


def _nodes(number: int) -> tuple[NodeRecord, str]:
    held = a_document("held", [_TEXT])
    cuts = [offset for offset in range(1, len(_TEXT.encode())) if _inside_a_character(offset)]
    cut = cuts[number % len(cuts)]

    def citing(start: int, end: int) -> NodeRecord:
        span = SpanRef(held.source_id, 1000, start, end)
        return NodeRecord(uid("bad"), "main", "fact", "{}", provenance=(span,))

    bad = [
        (citing(0, cut), "provenance[0].end"),
        (citing(cut, len(_TEXT.encode())), "provenance[0].start"),
        (citing(3, 3), "provenance[0].end"),
        (citing(0, 10_000), "provenance[0].end"),
        (NodeRecord(uid("bad"), "main", "fact", "{}", vector=VectorRecord("m", (1.0,))), "vector.values"),
        (NodeRecord(uid("bad"), "main", "fact", "{}", valid_from=5, valid_to=5), "valid_to_us"),
    ]
    return bad[number % len(bad)]


def _edges(number: int) -> tuple[EdgeRecord, str]:
    bad = [
        (EdgeRecord(uid("bad"), uid("n"), uid("nobody"), "t"), "to_node_id"),
        (EdgeRecord(uid("bad"), uid("nobody"), uid("n"), "t"), "from_node_id"),
        (EdgeRecord(uid("bad"), uid("n"), uid("far"), "t"), "to_node_id"),
    ]
    return bad[number % len(bad)]


def _clarifications(_number: int) -> tuple[ClarificationRecord, str]:
    return ClarificationRecord(uid("bad"), uid("nobody"), "pending", "?"), "node_id"


def _good(kind: str, index: int) -> Any:
    if kind == "documents":
        return a_document(f"good {index}", ["x", "y"], space="new")
    if kind == "nodes":
        span = SpanRef(a_document("held", [_TEXT]).source_id, 1000, 0, 3)
        vector = VectorRecord("unheard of", (1.0, 2.0, 3.0))
        return NodeRecord(uid(f"good {index}"), "main", "fact", "{}", provenance=(span,), vector=vector)
    if kind == "edges":
        return EdgeRecord(uid(f"good {index}"), uid("n"), uid("o"), "t")
    return ClarificationRecord(uid(f"good {index}"), uid("n"), "pending", "?")


_BAD: dict[str, Callable[[int], tuple[Any, str]]] = {
    "documents": _documents,
    "nodes": _nodes,
    "edges": _edges,
    "clarifications": _clarifications,
}


def _call(writer: Writer, kind: str, tenant: int, items: Sequence[Any]) -> Any:
    calls = {
        "documents": writer.write_documents,
        "nodes": writer.put_nodes,
        "edges": writer.put_edges,
        "clarifications": writer.put_clarifications,
    }
    return calls[kind](tenant, items)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(_BAD)), st.integers(0, 5), st.integers(0, 5), st.integers(0, 40), st.booleans())
def test_a_bad_item_anywhere_leaves_nothing(
    store: Store, kind: str, before: int, after: int, number: int, repeated: bool
) -> None:
    """M3: batches are atomic, and the error names the bad item's index and field."""
    tenant, _ = a_tenant(store, f"tenant {next(_tenants)}")
    clock = HandClock(1000)
    writer = Writer(store, clock)
    stolen = a_document("stolen", ["x"], source_id=uid("thief"))
    writer.write_documents(tenant, [a_document("held", [_TEXT])])
    vector = VectorRecord("m", (1.0, 2.0))
    taken = NodeRecord(stolen.nodes[0].node_id, "main", "fact", "{}")
    nodes = [NodeRecord(uid(name), "main", "fact", "{}", vector=vector) for name in ("n", "o")]
    writer.put_nodes(tenant, [*nodes, taken, NodeRecord(uid("far"), "other", "fact", "{}")])
    held = rows_of(store, tenant)
    clock.time += DAY
    bad, field = _BAD[kind](number)
    items = [_good(kind, index) for index in range(before)]
    rest = [_good(kind, index) for index in range(before, before + after)]
    if repeated and before:
        bad = items[0]
        field = {"documents": "source_id", "nodes": "node_id", "edges": "edge_id"}.get(kind, "clarification_id")
    with pytest.raises(RequestInvalid) as refused:
        _call(writer, kind, tenant, [*items, bad, *rest])
    assert refused.value.field == f"{kind}[{before}].{field}"
    assert rows_of(store, tenant) == held
    _call(writer, kind, tenant, [*items, *rest])
    assert (rows_of(store, tenant) == held) == (not items and not rest)
