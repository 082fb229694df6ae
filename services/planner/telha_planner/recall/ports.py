"""
What recall is asked and what it answers: the seam between Phase A and the pipeline.

Everything is resolved before recall runs (instants, spaces, depth, budget), so that recall is a function of the
question and of one tenant's columns at two instants.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from telha_planner.core.exclusion import Exclusions
from telha_planner.core.model import Float64, Int32, Int64, UInt8, UInt64
from telha_planner.core.plan import RecallStats
from telha_planner.core.request import Leg
from telha_planner.memory.query import Predicate

POOL_NODES = 2000
"""Most nodes in a pool; more are cut by (S desc, node id) and reported."""

HUB_CAP = 32
"""Most edges that expansion follows from one node, in edge-id order, after the visibility and space filter."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """
    The constants of S(n); together with its rules they are `score_model`.

    The configuration fingerprint of every trace covers them.

    Attributes:
        semantic_share: λ, share of the semantic part in the base score, [0, 1].
        context_weight: σ, weight of what a passage and its neighbours hold together, at least 0.
        source_weight: δ, weight of what else its source holds, at least 0.
        speaker_weight: ψ, weight of its being said by somebody whom the question names, at least 0.
        other_days_weight: χ, factor of what began on other days than the question names, [0, 1].
        window_weight: ω, factor of a window's score against a passage's, [0, 1].
        sharpening: γ, a power of two.
        alpha: α of `sim^α × decay^(1−α)`, [0, 1].
        hop_decay: Decay per hop, (0, 1].
        min_cosine: Cosine above the baseline, as a share of what lies above it, below which a vector is "nothing
            relevant".
        min_bm25: BM25 below which a text is "nothing relevant".
        form_weight: φ, what another form of a word is worth against the word itself, [0, 1].
        bm25_k1, bm25_b: The usual constants.
    """

    semantic_share: float = 0.5
    context_weight: float = 1.0
    source_weight: float = 0.25
    speaker_weight: float = 0.5
    other_days_weight: float = 0.5
    window_weight: float = 0.9
    sharpening: int = 64
    alpha: float = 0.5
    hop_decay: float = 0.5
    min_cosine: float = 0.0
    min_bm25: float = 0.0
    form_weight: float = 0.75
    bm25_k1: float = 0.8
    bm25_b: float = 0.3


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """
    A request to recall, with nothing left open.

    Attributes:
        valid_t, tx_t: Resolved instants, µs.
        spaces: Names of the spaces to read; None reads every space of the tenant.
        vector: Query vector as float32, or None.
        vector_model: Model of *vector*; None is the active model as of tx_t.
        legs: Legs to run.
        skipped: Why an implied semantic leg does not run; copied into the stats.
        encoding: Token column to read: `cl100k_base`, `o200k_base` or `estimate`; any other encoding is counted
            by the pipeline from the texts.
        largest_window: Tokens (overhead excluded) above which a window is not found, and not offered.
        where: What the nodes of the structured leg satisfy; only beside *find*.
        min_similarity: Evidence below which a node is left out, [0, 1]; 0 leaves out none.
        exclusions: What was given before and does not enter the pool; None where nothing was.
    """

    valid_t: int
    tx_t: int
    spaces: tuple[str, ...] | None
    question: str | None
    find: str | None
    find_limit: int
    vector: npt.NDArray[np.float32] | None
    vector_model: str | None
    expand_depth: int
    top_k: int
    legs: frozenset[Leg]
    skipped: str | None
    encoding: str
    largest_window: int
    scoring: Scoring
    where: Predicate | None = None
    min_similarity: float = 0.0
    exclusions: Exclusions | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """
    The pool before Phase B: one row per (node, span), sorted by node id, then span coordinate.

    Attributes:
        score: S(node) of the row's node, in (0, 1].
        node_no: The node behind the row.
        span_no: The span's number in the store.
        valid_from, valid_to: Validity of the node version.
        tokens: Counts of *encoding*, -1 where the pipeline has to count the text.
    """

    source_no: Int64
    source_hi: UInt64
    source_lo: UInt64
    version: Int64
    start: Int64
    end: Int64
    kind: Int32
    kinds: tuple[str, ...]
    span_class: UInt8
    tokens: Int64
    score: Float64
    node_no: Int64
    span_no: Int64
    valid_from: Int64
    valid_to: Int64
    stats: RecallStats

    def __len__(self) -> int:
        return len(self.score)
