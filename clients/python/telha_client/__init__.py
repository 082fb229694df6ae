"""
The Python client of the Telha memory planner, sync and async, over gRPC.

    from telha_client import Client

    with Client() as telha:                       # TELHA_ADDRESS and TELHA_KEY
        answer = telha.memory.context("how is the plan hash computed?", max_tokens=800)
        for item in answer.items:
            print(item.score, item.source.name, item.text)

A plan proves itself: `verify_hash(plan)` recomputes its hash without trusting the server, and `verify_trace(trace)`
that of a recorded one.
"""

from .aio import AsyncClient
from .connection import Tls
from .errors import (
    DeadlineExceeded,
    IdempotencyKeyReused,
    InsufficientEvidence,
    InvalidRequest,
    MessageTooLarge,
    NotFound,
    PermissionDenied,
    TelhaError,
    Unauthenticated,
    Unavailable,
)
from .explanation import (
    Duplicate,
    ExplainedNode,
    ExplainedSpan,
    ExplainedSubject,
    Explanation,
    LegRank,
    ScoreParts,
)
from .inputs import Artifact, Clarification, Document, Edge, Fragment, Node, NodeVector, Span, WhyNot
from .proof import plan_hash, trace_hash, verify_hash, verify_trace
from .results import (
    BudgetStats,
    Committed,
    Context,
    ContextStats,
    Erasure,
    FoundNode,
    IngestedDocument,
    Ingestion,
    Item,
    ItemSource,
    LegCounts,
    OpenQuestion,
    Page,
    PendingClarification,
    Plan,
    PlannedSpan,
    PlanStats,
    QueryPage,
    RecallStats,
    Reembedding,
    Source,
    SourceText,
    Trace,
    TraceSummary,
    ValidTime,
    Window,
    WrittenArtifact,
    WrittenArtifacts,
    as_json,
)
from .sync import Client
from .tenancy import ApiKey, Deletion, NewKey, NewTenant, Removed, SpaceErasure, Tenant

__all__ = [
    "ApiKey",
    "Artifact",
    "AsyncClient",
    "BudgetStats",
    "Clarification",
    "Client",
    "Committed",
    "Context",
    "ContextStats",
    "DeadlineExceeded",
    "Deletion",
    "Document",
    "Duplicate",
    "Edge",
    "Erasure",
    "ExplainedNode",
    "ExplainedSpan",
    "ExplainedSubject",
    "Explanation",
    "FoundNode",
    "Fragment",
    "IdempotencyKeyReused",
    "IngestedDocument",
    "Ingestion",
    "InsufficientEvidence",
    "InvalidRequest",
    "Item",
    "ItemSource",
    "LegCounts",
    "LegRank",
    "MessageTooLarge",
    "NewKey",
    "NewTenant",
    "Node",
    "NodeVector",
    "NotFound",
    "OpenQuestion",
    "Page",
    "PendingClarification",
    "PermissionDenied",
    "Plan",
    "PlanStats",
    "PlannedSpan",
    "QueryPage",
    "RecallStats",
    "Reembedding",
    "Removed",
    "ScoreParts",
    "Source",
    "SourceText",
    "SpaceErasure",
    "Span",
    "TelhaError",
    "Tenant",
    "Tls",
    "Trace",
    "TraceSummary",
    "Unauthenticated",
    "Unavailable",
    "ValidTime",
    "WhyNot",
    "Window",
    "WrittenArtifact",
    "WrittenArtifacts",
    "as_json",
    "plan_hash",
    "trace_hash",
    "verify_hash",
    "verify_trace",
]
