"""
Traces over the memory of `store_corpus`, as they are committed: one of each kind, asked in each way.

A record is written as JSON without loss: bytes as `{"base64": …}`, numbers as they are. Key ids, which are random, are
`golden`.
"""

import base64
import json
from pathlib import Path
from typing import Any

import msgpack
from google.protobuf import json_format
from planner_parts import Parts
from replays import recorded
from store_corpus import stages
from telha.context.v1 import context_pb2
from telha.planner.v1 import plan_pb2, planner_pb2
from telha_planner.core.model import SpanClass, SpanRef
from telha_planner.core.plan import PlannedSpan, plan_hash
from telha_planner.core.value import parse_uuid

FOLDER = Path(__file__).parent / "golden" / "traces"
OLDER = ("v1", "v2")
"""Versions of the scores of before."""


def made(parts: Parts) -> dict[str, dict[str, Any]]:
    """Fill the memory of *parts* and ask: the records by name."""
    stages(parts)
    return {name: _plain(msgpack.unpackb(recorded(parts, message))) for name, message in _messages(parts).items()}


def older(record: dict[str, Any], score_model: str) -> dict[str, Any]:
    """
    What *record* might have been under *score_model*.

    Made by editing: other weights, the hash that belongs to them, and none of the fields that came later.
    """
    facts = [[kind, span_class, weight * 0.75, tokens] for kind, span_class, weight, tokens in record["item_facts"]]
    spans = [
        PlannedSpan(_span(place), kind, SpanClass(span_class), weight, tokens, "")
        for place, (kind, span_class, weight, tokens) in zip(record["item_coords"], facts, strict=True)
    ]
    budget = record["budget"]
    hashed = plan_hash(budget["applied"], budget["used"], sorted(spans, key=lambda planned: planned.span))
    later = {"settings", "software", "last_tx", "explained"}
    kept = {name: value for name, value in record.items() if name not in later}
    return kept | {"score_model": score_model, "item_facts": facts, "plan_hash": hashed}


def read(path: Path) -> dict[str, bytes]:
    """The records of a committed file, by name."""
    traces = json.loads(path.read_text(encoding="utf-8"))["traces"]
    return {name: msgpack.packb(_bytes_again(record)) for name, record in traces.items()}


def _messages(parts: Parts) -> dict[str, Any]:
    end = parts.clock.now
    window = plan_pb2.Window(valid_time_us=end, tx_time_us=end)
    vector = plan_pb2.QueryVector(values=[0.5, 0.25, 1e-39])
    pool = json.loads((FOLDER.parent / "pool-small.json").read_text(encoding="utf-8"))["pool"]
    for fragment in pool:
        fragment["class"] = f"SPAN_CLASS_{fragment['class'].upper()}"
    scored = json_format.ParseDict({"pool": pool, "budget": {"maxTokens": 60}}, planner_pb2.SelectRequest())
    asked = json_format.ParseDict(
        {"pool": [{k: v for k, v in row.items() if k != "score"} for row in pool], "question": "退货 refunds receipt"},
        planner_pb2.SelectRequest(),
    )
    estimated = planner_pb2.SelectRequest()
    estimated.CopyFrom(scored)
    estimated.model = "a model that nobody knows"

    def plan(**fields: Any) -> planner_pb2.PlanRequest:
        return planner_pb2.PlanRequest(**({"window": window} | fields))

    return {
        "plan: question": plan(question="when does the tram leave the harbour?", explain=True),
        "plan: other scripts": plan(question="面包店 المخبز bakers 👩‍🍳"),
        "plan: vector": plan(vector=vector),
        "plan: both, one hop more": plan(question="harbour", vector=vector, expand_depth=2),
        "plan: structured": plan(query=plan_pb2.NodeQuery(find="fact", where={"minutes": {"gte": 10}})),
        "plan: small budget": plan(
            question="tram harbour bakery",
            budget=plan_pb2.Budget(max_tokens=40, max_spans=2),
            max_frac_per_source=0.7,
            span_overhead_tokens=1,
        ),
        "plan: every space": plan(question="who drives the tram?", spaces=["*"]),
        "plan: nothing found": plan(question="zzz", allow_ungrounded=True),
        "context: question": context_pb2.BuildRequest(question="when does the tram leave?", window=window),
        "context: limits": context_pb2.BuildRequest(
            question="harbour tram",
            window=window,
            budget=plan_pb2.Budget(max_tokens=30),
            include=context_pb2.Include(scores=False),
        ),
        "select: scores": scored,
        "select: question": asked,
        "select: estimate": estimated,
    }


def _span(place: list[Any]) -> SpanRef:
    source, version, start, end = place
    return SpanRef(parse_uuid("source_id", source), version, start, end)


def _plain(record: dict[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = _bytes_told(record)
    return plain | {"key_id": "golden"}


def _bytes_told(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, dict):
        return {key: _bytes_told(inner) for key, inner in value.items()}
    return [_bytes_told(inner) for inner in value] if isinstance(value, list) else value


def _bytes_again(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"base64"}:
            return base64.b64decode(value["base64"])
        return {key: _bytes_again(inner) for key, inner in value.items()}
    return [_bytes_again(inner) for inner in value] if isinstance(value, list) else value
