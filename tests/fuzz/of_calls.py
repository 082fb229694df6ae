"""Requests of every method and route, down to the store: protobuf bytes and fields, JSON bodies, tokens, headers."""

import base64
import json
from collections.abc import Iterator
from typing import Any

from fuzz.gateway import exchanged
from fuzz.messages import METHODS
from fuzz.stage import PAGE, close, stage
from fuzz.target import Target, law
from google.protobuf.message import Message
from telha.administration.v1 import administration_pb2
from telha.memory.v1 import memory_pb2
from telha.planner.v1 import plan_pb2, planner_pb2
from telha.trace.v1 import traces_pb2
from telha_gateway.app import OPERATIONS
from telha_gateway.faults import RequestFault
from telha_gateway.problems import TITLES, Refused
from telha_planner.core.errors import TelhaError
from telha_planner.server import page_token
from telha_trace_writer import pages
from telha_trace_writer.listing import Filters

_ID = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
_WORDS = (
    *("service", "main", "*", "acme", "checkout", "who signs off deploys?", "pending", "text/markdown", "o200k_base"),
    *("gpt-4o", "page_token", "tier", "and", "eq", "match", "@id", _ID, "fd102a45-7dfc-5111-a70f-5fef6770f74d"),
)


def _requests() -> Iterator[bytes]:
    for number, (_, name, kind) in enumerate(METHODS):
        yield bytes([number]) + _example(name, kind).SerializeToString()


_FIELDS = {
    "question": "who signs off deploys?",
    "find": "service",
    "source_id": "fd102a45-7dfc-5111-a70f-5fef6770f74d",
    "trace_id": _ID,
    "deletion_id": _ID,
    "name": "ops",
    "tenant": "other",
    "space": "side",
    "key_id": "aaaaaaaaaaaa",
}
_SPAN = plan_pb2.SpanRef(source_id=_ID, start=0, end=20)
_FIND = {
    "query": plan_pb2.NodeQuery(find="service"),
    "window": plan_pb2.Window(tx_time_us=1_780_000_500_000_000),
    "budget": plan_pb2.Budget(max_tokens=50),
    "spaces": ["main"],
}
_MORE: dict[str, dict[str, Any]] = {
    "Plan": _FIND,
    "Build": _FIND,
    "Select": {
        "pool": [planner_pb2.Fragment(text=f"part {n} of the deploys", kind="paragraph", span=_SPAN) for n in (1, 1)]
    },
    "Ingest": {
        "documents": [memory_pb2.Document(name="a.md", content=PAGE.encode(), space="main")],
        "idempotency_key": "k1",
    },
    "IngestStream": {"header": memory_pb2.IngestStreamHeader(name="b.md")},
    "PutNodes": {
        "nodes": [
            memory_pb2.Node(
                node_id=_ID,
                type="service",
                space="main",
                valid_from_us=5,
                vector=memory_pb2.NodeVector(model="m", values=[0.5, 0.25]),
            )
        ]
    },
    "PutEdges": {
        "edges": [memory_pb2.Edge(edge_id=_ID, from_node_id=_ID, to_node_id=_ID, type="next", confidence=0.5)]
    },
    "PutClarifications": {
        "clarifications": [
            memory_pb2.Clarification(clarification_id=_ID, node_id=_ID, state="pending", question="Who?")
        ]
    },
    "PutArtifacts": {
        "artifacts": [
            memory_pb2.Artifact(
                artifact_id=_ID, name="short", text="A sign-off.", derived_from=["fd102a45-7dfc-5111-a70f-5fef6770f74d"]
            )
        ]
    },
    "CreateKey": {"rights": [administration_pb2.RIGHT_READ], "tenant": "acme"},
}


def _example(name: str, kind: type[Message]) -> Message:
    """A request that is good, or nearly."""
    known = {field.name for field in kind.DESCRIPTOR.fields}
    message: Any = kind(**{field: value for field, value in _FIELDS.items() if field in known} | _MORE.get(name, {}))
    if name in {"Plan", "Build"}:
        message.query.where.update({"tier": {"lte": 2}})
    if name == "Query":
        message.where.update({"or": [{"name": {"match": "checkout"}}, {"tier": {"in": [1, 2]}}]})
    if name == "PutNodes":
        message.nodes[0].properties.update({"name": "checkout", "tier": 1, "list": [1, {"a": None}]})
    return message


def _ask(data: bytes) -> bool:
    if not data:
        return False
    service, method, _ = METHODS[data[0] % len(METHODS)]
    raws = [data[1:]]
    if method == "IngestStream":
        raws.append(memory_pb2.IngestStreamRequest(chunk=PAGE.encode()).SerializeToString())
    answer = stage().run(stage().asked(service, method, raws))
    if isinstance(answer, TelhaError):
        _check_words(answer)
        return False
    return True


def _check_words(refused: TelhaError) -> None:
    law("Traceback" not in str(refused), "a stack trace is shown")
    if "field" in refused.fields:
        law(refused.fields["field"] and refused.fields["rule"], "a refusal names no field or rule")
        law(len(refused.fields["rule"]) < 2048, "a rule is longer than anybody reads")


def _tokens() -> Iterator[bytes]:
    for number in range(len(_LISTINGS)):
        yield bytes([number]) + bytes(range(32))
        yield bytes([number]) + b"\0" * 7 + b"\x05"


