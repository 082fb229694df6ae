"""
The tables of the trace store: one schema for SQLite and PostgreSQL, every key of content beginning with the tenant.

`migrations/` holds the steps that lead here; a test compares the two. All names begin with `trace`, so that traces may
share a database with the planner's memory.

Rule: what a listing filters by stands in columns and in `trace_space`, and is decided by comparisons that both engines
make alike. No statement looks into JSON.
"""

from typing import Final

import sqlalchemy as sa

EVERY_SPACE: Final = "*"
"""In `trace_space`: the trace read every space of its tenant. No space has this name."""

UNKNOWN_TENANT: Final = ""
"""The tenant of a dead letter that tells none. No tenant has this name."""

metadata: Final = sa.MetaData()

trace: Final = sa.Table(
    "trace",
    metadata,
    sa.Column("tenant", sa.Text, primary_key=True),
    sa.Column("trace_id", sa.LargeBinary(16), primary_key=True),
    sa.Column("recorded_us", sa.BigInteger, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("key_id", sa.Text),
    # A JSON list in the order of the record, only to be shown; null: every space.
    sa.Column("spaces", sa.Text),
    sa.Column("plan_hash", sa.Text),
    sa.Column("budget", sa.BigInteger, nullable=False),
    sa.Column("used", sa.BigInteger, nullable=False),
    sa.Column("items", sa.BigInteger, nullable=False),
    sa.Column("stranded", sa.BigInteger, nullable=False),
    sa.Column("record", sa.LargeBinary, nullable=False),
    sa.Column("bytes", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("used_share", sa.Double, nullable=False, server_default="0"),
    sa.Column("arrived_us", sa.BigInteger, nullable=False, server_default="0"),
    # All that a listing looks at stands in the index: rows are as large as their records.
    sa.Index("trace_by_time", "tenant", "recorded_us", "trace_id", "kind", "used_share", "stranded"),
    sa.Index("trace_by_kind", "tenant", "kind", "recorded_us", "trace_id"),
    sa.Index("trace_by_id", "trace_id"),
    # Retention goes by age over all tenants, and adds sizes up without reading rows.
    sa.Index("trace_by_age", "recorded_us", "tenant", "trace_id", "bytes"),
    sa.Index("trace_by_arrival", "arrived_us", "recorded_us", "tenant", "trace_id", "bytes"),
)
"""
The records, with what is listed of them.

*recorded_us* is by the planner's clock, *arrived_us* by the writer's, and never before that of a trace that is there;
*bytes* is the size of the record, *used_share* what was used of the budget, in [0, 1], 0 of none.
"""

READ_NOTHING: Final = trace.c.spaces == sa.literal_column("'[]'")
"""Of a trace: it read no space. Spelled out, so that a database knows the index for it."""

sa.Index(
    "trace_by_key",
    trace.c.tenant,
    trace.c.key_id,
    trace.c.recorded_us,
    trace.c.trace_id,
    trace.c.kind,
    trace.c.used_share,
    trace.c.stranded,
    sqlite_where=READ_NOTHING,
    postgresql_where=READ_NOTHING,
)

trace_space: Final = sa.Table(
    "trace_space",
    metadata,
    sa.Column("tenant", sa.Text, primary_key=True),
    sa.Column("space", sa.Text, primary_key=True),
    sa.Column("recorded_us", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("trace_id", sa.LargeBinary(16), primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("used_share", sa.Double, nullable=False, server_default="0"),
    sa.Column("stranded", sa.BigInteger, nullable=False, server_default="0"),
    sa.Index("trace_space_of_trace", "tenant", "trace_id", "space"),
)
"""Which spaces each trace read; in the order in which a space's traces are listed."""

trace_dead_letter: Final = sa.Table(
    "trace_dead_letter",
    metadata,
    sa.Column("tenant", sa.Text, primary_key=True),
    sa.Column("entry_id", sa.Text, primary_key=True),
    sa.Column("trace_id", sa.LargeBinary(16)),
    sa.Column("recorded_us", sa.BigInteger, nullable=False),
    sa.Column("buried_us", sa.BigInteger, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("fields", sa.LargeBinary, nullable=False),
    sa.Index("trace_dead_letter_by_trace", "trace_id"),
    sa.Index("trace_dead_letter_by_age", "recorded_us"),
)
"""Entries that can never be traces."""

trace_deletion: Final = sa.Table(
    "trace_deletion",
    metadata,
    sa.Column("tenant", sa.Text, primary_key=True),
    sa.Column("deleted_us", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("traces", sa.BigInteger, nullable=False),
    sa.Column("dead_letters", sa.BigInteger, nullable=False),
    sa.Column("dropped", sa.BigInteger, nullable=False),
)
"""Until when a tenant's records were deleted, and how many: now, and by arriving late."""

trace_dropped: Final = sa.Table(
    "trace_dropped",
    metadata,
    sa.Column("tenant", sa.Text, primary_key=True),
    sa.Column("trace_id", sa.LargeBinary(16), primary_key=True),
    sa.Index("trace_dropped_by_trace", "trace_id"),
)
"""
Ids of traces that are never to come back: erased one by one, removed for the size of all, or arrived after what ended
their kind. Its planner is told that they are settled, and stops sending them.
"""

trace_retention: Final = sa.Table(
    "trace_retention",
    metadata,
    sa.Column("tenant", sa.Text, primary_key=True),
    sa.Column("removed_until_us", sa.BigInteger, nullable=False),
    sa.Column("traces", sa.BigInteger, nullable=False),
)
"""Until when retention by age removed a tenant's traces, and how many went by age or size."""

trace_spool: Final = sa.Table(
    "trace_spool",
    metadata,
    sa.Column("spool", sa.Text, primary_key=True),
    sa.Column("settled_before_us", sa.BigInteger, nullable=False),
    sa.Column("reported_us", sa.BigInteger, nullable=False),
)
"""How far planners' spools are: each record whose id was made before that instant is settled. Of no tenant."""
