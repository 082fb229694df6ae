"""What the oracle of recall answers, in the words of the product."""

from dataclasses import dataclass
from typing import NamedTuple


class Row(NamedTuple):
    """What Recalled says of one row."""

    node_id: bytes
    source_id: bytes
    version: int
    start: int
    end: int
    kind: str
    span_class: int
    tokens: int
    score: float


class LookedAt(NamedTuple):
    """What RecallDetail says of one node; *ranks* of the structured, the semantic and the lexical leg."""

    score: float
    similarity: float | None
    parts: tuple[float, ...] | None
    decay: float
    hops: int
    found_by: tuple[bool, bool, bool]
    ranks: tuple[int, int, int]
    evidence: float | None
    fate: str


@dataclass
class Told:
    """The oracle's answer."""

    rows: list[Row]
    looked_at: dict[bytes, LookedAt]
    legs: tuple[int, int, int, int]
    nodes: int
    nodes_without_spans: int
    kind_missing: int
    slices_missing: int
    zero_score: int
    pool_capped: int
    below_floor: int
    best_evidence: float | None
