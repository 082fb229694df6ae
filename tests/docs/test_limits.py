"""The limits that the contract's comments state are the limits that the code enforces."""

import re
from pathlib import Path

import pytest
from telha_planner import why_not
from telha_planner.core import explained, predicate, request, subject, suggestion, value
from telha_planner.core.model import MAX_OFFSET
from telha_planner.ingest import artifact, document
from telha_planner.memory import keys
from telha_planner.pipeline import DEFAULT_QUERY_PAGE
from telha_planner.recall.ports import POOL_NODES
from telha_planner.server import (
    administration,
    idempotency,
    memory,
    traces,
    translate_memory,
    translate_properties,
)

PROTO = Path(__file__).parents[2] / "proto/telha"
WRITES = (
    "IngestRequest",
    "IngestStreamHeader",
    "PutArtifactsRequest",
    "PutNodesRequest",
    "PutEdgesRequest",
    "PutClarificationsRequest",
    "EraseSourceRequest",
)
TEXT = {path.stem: path.read_text() for path in PROTO.rglob("*.proto")}

ADMINISTRATION_PAGE = f"1 to {administration.LARGEST_PAGE}. 0: {administration.DEFAULT_PAGE}."


def comment(file: str, message: str, field: str | None = None) -> str:
    """The comment above *message*, or above its *field*, with numbers as digits."""
    text = TEXT[file]
    name = rf"message {message} {{" if field is None else rf"[\w. ]+ {field} = \d+"
    if field is not None:
        text = text[text.index(f"message {message} {{") :]
    match = re.search(rf"((?:^ *//.*\n)+)^ *{name}", text, re.MULTILINE)
    assert match, (file, message, field)
    words = re.sub(r"\s*//\s*", " ", match[1])
    return re.sub(r"(?<=\d),(?=\d{3})", "", words).replace("2^53 - 1", str(2**53 - 1))


