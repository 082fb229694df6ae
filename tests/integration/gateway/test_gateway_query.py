"""Structured queries over REST and the command line, before a whole planner: shapes, places, and one answer on both."""

import json
import subprocess
import sys
import uuid

import httpx
import pytest
from gateway_server import Script, running
from planner_server import RealPlanner
from rest_contract import check
from telha_client import Clarification, Document, Node

NODES = [
    {
        "name": "checkout",
        "tier": 1,
        "unit price": 2.5,
        "owner": {"team": "Kasse", "on call": "名"},
        "tags": ["eu", "pci"],
    },
    {"name": "search", "tier": 2, "unit price": 1e20, "tags": []},
    {"name": "שלום 🧑‍🚀", "tier": None, "and": True},
]


class Stack:
    """A planner, the gateway before it, and what they hold."""

    def __init__(self, planner, rest):
        self.planner, self.rest = planner, rest
        self.ids = sorted(str(uuid.uuid4()) for _ in NODES)
        self.clarification = str(uuid.uuid4())
        with planner.client() as client:
            nodes = zip(self.ids, NODES, strict=True)
            client.memory.put_nodes([Node(node_id=one, type="service", properties=held) for one, held in nodes])
            asked = Clarification(
                clarification_id=self.clarification, node_id=self.ids[0], state="pending", question="Which tier?"
            )
            client.memory.put_clarifications([asked])
            client.memory.ingest([Document(name="a.md", content="# A\n\nFirst.\n\n# B\n\nSecond.\n")])

    def query(self, **body):
        return self.rest.post("/v1/query", json=body)

    def cli(self, *words):
        """Run the command line: (exit code, standard output, standard error)."""
        command = [sys.executable, "-m", "telha_cli.main", *words]
        told = subprocess.run(
            [*command, "--address", self.planner.address, "--key", self.planner.key()],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return told.returncode, told.stdout, told.stderr


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with (
        RealPlanner(tmp_path_factory.mktemp("rest")) as planner,
        running(Script(), planner=planner.address) as url,
        httpx.Client(
            base_url=url, headers={"authorization": f"Bearer {planner.key()}"}, event_hooks={"response": [check]}
        ) as rest,
    ):
        yield Stack(planner, rest)


def test_nodes_as_json(stack):
    """A2, M4: whole numbers are integers, what is absent is left out, names keep their spelling."""
    answer = stack.query(find="service", where={"name": {"eq": "checkout"}})
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert set(told) == {"nodes", "window"}
    (node,) = told["nodes"]
    assert node == {
        "nodeId": stack.ids[0],
        "type": "service",
        "space": "main",
        "properties": NODES[0],
        "validFrom": node["validFrom"],
        "provenance": [],
        "pendingClarification": {"clarificationId": stack.clarification, "state": "pending"},
    }
    assert type(node["properties"]["tier"]) is int


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ({"tier": {"lte": 1}}, [0]),
        ({"tier": {"ne": 1}}, [1, 2]),
        ({"tier": {"eq": None}}, [2]),
        ({"owner.team": {"match": "KASSE"}}, [0]),
        ({"owner.on call": {"startsWith": "名"}}, [0]),
        ({"unit price": {"gt": 1e19}}, [1]),
        ({"tags": {"contains": "pci"}}, [0]),
        ({"not": {"tags": {"exists": True}}}, [2]),
        ({"\\and": {"eq": True}}, [2]),
        ({"or": [{"name": {"match": "שלום"}}, {"tier": {"in": [2]}}]}, [1, 2]),
    ],
)
def test_conditions(stack, where, found):
    """M4: every operator through JSON."""
    told = stack.query(find="service", where=where).json()
    assert [stack.ids.index(node["nodeId"]) for node in told["nodes"]] == found


def test_pages(stack):
    """M4, A2: tokens from page to page; all pages at one window."""
    first = stack.query(find="service", pageSize=2).json()
    rest = stack.query(find="service", pageSize=2, pageToken=first["nextPageToken"]).json()
    assert [node["nodeId"] for node in first["nodes"] + rest["nodes"]] == stack.ids
    assert "nextPageToken" not in rest
    assert rest["window"] == first["window"]
    earlier = {"txTime": first["window"]["txTime"] - 10_000_000}
    assert stack.query(find="service", window=earlier).json()["nodes"] == []


GOOD = {"price": {"gte": 1}}
NESTED = {"and": [GOOD, GOOD]}


def bomb(levels):
    return GOOD if levels == 0 else {"and": [bomb(levels - 1)]}


def nots(levels):
    return GOOD if levels == 0 else {"not": nots(levels - 1)}


