"""
A second opinion on token counts: whether a plan keeps its budget is not asked of the tokenizer that packed it.

The wheel `bpe-openai` has ranks, splitting and merging of its own. Where it is not installed, or does not know the
encoding, the planner's own tokenizer counts again, and the report says so.
"""

import warnings
from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import NamedTuple

from telha_planner.models.tokenizers import BUILT_IN, Tokenizers

INDEPENDENT = "bpe_openai"


class Recount(NamedTuple):
    """What counts again, and how the report names it."""

    count: Callable[[str], int]
    name: str


def recount(tokenizers: Tokenizers) -> Recount:
    """What recounts texts in the default encoding of *tokenizers*."""
    encoding = tokenizers.default_encoding
    if encoding not in BUILT_IN or find_spec(INDEPENDENT) is None:
        return Recount(partial(tokenizers.count, encoding), f"{encoding}, by the planner's own tokenizer")
    return Recount(_independent(encoding), f"{encoding}, by bpe-openai {version('bpe-openai')}")


@cache
def _independent(encoding: str) -> Callable[[str], int]:
    with warnings.catch_warnings():
        # It reads its ranks by a function of importlib that newer Pythons warn of.
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai  # noqa: PLC0415  # optional

        encode = bpe_openai.get_encoding(encoding).encode_ordinary
        encode("")

    def count(text: str) -> int:
        return len(encode(text))

    return count