@pytest.mark.parametrize(
    ("file", "message", "field", "words"),
    [
        ("planner", "PlanRequest", "question", f"at most {request.MAX_QUESTION_BYTES} bytes"),
        ("planner", "PlanRequest", "spaces", f"at most {request.MAX_SPACES}."),
        ("planner", "PlanRequest", "span_overhead_tokens", f"0 to {request.MAX_OVERHEAD_TOKENS}."),
        ("planner", "Fragment", "tokens", f"0 to {MAX_OFFSET}."),
        ("planner", "SelectRequest", None, f"at most {request.MAX_FRAGMENTS} fragments"),
        ("planner", "PlanRequest", "why_not", f"at most {subject.MAX_SUBJECTS}."),
        ("context", "BuildRequest", "why_not", f"at most {subject.MAX_SUBJECTS}."),
        ("explanation", "SourceSubject", "source", f"1 to {subject.MAX_SUBJECT_BYTES} bytes"),
        ("explanation", "SourceSubject", "section", f"at most {subject.MAX_SUBJECT_BYTES} bytes"),
        ("explanation", "ExplainedSubject", "candidates", f"at most {why_not.MOST_TOLD}."),
        ("explanation", "ExplainedSubject", "nodes", f"at most {why_not.MOST_TOLD}."),
        ("context", "BuildRequest", "question", f"at most {request.MAX_QUESTION_BYTES} bytes"),
        ("context", "BuildRequest", "spaces", f"at most {request.MAX_SPACES}."),
        ("context", "BuildRequest", "span_overhead_tokens", f"0 to {request.MAX_OVERHEAD_TOKENS}."),
        ("plan", "SpanRef", "end", f"<= {MAX_OFFSET}`"),
        ("plan", "NodeQuery", "find", f"1 to {value.MAX_NAME_BYTES} bytes"),
        ("plan", "NodeQuery", "limit", f"1 to {request.MAX_FIND_LIMIT}."),
        ("plan", "QueryVector", "values", f"1 to {value.MAX_DIMENSIONS},"),
        ("plan", "Exclude", "trace_ids", f"1 to {request.MAX_EXCLUDED_TRACES}, none twice"),
        ("suggestion", "Suggest", "weight_share", f"Absent: {suggestion.DEFAULT_WEIGHT_SHARE}."),
        ("suggestion", "Suggestion", "steps", f"at most {suggestion.MOST_DOUBLINGS} times"),
        ("plan", "RecallStats", "pool_capped", f"at most {POOL_NODES}."),
        ("explanation", "Explanation", "spans", f"at most {explained.MAX_EXPLAINED},"),
        ("memory", "Document", "name", f"1 to {document.MAX_DOCUMENT_NAME_BYTES} bytes"),
        ("memory", "Document", "uri", f"at most {document.MAX_URI_BYTES} bytes"),
        ("memory", "IngestRequest", None, f"1 to {translate_memory.MAX_ITEMS},"),
        ("memory", "IngestRequest", None, f"at most {document.MAX_BASE_SPANS} base spans"),
        ("memory", "IngestStreamHeader", "name", f"1 to {document.MAX_DOCUMENT_NAME_BYTES} bytes"),
        ("memory", "IngestStreamHeader", "uri", f"at most {document.MAX_URI_BYTES} bytes"),
        ("memory", "IngestStreamRequest", None, f"at most {document.MAX_STREAMED_SPANS} base spans"),
        ("memory", "NodeVector", "values", f"1 to {value.MAX_DIMENSIONS}."),
        ("memory", "Node", "type", f"1 to {value.MAX_NAME_BYTES} bytes"),
        ("memory", "Node", "properties", f"at most {translate_properties.MAX_PROPERTIES_BYTES} bytes"),
        ("memory", "Node", "provenance", f"at most {translate_memory.MAX_PROVENANCE}."),
        ("memory", "PutNodesRequest", None, f"1 to {translate_memory.MAX_ITEMS}."),
        ("memory", "PutEdgesRequest", None, f"1 to {translate_memory.MAX_ITEMS}."),
        ("memory", "PutClarificationsRequest", None, f"1 to {translate_memory.MAX_ITEMS}."),
        ("memory", "Artifact", "name", f"1 to {document.MAX_DOCUMENT_NAME_BYTES} bytes"),
        ("memory", "Artifact", "text", f"1 to {artifact.MAX_ARTIFACT_BYTES} bytes"),
        ("memory", "Artifact", "derived_from", f"1 to {artifact.MAX_ORIGINS},"),
        ("memory", "PutArtifactsRequest", None, f"1 to {translate_memory.MAX_ITEMS}."),
        *(
            ("memory", message, "idempotency_key", f"1 to {idempotency.MAX_KEY_CHARACTERS} visible ASCII")
            for message in WRITES
        ),
        ("memory", "Edge", "type", f"1 to {value.MAX_NAME_BYTES} bytes"),
        ("memory", "Clarification", "question", f"1 to {translate_memory.MAX_CLARIFICATION_BYTES} bytes"),
        ("memory", "ListSourcesRequest", "spaces", f"at most {request.MAX_SPACES}."),
        (
            "memory",
            "ListSourcesRequest",
            "page_size",
            f"1 to {memory.LARGEST_PAGE}. 0: {memory.DEFAULT_PAGE}. More than {memory.LARGEST_PAGE}:",
        ),
        (
            "plan",
            "NodeQuery",
            "where",
            f"{predicate.MAX_DEPTH} levels, {predicate.MAX_CONDITIONS} conditions, {predicate.MAX_WHERE_BYTES} bytes",
        ),
        ("memory", "QueryRequest", "find", f"1 to {value.MAX_NAME_BYTES} bytes"),
        ("memory", "QueryRequest", "spaces", f"at most {request.MAX_SPACES}."),
        (
            "memory",
            "QueryRequest",
            "page_size",
            f"1 to {request.MAX_QUERY_PAGE}; more is refused. 0: {DEFAULT_QUERY_PAGE}.",
        ),
        (
            "traces",
            "ListRequest",
            "page_size",
            f"1 to {traces.LARGEST_PAGE}. 0: {traces.DEFAULT_PAGE}. More than {traces.LARGEST_PAGE}:",
        ),
        ("administration", "CreateKeyRequest", None, f"at most {keys.MAX_KEYS} keys"),
        ("administration", "CreateKeyRequest", "name", f"1 to {value.MAX_NAME_BYTES} bytes"),
        ("administration", "CreateKeyRequest", "spaces", f"at most {request.MAX_SPACES}."),
        ("administration", "CreateTenantRequest", "name", f"1 to {value.MAX_NAME_BYTES} bytes"),
        *(
            (
                "administration",
                f"List{what}Request",
                "page_size",
                ADMINISTRATION_PAGE,
            )
            for what in ("Keys", "Tenants", "Deletions")
        ),
    ],
)
def test_a_limit_in_the_contract_is_the_limit_in_the_code(file, message, field, words):
    """A1: limits are stated once in words and once in code, and they agree."""
    assert words in comment(file, message, field)


def test_every_limit_in_a_request_is_checked_above():
    """A1: a limit that is added to the contract must be added to this file."""
    stated = re.findall(r"//.*(?:at most|\d to) [\d,]*\d", "\n".join(TEXT.values()))
    assert len(stated) == 62, "and then this number rises"
