"""
Versions of the trace store's schema, oldest first; each store carries the revision it stands at.

A file of the time before this table has `PRAGMA user_version = 1`, and is revision 0001. `current` and `HEAD` are
cheap, so that a start with nothing to migrate never loads the migration machinery.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import sqlalchemy as sa

if TYPE_CHECKING:
    from alembic.config import Config

HEAD: Final = "0006"
"""The newest revision; a test compares it with the scripts."""

FIRST: Final = "0001"

VERSION_TABLE: Final = "telha_trace_schema"


def current(connection: sa.Connection) -> str | None:
    """The revision that the store stands at; None for a store without one."""
    if sa.inspect(connection).has_table(VERSION_TABLE):
        found = connection.execute(sa.select(sa.column("version_num")).select_from(sa.table(VERSION_TABLE))).scalar()
        return None if found is None else str(found)
    if connection.dialect.name == "sqlite" and connection.exec_driver_sql("PRAGMA user_version").scalar() == 1:
        return FIRST
    return None


def known(revision: str) -> bool:
    """Whether this installation has the script of *revision*."""
    from alembic.script import ScriptDirectory  # noqa: PLC0415  # slow to load, and rarely needed

    scripts = ScriptDirectory.from_config(_configuration())
    return any(script.revision == revision for script in scripts.walk_revisions())


def upgrade(connection: sa.Connection) -> None:
    """Bring the store to `HEAD`, inside the transaction that *connection* has open."""
    from alembic import command  # noqa: PLC0415  # slow to load, and rarely needed

    configuration = _configuration()
    configuration.attributes["connection"] = connection
    if current(connection) == FIRST and not sa.inspect(connection).has_table(VERSION_TABLE):
        command.stamp(configuration, FIRST)
    command.upgrade(configuration, "head")


def _configuration() -> "Config":
    from alembic.config import Config  # noqa: PLC0415  # slow to load, and rarely needed

    configuration = Config()
    configuration.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    configuration.set_main_option("path_separator", "os")
    return configuration
