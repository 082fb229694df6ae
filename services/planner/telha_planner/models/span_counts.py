"""
Token counts of spans in encodings that ingestion does not store, each counted once (requirement T2).

Rule 1: a span's text never changes and its number is never given to another, so a count that is held is right for
ever, also after an erasure. Rule 2: for one thread at a time.
"""

from collections.abc import Callable

import numpy as np

from telha_planner.core.model import Int64

from .tokenizers import Tokenizers

_MOST = 1_000_000
"""Counts held, about 100 bytes each; past that, counting begins anew."""


class SpanCounts:
    """Counts by tenant, encoding and span."""

    def __init__(self, tokenizers: Tokenizers) -> None:
        self._tokenizers = tokenizers
        self._held: dict[tuple[int, str], dict[int, int]] = {}
        self._size = 0

    def of(self, tenant: int, encoding: str, span_nos: Int64, slices: Callable[[Int64], list[str]]) -> list[int]:
        """
        Counts of spans.

        Args:
            slices: Gives the texts of some of them, by their indices into *span_nos*.
        """
        if self._size > _MOST:
            self._held, self._size = {}, 0
        held = self._held.setdefault((tenant, encoding), {})
        numbers = span_nos.tolist()
        new = [index for index, number in enumerate(numbers) if number not in held]
        if new:
            for index, text in zip(new, slices(np.array(new, np.int64)), strict=True):
                held[numbers[index]] = self._tokenizers.count(encoding, text)
            self._size += len(new)
        return [held[number] for number in numbers]
