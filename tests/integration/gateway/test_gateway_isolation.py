"""
Every operation of the OpenAPI document, at both walls: REST tells of a foreign id what it tells of one that nobody has.

The operations come from the document that the gateway serves; one without requests in `ROUTES` fails by name.
"""

import httpx
import pytest
from gateway_server import Script, running
from planner_server import RealPlanner
from running_writer import running_writer
from trace_path import TOKEN
from walled_world import IngestHere, World, without

OPEN = {"GET /", "GET /healthz", "GET /readyz", "GET /openapi.json"}
"""About the gateway itself; without a key."""


def body(**given):
    return lambda t, own: {"json": {name: value(t, own) if callable(value) else value for name, value in given.items()}}


def spans(t, _):
    return [{"sourceId": t.source, "sourceVersionTx": t.version, "start": 0, "end": 9}]


def items(kind, *made):
    return [lambda t, own, one=one: {"json": {kind: [one(t, own)]}} for one in made]


def node(**changed):
    def made(t, own):
        return {"nodeId": t.artifact, "type": "t", "space": own.space} | {
            name: value(t, own) for name, value in changed.items()
        }

    return made


def edge(**changed):
    def made(t, own):
        given = {"edgeId": t.artifact, "fromNodeId": own.node, "toNodeId": own.node, "type": "t"}
        return given | {name: value(t, own) for name, value in changed.items()}

    return made


def at(path, **options):
    """A request without a body to *path*, in which names of the target stand between braces."""
    return lambda t, own: {"path": path.format(t=t, own=own), **{k: v(t, own) for k, v in options.items()}}


ROUTES = {
    "POST /v1/memory/context": [
        body(question=lambda t, _: f"what is {t.word}?", spaces=["*"]),
        body(question=lambda t, _: f"what is {t.word}?", spaces=lambda t, _: [t.space]),
    ],
    "POST /v1/plan": [
        body(question=lambda t, _: f"what is {t.word}?", spaces=["*"], allowUngrounded=True),
        body(question=lambda t, _: f"what is {t.word}?"),
        body(find=lambda t, _: t.type, spaces=["*"], expandDepth=2),
    ],
    "POST /v1/select": [
        body(pool=lambda t, own: [{"span": spans(t, own)[0], "kind": "paragraph", "tokens": 3, "score": 0.5}])
    ],
    "POST /v1/query": [
        body(find=lambda t, _: t.type, spaces=["*"]),
        body(find="fact", spaces=["*"], pageToken=lambda t, _: t.nodes_page),
    ],
    "POST /v1/memory/sources": [
        body(documents=lambda t, own: [{"sourceId": t.source, "name": "n.md", "text": "x", "space": own.space}]),
        body(documents=lambda t, _: [{"name": "n.md", "text": "x", "space": t.space}]),
    ],
    "POST /v1/memory/documents": [
        lambda t, own: {
            "params": {"name": "m.md", "sourceId": t.artifact, "space": own.space},
            "content": b"of the caller",
            "headers": {"content-type": "text/markdown"},
        }
    ],
    "GET /v1/memory/sources": [
        at("/v1/memory/sources", params=lambda *_: {"spaces": "*"}),
        at("/v1/memory/sources", params=lambda t, _: {"spaces": t.space}),
        at("/v1/memory/sources", params=lambda t, _: {"spaces": "*", "pageToken": t.sources_page}),
    ],
    "GET /v1/memory/sources/{id}": [
        at("/v1/memory/sources/{t.source}", params=lambda *_: {"includeText": "true"}),
        at("/v1/memory/sources/{t.source}", params=lambda t, _: {"version": str(t.version)}),
    ],
    "DELETE /v1/memory/sources/{id}": [
        at("/v1/memory/sources/{t.source}"),
        at("/v1/memory/sources/{t.artifact}", headers=lambda t, _: {"idempotency-key": t.idempotency_key}),
    ],
    "POST /v1/memory/nodes": items("nodes", node(nodeId=lambda t, _: t.node), node(provenance=spans)),
    "POST /v1/memory/edges": items(
        "edges",
        edge(edgeId=lambda t, _: t.edge),
        edge(fromNodeId=lambda t, _: t.node),
        edge(toNodeId=lambda t, _: t.node),
    ),
    "POST /v1/memory/clarifications": items(
        "clarifications",
        lambda t, own: {"clarificationId": t.clarification, "nodeId": own.node, "state": "pending", "question": "?"},
        lambda t, _: {"clarificationId": t.trace, "nodeId": t.node, "state": "pending", "question": "?"},
    ),
    "POST /v1/memory/artifacts": items(
        "artifacts",
        lambda t, own: {"artifactId": t.trace, "name": "d", "text": "x", "space": own.space, "derivedFrom": [t.source]},
        lambda t, own: {
            "artifactId": t.artifact,
            "name": "d",
            "text": "x",
            "space": own.space,
            "derivedFrom": [own.source],
        },
    ),
    "POST /v1/memory/reembed": [body()],
    "GET /v1/trace/{id}": [at("/v1/trace/{t.trace}"), at("/v1/trace/{t.stored_trace}")],
    "DELETE /v1/trace/{id}": [at("/v1/trace/{t.trace}"), at("/v1/trace/{t.stored_trace}")],
    "POST /v1/trace/{id}/replay": [at("/v1/trace/{t.trace}/replay"), at("/v1/trace/{t.stored_trace}/replay")],
    "GET /v1/trace/{id}/diff/{other}": [
        at("/v1/trace/{t.trace}/diff/{t.trace}"),
        at("/v1/trace/{t.stored_trace}/diff/{t.trace}"),
    ],
    "GET /v1/traces": [
        at("/v1/traces"),
        at("/v1/traces", params=lambda t, _: {"space": t.space}),
        at("/v1/traces", params=lambda t, _: {"pageToken": t.traces_page}),
    ],
    "POST /v1/keys": [
        body(tenant=lambda t, _: t.tenant, name="k", rights=["read"]),
        body(name="k", rights=["read"], spaces=lambda t, _: [t.space]),
    ],
    "GET /v1/keys": [at("/v1/keys"), at("/v1/keys", params=lambda t, _: {"tenant": t.tenant})],
    "DELETE /v1/keys/{id}": [at("/v1/keys/{t.key_id}")],
    "POST /v1/tenants": [body(name=lambda t, _: t.tenant)],
    "GET /v1/tenants": [at("/v1/tenants")],
    "DELETE /v1/tenants/{name}": [at("/v1/tenants/{t.tenant}")],
    "GET /v1/deletions": [at("/v1/deletions")],
    "GET /v1/deletions/{id}": [at("/v1/deletions/{t.deletion}")],
    "DELETE /v1/spaces/{space}": [at("/v1/spaces/{t.space}")],
}
"""Requests by operation, made for a target and for what the caller has."""
REACHES = [(operation, number) for operation, made in ROUTES.items() for number in range(len(made))]


