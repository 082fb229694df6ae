"""The structured leg with conditions: which nodes, at which instants, in which spaces, and at what cost."""

import json
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from uuid import UUID

import numpy as np
import pytest
from memory_builders import JUNE, a_tenant, a_writer, opened, uid
from query_oracle import satisfies
from telha_planner.columns.tenant import Columns
from telha_planner.core.errors import DeadlineExceeded, RequestInvalid
from telha_planner.core.predicate import read_where
from telha_planner.memory.properties import PropertiesErased, read_properties
from telha_planner.memory.query import compiled
from telha_planner.memory.records import NodeRecord
from telha_planner.patience import Patience, lasting
from telha_planner.recall import structured
from telha_planner.recall.legs import _structured
from telha_planner.recall.structured import after, of_type, satisfying

FAR = JUNE + 10**15


def ending_after(patience, where, examined):
    """*where*, whose caller goes away when so many nodes were examined."""
    seen = []

    def holds(node):
        seen.append(node)
        if len(seen) == examined:
            patience.end()
        return where.holds(node)

    return replace(where, holds=holds), seen


def test_a_scan_ends_with_its_caller(tmp_path):
    """A1: a call whose client has gone stops costing, in the middle of a scan and of a text's analysis."""
    nodes, patience = Nodes(tmp_path), Patience()
    nodes.put_all({f"n{number}": {"text": f"夜间电车 {number}"} for number in range(50)})
    snapshot, view = nodes.view()
    where, seen = ending_after(patience, a_predicate({"text": {"match": "电车"}}), 7)
    with lasting(patience), pytest.raises(DeadlineExceeded):
        satisfying(snapshot, view, of_type(view, "fact"), where, 64)
    assert len(seen) == 7
    assert len(nodes.find({"text": {"match": "电车"}})) == 50
    nodes.store.close()


class Nodes:
    """A store with nodes, and what the leg finds in it."""

    def __init__(self, folder):
        self.store = opened(folder)
        self.tenant, _ = a_tenant(self.store)
        self.writer, self.clock = a_writer(self.store)
        self.columns = Columns(self.store, 1 << 30)
        self.tx = 0

    def put(self, name, properties, *, node_type="fact", space="main", valid=(JUNE, None)):
        return self.put_all({name: properties}, node_type=node_type, space=space, valid=valid)

    def put_all(self, held, *, node_type="fact", space="main", valid=(JUNE, None)):
        records = [
            NodeRecord(uid(name), space, node_type, json.dumps(properties), *valid) for name, properties in held.items()
        ]
        self.tx = self.writer.put_nodes(self.tenant, records).tx
        return self.tx

    def view(self, tx=None, valid=FAR, spaces=("main",)):
        snapshot = self.columns.at(self.tenant, self.tx)
        return snapshot, snapshot.view(spaces, valid, self.tx if tx is None else tx)

    def find(self, where, limit=64, node_type="fact", **at):
        """As recall asks the leg."""
        snapshot, view = self.view(**at)
        asked = SimpleNamespace(find=node_type, where=where and a_predicate(where), find_limit=limit, exclusions=None)
        return self.ids(view, _structured(snapshot, view, asked, node_type))

    @staticmethod
    def ids(view, places):
        pairs = zip(view.hi[places].tolist(), view.lo[places].tolist(), strict=True)
        return [hi.to_bytes(8, "big") + lo.to_bytes(8, "big") for hi, lo in pairs]


def a_predicate(where):
    return compiled(read_where("query.where", where))


def _never(*_):
    raise AssertionError("the store was read")


@pytest.fixture
def nodes(tmp_path):
    nodes = Nodes(tmp_path)
    yield nodes
    nodes.store.close()


def test_nodes_that_satisfy_come_by_id_up_to_the_limit(nodes):
    """R1, M4: node id decides the order, the limit cuts, and every node that satisfies is there."""
    held = {f"n{number}": {"price": number, "name": f"node {number % 3}"} for number in range(300)}
    nodes.put_all(held)
    where = {"price": {"gte": 10}, "or": [{"name": {"match": "NODE 2"}}, {"price": {"in": [11, 12]}}]}
    wanted = sorted(uid(name) for name, held in held.items() if satisfies({"properties": held}, where))
    assert len(wanted) > 64
    assert nodes.find(where, limit=1000) == wanted
    assert nodes.find(where, limit=7) == wanted[:7]
    assert nodes.find(where, limit=1000) == wanted, "what was remembered for one limit is not given for another"
    assert nodes.find(None, limit=1000) == sorted(map(uid, held))
    assert nodes.find({"price": {"lt": 0}}) == []
    assert nodes.find(where, node_type="never") == []


def test_pages_are_the_whole(nodes):
    """M4: page after page by id gives each node once."""
    nodes.put_all({f"n{number}": {"even": number % 2 == 0} for number in range(30)})
    where = a_predicate({"even": {"eq": True}})
    snapshot, view = nodes.view()
    seen, left = [], of_type(view, "fact")
    while page := nodes.ids(view, satisfying(snapshot, view, left, where, 4)):
        assert len(page) <= 4
        seen += page
        left = after(view, left, page[-1], 1)
    assert seen == nodes.find({"even": {"eq": True}})
    assert len(seen) == 15