def _of_planner(filters: bytes) -> Any:
    return lambda position: page_token.write(position, filters)


def _raw(position: bytes) -> str:
    return position.decode("latin-1")


_NO_SPACES = json.dumps(["service", None, None, None, []]).encode()
_LISTINGS: list[tuple[str, type[Message], str, Any, dict[str, Any]]] = [
    ("ListSources", memory_pb2.ListSourcesRequest, "page_token", _of_planner(b""), {}),
    ("Query", memory_pb2.QueryRequest, "page_token", _of_planner(_NO_SPACES), {"find": "service"}),
    ("Reembed", memory_pb2.ReembedRequest, "cursor", _of_planner(b"reembed"), {}),
    ("ListTenants", administration_pb2.ListTenantsRequest, "page_token", _of_planner(b"tenants"), {}),
    ("ListDeletions", administration_pb2.ListDeletionsRequest, "page_token", _of_planner(b"deletions"), {}),
    ("ListKeys", administration_pb2.ListKeysRequest, "page_token", _of_planner(b"keys\0acme"), {"tenant": "acme"}),
    ("ListKeys", administration_pb2.ListKeysRequest, "page_token", _of_planner(b"keys"), {}),
    ("ListSources", memory_pb2.ListSourcesRequest, "page_token", _raw, {}),
    ("List", traces_pb2.ListRequest, "page_token", _raw, {}),
]
_NAMES = {method: service for service, method, _ in METHODS}
_FILTERS = Filters()


def _page(data: bytes) -> bool:
    if not data:
        return False
    _read_position(data[1:])
    method, kind, field, write, rest = _LISTINGS[data[0] % len(_LISTINGS)]
    request = kind(**rest, **{field: write(data[1:])})
    answer = stage().ask(_NAMES[method], method, request.SerializeToString())
    if isinstance(answer, TelhaError):
        _check_words(answer)
        return False
    return True


def _read_position(content: bytes) -> None:
    """What the trace writer makes of a token with *content* behind it, with the right digest where it can have one."""
    digest = pages._digest("acme", _FILTERS)
    for raw in (content, content.replace(b"DIGEST", b"\xc4\x08" + digest)):
        try:
            found = pages.position(base64.urlsafe_b64encode(raw).rstrip(b"=").decode(), "acme", _FILTERS)
        except pages.TokenInvalid:
            continue
        if found is not None:
            law(-(2**63) <= found[0] < 2**63, "a position that no store can look for")


def _bodies() -> Iterator[bytes]:
    for number, operation in enumerate(OPERATIONS):
        if operation.example:
            yield bytes([number]) + json.dumps(operation.example).encode()
        elif operation.raw_types:
            yield bytes([number]) + b"?name=a.md&space=main&validFrom=5\n" + PAGE.encode()
        else:
            yield bytes([number]) + (_ID.encode() if operation.path_parameter else b"") + b"?limit=5"


def _send(data: bytes) -> bool:
    if not data:
        return False
    operation = OPERATIONS[data[0] % len(OPERATIONS)]
    if operation.id in {"health", "ready", "metrics", "viewer"} or not operation.secured:
        return False
    return _answered(operation, data[1:], {})


def _heads() -> Iterator[bytes]:
    yield b"idempotency-key: k1\ncontent-type: application/json; charset=utf-8\naccept: */*;q=0.5, text/html\n"
    yield b"content-encoding: identity\ncontent-length: 12\nx-telha-affinity: a\naccept: application/json"


def _head(data: bytes) -> bool:
    headers = {}
    for line in data.decode("latin-1").split("\n"):
        name, colon, value = line.partition(":")
        if colon and name.strip().isascii() and name.strip():
            headers[name.strip().lower()] = value.strip(" \t")
    operation = next(each for each in OPERATIONS if each.id == "putNodes")
    return _answered(operation, json.dumps(operation.example).encode(), headers)


def _answered(operation: Any, body: bytes, headers: dict[str, str]) -> bool:
    try:
        exchanged(stage(), operation, body, headers)
    except RequestFault as fault:
        law(fault.rule, "a refusal has no rule")
        return False
    except Refused as refused:
        failure = refused.failure
        law(failure.status < 500 or failure.code in {"UNAVAILABLE", "TRACE_PENDING"}, f"status {failure.status}")
        law(failure.code in TITLES, f"{failure.code} is not documented")
        law("Traceback" not in failure.detail, "a stack trace is shown")
        json.loads(failure.document("r"))
        return False
    return True


TARGETS = (
    Target("messages", "message", _requests, _ask, _WORDS, choices=len(METHODS), reset=close),
    Target(
        "tokens",
        "bytes",
        _tokens,
        _page,
        ("DIGEST", "\x93", "\xcb\x7f\xf0\0\0\0\0\0\0", "\xc4\x10"),
        choices=len(_LISTINGS),
        reset=close,
    ),
    Target("rest", "json", _bodies, _send, _WORDS, choices=len(OPERATIONS), reset=close),
    Target(
        "headers",
        "text",
        _heads,
        _head,
        ("gzip", "q=0", ";", ",", "charset=", "utf-16", "Bearer ", "content-type:"),
        reset=close,
    ),
)
