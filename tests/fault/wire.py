"""
How a call of the load is sent, over gRPC with the client's own messages and over REST, and what its answer says.

Rule: an attempt is sent once. Whoever calls decides about repetition, so that each thing sent has a mark of its own.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import grpc
import httpx
from fault.calls import Call
from fault.journal import Answered, Coordinate
from telha_client import Document, Fragment, Plan, Span, TelhaError, as_json, requests, trace_calls, verify_hash
from telha_client.connection import channel_options
from telha_client.errors import from_rpc
from telha_client.requests import Prepared

WITHIN_S = 10.0
"""How long one attempt may take."""

_PATHS = {"plan": "plan", "barren": "plan", "context": "memory/context", "select": "select"} | {
    "ingest": "memory/sources",
    "query": "query",
}


class Refusal(Exception):
    """
    An attempt without an answer.

    Attributes:
        reason: The reason on the wire, else what the transport said.
        again: Whether the server, or nobody at all, said no in a way that repeating may cure.
        trace_id: Of the call that failed in order, having found no evidence.
    """

    def __init__(self, reason: str, *, again: bool, trace_id: str = "") -> None:
        super().__init__(reason)
        self.reason, self.again, self.trace_id = reason, again, trace_id


class WrongHash(Exception):
    """A plan whose hash is not that of its spans."""


@dataclass(frozen=True, slots=True)
class Grpc:
    """One planner, by name and address."""

    name: str
    channel: grpc.Channel
    key: str

    @classmethod
    def open(cls, name: str, address: str, key: str) -> "Grpc":
        """A channel to *address*."""
        return cls(name, grpc.insecure_channel(address, options=channel_options(address)), key)

    def send(self, call: Call, mark: str, window: Mapping[str, int] | None = None) -> Answered:
        """
        Send one attempt.

        Raises:
            Refusal: It was not answered.
            WrongHash: It was answered wrongly.
        """
        found = self.ask(_prepared(call, call.marked(mark, window)))
        if isinstance(found, Plan) and not verify_hash(found):
            raise WrongHash(f"{mark}: {found.plan_hash}")
        return _answered(call, mark, self.name, as_json(found))

    def ask(self, prepared: Prepared[Any]) -> Any:
        """Send a prepared call once; raises `Refusal`."""
        send = self.channel.unary_unary(prepared.method, bytes, bytes)
        metadata = (("authorization", f"Bearer {self.key}"),)
        try:
            return prepared.read(send(prepared.message.SerializeToString(), timeout=WITHIN_S, metadata=metadata))
        except grpc.RpcError as failure:
            raise _refusal(from_rpc(failure)) from None

    def trace(self, trace_id: str) -> tuple[str, tuple[Coordinate, ...]]:
        """Plan hash and coordinates of a trace; raises `Refusal`."""
        return _recorded(self.ask(trace_calls.trace(trace_id, None)).record)

    def text(self, source_id: str, version: int) -> bytes:
        """The canonical text of a version of a source; raises `Refusal`."""
        found = self.ask(requests.source(source_id, version, None, None, True, None))
        return str(found.text).encode()


@dataclass(frozen=True, slots=True)
class Rest:
    """The gateway."""

    client: httpx.Client

    @classmethod
    def open(cls, url: str, key: str) -> "Rest":
        """A client of the gateway at *url*."""
        headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
        return cls(httpx.Client(base_url=url, headers=headers, timeout=WITHIN_S, trust_env=False))

    def send(self, call: Call, mark: str, window: Mapping[str, int] | None = None) -> Answered:
        """As `Grpc.send`; hashes are checked when the call is run again."""
        headers = {"idempotency-key": _key(call)} if call.kind == "ingest" else {}
        body = json.dumps(call.marked(mark, window))
        return _answered(call, mark, "", self._asked("POST", f"/v1/{_PATHS[call.kind]}", body, headers))

    def trace(self, trace_id: str) -> tuple[str, tuple[Coordinate, ...]]:
        """As `Grpc.trace`."""
        return _recorded(self._asked("GET", f"/v1/trace/{trace_id}")["record"])

    def _asked(self, method: str, path: str, body: str | None = None, headers: Mapping[str, str] | None = None) -> Any:
        try:
            answer = self.client.request(method, path, content=body, headers=headers)
        except httpx.HTTPError as fault:
            raise Refusal(type(fault).__name__, again=True) from None
        found = answer.json()
        if answer.is_success:
            return found
        raise Refusal(
            found["code"],
            again="retryAfterMs" in found or found["code"] == "DEADLINE_EXCEEDED",
            trace_id=found.get("traceId", ""),
        )


def _refusal(error: TelhaError) -> Refusal:
    again = error.retry_after is not None or error.code in {"UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"}
    return Refusal(error.reason or error.code, again=again, trace_id=error.metadata.get("trace_id", ""))


def _key(call: Call) -> str:
    return f"load-{call.seed}-{call.number}"


def _prepared(call: Call, body: Mapping[str, Any]) -> Prepared[Any]:
    window, budget = body.get("window") or {}, body.get("budget") or {}
    limits = {"max_tokens": budget.get("maxTokens"), "max_spans": budget.get("maxSpans")}
    instants = {"valid_time": window.get("validTime"), "tx_time": window.get("txTime")}
    if call.kind == "ingest":
        (told,) = body["documents"]
        document = Document(name=told["name"], uri=told["uri"], media_type=told["mediaType"], content=told["text"])
        return requests.ingest([document], None, _key(call), None)
    if call.kind == "query":
        return requests.query(
            body["find"], body["where"], **instants, spaces=(), page_size=20, page_token="", timeout=None
        )
    if call.kind == "select":
        return requests.select(
            [_fragment(entry) for entry in body["pool"]], limits | {"question": body.get("question")}
        )
    make = requests.context if call.kind == "context" else requests.plan
    return make(body["question"], {**limits, **instants, "expand_depth": body.get("expandDepth")})


def _fragment(entry: Mapping[str, Any]) -> Fragment:
    at = entry["span"]
    span = Span(at["sourceId"], at["sourceVersionTx"], at["start"], at["end"])
    return Fragment(span=span, kind=entry["kind"], text=entry["text"], score=entry.get("score"))


def _answered(call: Call, mark: str, planner: str, body: Mapping[str, Any]) -> Answered:
    if call.kind == "ingest":
        (document,) = body["documents"]
        told = {"source": document["sourceId"], "version": document["sourceVersionTx"]}
        told["outcome"] = document["outcome"]
        return Answered(call.number, call.kind, mark, planner, told=told)
    if call.kind == "query":
        nodes = "\n".join(node["nodeId"] for node in body["nodes"])
        return Answered(call.number, call.kind, mark, planner, window=body["window"], told={"nodes": digest(nodes)})
    spans = body["items"] if call.kind == "context" else body["spans"]
    places = [span["source" if call.kind == "context" else "span"] for span in spans]
    return Answered(
        call.number,
        call.kind,
        mark,
        planner,
        body["traceId"],
        body["planHash"],
        tuple((at["sourceId"], at["sourceVersionTx"], at["start"], at["end"]) for at in places),
        tuple(digest(span["text"]) for span in spans),
        body.get("window"),
    )


def _recorded(record: Mapping[str, Any]) -> tuple[str, tuple[Coordinate, ...]]:
    coordinates = tuple((str(at[0]), int(at[1]), int(at[2]), int(at[3])) for at in record["item_coords"])
    return str(record["plan_hash"] or ""), coordinates


def digest(text: str) -> str:
    """SHA-256 of *text* in UTF-8, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
