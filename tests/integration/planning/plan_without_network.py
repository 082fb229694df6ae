"""
Remember, plan, build context and select in a process that has no network; print what came of it.

Started by `test_no_network.py`, with the folder of the memory.
"""

import json
import sys
from pathlib import Path

import cut_network
from planner_parts import parts_in, texts_of
from telha_planner.core.model import SpanRef
from telha_planner.core.request import Fragment

parts = parts_in(Path(sys.argv[1]))
parts.remember("trams.md", "# Trams\n\nThe first tram leaves at five.\n\n第一班电车五点出发。\n")
fragments = [Fragment(SpanRef(bytes(16), 1, 0, 4), text="tram"), Fragment(SpanRef(bytes(16), 1, 9, 14), text="bread")]
answer = {
    "isolated": cut_network.ISOLATED,
    "plan": texts_of(parts.plan("first tram").plan.spans),
    "estimated": parts.plan("first tram", model="nobody-knows-it").plan.stats.token_estimate,
    "context": texts_of(parts.context("电车 五点").items),
    "skipped": parts.context("电车 五点").plan.stats.recall.vector_leg_skipped,
    "select": texts_of(parts.select(fragments, question="which tram?", max_frac_per_source=1.0).plan.spans),
}
print(json.dumps(answer))  # noqa: T201 the answer to the process that started this one
