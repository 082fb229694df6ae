"""
What an engine has to give the store; `sqlite` and `postgres` are the two.

Rule 1: a reading is one snapshot that waits for no writer; a writing is whole or absent.
Rule 2: errors of a driver end here: what a caller can only wait out becomes `Unavailable`, what the operator has to see
to becomes `StoreUnusable`. Rule 3: no message of this package holds an address with its password.
"""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import NamedTuple

import sqlalchemy as sa

PART = "the memory store"
"""How `Unavailable` names it."""


class StoreUnusable(Exception):
    """The store cannot be opened; the message is one sentence for the operator."""


class Schema(NamedTuple):
    """The revision of the schema that a store stands at, None if it has none yet, and the one that we need."""

    found: str | None
    needed: str


class Database(ABC):
    """An open database; safe to share between the threads of one process."""

    @abstractmethod
    def reading(self, tenant: int | None) -> AbstractContextManager[sa.Connection]:
        """As `Store.reading`."""

    @abstractmethod
    def writing(self, tenant: int | None) -> AbstractContextManager[sa.Connection]:
        """As `Store.writing`."""

    @abstractmethod
    def act_for(self, connection: sa.Connection, tenant: int | None) -> None:
        """As `Store.act_for`."""

    @abstractmethod
    def scrub(self) -> bool:
        """As `Store.scrub`."""

    @abstractmethod
    def close(self) -> None:
        """Close every connection."""
