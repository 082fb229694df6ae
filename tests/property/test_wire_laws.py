"""Laws of the gRPC border: nothing but refusals for any bytes, and nothing lost between client, wire and core."""

import math
from uuid import UUID

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from telha.context.v1 import context_pb2
from telha.memory.v1 import memory_pb2
from telha.planner.v1 import planner_pb2
from telha_client import requests, responses, verify_hash
from telha_planner.caller import Caller
from telha_planner.core.errors import PermissionDenied, RequestInvalid
from telha_planner.core.model import MAX_OFFSET, SpanClass, SpanRef
from telha_planner.core.plan import EvidencePlan, PlannedSpan, PlanStats, RecallStats, plan_hash
from telha_planner.core.request import OPEN_END, Leg, PlanRequest, Window
from telha_planner.server.translate_context import read_build
from telha_planner.server.translate_memory import (
    read_artifacts,
    read_clarifications,
    read_documents,
    read_edges,
    read_erasure,
    read_header,
    read_nodes,
    read_reembed,
)
from telha_planner.server.translate_plan import plan_message, read_plan, read_select, window_message
from telha_planner.server.wire import decode

CALLER = Caller(1, "acme", "k", frozenset({"read", "write"}), ("main", "own"))
SCRIPTS = ("o que mudou em março? 变了什么 שלום עולם 🧑‍🚀👩‍👩‍👧", "电车五点十二分", "\u200fשלום\u200f", "🏳️‍🌈")

DOORS = {
    "plan": (planner_pb2.PlanRequest, read_plan),
    "context": (context_pb2.BuildRequest, read_build),
    "select": (planner_pb2.SelectRequest, read_select),
    "documents": (memory_pb2.IngestRequest, lambda message: read_documents(message, CALLER, 1 << 20)),
    "header": (memory_pb2.IngestStreamHeader, lambda message: read_header(message, CALLER)),
    "artifacts": (memory_pb2.PutArtifactsRequest, lambda message: read_artifacts(message, CALLER)),
    "nodes": (memory_pb2.PutNodesRequest, lambda message: read_nodes(message, CALLER)),
    "edges": (memory_pb2.PutEdgesRequest, lambda message: read_edges(message, CALLER)),
    "clarifications": (memory_pb2.PutClarificationsRequest, lambda message: read_clarifications(message, CALLER)),
    "erasure": (memory_pb2.EraseSourceRequest, lambda message: read_erasure(message, CALLER)),
    "reembed": (memory_pb2.ReembedRequest, read_reembed),
}

FIELD = st.tuples(st.integers(1, 15), st.sampled_from([0, 1, 2, 5]), st.binary(max_size=12))
"""Something like a field: number, wire type, content; often a field that the message has, seldom a good one."""


def field_bytes(field):
    number, wire_type, content = field
    body = {
        0: bytes(byte & 127 | 128 for byte in content[:9]) + b"\x01",
        1: content.ljust(8, b"\xff")[:8],
        2: bytes([len(content)]) + content,
        5: content.ljust(4, b"\x7f")[:4],
    }[wire_type]
    return bytes([number << 3 | wire_type]) + body


def nested(fields):
    inside = b"".join(map(field_bytes, fields))[:127]
    return b"".join(bytes([number << 3 | 2, len(inside)]) + inside for number in (1, 2, 3, 6))


MESSAGES = st.binary(max_size=64) | st.lists(FIELD, max_size=8).flatmap(
    lambda fields: st.sampled_from([b"".join(map(field_bytes, fields)), nested(fields)])
)


@pytest.mark.parametrize("door", DOORS)
@given(raw=MESSAGES)
@settings(max_examples=150, deadline=None)
@example(raw=b"")
def test_any_bytes_are_read_or_refused(door, raw):
    """A1, S10: whatever comes, the answer is a request or a refusal with its field, never an internal error."""
    refusal = refused(*DOORS[door], raw)
    if isinstance(refusal, PermissionDenied):
        assert door in {"documents", "nodes"}
    elif refusal is not None:
        assert refusal.field
        assert refusal.rule


