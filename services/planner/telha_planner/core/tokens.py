"""
The estimate of tokens for a model that is named but whose tokenizer is unknown.

`ceil(ascii_bytes ÷ 3.6 + other_chars × 1.0)` in float64, where other characters are the code points from U+0080 on.
It undercounts HTML, code and some CJK tokenizers, so its use is always flagged and the budget takes a safety factor
(`budget.resolve`).
"""

import math
from typing import NamedTuple

import numpy as np

from .model import Int64

ASCII_BYTES_PER_TOKEN = 3.6
TOKENS_PER_OTHER_CHARACTER = 1.0


class EstimateInputs(NamedTuple):
    """All that the estimate needs to know of a text; stored with a span so that its text need not be read again."""

    ascii_bytes: int
    other_chars: int


def estimate_inputs(text: str) -> EstimateInputs:
    """Count the ASCII bytes of *text* and its code points at or above U+0080."""
    ascii_bytes = len(text.encode("ascii", "ignore"))
    return EstimateInputs(ascii_bytes, len(text) - ascii_bytes)


def estimate(ascii_bytes: int, other_chars: int) -> int:
    """Estimated tokens of a text."""
    return math.ceil(ascii_bytes / ASCII_BYTES_PER_TOKEN + other_chars * TOKENS_PER_OTHER_CHARACTER)


def estimate_columns(ascii_bytes: Int64, other_chars: Int64) -> Int64:
    """Estimated tokens of many texts; equal to `estimate` row by row."""
    fractional = ascii_bytes / ASCII_BYTES_PER_TOKEN + other_chars * TOKENS_PER_OTHER_CHARACTER
    return np.ceil(fractional).astype(np.int64)
