"""The outcome of a candidate in one sentence, with the numbers that decided; docs/explain.md shows each of them."""

import math

from telha_planner.core.explained import Duplicate
from telha_planner.core.model import Outcome, PackingRule


def because(outcome: Outcome, rule: PackingRule, tokens: int, left: int, spent: int, cap: int) -> str:
    """
    Why a span that is no duplicate has its *outcome*.

    Args:
        rule: The limits of the selection.
        tokens: Without overhead.
        left: Tokens left when it was looked at.
        spent: What its source had taken at that moment.
        cap: What one source may take.
    """
    size = _size(tokens, rule.span_overhead_tokens)
    match outcome:
        case Outcome.PACKED:
            return f"packed: {size}, {left:,} left of {rule.budget:,} before it"
        case Outcome.UNPACKABLE:
            return f"larger than the whole budget: {size}, the budget is {rule.budget:,}"
        case Outcome.SPAN_LIMIT_SKIPPED:
            spans = f"{rule.max_spans:,} span{'' if rule.max_spans == 1 else 's'}"
            return f"came after the limit of {spans}: {size}, {left:,} left of {rule.budget:,}"
        case Outcome.CAP_SKIPPED:
            return f"too much of one source: {size}, {spent:,} of {cap:,} taken before it"
        case _:
            return f"did not fit: {size}, {left:,} left of {rule.budget:,}"


def because_repeated(duplicate: Duplicate, *, heavier: bool) -> str:
    """
    Why a span is a duplicate.

    Args:
        heavier: Whether the kept span weighs more; if not, it weighs as much and stands before it.
    """
    shared = math.floor(duplicate.overlap * 100) / 100  # only what is repeated whole is 1
    preferred = "weighs more" if heavier else "weighs as much and stands before it"
    place = f"[{duplicate.of.start}:{duplicate.of.end})"
    return f"repeats {place} of the same version (overlap {shared:.2f}), which {preferred}"


def _size(tokens: int, overhead: int) -> str:
    whole = f"{tokens + overhead:,} token{'' if tokens + overhead == 1 else 's'}"
    return f"{whole}, {overhead:,} of them around it" if overhead else whole
