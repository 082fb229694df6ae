"""
One trace, and with it what a person wants to see beside the record: whether its hash holds, and names of sources.

Rule: the record stays what it is; what is added stands beside it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from telha_client import Client, Trace, trace_hash

from . import recorded
from .calls import name_of, trace_json

Json = dict[str, Any]

_MOST_NAMES = 200
"""Sources whose names are asked for; each is a call."""


def shown(client: Client, trace_id: str) -> Json:
    """
    The trace as `telha trace get --json` prints it, and more beside it.

    - `verified`: whether its plan hash is that of its record; null where the record does not hold what the hash covers;
    - `sources`: those of its spans, with a name where the key may read them;
    - `explanation`: what the record says of each candidate, if the call asked for it.
    """
    trace = client.trace(trace_id)
    answer: Json = {**trace_json(trace), "verified": _holds(trace)}
    explained = recorded.explanation(trace.record)
    if explained is not None:
        answer["explanation"] = {**explained, "spansLeftOut": explained["spansLeftOut"] + trace.explained_left_out}
    spans = [*recorded.packed(trace.record), *(explained or {}).get("spans", ())]
    # Sources of a pool are its caller's: memory has no names for them.
    answer["sources"] = _sources_of(client, spans) if answer["spaces"] else []
    return answer


def _holds(trace: Trace) -> bool | None:
    try:
        return trace_hash(trace) == trace.summary.plan_hash
    except ValueError:
        return None


def _sources_of(client: Client, spans: Sequence[Mapping[str, Any]]) -> list[Json]:
    versions: dict[str, int] = {}
    for row in spans:
        versions.setdefault(row["span"]["sourceId"], row["span"]["sourceVersionTx"])
    told: list[Json] = []
    for source, version in versions.items():
        name = name_of(client, source, version) if len(told) < _MOST_NAMES else None
        told.append({"sourceId": source} if name is None else {"sourceId": source, "name": name})
    return told
