"""
What lies behind a wall, and every method of the contract with requests that reach for it.

`REQUESTS` has an entry for each method that the descriptors name.
A request is made for a `Target`: of ids that exist behind the wall, or of ids that nobody has.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import uuid4

import telha
from google.protobuf.message import Message
from telha.administration.v1 import administration_pb2 as administration
from telha.context.v1 import context_pb2 as context
from telha.memory.v1 import memory_pb2 as memory
from telha.planner.v1 import explanation_pb2, plan_pb2, planner_pb2, replay_pb2
from telha.trace.v1 import trace_store_pb2, traces_pb2

INTERNAL = "telha.trace.v1.TraceStore"
"""Served to planners alone, behind the internal credential."""


def _id() -> str:
    return str(uuid4())


@dataclass(frozen=True)
class Target:
    """Ids and names to reach for; those of nobody unless others are given."""

    source: str = field(default_factory=_id)
    version: int = 1_780_315_200_000_000
    node: str = field(default_factory=_id)
    edge: str = field(default_factory=_id)
    clarification: str = field(default_factory=_id)
    artifact: str = field(default_factory=_id)
    trace: str = field(default_factory=_id)
    stored_trace: str = field(default_factory=_id)
    deletion: str = field(default_factory=_id)
    key_id: str = "aaaaaaaaaaaa"
    tenant: str = field(default_factory=lambda: f"t{uuid4().hex}")
    space: str = field(default_factory=lambda: f"s{uuid4().hex}")
    word: str = field(default_factory=lambda: f"w{uuid4().hex}")
    type: str = field(default_factory=lambda: f"n{uuid4().hex}")
    idempotency_key: str = field(default_factory=_id)
    sources_page: str = ""
    nodes_page: str = ""
    traces_page: str = ""
    keys_page: str = ""

    @property
    def marks(self) -> set[str]:
        """What no answer may say, unless the request said it."""
        names = (self.source, self.node, self.edge, self.clarification, self.artifact, self.trace, self.stored_trace)
        return {*names, self.deletion, self.key_id, self.tenant, self.space, self.word, self.type}


@dataclass(frozen=True)
class Own:
    """What the caller has: its tenant, its space, a source and a node in it."""

    tenant: str
    space: str
    source: str
    version: int
    node: str


Make = Callable[[Target, Own], Message | list[Message]]


def span(target: Target) -> plan_pb2.SpanRef:
    return plan_pb2.SpanRef(source_id=target.source, source_version_tx=target.version, start=0, end=9)


def node(own: Own, **changed: Any) -> memory.PutNodesRequest:
    return memory.PutNodesRequest(
        nodes=[memory.Node(**({"node_id": _id(), "type": "t", "space": own.space} | changed))]
    )


def edge(own: Own, **changed: Any) -> memory.PutEdgesRequest:
    given = {"edge_id": _id(), "from_node_id": own.node, "to_node_id": own.node, "type": "t"} | changed
    return memory.PutEdgesRequest(edges=[memory.Edge(**given)])


def clarification(own: Own, **changed: Any) -> memory.PutClarificationsRequest:
    given = {"clarification_id": _id(), "node_id": own.node, "state": "pending", "question": "is it?"} | changed
    return memory.PutClarificationsRequest(clarifications=[memory.Clarification(**given)])


def artifact(own: Own, **changed: Any) -> memory.PutArtifactsRequest:
    given = {"artifact_id": _id(), "space": own.space, "name": "d", "text": "told", "derived_from": [own.source]}
    return memory.PutArtifactsRequest(artifacts=[memory.Artifact(**(given | changed))])


def document(target: Target, own: Own, **more: Any) -> memory.IngestRequest:
    made = memory.Document(source_id=target.source, name="n.md", space=own.space, content=b"of the caller")
    return memory.IngestRequest(documents=[made], **more)


def stream(target: Target, own: Own, key: str = "") -> list[Message]:
    header = memory.IngestStreamHeader(source_id=target.source, name="n.md", space=own.space, idempotency_key=key)
    return [memory.IngestStreamRequest(header=header), memory.IngestStreamRequest(chunk=b"of the caller")]


def plan(target: Target, **more: Any) -> planner_pb2.PlanRequest:
    return planner_pb2.PlanRequest(question=f"what is {target.word}?", allow_ungrounded=True, **more)


def fragment(target: Target) -> planner_pb2.Fragment:
    return planner_pb2.Fragment(span=span(target), kind="paragraph", tokens=3, score=0.5)


def subjects(target: Target) -> list[explanation_pb2.Subject]:
    """Its source by id and by name, a section of it, and bytes of it."""
    named = [
        explanation_pb2.SourceSubject(source=target.source),
        explanation_pb2.SourceSubject(source=f"{target.word}-0.md"),
        explanation_pb2.SourceSubject(source=f"{target.word}-0.md", section=target.word),
        explanation_pb2.SourceSubject(source=target.source, section=target.word),
    ]
    return [*(explanation_pb2.Subject(source=one) for one in named), explanation_pb2.Subject(span=span(target))]


def _of(service: str, methods: dict[str, dict[str, Make]]) -> dict[str, dict[str, Make]]:
    return {f"{service}/{method}": made for method, made in methods.items()}


REQUESTS: dict[str, dict[str, Make]] = {
    **_of(
        "telha.planner.v1.Planner",
        {
            "Plan": {
                "by words": lambda t, _: plan(t, spaces=["*"]),
                "in its space": lambda t, _: plan(t, spaces=[t.space]),
                "by type": lambda t, _: planner_pb2.PlanRequest(
                    query=plan_pb2.NodeQuery(find=t.type), expand_depth=2, spaces=["*"], allow_ungrounded=True
                ),
                "by default": lambda t, _: plan(t, expand_depth=2),
                "without what its trace gave": lambda t, _: plan(
                    t, exclude=plan_pb2.Exclude(trace_ids=[t.trace]), spaces=["*"]
                ),
                "without what its stored trace gave": lambda t, _: plan(
                    t, exclude=plan_pb2.Exclude(trace_ids=[t.stored_trace]), spaces=["*"]
                ),
                "why not its source": lambda t, _: plan(t, why_not=subjects(t), spaces=["*"]),
                "why not by default": lambda t, _: plan(t, why_not=subjects(t), explain=True),
            },
            "Replay": {
                "in the spool": lambda t, _: replay_pb2.ReplayRequest(trace_id=t.trace),
                "persisted": lambda t, _: replay_pb2.ReplayRequest(trace_id=t.stored_trace),
            },
            "Diff": {
                "from it": lambda t, _: replay_pb2.DiffRequest(trace_id=t.trace, other_trace_id=t.trace),
                "persisted": lambda t, _: replay_pb2.DiffRequest(trace_id=t.stored_trace, other_trace_id=t.trace),
            },
            "Select": {
                "its coordinates": lambda t, _: planner_pb2.SelectRequest(pool=[fragment(t)]),
                "why not its source": lambda t, o: planner_pb2.SelectRequest(
                    pool=[fragment(Target(source=o.source))], why_not=subjects(t)
                ),
            },
        },
    ),
    **_of(
        "telha.context.v1.Context",
        {
            "Build": {
                "by words": lambda t, _: context.BuildRequest(question=f"what is {t.word}?", spaces=["*"]),
                "in its space": lambda t, _: context.BuildRequest(question=f"what is {t.word}?", spaces=[t.space]),
                "by type": lambda t, _: context.BuildRequest(query=plan_pb2.NodeQuery(find=t.type), spaces=["*"]),
                "without what its trace gave": lambda t, _: context.BuildRequest(
                    question=f"what is {t.word}?", exclude=plan_pb2.Exclude(trace_ids=[t.trace]), spaces=["*"]
                ),
                "why not its source": lambda t, _: context.BuildRequest(
                    question=f"what is {t.word}?", why_not=subjects(t), spaces=["*"]
                ),
            }
        },
    ),
    **_of(
        "telha.memory.v1.Memory",
        {
            "Ingest": {
                "its id": document,
                "its idempotency key": lambda t, own: document(Target(), own, idempotency_key=t.idempotency_key),
                "into its space": lambda t, _: memory.IngestRequest(
                    documents=[memory.Document(name="n.md", space=t.space, content=b"of the caller")]
                ),
            },
            "IngestStream": {
                "its id": stream,
                "its idempotency key": lambda t, own: stream(Target(), own, t.idempotency_key),
            },
            "PutNodes": {
                "its id": lambda t, own: node(own, node_id=t.node),
                "resting on it": lambda t, own: node(own, provenance=[span(t)]),
                "into its space": lambda t, own: node(own, space=t.space),
            },
            "PutEdges": {
                "its id": lambda t, own: edge(own, edge_id=t.edge),
                "from its node": lambda t, own: edge(own, from_node_id=t.node),
                "to its node": lambda t, own: edge(own, to_node_id=t.node),
            },
            "PutClarifications": {
                "its id": lambda t, own: clarification(own, clarification_id=t.clarification),
                "about its node": lambda t, own: clarification(own, node_id=t.node),
            },
            "PutArtifacts": {
                "its id": lambda t, own: artifact(own, artifact_id=t.artifact),
                "an id of a document of its": lambda t, own: artifact(own, artifact_id=t.source),
                "made from it": lambda t, own: artifact(own, derived_from=[t.source]),
                "made from its artifact": lambda t, own: artifact(own, derived_from=[t.artifact]),
            },
            "GetSource": {
                "newest": lambda t, _: memory.GetSourceRequest(source_id=t.source, include_text=True),
                "its version": lambda t, _: memory.GetSourceRequest(
                    source_id=t.source, source_version_tx=t.version, include_text=True
                ),
                "its artifact": lambda t, _: memory.GetSourceRequest(source_id=t.artifact),
            },
            "ListSources": {
                "all": lambda _, __: memory.ListSourcesRequest(spaces=["*"]),
                "in its space": lambda t, _: memory.ListSourcesRequest(spaces=[t.space]),
                "its page": lambda t, _: memory.ListSourcesRequest(spaces=["*"], page_token=t.sources_page),
            },
            "EraseSource": {
                "it": lambda t, _: memory.EraseSourceRequest(source_id=t.source),
                "its artifact": lambda t, _: memory.EraseSourceRequest(source_id=t.artifact),
                "its idempotency key": lambda t, _: memory.EraseSourceRequest(
                    source_id=t.source, idempotency_key=t.idempotency_key
                ),
            },
            "Query": {
                "by type": lambda t, _: memory.QueryRequest(find=t.type, spaces=["*"]),
                "in its space": lambda t, _: memory.QueryRequest(find=t.type, spaces=[t.space]),
                "its page": lambda t, _: memory.QueryRequest(find="fact", spaces=["*"], page_token=t.nodes_page),
            },
            "Reembed": {"all": lambda _, __: memory.ReembedRequest()},
        },
    ),
    **_of(
        "telha.trace.v1.Traces",
        {
            "Get": {
                "in the spool": lambda t, _: traces_pb2.GetRequest(trace_id=t.trace),
                "persisted": lambda t, _: traces_pb2.GetRequest(trace_id=t.stored_trace),
            },
            "List": {
                "all": lambda _, __: traces_pb2.ListRequest(),
                "of its space": lambda t, _: traces_pb2.ListRequest(space=t.space),
                "its page": lambda t, _: traces_pb2.ListRequest(page_token=t.traces_page),
            },
            "Delete": {
                "in the spool": lambda t, _: traces_pb2.DeleteRequest(trace_id=t.trace),
                "persisted": lambda t, _: traces_pb2.DeleteRequest(trace_id=t.stored_trace),
            },
        },
    ),
    **_of(
        "telha.administration.v1.Administration",
        {
            "CreateKey": {
                "in its tenant": lambda t, _: administration.CreateKeyRequest(tenant=t.tenant, name="k", rights=[1]),
                "for its space": lambda t, _: administration.CreateKeyRequest(name="k", rights=[1], spaces=[t.space]),
            },
            "ListKeys": {
                "of its tenant": lambda t, _: administration.ListKeysRequest(tenant=t.tenant),
                "all": lambda _, __: administration.ListKeysRequest(),
                "its page": lambda t, _: administration.ListKeysRequest(page_token=t.keys_page),
            },
            "RevokeKey": {"it": lambda t, _: administration.RevokeKeyRequest(key_id=t.key_id)},
            "CreateTenant": {"its name": lambda t, _: administration.CreateTenantRequest(name=t.tenant)},
            "ListTenants": {"all": lambda _, __: administration.ListTenantsRequest()},
            "DeleteTenant": {"it": lambda t, _: administration.DeleteTenantRequest(tenant=t.tenant)},
            "GetDeletion": {"of another": lambda t, _: administration.GetDeletionRequest(deletion_id=t.deletion)},
            "ListDeletions": {"all": lambda _, __: administration.ListDeletionsRequest()},
            "EraseSpace": {"it": lambda t, _: administration.EraseSpaceRequest(space=t.space)},
        },
    ),
    **_of(
        INTERNAL,
        {
            "Fetch": {
                "as the caller's tenant": lambda t, own: trace_store_pb2.FetchRequest(
                    tenant=own.tenant, trace_id=t.stored_trace
                )
            },
            "Browse": {"as the caller's tenant": lambda _, own: trace_store_pb2.BrowseRequest(tenant=own.tenant)},
            "Persisted": {"it": lambda t, _: trace_store_pb2.PersistedRequest(trace_ids=[t.stored_trace])},
            "DeleteTrace": {
                "as the caller's tenant": lambda t, own: trace_store_pb2.DeleteTraceRequest(
                    tenant=own.tenant, trace_id=t.stored_trace
                )
            },
            "DeleteTenant": {
                "the caller's": lambda _, own: trace_store_pb2.DeleteTenantRequest(tenant=own.tenant, deleted_us=1)
            },
        },
    ),
}


def methods() -> dict[str, Any]:
    """Every method of every service of the contract, by its full name: its descriptor."""
    return {
        f"{service.full_name}/{method.name}": method
        for name in _modules()
        for service in import_module(name).DESCRIPTOR.services_by_name.values()
        for method in service.methods
    }


def _modules() -> Iterator[str]:
    # The packages have no `__init__`, so nothing walks them.
    for root in map(Path, telha.__path__):
        for path in sorted(root.rglob("*_pb2.py")):
            yield ".".join(("telha", *path.relative_to(root).with_suffix("").parts))