@pytest.mark.parametrize(
    ("where", "pointer", "rule"),
    [
        ({"price": 5}, "/where/price", "not a bare value"),
        ({"and": [GOOD, {"price": 5}]}, "/where/and/1/price", "not a bare value"),
        ({"or": [GOOD, {"not": {"unit price": {"near": 5}}}]}, "/where/or/1/not/unit price/near", "not an operator"),
        ({"a.b": {"gt": True}}, "/where/a.b/gt", "must be a string or a number"),
        ({"a/b~c": 1}, "/where/a~1b~0c", "not a bare value"),
        ({"max_size_us": 1}, "/where/max_size_us", "not a bare value"),
        ({'q"]': 1}, '/where/q"]', "not a bare value"),
        ({}, "/where", "at least one condition"),
        ([], "/where", "must be an object"),
        ("price > 5", "/where", "must be an object"),
        ({"price": {"in": []}}, "/where/price/in", "1 to 1,000"),
        ({"price": {"in": [1, {}]}}, "/where/price/in/1", "must be a string, a number"),
        ({"price": {"eq": 2**53}}, "/where/price/eq", "2^53"),
        ({"name": {"match": "…"}}, "/where/name/match", "a word"),
        (bomb(16), "/where" + "/and/0" * 16, "deeper than 16"),
        (nots(16), "/where" + "/not" * 16, "deeper than 16"),
        (bomb(60), None, "nested"),
        (nots(60), None, "nested"),
    ],
)
def test_a_fault_has_the_pointer_to_its_very_place(stack, where, pointer, rule):
    """M4, C7: on every surface alike."""
    for path, code in (
        ("/v1/query", "INVALID_REQUEST"),
        ("/v1/plan", "INVALID_REQUEST"),
        ("/v1/memory/context", "CONTEXT_INVALID"),
    ):
        answer = stack.rest.post(path, json={"find": "service", "where": where})
        problem = answer.json()
        assert (answer.status_code, problem["code"]) == (400, code)
        assert rule in problem["detail"]
        if pointer is None:
            assert problem["pointer"].startswith("/where/")
        else:
            assert problem["pointer"] == pointer


def test_the_deepest_conditions_that_are_taken_pass_every_hop(stack):
    """M4: the ceiling is the planner's, not what a parser on the way bears."""
    deepest = {"and": [{"and": [bomb(13)]}, {"a.b": {"in": [1, "x"]}}]}
    for where in (deepest, bomb(15), nots(15)):
        assert stack.query(find="service", where=where).status_code == 200
        answer = stack.rest.post("/v1/memory/context", json={"find": "service", "where": where})
        assert answer.status_code == 200


@pytest.mark.parametrize("path", ["/v1/plan", "/v1/memory/context"])
def test_where_without_find_is_refused_at_where(stack, path):
    """M4: conditions on nodes of no type."""
    problem = stack.rest.post(path, json={"question": "q", "where": GOOD}).json()
    assert (problem["pointer"], problem["status"]) == ("/where", 400)
    assert "without find" in problem["detail"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"where": GOOD}, "/find"),
        ({"find": ""}, "/find"),
        ({"find": "t", "pageSize": 1001}, "/pageSize"),
        ({"find": "t", "pageSize": -1}, "/pageSize"),
        ({"find": "t", "pageToken": "AAAA"}, "/pageToken"),
        ({"find": "t", "limit": 5}, "/limit"),
        ({"find": "t", "window": {"txTime": "yesterday"}}, "/window/txTime"),
        ({"find": "t", "spaces": ["a", "a"]}, "/spaces/1"),
    ],
)
def test_other_faults_of_a_query(stack, body, pointer):
    """M4: other faults of a query."""
    problem = stack.query(**body).json()
    assert (problem["status"], problem["code"], problem["pointer"]) == (400, "INVALID_REQUEST", pointer)


def test_a_plan_by_conditions_over_rest(stack):
    """C3: `find` and `where` in plan and context give one plan."""
    body = {"find": "passage", "where": {"path": {"contains": "A"}}, "expandDepth": 0, "budget": {"maxTokens": 500}}
    plan = stack.rest.post("/v1/plan", json=body).json()
    assert [span["text"] for span in plan["spans"]] == ["First."]
    context = stack.rest.post("/v1/memory/context", json=body).json()
    assert context["planHash"] == plan["planHash"]
    assert [item["text"] for item in context["items"]] == ["First."]


def test_the_command_line_answers_as_rest_does(stack):
    """A3: `telha query`, and conditions on `plan` and `memory context`; pages are put together."""
    where = {"tier": {"ne": 1}}
    by_rest = stack.query(find="service", where=where).json()
    window = by_rest["window"]
    at = ["--valid-at", str(window["validTime"]), "--tx-at", str(window["txTime"])]
    code, out, _ = stack.cli("query", "service", "--where", json.dumps(where), "--json", *at)
    assert (code, json.loads(out)) == (0, by_rest)
    code, out, _ = stack.cli("query", "service", "--limit", "1", "--json")
    assert [len(json.loads(out)["nodes"]), "nextPageToken" in json.loads(out)] == [1, True]
    code, out, _ = stack.cli("query", "service", "--where", json.dumps(where))
    assert code == 0
    assert stack.ids[1] in out
    body = {"find": "passage", "where": {"path": {"contains": "A"}}}
    words = ["--find", "passage", "--where", json.dumps(body["where"]), "--json"]
    for command, path in ((["plan"], "/v1/plan"), (["memory", "context"], "/v1/memory/context")):
        code, out, _ = stack.cli(*command, *words)
        assert (code, json.loads(out)["planHash"]) == (0, stack.rest.post(path, json=body).json()["planHash"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("price > 5", "--where"),
        ('{"a": {"eq": 1}, "a": {"eq": 2}}', "given twice"),
        ('{"a": 5}', "bare value"),
        ('{"a": {"eq": NaN}}', "where.a.eq"),
        ('{"a": {"eq": 9007199254740993}}', "2^53"),
        ("[" * 20_000, "--where"),
    ],
)
def test_the_command_line_refuses_in_one_sentence(stack, text, told):
    """A3: bad conditions, said with their place."""
    code, out, err = stack.cli("query", "service", "--where", text)
    assert (code != 0, out) == (True, "")
    assert told in err
    assert "Traceback" not in err
