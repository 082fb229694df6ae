"""
Versions of the schema, oldest first; each store carries the revision it stands at.

`current` and `HEAD` are cheap, so that a start with nothing to migrate never loads the migration machinery.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from telha_planner.memory.database import StoreUnusable

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0004"
"""The newest revision; a test compares it with the scripts."""

VERSION_TABLE = "telha_schema"

NEIGHBOUR = "telha_trace_schema"
"""A table of the trace store, which may have made its schema in the same PostgreSQL database first."""


def current(connection: sa.Connection) -> str | None:
    """The revision that the store stands at; None for a store without one."""
    if not sa.inspect(connection).has_table(VERSION_TABLE):
        return None
    found = connection.execute(sa.select(sa.column("version_num")).select_from(sa.table(VERSION_TABLE))).scalar()
    return None if found is None else str(found)


def known(revision: str) -> bool:
    """Whether this installation has the script of *revision*."""
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - slow to load, and rarely needed

    scripts = ScriptDirectory.from_config(_configuration())
    return any(script.revision == revision for script in scripts.walk_revisions())


def refuse_unknown(connection: sa.Connection, place: str) -> str | None:
    """
    The revision that the store at *place* stands at, None for an empty one.

    Raises:
        StoreUnusable: It is a database of something else, or a newer version's.
    """
    found = current(connection)
    others = set() if found is not None else set(sa.inspect(connection).get_table_names())
    shared = connection.dialect.name == "postgresql" and NEIGHBOUR in others
    if others and not shared:
        raise StoreUnusable(f"{place} is a database of something else, not a memory store")
    if found is not None and not known(found):
        raise StoreUnusable(
            f"the memory store {place} was written by a newer version (schema {found}, "
            f"this version knows {HEAD}); update this installation"
        )
    return found


def upgrade(connection: sa.Connection) -> None:
    """Bring the store to `HEAD`, inside the transaction that *connection* has open."""
    from alembic import command  # noqa: PLC0415 - slow to load, and rarely needed

    configuration = _configuration()
    configuration.attributes["connection"] = connection
    command.upgrade(configuration, "head")


def _configuration() -> "Config":
    from alembic.config import Config  # noqa: PLC0415 - slow to load, and rarely needed

    configuration = Config()
    configuration.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    configuration.set_main_option("path_separator", "os")
    return configuration
