"""A small memory of every kind of write, with an injected clock, and the plans that rest on it at every stage."""

import json
import uuid

from planner_parts import START, Parts
from telha_planner.core.model import SpanRef
from telha_planner.core.predicate import read_where
from telha_planner.core.request import Window
from telha_planner.memory.reads import Sources
from telha_planner.memory.records import ClarificationRecord, EdgeRecord, NodeRecord, VectorRecord

NAMESPACE = uuid.UUID("6ba7b813-9dad-11d1-80b4-00c04fd430c8")
HOUR = 3_600_000_000
HARBOUR = """# Harbour

The harbour opens at six.

A tram leaves every ten minutes.

| line | first |
|------|-------|
| 12   | 05:12 |
| 28   | 05:40 |

## Bakery

面包店四点开始烤面包。

Bakers 👩‍🍳 start at four.
"""
TIDES = "<h1>Tides</h1><p>High water in the harbour at <b>noon</b>.</p><ul><li>المخبز يفتح مبكرا</li></ul>"
TALK = json.dumps(
    {
        "turns": [
            {"speaker": "Ana", "text": "When does the first tram leave?", "time": "2026-06-01T05:00:00Z"},
            {"speaker": "Bo", "text": "At 05:12, from the harbour.", "time": "2026-06-01T05:01:00Z"},
        ]
    }
)
ASKED = {
    "question": {"question": "when does the tram leave the harbour?"},
    "other scripts": {"question": "面包店 المخبز bakers 👩‍🍳"},
    "vector": {"vector": (0.5, 0.25, 1e-39)},
    "both, one hop more": {"question": "harbour", "vector": (0.5, -0.25, 0.0), "expand_depth": 2},
    "structured": {"find": "fact", "where": read_where("where", {"minutes": {"gte": 10}})},
    "small budget": {"question": "tram harbour bakery", "max_tokens": 40, "max_frac_per_source": 0.7},
    "every space": {"question": "who drives the tram?", "spaces": ("*",)},
}


def stages(parts: Parts) -> dict[str, dict[str, str]]:
    """Write the corpus; returns the plan hashes at the end of each stage, and those of the past from the very end."""
    found, ends = {}, {}
    for name, write in (("ingested", _ingest), ("stated", _state), ("changed", _change), ("erased", _erase)):
        write(parts)
        ends[name] = parts.clock.now
        found[name] = hashes(parts, Window(ends[name], ends[name]))
    return found | {f"{name}, seen from the end": hashes(parts, Window(end, end)) for name, end in ends.items()}


def hashes(parts: Parts, window: Window) -> dict[str, str]:
    """The hash of every plan of `ASKED` at *window*."""
    return {name: parts.plan(**asked, window=window).plan.plan_hash for name, asked in ASKED.items()}


def _ingest(parts: Parts) -> None:
    parts.remember("harbour.md", HARBOUR)
    parts.remember("tides.html", TIDES, valid_from=START - 24 * HOUR)
    parts.remember("talk.json", TALK)
    parts.remember("private.txt", "The driver of the tram is called Mia.", space="private")
    parts.remember("harbour.md", "The tram of another tenant leaves at noon.", tenant="beta")


def _state(parts: Parts) -> None:
    tenant, source_id, version_tx, text = _harbour(parts)

    def span(words: str) -> SpanRef:
        start = text.encode().index(words.encode())
        return SpanRef(source_id, version_tx, start, start + len(words.encode()))

    opens, leaves = span("The harbour opens at six."), span("A tram leaves every ten minutes.")
    parts.writer.put_nodes(
        tenant,
        [
            _fact("opening", '{"hour":6}', (0.6, -0.8, 1e-40), opens),
            _fact("tram", '{"minutes":10}', (0.8, 0.6, -0.0), leaves, opens),
            NodeRecord(_uid("bread"), "main", "rumour", "{}", START, START + 1000 * HOUR, (span("Bakers 👩‍🍳"),)),
        ],
    )
    edges = [("a", "opening", "tram", 0.7), ("b", "tram", "bread", 0.1)]
    parts.writer.put_edges(
        tenant, [EdgeRecord(_uid(name), _uid(one), _uid(other), "causes", sure) for name, one, other, sure in edges]
    )
    parts.writer.put_clarifications(tenant, [ClarificationRecord(_uid("q"), _uid("tram"), "pending", "10 or 12?")])


def _change(parts: Parts) -> None:
    tenant, *_ = _harbour(parts)
    parts.remember("harbour.md", HARBOUR.replace("ten minutes", "twelve minutes").replace("05:40", "05:44"))
    parts.writer.put_nodes(tenant, [_fact("opening", '{"hour":7,"minutes":12}', (0.1, 0.2, 0.3))])
    parts.writer.put_clarifications(tenant, [ClarificationRecord(_uid("q"), _uid("tram"), "resolved", "12.")])


def _erase(parts: Parts) -> None:
    tenant, *_ = _harbour(parts)
    tides = next(one for one in Sources(parts.store).page(tenant, None, None, 100) if one.name == "tides.html")
    parts.writer.erase_source(tenant, tides.source_id)


def _harbour(parts: Parts) -> tuple[int, bytes, int, str]:
    tenant, sources = parts.planning.caller(parts.key()).tenant, Sources(parts.store)
    found = next(one for one in sources.page(tenant, None, None, 100) if one.name == "harbour.md")
    return tenant, found.source_id, found.version_tx, sources.text(tenant, found)


def _fact(name: str, properties: str, values: tuple[float, ...], *spans: SpanRef) -> NodeRecord:
    vector = VectorRecord("hand", values)
    return NodeRecord(_uid(name), "main", "fact", properties, provenance=spans, vector=vector)


def _uid(name: str) -> bytes:
    return uuid.uuid5(NAMESPACE, name).bytes
