"""
Print one hash over the plans of many fixed pools, each shuffled by the seed on the command line.

Started by `test_selection_across_processes.py` in processes whose environments differ in all that must not matter.
"""

import random
import sys
from dataclasses import replace

import numpy as np
from blake3 import blake3
from pools import pool_of
from telha_planner.core import selection
from telha_planner.core.fusion import fuse
from telha_planner.core.model import Candidate, PackingRule, SpanClass, SpanRef
from telha_planner.core.plan import plan_hash, planned_spans
from telha_planner.core.weighing import weigh

KINDS = ["paragraph", "heading", "cell", "目录", "title·é"]
PRIORS = {"heading": 0.6, "cell": 0.8}


def main() -> None:
    """Plan 40 pools of up to 600 spans."""
    draw, shuffler = random.Random(20260601), random.Random(int(sys.argv[1]))
    digest = blake3()
    for number in range(40):
        candidates = [candidate(draw) for _ in range(draw.randrange(1, 600))]
        alpha = draw.choice([0.0, 0.3, 0.5, 0.9, 1.0])
        rule = PackingRule(
            draw.choice([200, 2000, 9000]), draw.choice([0.1, 0.4, 1.0]), draw.choice([0.51, 0.8, 1.0]), number % 7
        )
        shuffler.shuffle(candidates)
        pool = pool_of(candidates)
        score = fuse(pool.weight, np.sqrt(pool.weight), alpha)
        weight = weigh(score, pool.kind, pool.kinds, pool.span_class, kind_priors=PRIORS, cache_discount=0.5)
        pool = replace(pool, weight=weight)
        pool = selection.take(pool, selection.collapse(pool))
        chosen = selection.select(pool, rule)
        spans = planned_spans(pool, chosen.packed, [pool.texts[row] for row in chosen.packed])
        digest.update(plan_hash(rule.budget, chosen.used, spans).encode())
    print(digest.hexdigest())  # noqa: T201 the answer to the process that started this one


def candidate(draw: random.Random) -> Candidate:
    """A candidate out of few sources, so that spans collide, nest and tie."""
    start = draw.randrange(0, 2000)
    span = SpanRef(draw.choice([b"a", b"b", b"\xff"]) * 16, draw.choice([-5, 7]), start, start + draw.randrange(1, 300))
    weight = draw.choice([draw.random(), 0.5, 0.25, 0.0])
    return Candidate(span, draw.choice(KINDS), draw.choice(list(SpanClass)), weight, draw.randrange(0, 90), "text")


main()