def refused(message_type, read, raw):
    """The refusal of *raw*; None if it was read."""
    try:
        read(decode(message_type, raw))
    except (RequestInvalid, PermissionDenied) as refusal:
        return refusal
    return None


STORABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
QUESTIONS = st.sampled_from(SCRIPTS) | STORABLE.filter(str.strip)
INSTANTS = st.none() | st.integers(-(2**63), OPEN_END - 1)
NAMES = st.sampled_from(["passage", "空间", "espaço", "a"])


@given(
    question=QUESTIONS,
    find=st.none() | NAMES,
    vector=st.none() | st.lists(st.floats(0.5, 1, width=32), min_size=1, max_size=4),
    depth=st.none() | st.integers(0, 2),
    instants=st.tuples(INSTANTS, INSTANTS),
    tokens=st.none() | st.integers(1, MAX_OFFSET),
    spans=st.none() | st.integers(0, MAX_OFFSET),
    spaces=st.lists(NAMES, unique=True),
    share=st.none() | st.floats(0, 1, exclude_min=True),
    legs=st.sets(st.sampled_from(list(Leg))),
    ungrounded=st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_what_a_client_asks_is_what_the_core_gets(
    question, find, vector, depth, instants, tokens, spans, spaces, share, legs, ungrounded
):
    """A5: the client writes what the server reads, in any script."""
    options = {
        "find": find,
        "vector": vector,
        "expand_depth": depth,
        "valid_time": instants[0],
        "tx_time": instants[1],
        "max_tokens": tokens,
        "max_spans": spans,
        "spaces": spaces,
        "max_frac_per_source": share,
        "legs": sorted(leg.value for leg in legs),
        "allow_ungrounded": ungrounded,
    }
    raw = requests.plan(question, options).message.SerializeToString()
    request, _ = read_plan(decode(planner_pb2.PlanRequest, raw))
    assert request == PlanRequest(
        question=question,
        find=find,
        vector=None if vector is None else tuple(vector),
        expand_depth=depth,
        window=Window(*instants),
        max_tokens=tokens,
        max_spans=spans,
        spaces=tuple(spaces),
        max_frac_per_source=share,
        legs=frozenset(legs),
        allow_ungrounded=ungrounded,
    )


WEIGHTS = st.floats(min_value=0, allow_nan=False, allow_infinity=False) | st.sampled_from([5e-324, 0.0, math.pi])
PLANNED = st.builds(
    PlannedSpan,
    st.builds(
        SpanRef,
        st.binary(min_size=16, max_size=16),
        st.integers(-(2**63), 2**63 - 1),
        st.integers(0, MAX_OFFSET - 1),
        st.just(MAX_OFFSET),
    ),
    NAMES,
    st.sampled_from(SpanClass),
    WEIGHTS,
    st.integers(0, MAX_OFFSET),
    st.sampled_from(SCRIPTS),
)
STATS = PlanStats(0, 0, 0, 0, 0, 0, 0, 0, False, "o200k_base", 0, 0, 0, 0.4, 0, RecallStats())


@given(
    spans=st.lists(PLANNED, max_size=4).map(lambda spans: tuple(sorted(spans, key=lambda planned: planned.span))),
    budget=st.integers(0, MAX_OFFSET),
)
@settings(max_examples=100, deadline=None)
def test_a_plan_reaches_the_client_bit_for_bit(spans, budget):
    """S9, S12: the hash that the client recomputes is the one that the planner computed."""
    plan = EvidencePlan(budget, budget, spans, STATS, plan_hash(budget, budget, spans))
    response = planner_pb2.PlanResponse(plan=plan_message(plan, "t"), window=window_message(Window(1, 2)))
    received = responses.plan(response.SerializeToString())
    assert verify_hash(received)
    assert [UUID(planned.span.source_id).bytes for planned in received.spans] == [p.span.source_id for p in spans]
    assert [planned.text for planned in received.spans] == [planned.text for planned in spans]
