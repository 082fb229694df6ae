"""
Remember a fixed memory, plan over it in many ways, and print one hash over the plans.

Started by `test_plan_across_processes.py` in processes whose environments differ in all that must not matter.
Arguments: the address of the store; then `new` for one without content, and `without-simsimd` to hide that library.
"""

import random
import sys
from uuid import UUID

if "without-simsimd" in sys.argv[2:]:
    sys.modules["simsimd"] = None  # makes the import fail

from blake3 import blake3
from planner_parts import START, Parts, parts_over
from telha_planner.core.request import Window
from telha_planner.memory.records import EdgeRecord, NodeRecord, VectorRecord

DIMENSIONS = 96
WORDS = ["tram", "bridge", "夜間", "桥梁", "الترام", "👩\u200d👧", "manutenção", "depot", "swan", "closed"]
QUESTIONS = ["tram bridge closed", "夜間 depot", "桥梁 swan", "الترام", "nothing of this"]


def main() -> None:
    """Remember if the memory is new, then plan."""
    parts = parts_over(sys.argv[1])
    if "new" in sys.argv[2:]:
        remember(parts, random.Random(7))
    draw = random.Random(11)
    digest = blake3()
    for number in range(24):
        vector = tuple(draw.gauss(0, 1) for _ in range(DIMENSIONS)) if number % 2 else None
        answer = parts.plan(
            QUESTIONS[number % len(QUESTIONS)],
            vector=vector,
            expand_depth=number % 3,
            max_tokens=draw.choice([40, 200, 900]),
            max_frac_per_source=draw.choice([0.1, 0.4, 1.0]),
            window=Window(START + 10**12, START + draw.randrange(10**9)),
        )
        digest.update(answer.plan.plan_hash.encode())
        digest.update(repr([(span.weight, span.text) for span in answer.plan.spans]).encode())
    print(digest.hexdigest())  # noqa: T201 the answer to the process that started this one


def remember(parts: Parts, draw: random.Random) -> None:
    """Twelve documents, one of them twice, and 200 nodes with vectors and edges."""
    for number in [*range(12), 3]:
        paragraphs = ["# " + draw.choice(WORDS), *(" ".join(draw.choices(WORDS, k=12)) for _ in range(6))]
        parts.remember(f"note {number}.md", "\n\n".join(paragraphs))
    caller = parts.planning.caller(parts.key())
    spans = [span.span for question in QUESTIONS for span in parts.plan(question).plan.spans]
    nodes = [
        NodeRecord(
            UUID(int=number).bytes,
            "main",
            "fact",
            "{}",
            valid_from=START,
            provenance=(spans[number % len(spans)],),
            vector=VectorRecord("model", tuple(draw.gauss(0, 1) for _ in range(DIMENSIONS))),
        )
        for number in range(1, 201)
    ]
    parts.writer.put_nodes(caller.tenant, nodes)
    edges = [
        EdgeRecord(UUID(int=1000 + number).bytes, draw.choice(nodes).node_id, draw.choice(nodes).node_id, "near", 0.7)
        for number in range(300)
    ]
    parts.writer.put_edges(caller.tenant, edges)


main()
