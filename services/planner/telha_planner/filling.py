"""
From what recall found to a plan with texts: count → weigh → pack → slice.

Texts are read for the spans that are packed, and for those whose tokens no column holds; nothing else is.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from telha_planner.config import PlannerSettings
from telha_planner.core.model import Int64
from telha_planner.core.plan import EvidencePlan
from telha_planner.core.tokens import estimate, estimate_inputs
from telha_planner.memory.texts import SourceTexts
from telha_planner.models.span_counts import SpanCounts
from telha_planner.models.tokenizers import ESTIMATE, Tokenizers
from telha_planner.packing import Packed, finish, pack, weighed
from telha_planner.recall.ports import Recalled
from telha_planner.resolution import Limits


class Filling:
    """Makes plans of what was recalled, for one process."""

    def __init__(self, texts: SourceTexts, tokenizers: Tokenizers, settings: PlannerSettings) -> None:
        self._texts = texts
        self._tokenizers = tokenizers
        self._counts = SpanCounts(tokenizers)
        self._settings = settings

    def plan(self, tenant: int, erased_tx: int, recalled: Recalled, limits: Limits) -> tuple[EvidencePlan, Packed]:
        """
        The plan of *recalled*, and what packing decided about each of its spans.

        Args:
            erased_tx: Newest erasure that *recalled* knows of; texts that a later one took are not read.

        Raises:
            TextErased: A text that is needed has gone.
        """
        slices = partial(self._sliced, tenant, erased_tx, recalled)
        tokens = self._counted(tenant, recalled, limits.encoding, slices)
        pool = weighed(recalled, tokens, self._settings)
        estimated = np.full(len(pool), limits.encoding == ESTIMATE)
        packed = pack(pool, estimated, limits, self._settings.dedup_overlap)
        return finish(packed, slices(packed.rows), limits.encoding, recalled.stats), packed

    def counter(self, plan: EvidencePlan) -> Callable[[str], int]:
        """What counted the tokens of *plan*."""
        if plan.stats.tokenizer == ESTIMATE:
            return lambda text: estimate(*estimate_inputs(text))
        return partial(self._tokenizers.count, plan.stats.tokenizer)

    def _counted(self, tenant: int, recalled: Recalled, encoding: str, slices: Callable[[Int64], list[str]]) -> Int64:
        unknown = np.flatnonzero(recalled.tokens < 0)
        if not len(unknown):
            return recalled.tokens
        tokens = recalled.tokens.copy()
        tokens[unknown] = self._counts.of(
            tenant, encoding, recalled.span_no[unknown], lambda some: slices(unknown[some])
        )
        return tokens

    def _sliced(self, tenant: int, erased_tx: int, recalled: Recalled, rows: Int64) -> list[str]:
        return self._texts.slices(
            tenant,
            erased_tx,
            recalled.source_no[rows].tolist(),
            recalled.version[rows].tolist(),
            recalled.start[rows].tolist(),
            recalled.end[rows].tolist(),
        )
