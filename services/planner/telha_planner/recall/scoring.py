"""
From the parts of a node to its similarity, docs/scoring.md section 4.

Four things make a node similar: what it holds itself, what it and the passages next to it hold together, what else of
its source was found, and that somebody says it whom the question names. One makes it less so: that it began on other
days than the question names.
Scores are computed for a chosen set of places (roots, what expansion reached, and their neighbours), but each value
is a function of what is visible, never of which other nodes were chosen.
"""

from dataclasses import dataclass

import numpy as np

from telha_planner.columns.ranking import union
from telha_planner.columns.view import View
from telha_planner.core.fusion import sharpened
from telha_planner.core.model import Float64, Int64

from .candidates import is_window, spans_of
from .dates import Dates
from .floor import Evidence, evidence
from .lexical import Lexical
from .neighbourhood import PAIR_BITS, first, greatest_together, second, surroundings
from .ports import Scoring
from .semantic import ROUNDING, Semantic
from .speakers import Speakers

FOREMOST = 64
"""So many best nodes of either part set the scale that all others are measured by."""


@dataclass(frozen=True, slots=True)
class Components:
    """
    What similarity is made of; columns over the chosen places, each value in [0, 1].

    Attributes:
        semantic: semantic(n).
        lexical: lexical(n).
        context: ctx(n).
        source: src(n); 0 where δ is.
        speaker: spk(n); 0 where ψ is, or nobody is named.
        days: χ of what began on other days, else 1.
        window: ω of windows, else 1.
        share: λ'.
        greatest: G.
    """

    semantic: Float64
    lexical: Float64
    context: Float64
    source: Float64
    speaker: Float64
    days: Float64
    window: Float64
    share: float
    greatest: float


@dataclass(frozen=True, slots=True)
class Parts:
    """Per chosen place similarity(n), in [0, 1], and what was asked for beside it."""

    similarity: Float64
    evidence: Evidence | None
    components: Components | None


def similarity(
    view: View,
    places: Int64,
    foremost: Int64,
    lexical: Lexical | None,
    semantic: Semantic | None,
    speakers: Speakers | None,
    dates: Dates | None,
    scoring: Scoring,
    *,
    measured: bool = False,
    told: bool = False,
) -> Parts:
    """
    Score *places*.

    Args:
        view: What is visible.
        places: Ascending, distinct.
        foremost: The best `FOREMOST` of either part, among which every greatest value is sought.
        lexical: None without a question.
        semantic: None without a vector.
        speakers: None without a question.
        dates: None without a question.
        scoring: The constants.
        measured: Whether evidence is asked for.
        told: Whether the components are asked for.
    """
    every = union(places, foremost)
    leading = np.searchsorted(every, foremost)
    windows = is_window(view, every)
    share = scoring.semantic_share if lexical is not None else 1.0
    if semantic is None:
        share = 0.0
    semantic_part = np.zeros(len(every)) if semantic is None else semantic.part(every)
    lexical_part = np.zeros(len(every)) if lexical is None else lexical.part(every)
    own = share * semantic_part + (1.0 - share) * lexical_part

    within = surroundings(view, every, lexical)
    words, meaning = greatest_together(within, lexical, semantic)
    passages = leading[~windows[leading]]
    context = share * _relative(meaning, passages) + (1.0 - share) * _relative(words, passages)
    raised = own + scoring.context_weight * context
    matches = raised > 0.0
    source = speaker = elsewhere = None
    if scoring.source_weight > 0.0:
        source = _of_source(view, every, own, passages)
        raised = np.where(matches, raised + scoring.source_weight * source, 0.0)
    if scoring.speaker_weight > 0.0 and speakers is not None and speakers.named:
        speaker = _relative(speakers.shares(every), passages)
        raised = np.where(matches, raised + scoring.speaker_weight * speaker, 0.0)
    if dates is not None and dates.named:
        elsewhere = dates.elsewhere(view, every, passages)
        raised = np.where(elsewhere, scoring.other_days_weight * raised, raised)
    raised = np.where(windows, scoring.window_weight * raised, raised)

    among = np.searchsorted(every, places)
    relative = sharpened(_relative(raised, leading)[among], scoring.sharpening)
    found = evidence(len(view), within, foremost, lexical, semantic, share).take(among) if measured else None
    if not told:
        return Parts(relative, found, None)
    nothing = np.zeros(len(places))
    components = Components(
        semantic=semantic_part[among],
        lexical=lexical_part[among],
        context=context[among],
        source=nothing if source is None else source[among],
        speaker=nothing if speaker is None else speaker[among],
        days=nothing + 1.0 if elsewhere is None else np.where(elsewhere[among], scoring.other_days_weight, 1.0),
        window=np.where(windows[among], scoring.window_weight, 1.0),
        share=share,
        greatest=float(raised[leading].max(initial=0.0)),
    )
    return Parts(relative, found, components)


def _relative(values: Float64, leading: Int64) -> Float64:
    """*values* against the greatest of those at *leading*, at most 1; all 0 if that is."""
    greatest = values[leading].max(initial=0.0)
    return np.minimum(1.0, values / greatest) if greatest > 0.0 else np.zeros(len(values))


def _of_source(view: View, places: Int64, own: Float64, passages: Int64) -> Float64:
    """src(n): what the foremost *passages* of a node's source are worth together, against the best source."""
    found = spans_of(view, places)
    pairs = union(found.node << PAIR_BITS | view.columns.spans.source[found.span])
    node = first(pairs)
    sources, source = np.unique(second(pairs), return_inverse=True)
    worth = np.zeros(len(sources))
    counted = np.flatnonzero(np.isin(node, passages))
    np.add.at(worth, source[counted], np.rint(own[node[counted]] * ROUNDING) / ROUNDING)
    share = np.zeros(len(places))
    np.maximum.at(share, node, _relative(worth, np.arange(len(worth)))[source])
    return share
