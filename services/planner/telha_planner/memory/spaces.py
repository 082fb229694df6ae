"""The names of a tenant's spaces and their numbers."""

from collections.abc import Iterable

import sqlalchemy as sa

from .clock import Commit
from .pending import Pending
from .store import chunks
from .tables import space


def numbers(connection: sa.Connection, tenant: int, names: Iterable[str]) -> dict[str, int]:
    """The numbers of those of *names* that exist."""
    found: dict[str, int] = {}
    for chunk in chunks(sorted(set(names))):
        rows = connection.execute(
            sa.select(space.c.name, space.c.space_no).where(space.c.tenant == tenant, space.c.name.in_(chunk))
        )
        found.update((row.name, row.space_no) for row in rows)
    return found


class Spaces:
    """The spaces that a commit writes to; new ones are created with it."""

    def __init__(self, commit: Commit, names: Iterable[str]) -> None:
        self._numbers = numbers(commit.connection, commit.tenant, names)

    def known(self, name: str) -> int | None:
        """The number of *name*, None if there is no such space yet."""
        return self._numbers.get(name)

    def number(self, pending: Pending, name: str) -> int:
        """The number of *name*, created if need be."""
        found = self._numbers.get(name)
        if found is None:
            found = self._numbers[name] = pending.commit.number()
            pending.rows(space).append((pending.commit.tenant, found, name))
        return found
