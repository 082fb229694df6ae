"""Random histories of a memory, and random queries at any of their instants; the same seed gives the same."""

import random
from collections.abc import Callable
from typing import Any

from recall_memory import START, Commit, Memory, uid
from telha_planner.core.request import INT64_MIN, OPEN_END, Leg
from telha_planner.memory import tables
from telha_planner.recall.ports import Scoring

WORDS = (
    "the", "a", "harbour", "opens", "open", "opening", "closes", "closed", "bread", "oven", "ship", "港口",
    "开放时间", "نهر", "فتح", "\U0001f469\u200d\U0001f469\u200d\U0001f467", "größe", "naïve", "x9", "parseHTTP",
    "港口はどこ", "ですか",
)  # fmt: skip
SPEAKERS = ("", "the ship", "Bread Oven", "bread", "港口", "开放时间", "parseHTTP")
DATES = ("", "", "in June 2026", "em 22 de abril de 2026", "2026年5月", "on May 31")
SPACES = ("main", "other", "third")
DIMENSIONS = 5
DAY = 86_400_000_000


class History:
    """Writes random documents, nodes, edges, vectors, clarifications and closings into *memory*."""

    def __init__(self, memory: Memory, seed: int, spaces: tuple[str, ...] = SPACES) -> None:
        self.memory = memory
        self.dice = random.Random(seed)
        self.spaces = spaces
        self.nodes: list[int] = []

    def run(self, commits: int) -> list[int]:
        """Write *commits* transactions; answers with the time of each, an opening one included."""
        times = []
        if not self.memory.tx:
            with self.memory.commit() as commit:
                commit.model("m", DIMENSIONS, baseline=0.05)
            times.append(self.memory.tx)
        for _ in range(commits):
            self.step()
            times.append(self.memory.tx)
        return times

    def step(self, at: int | None = None) -> None:
        """One transaction of one to three different changes, at the instant *at* if given."""
        changes: list[Callable[[Commit], None]] = [
            self._document, self._note, self._edges, self._vectors, self._clarification, self._closing,
        ]  # fmt: skip
        chosen = self.dice.sample(changes, self.dice.randint(1, 3))
        with self.memory.commit(at) as commit:
            if not self.nodes:
                self._document(commit)
                chosen = [change for change in chosen if change != self._document]
            for change in chosen:
                change(commit)

    def text(self, longest: int = 9) -> str:
        return " ".join(self.dice.choice(WORDS) for _ in range(self.dice.randint(0, longest)))

    def _document(self, commit: Commit) -> None:
        passages = [self.text() or "empty" for _ in range(self.dice.randint(1, 5))]
        name = f"doc {self.dice.randint(0, 4)}"
        space, span_class = self.dice.choice(self.spaces), self.dice.randint(0, 1)
        speakers = [self.dice.choice(SPEAKERS) for _ in passages] if self.dice.random() < 0.9 else None
        self.nodes += commit.document(name, passages, space, span_class, speakers)

    def _note(self, commit: Commit) -> None:
        dice = self.dice
        space = dice.choice(self.spaces)
        source = commit.source(uid("loose", space), space)
        if dice.random() < 0.7:
            commit.source_version(source, 40)
        places = {(start := dice.randint(0, 38), start + dice.randint(1, 12)) for _ in range(dice.randint(0, 3))}
        spans = [
            commit.span(source, *place, dice.choice([None, "cell", "body", "code"]), dice.randint(0, 9))
            for place in sorted(places)
        ]
        node = commit.node(uid("note", space, dice.randint(0, 9)), space)
        begin = START + dice.choice([-5, 0, 3_000_000, -40 * DAY, INT64_MIN - START])
        end = dice.choice([OPEN_END, OPEN_END, START + 4_000_000])
        commit.version(node, self.text(), dice.choice(["note", "person", "window"]), spans, begin, end)
        self.nodes.append(node)

    def _edges(self, commit: Commit) -> None:
        dice = self.dice
        for _ in range(dice.randint(1, 8)):
            commit.edge(
                dice.choice(self.nodes),
                dice.choice(self.nodes),
                dice.choice(["next", "links"]),
                confidence=dice.choice([1.0, 0.7, 0.3, 0.0]),
                source_no=dice.choice([None, 1]),
                edge_id=uid("edge", dice.random()),
                valid_from=START + dice.choice([0, 2_000_000]),
            )

    def _vectors(self, commit: Commit) -> None:
        dice = self.dice
        for node in dict.fromkeys(dice.choices(self.nodes, k=3)):
            values = [dice.choice([0.0, 1.0, -1.0, dice.gauss(0, 1)]) for _ in range(DIMENSIONS)]
            commit.vector(node, values, valid_from=START + dice.choice([0, 3_000_000]))

    def _clarification(self, commit: Commit) -> None:
        state = self.dice.choice(["pending", "conflicted", "resolved"])
        commit.clarification(f"doubt {self.dice.randint(0, 5)}", self.dice.choice(self.nodes), state)

    def _closing(self, commit: Commit) -> None:
        node = self.dice.choice(self.nodes)
        self.dice.choice(
            [
                lambda: commit.close(tables.node_version, node_no=node),
                lambda: commit.close(tables.edge, from_node_no=node),
                lambda: commit.close(tables.vector, node_no=node),
            ]
        )()


