"""
Run as a program, on a memory that was embedded: prints a digest of the plans of fixed questions at fixed instants.

`python plan_embedded.py FOLDER [without-simsimd]`; the determinism test runs it under several processors' kernels.
"""

import hashlib
import sys
from pathlib import Path

if "without-simsimd" in sys.argv:
    sys.modules["simsimd"] = None  # type: ignore[assignment]  # makes the import fail, as on a platform without it

from counting_embedder import CountingEmbedder
from planner_parts import START, Parts, parts_in
from telha_planner.core.request import Window

DIMENSIONS = 512
QUESTIONS = ("word3 word7 word9 harbour", "第一班电车 word5", "שלום 👩‍👩‍👧 word1")
BEFORE_1970 = -40_000_000_000_000_000
"""A year before 1970, µs: from then on half of the documents are true."""


def remembered(folder: Path) -> Parts:
    """A memory whose documents are true since before 1970 or since now, some of them changed."""
    parts = parts_in(folder, embedder=CountingEmbedder(dimensions=DIMENSIONS, baseline=0.1))
    for number in range(60):
        words = [" ".join(f"word{(number * step + place) % 40}" for place in range(9)) for step in (1, 3, 7)]
        text = f"# Harbour {number}\n\n" + "\n\n".join([*words, "第一班电车五点出发。", "שלום 👩‍👩‍👧"]) + "\n"
        parts.remember(f"{number % 50}.md", text, valid_from=BEFORE_1970 + number if number % 2 else None)
    return parts


def digest(parts: Parts) -> str:
    """A fingerprint of every plan: its hash, and the bits of each weight."""
    told = hashlib.sha256()
    for valid_time in (START + 10_000_000_000, 0, BEFORE_1970 + 30, BEFORE_1970 - 1):
        for question in QUESTIONS:
            window = Window(valid_time, None)
            plan = parts.plan(question, window=window, max_tokens=2000).plan
            weights = [(span.weight.hex(), span.tokens) for span in plan.spans]
            told.update(repr((valid_time, plan.plan_hash, weights, plan.stats.recall.legs.vector)).encode())
            if (plan.stats.recall.legs.vector == 0) != (valid_time < BEFORE_1970):
                raise SystemExit("the semantic leg finds nothing, so that nothing is proven")
    return told.hexdigest()


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    existing = parts_in(folder, embedder=CountingEmbedder(dimensions=DIMENSIONS, baseline=0.1))
    sys.stdout.write(digest(existing) + "\n")
