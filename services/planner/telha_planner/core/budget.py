"""
From what was asked for to B, the budget that is packed and hashed.

Rule 1: B is the least of the request (or the surface's default), the surface's ceiling and half the model's context
window; where a token count is estimated, a safety factor comes last. Rule 2: clamping is reported by the pair
(requested, applied), never an error; B = 0 after the factor is legal.
"""

import math
from typing import NamedTuple

ESTIMATE_SAFETY = 0.9
"""Share of the budget that is used where token counts are estimates."""


class Budget(NamedTuple):
    """
    A resolved budget.

    Attributes:
        requested: Tokens asked for, else the surface's default.
        applied: B.
    """

    requested: int
    applied: int


def asked_for(applied: int, *, estimate: bool) -> int:
    """The least request of which *applied* tokens are left; without ceiling and context window."""
    if not estimate:
        return applied
    wanted = math.ceil(applied / ESTIMATE_SAFETY)
    while wanted > 0 and math.floor((wanted - 1) * ESTIMATE_SAFETY) >= applied:
        wanted -= 1
    while math.floor(wanted * ESTIMATE_SAFETY) < applied:
        wanted += 1
    return wanted


def resolve(
    requested: int | None, default: int, ceiling: int | None, context_window: int | None, estimate: bool
) -> Budget:
    """
    Resolve B.

    Args:
        requested: Tokens asked for, at least 1 (the door refuses others); None if the caller left it open.
        default: Tokens that the surface takes instead, at least 1.
        ceiling: Of the surface; None if it has none.
        context_window: Of the reading model, in tokens; None if unknown.
        estimate: Whether any span of the pool has an estimated count.
    """
    wanted = default if requested is None else requested
    applied = wanted
    if ceiling is not None:
        applied = min(applied, ceiling)
    if context_window is not None:
        applied = min(applied, context_window // 2)
    if estimate:
        applied = math.floor(applied * ESTIMATE_SAFETY)
    return Budget(wanted, applied)