def test_a_predicate_sees_the_version_of_the_instants(nodes):
    """R3, M4: as known then, and as true then; a later write changes no earlier answer."""
    first = nodes.put("n", {"state": "open"}, valid=(JUNE, JUNE + 100))
    second = nodes.put("n", {"state": "closed"}, valid=(JUNE, JUNE + 100))
    is_open, closed = {"state": {"eq": "open"}}, {"state": {"eq": "closed"}}
    inside = {"valid": JUNE + 50}
    assert nodes.find(is_open, tx=first, **inside) == [uid("n")] == nodes.find(closed, tx=second, **inside)
    assert nodes.find(is_open, tx=second, **inside) == [] == nodes.find(closed, tx=first, **inside)
    assert nodes.find(is_open, tx=first - 1, **inside) == []
    assert nodes.find(closed, valid=JUNE - 1) == [] == nodes.find(closed, valid=JUNE + 100)


def test_a_predicate_sees_the_spaces_asked_for(nodes):
    """M7, M4: a node of another space satisfies nothing."""
    nodes.put("here", {"a": 1})
    nodes.put("there", {"a": 1}, space="other")
    where = {"a": {"eq": 1}}
    assert nodes.find(where) == [uid("here")]
    assert nodes.find(where, spaces=("other",)) == [uid("there")]
    assert nodes.find(where, spaces=None) == sorted([uid("here"), uid("there")])
    assert nodes.find({"@space": {"eq": "other"}}, spaces=None) == [uid("there")]


def test_built_ins_are_what_the_node_is(nodes):
    """M4: id, type, space and validity beside the properties, which may have the same names."""
    nodes.put("n", {"id": "x", "type": "y"}, valid=(JUNE, JUNE + 10**9))
    nodes.put("m", {})
    valid = {"valid": JUNE + 1}
    identity = str(UUID(bytes=uid("n")))
    assert nodes.find({"@id": {"in": [identity]}}, **valid) == [uid("n")]
    assert nodes.find({"id": {"eq": "x"}, "@type": {"eq": "fact"}}, **valid) == [uid("n")]
    assert nodes.find({"@validTo": {"lte": JUNE + 10**9}}, **valid) == [uid("n")]
    assert nodes.find({"@validTo": {"exists": False}}, **valid) == [uid("m")]
    assert nodes.find({"@validFrom": {"eq": JUNE}}, **valid) == sorted([uid("m"), uid("n")])


def test_examining_too_many_nodes_is_an_error(nodes, monkeypatch):
    """M4: a ceiling on what is looked at; what is found before it stands."""
    monkeypatch.setattr(structured, "MAX_EXAMINED", 20)
    nodes.put_all({f"n{number}": {"n": number} for number in range(21)})
    with pytest.raises(RequestInvalid, match="had to examine too many nodes") as refused:
        nodes.find({"n": {"eq": -1}})
    assert refused.value.field == "query.where"
    assert len(nodes.find({"n": {"gte": 0}}, limit=20)) == 20
    with pytest.raises(RequestInvalid):
        nodes.find({"n": {"gte": 0}}, limit=21)


def test_working_too_much_is_an_error(nodes, monkeypatch):
    """M4: large properties and many conditions count as what they cost; the ceiling itself is allowed."""
    nodes.put_all({f"n{number}": {"n": "x" * 100} for number in range(10)})
    each = len('{"n": ""}') + 100 + structured.NODE_WORK
    monkeypatch.setattr(structured, "MAX_WORK", 10 * each)
    assert nodes.find({"n": {"eq": ""}}) == []
    for where in (
        {"n": {"eq": "", "ne": ""}},
        {"or": [{"n": {"eq": ""}}, {"m": {"exists": True}}]},
        {"n": {"match": "a"}},
    ):
        with pytest.raises(RequestInvalid, match="fewer conditions"):
            nodes.find(where)
    assert len(nodes.find({"n": {"ne": "", "eq": "x" * 100}}, limit=5)) == 5
    monkeypatch.setattr(structured, "MAX_WORK", 10 * (each + 100 * structured.ANALYSIS_WORK))
    assert nodes.find({"n": {"match": "a"}}) == []


def test_a_predicate_is_remembered_until_its_space_changes(nodes, monkeypatch):
    """M4: asking again reads nothing, and never shows what has changed."""
    nodes.put("n", {"a": 1})
    where = {"a": {"eq": 1}}
    assert nodes.find(where) == [uid("n")]
    with monkeypatch.context() as patch:
        patch.setattr("telha_planner.columns.tenant.read_properties", _never)
        assert nodes.find(where) == [uid("n")]
    nodes.put("m", {"a": 1})
    assert nodes.find(where) == sorted([uid("m"), uid("n")])
    nodes.put("n", {"a": 2})
    assert nodes.find(where) == [uid("m")]
    _, view = nodes.view()
    for number in range(100):
        nodes.find({"a": {"eq": number}})
    assert len(view.memo["where"].places) == 32


def test_properties_that_are_gone_are_told(nodes):
    """M5: an erasure under a reader never becomes "does not satisfy"."""
    nodes.put("n", {"a": 1})
    read = partial(read_properties, nodes.store, nodes.tenant)
    snapshot, view = nodes.view()
    number = int(snapshot.columns.versions.no[view.version][0])
    assert [json.loads(text) for text in read([number, number])] == [{"a": 1}] * 2
    with pytest.raises(PropertiesErased):
        read([number, number + 1000])
    assert read([]) == []


def test_a_page_may_end_between_nodes_of_one_id():
    """M4, M7: each space may have a node of an id; pages lose none and repeat none."""
    ids = np.array([1, 2, 2, 2, 3], np.uint64)
    view = SimpleNamespace(hi=np.zeros(5, np.uint64), lo=ids)
    places = np.arange(5)
    two = (2).to_bytes(16, "big")
    for seen, left in ((1, [2, 3, 4]), (2, [3, 4]), (3, [4])):
        assert after(view, places, two, seen).tolist() == left