def queries(seed: int, times: list[int], count: int = 6) -> list[dict[str, Any]]:
    """Random changes to `a_query`, at random instants of a history."""
    dice = random.Random(seed)
    return [_query(dice, dice.choice([times[-1], dice.choice(times)])) for _ in range(count)]


def _query(dice: random.Random, tx_t: int) -> dict[str, Any]:
    has = dice.choice([{"question"}, {"vector"}, {"question", "vector"}, {"find"}, {"question", "vector", "find"}])
    return {
        "tx_t": tx_t,
        "valid_t": dice.choice([max(tx_t, START), START + 3_500_000, START - 3]),
        "spaces": dice.choice([None, ("main",), ("main", "third"), ("nowhere",), SPACES]),
        "question": " ".join((*dice.sample(WORDS, 4), dice.choice(SPEAKERS), dice.choice(DATES)))
        if "question" in has
        else None,
        "vector": [dice.gauss(0, 1) for _ in range(DIMENSIONS)] if "vector" in has else None,
        "find": dice.choice(["note", "person", "passage"]) if "find" in has else None,
        "find_limit": dice.choice([1, 3, 64]),
        "expand_depth": dice.randint(0, 2),
        "top_k": dice.choice([1, 3, 64]),
        "legs": frozenset(dice.sample(sorted(Leg, key=str), dice.choice([1, 3, 3]))),
        "encoding": dice.choice(["o200k_base", "cl100k_base", "estimate", "another"]),
        "largest_window": dice.choice([5, 12, 1000]),
        "min_similarity": dice.choice([0.0, 0.1, 0.3, 0.7]),
        "scoring": Scoring(
            semantic_share=dice.choice([0.5, 0.0, 1.0, 0.3]),
            context_weight=dice.choice([1.0, 0.0, 0.5]),
            source_weight=dice.choice([0.25, 0.0, 2.0]),
            speaker_weight=dice.choice([0.5, 0.0, 2.0]),
            other_days_weight=dice.choice([0.5, 0.0, 1.0]),
            window_weight=dice.choice([0.9, 0.0, 1.0]),
            form_weight=dice.choice([0.75, 0.0, 1.0]),
            sharpening=dice.choice([1, 2, 32]),
            alpha=dice.choice([0.0, 0.5, 1.0, 0.3]),
            hop_decay=dice.choice([0.5, 0.9]),
            min_cosine=dice.choice([0.0, 0.2]),
            min_bm25=dice.choice([0.0, 0.5]),
        ),
    }
