"""
One trace, and with it what a person wants to see beside the record: whether its hash holds, and names of sources.

Rule 1: the record stays what it is; what is added stands beside it.
Rule 2: what the record does not say about candidates is told of a plan made anew, and only if that is the same plan.
Rule 3: of another plan only what was asked "why not?" is told, under `replay.ofAnotherPlan`; nobody takes it for this.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from telha_client import Client, Trace, WhyNot, as_json, trace_hash

from . import recorded
from .calls import name_of, trace_json

Json = dict[str, Any]

_MOST_NAMES = 200
"""Sources whose names are asked for; each is a call."""


def shown(client: Client, trace_id: str, *, explain: bool = False, why_not: Sequence[WhyNot] = ()) -> Json:
    """
    The trace as `telha trace get --json` prints it, and more beside it.

    - `verified`: whether its plan hash is that of its record; null where the record does not hold what the hash covers;
    - `sources`: those of its spans, with a name where the key may read them;
    - `explanation`: what became of each candidate: as the record says it, if the call asked for it; else, with
      *explain* or *why_not*, of the plan made anew, if that is `identical`;
    - `replay`: if a plan was made anew for it, its `outcome` and `because`, and `erased`: sources whose erasure took
      spans away. Where it is another plan and *why_not* was asked, `ofAnotherPlan` has its hash, its source cap and its
      `subjects`: they hold of the plan as it would be made now, not of the recorded one.
    """
    trace = client.trace(trace_id)
    answer: Json = {**trace_json(trace), "verified": _holds(trace)}
    explained = recorded.explanation(trace.record)
    if explained is not None:
        answer["explanation"] = {**explained, "spansLeftOut": explained["spansLeftOut"] + trace.explained_left_out}
    if why_not or (explain and explained is None):
        replay = client.replay(trace_id, explain=explain or explained is not None, why_not=why_not)
        told: Json = {"outcome": replay.outcome, "because": replay.difference.because, "erased": as_json(replay.erased)}
        answer["replay"] = told
        anew = replay.plan.explanation
        if replay.outcome == "identical":
            answer["explanation"] = as_json(anew)
        elif why_not and anew is not None:
            told["ofAnotherPlan"] = {
                "planHash": replay.plan.plan_hash,
                "sourceCap": anew.source_cap,
                "subjects": as_json(anew.subjects),
            }
    spans = [*recorded.packed(trace.record), *answer.get("explanation", {}).get("spans", ())]
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
