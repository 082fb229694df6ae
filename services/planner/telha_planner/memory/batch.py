"""Rules that every batch of items obeys."""

from collections.abc import Iterable

from telha_planner.core.errors import RequestInvalid
from telha_planner.core.request import OPEN_END

from .clock import Commit


def refuse_repeated(ids: Iterable[bytes], items: str, field: str) -> None:
    """Refuse a batch of *items* in which an id, found under *field*, stands twice."""
    seen: set[bytes] = set()
    for index, identity in enumerate(ids):
        if identity in seen:
            raise RequestInvalid(field=f"{items}[{index}].{field}", rule="must not stand twice in one batch")
        seen.add(identity)


def valid_time(commit: Commit, place: str, valid_from: int | None, valid_to: int | None) -> tuple[int, int]:
    """
    The valid time of an item with its defaults: from the commit, without end.

    Raises:
        RequestInvalid: It ends before it begins.
    """
    start = commit.tx if valid_from is None else valid_from
    end = OPEN_END if valid_to is None else valid_to
    if end <= start:
        rule = "must be after valid_from_us, which is the time of the commit if absent"
        raise RequestInvalid(field=f"{place}.valid_to_us", rule=rule)
    return start, end
