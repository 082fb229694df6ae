"""What a store asks of its database engine; `sqlite.py` and `postgres.py` answer."""

from typing import Protocol

import sqlalchemy as sa


class Backend(Protocol):
    """One database."""

    @property
    def place(self) -> str:
        """Where it is, for people; never with a password."""

    @property
    def engine(self) -> sa.Engine:
        """Its connections. The option `telha_writes` says before a transaction that it writes."""

    @property
    def made_alone(self) -> bool:
        """Whether the schema is nobody's but this process's, so that it is migrated without being asked to."""

    def refuse_foreign(self, connection: sa.Connection, *, newest: bool) -> None:
        """Refuse what cannot be a trace store, *newest* if its schema is up to date; raises `StoreUnusable`."""

    def prepare(self) -> None:
        """What there is to do before the schema is looked at."""

    def scope(self, connection: sa.Connection, tenant: str | None) -> None:
        """Let the transaction see *tenant* alone, or every tenant."""

    def lock_for_migration(self, connection: sa.Connection) -> None:
        """Return when nobody else migrates."""

    def lock_for_insert(self, connection: sa.Connection) -> None:
        """Return when nobody deletes."""

    def lock_for_deletion(self, connection: sa.Connection) -> None:
        """Return when nobody inserts."""

    def adding(self, table: sa.Table) -> sa.Insert:
        """An insert that leaves rows alone which are there already."""

    def scrub(self) -> None:
        """Overwrite or free what was deleted, as far as the database lets its user."""

    def make_shrinkable(self) -> None:
        """See to it that `scrub` can give space back."""
