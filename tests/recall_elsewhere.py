"""
Run as a program, on a memory that exists: prints a digest of everything recall answers to fixed queries.

`python recall_elsewhere.py FOLDER [without-simsimd]`; the determinism test runs it under several processors' kernels.
"""

import hashlib
import sys
from pathlib import Path

if "without-simsimd" in sys.argv:
    sys.modules["simsimd"] = None  # type: ignore[assignment]  # makes the import fail, as on a platform without it

import random

from recall_memory import Memory, a_query, facts, uid
from telha_planner.columns.tenant import Columns
from telha_planner.recall.ports import Scoring
from telha_planner.recall.recall import recall

DIMENSIONS = 384
TOPICS = 12


def write(memory: Memory) -> None:
    """Forty documents with real-looking vectors: close enough to each other that the order of sums would matter."""
    dice = random.Random(11)
    topics = [[dice.gauss(0, 1) for _ in range(DIMENSIONS)] for _ in range(TOPICS)]
    with memory.commit() as commit:
        commit.model("m", DIMENSIONS, baseline=0.07)
        for index in range(40):
            words = [" ".join(f"w{int(dice.expovariate(0.05))}" for _ in range(12)) for _ in range(6)]
            for node in commit.document(f"doc {index}", words):
                topic = topics[index % TOPICS]
                commit.vector(node, [value + 0.4 * dice.gauss(0, 1) for value in topic])
        loose = commit.node(uid("person"))
        commit.version(loose, node_type="person")


def digest(memory: Memory) -> str:
    """BLAKE-like fingerprint of every column of every answer, internal numbers included."""
    dice = random.Random(3)
    snapshot = Columns(memory.store, 1 << 30).at(1, memory.tx)
    told = hashlib.sha256()
    for alpha in (0.5, 0.3, 1.0):
        for _ in range(4):
            query = a_query(
                memory,
                question=" ".join(f"w{dice.randrange(60)}" for _ in range(6)),
                vector=[dice.gauss(0, 1) for _ in range(DIMENSIONS)],
                find="person",
                expand_depth=2,
                scoring=Scoring(alpha=alpha, sharpening=4),
            )
            found = recall(snapshot, query)
            if len(found) < 100:
                raise SystemExit("the queries find too little to prove anything")
            told.update(repr(facts(found)).encode())
    return told.hexdigest()


if __name__ == "__main__":
    sys.stdout.write(digest(Memory.existing(Path(sys.argv[1]))) + "\n")
