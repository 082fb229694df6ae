"""From the request to B."""

import pytest
from telha_planner.core.budget import Budget, resolve


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((None, 6000, None, None, False), (6000, 6000)),
        ((800, 6000, None, None, False), (800, 800)),
        ((9000, 6000, None, None, False), (9000, 9000)),
        ((9000, 2000, 8192, None, False), (9000, 8192)),
        ((None, 2000, 8192, None, False), (2000, 2000)),
        ((6000, 6000, None, 8193, False), (6000, 4096)),
        ((6000, 2000, 8192, 4001, True), (6000, 1800)),
        ((10, 6000, None, None, True), (10, 9)),
        ((7, 6000, None, None, True), (7, 6)),
        ((1, 6000, None, None, True), (1, 0)),
        ((6000, 6000, None, 1, False), (6000, 0)),
        ((2**53 - 1, 6000, None, None, False), (2**53 - 1, 2**53 - 1)),
    ],
)
def test_the_least_limit_holds_and_the_safety_factor_comes_last(arguments: tuple, expected: tuple[int, int]):
    """T4: min(requested or default, ceiling, context_window // 2), then floor(× 0.9) in estimate mode."""
    assert resolve(*arguments) == Budget(*expected)
