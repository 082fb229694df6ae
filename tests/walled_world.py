"""Somebody behind a wall and somebody in front of it, over a real planner whose every statement is heard."""

import asyncio
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import grpc
import sqlalchemy as sa
from google.protobuf import json_format
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from memory_builders import rows_of
from planner_server import RealPlanner
from redis import Redis
from telha_client import Artifact, Clarification, Document, Edge, Node, Span
from telha_planner.ingest.embedding import Embedding
from telha_planner.ingest.process import IngestProcess
from telha_planner.ingest.worker import Worker
from telha_planner.memory.store import Store
from telha_planner.memory.writes import Writer
from trace_path import STREAM, an_entry
from walls import Own, Target, methods

OWN_SPACE = "private"
_NUMBERS = re.compile(r"\d{12,}")
_REQUEST_IDS = re.compile(r'(?<="requestId":")[0-9a-f]{32}')
_KEY_IDS = re.compile(r'(?<="keyId":[ "])"?[a-z2-7]{12}')
_IDS = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|b3:[0-9a-f]{64}|telha_\w{12}_[\w-]{43}"
)


class IngestHere(IngestProcess):
    """The ingest child's work in this process, where its statements can be heard; called as the child is."""

    def __init__(self, url: str, **options: Any) -> None:
        super().__init__(url, **options)
        self.store = Store.open(url, busy_timeout_ms=10_000)
        self._worker = Worker(Writer(self.store, lambda: time.time_ns() // 1000), Embedding(None, self.store))

    async def close(self) -> None:
        self.store.close()

    async def _call(self, method: str, *arguments: object, body: Any = None, by: str | None = None) -> object:
        content = () if body is None else (os.pread(body.descriptor, body.size, 0),)
        work = getattr(self._worker.on_behalf_of(by), method)
        return await asyncio.to_thread(work, *arguments, *content)


@dataclass
class Heard:
    """The statements of this process while somebody listened, parameters aside; its planner must be without rounds."""

    statements: list[str] = field(default_factory=list)


@contextmanager
def hearing() -> Iterator[Heard]:
    heard, lock = Heard(), threading.Lock()

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if not statement.startswith("BEGIN"):  # a transaction that asked nothing asked nothing
            with lock:
                heard.statements.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        yield heard
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)


class World:
    """
    A planner and a trace writer, the caller *wall* says, and what lies behind that wall.

    Args:
        wall: `tenant`: the caller is of another tenant. `space`: of the same, with a key limited to a space.
    """

    def __init__(self, planner: RealPlanner, redis_url: str, wall: str) -> None:
        self.planner, self._redis_url, self.wall = planner, redis_url, wall
        self.victim = "acme"
        self.scope: tuple[str, tuple[str, ...] | None] = ("rival", None) if wall == "tenant" else ("acme", (OWN_SPACE,))
        self.types = {name: GetMessageClass(method.output_type) for name, method in methods().items()}
        with planner.client(*self.scope) as client:
            document = Document(name="own.md", content="What I have myself 自己.", space=self.space)
            done = client.memory.ingest([document]).documents[0]
            node = str(uuid4())
            client.memory.put_nodes([Node(node_id=node, type="fact", space=self.space)])
        self.own = Own(self.scope[0], self.space, done.source_id, done.source_version_tx, node)

    @property
    def space(self) -> str:
        return OWN_SPACE if self.wall == "space" else "main"

    def somebody(self) -> Target:
        """Everything that can be named, new, behind the wall."""
        word, kind = f"w{uuid4().hex}", f"n{uuid4().hex}"
        space = f"s{uuid4().hex}"
        names = {name: str(uuid4()) for name in ("node", "edge", "clarification", "artifact")}
        with self.planner.client(self.victim) as client:
            pages = [
                Document(name=f"{word}-{n}.md", content=f"{n} {word} 秘密 🧑‍🚀 סוד", space=space) for n in range(3)
            ]
            key = str(uuid4())
            first, *_ = client.memory.ingest(pages, idempotency_key=key).documents
            rests = Span(first.source_id, first.source_version_tx, 0, len(word))
            client.memory.put_nodes(
                [
                    Node(node_id=names["node"], type=kind, space=space, provenance=[rests]),
                    *(Node(node_id=str(uuid4()), type="fact", space=space) for _ in range(3)),
                ]
            )
            loop = Edge(edge_id=names["edge"], from_node_id=names["node"], to_node_id=names["node"], type=kind)
            client.memory.put_edges([loop])
            question = Clarification(
                clarification_id=names["clarification"], node_id=names["node"], state="pending", question=f"{word}?"
            )
            client.memory.put_clarifications([question])
            digest = Artifact(
                artifact_id=names["artifact"], name=word, text=f"of {word}", space=space, derived_from=[first.source_id]
            )
            client.memory.put_artifacts([digest])
            traces = [client.plan(f"what is {word}?", spaces=[space]).trace_id for _ in range(2)]
            stored = self._stored(space, 3)
            return Target(
                source=first.source_id,
                version=first.source_version_tx,
                trace=traces[0],
                stored_trace=stored,
                key_id=self.planner.key_id(self.victim),
                # Of the same tenant only the space is a secret.
                tenant=self.victim if self.wall == "tenant" else f"t{uuid4().hex}",
                space=space,
                word=word,
                type=kind,
                idempotency_key=key,
                sources_page=client.memory.sources(["*"], page_size=1).next_page_token,
                nodes_page=client.memory.query("fact", spaces=["*"], page_size=1).next_page_token,
                traces_page=client.traces(page_size=1).next_page_token,
                **names,
            )

    def nobody(self, like: Target) -> Target:
        """What nobody has; page tokens are real ones, since one that does not hold is refused for its form."""
        return Target(
            sources_page=like.sources_page,
            nodes_page=like.nodes_page,
            traces_page=like.traces_page,
            version=like.version,
        )

    def call(self, key: str, method: str, message: Message | list[Message]) -> tuple[str, str, bytes]:
        """Code, words and bytes of the answer."""
        metadata = (("authorization", f"Bearer {key}"),)
        with grpc.insecure_channel(self.planner.address) as channel:
            try:
                if isinstance(message, list):
                    sent = (part.SerializeToString() for part in message)
                    return "OK", "", channel.stream_unary(f"/{method}")(sent, 30, metadata=metadata)
                return "OK", "", channel.unary_unary(f"/{method}")(message.SerializeToString(), 30, metadata=metadata)
            except grpc.RpcError as failure:
                details = dict(failure.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
                return failure.code().name, failure.details() or "", details

    def shape(self, method: str, answer: tuple[str, str, bytes], target: Target) -> tuple[str, str]:
        """The answer without the ids and instants that differ from call to call, and without what the call named."""
        code, words, raw = answer
        if code == "OK":
            message = self.types[method].FromString(raw)
            words = json_format.MessageToJson(message, always_print_fields_with_no_presence=True)
        else:
            words += repr(raw)
        return code, without(words, target)

    def kept(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of the victim's tenant, its clock aside."""
        number = self.planner.caller(self.planner.key(self.victim)).tenant
        return {table: rows for table, rows in rows_of(self.planner.store, number).items() if table != "clock"}

    def _stored(self, space: str, count: int) -> str:
        trace_ids = [str(uuid4()) for _ in range(count)]
        with Redis.from_url(self._redis_url) as redis:
            for trace_id in trace_ids:
                redis.xadd(STREAM, an_entry(trace_id, self.victim, spaces=[space], kind="plan"))
        with self.planner.client(self.victim) as client:
            deadline = time.monotonic() + 60
            while trace_ids[-1] not in {trace.trace_id for trace in client.traces(page_size=1000).items}:
                assert time.monotonic() < deadline
                time.sleep(0.02)
        return trace_ids[0]


def without(words: str, target: Target) -> str:
    """*words* with every id, hash, key and instant replaced, and whatever *target* is named by."""
    for mark in sorted(target.marks, key=len, reverse=True):
        words = words.replace(mark, "<it>").replace(repr(mark)[1:-1], "<it>")
    for name in (target.source, target.node):
        words = words.replace(repr(UUID(name).bytes)[2:-1], "<it>")
    words = _KEY_IDS.sub("<key>", _REQUEST_IDS.sub("<request>", words))
    return _NUMBERS.sub("<n>", _IDS.sub("<id>", words))
