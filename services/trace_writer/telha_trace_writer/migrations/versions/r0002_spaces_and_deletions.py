"""
Spaces and keys of traces in columns of their own, dead letters by tenant, deletion of tenants.

What stands in old rows is read from their own records and entries; no row is lost.
"""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import msgpack
import sqlalchemy as sa
from alembic import op

from telha_trace_writer.deadletter import origin
from telha_trace_writer.record import RecordMalformed, key_of

revision = "0002"
down_revision = "0001"

_ROWS_AT_ONCE = 500

_trace = sa.table("trace", *map(sa.column, ("tenant", "trace_id", "recorded_us", "kind", "key_id", "spaces", "record")))
_old_letter = sa.table("dead_letter", *map(sa.column, ("entry_id", "trace_id", "buried_us", "reason", "fields")))


def upgrade() -> None:
    """Create the new tables and fill them from the old."""
    op.add_column("trace", sa.Column("key_id", sa.Text(), nullable=True))
    op.create_index("trace_by_kind", "trace", ["tenant", "kind", "recorded_us", "trace_id"], unique=False)
    op.create_index("trace_by_key", "trace", ["tenant", "key_id", "recorded_us", "trace_id"], unique=False)
    space = op.create_table(
        "trace_space",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("space", sa.Text(), nullable=False),
        sa.Column("recorded_us", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("trace_id", sa.LargeBinary(length=16), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "space", "recorded_us", "trace_id"),
    )
    op.create_index("trace_space_of_trace", "trace_space", ["tenant", "trace_id", "space"], unique=False)
    letter = op.create_table(
        "trace_dead_letter",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("entry_id", sa.Text(), nullable=False),
        sa.Column("trace_id", sa.LargeBinary(length=16), nullable=True),
        sa.Column("recorded_us", sa.BigInteger(), nullable=False),
        sa.Column("buried_us", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("fields", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "entry_id"),
    )
    op.create_index("trace_dead_letter_by_trace", "trace_dead_letter", ["trace_id"], unique=False)
    op.create_table(
        "trace_deletion",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("deleted_us", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("traces", sa.BigInteger(), nullable=False),
        sa.Column("dead_letters", sa.BigInteger(), nullable=False),
        sa.Column("dropped", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "deleted_us"),
    )
    op.create_table(
        "trace_dropped",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("trace_id", sa.LargeBinary(length=16), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "trace_id"),
    )
    op.create_index("trace_dropped_by_trace", "trace_dropped", ["trace_id"], unique=False)
    connection = op.get_bind()
    for rows in _traces(connection):
        _fill(connection, space, rows)
    _move_letters(connection, letter)
    op.drop_table("dead_letter")
    if connection.dialect.name == "sqlite":
        # Programs of before this schema look here, and refuse what they do not know.
        connection.exec_driver_sql("PRAGMA user_version = 2")


def _traces(connection: sa.Connection) -> Iterator[list[Any]]:
    last: tuple[str, bytes] = ("", b"")
    while True:
        rows = list(
            connection.execute(
                sa.select(_trace)
                .where(sa.tuple_(_trace.c.tenant, _trace.c.trace_id) > sa.tuple_(*last))
                .order_by(_trace.c.tenant, _trace.c.trace_id)
                .limit(_ROWS_AT_ONCE)
            )
        )
        if not rows:
            return
        yield rows
        last = (rows[-1].tenant, rows[-1].trace_id)


def _fill(connection: sa.Connection, space: sa.Table, rows: list[Any]) -> None:
    keys: list[dict[str, Any]] = []
    spaces: list[dict[str, Any]] = []
    for row in rows:
        # A record that cannot be read any more stays as it is, with no key.
        with contextlib.suppress(RecordMalformed):
            keys.append({"of": row.tenant, "id": row.trace_id, "key": key_of(row.record)})
        read = ["*"] if row.spaces is None else dict.fromkeys(json.loads(row.spaces))
        place = {"tenant": row.tenant, "trace_id": row.trace_id, "recorded_us": row.recorded_us, "kind": row.kind}
        spaces.extend(place | {"space": name} for name in read)
    if keys:
        this = (_trace.c.tenant == sa.bindparam("of"), _trace.c.trace_id == sa.bindparam("id"))
        connection.execute(sa.update(_trace).where(*this).values(key_id=sa.bindparam("key")), keys)
    if spaces:
        connection.execute(sa.insert(space), spaces)


def _move_letters(connection: sa.Connection, letter: sa.Table) -> None:
    for row in connection.execute(sa.select(_old_letter)).mappings().fetchall():
        tenant, _, recorded_us = origin(msgpack.unpackb(row["fields"]), row["buried_us"])
        connection.execute(sa.insert(letter).values(tenant=tenant, recorded_us=recorded_us, **row))
