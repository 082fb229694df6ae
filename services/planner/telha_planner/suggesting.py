"""
What other budgets would have packed of a call's pool, in the terms of its surface (docs/suggest.md).

It is made on request alone. Rule: the pool stays as it is; recall offers windows by the budget, so a call with another
budget may have another pool.
"""

from telha_planner.answers import Suggested
from telha_planner.core.budget import asked_for
from telha_planner.core.model import MAX_OFFSET
from telha_planner.core.suggestion import suggest
from telha_planner.packing import Packed
from telha_planner.resolution import Limits


def suggested(packed: Packed, limits: Limits, weight_share: float | None) -> Suggested | None:
    """
    The suggestion for *packed*, or None if none is asked for.

    Args:
        limits: What its budget was resolved from.
        weight_share: Of the greatest weight, from which on a span is wanted; (0, 1].
    """
    if weight_share is None:
        return None
    suggestion = suggest(packed.pool, packed.selection, packed.rule, weight_share)
    greatest, limited_by = limits.greatest(estimated=packed.estimated) or (MAX_OFFSET, None)
    smallest, forbidden_by = suggestion.smallest, None
    if smallest is None:
        forbidden_by = "max_spans" if suggestion.wanted and packed.rule.max_spans else None
    elif smallest > greatest:
        forbidden_by = limited_by
    return Suggested(
        suggestion=suggestion,
        max_tokens=None if smallest is None else max(1, asked_for(smallest, estimate=packed.estimated)),
        greatest=None if limited_by is None else greatest,
        forbidden_by=forbidden_by,
    )