@pytest.fixture(scope="module", params=["tenant", "space"])
def world(request, tmp_path_factory, shared_valkey):
    with shared_valkey.client() as client:
        client.flushall()
    folder = tmp_path_factory.mktemp("g")
    with (
        running_writer(folder, shared_valkey.url) as address,
        RealPlanner(folder, writer=address, token=TOKEN, ingest=IngestHere) as planner,
        running(Script(), planner=planner.address) as base,
    ):
        world = World(planner, shared_valkey.url, request.param)
        world.base = base
        yield world


def test_every_operation_is_tried(world):
    """A2, A6: one that is added to the document is added here."""
    paths = httpx.get(f"{world.base}/openapi.json", timeout=20).json()["paths"]
    operations = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert operations == ROUTES.keys() | OPEN


@pytest.mark.parametrize(
    ("operation", "number"), REACHES, ids=[f"{operation} {number}" for operation, number in REACHES]
)
def test_foreign_and_absent_are_one_answer(world, operation, number):
    """A2, A6, M7: status and every word, ids that the request named aside; and no other id is told."""
    method, path = operation.split()
    theirs = world.somebody()
    nobodys = world.nobody(theirs)
    before = world.kept()
    seen = []
    for target in (theirs, nobodys):
        sent = ROUTES[operation][number](target, world.own)
        headers = {"authorization": f"Bearer {world.planner.key(*world.scope)}", **sent.pop("headers", {})}
        answer = httpx.request(
            method, world.base + sent.pop("path", path), headers=headers, timeout=30, follow_redirects=False, **sent
        )
        assert answer.status_code < 500, answer.text
        assert "not a known" not in answer.text
        said = str(sent) + str(answer.request.url) + str(headers)
        assert not {mark for mark in theirs.marks if mark in answer.text and mark not in said}
        seen.append((answer.status_code, without(answer.text, target)))
    assert seen[0] == seen[1]
    after = world.kept()
    assert not {table: lost for table in before if (lost := [row for row in before[table] if row not in after[table]])}


def test_no_operation_is_open(world):
    """A6: without a key, and with one that nobody has, every operation but those about the gateway is 401."""
    target = world.nobody(world.somebody())
    for operation, made in ROUTES.items():
        method, path = operation.split()
        for headers in ({}, {"authorization": "Bearer telha_aaaaaaaaaaaa_" + "A" * 43}):
            sent = made[0](target, world.own)
            more = sent.pop("headers", {})
            answer = httpx.request(
                method, world.base + sent.pop("path", path), headers=headers | more, timeout=30, **sent
            )
            assert answer.status_code == 401, operation
