"""Sizes of traces and their order by age, how far retention went, and how far each spool is."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create what is new; sizes of old rows are those of their records."""
    op.add_column("trace", sa.Column("bytes", sa.BigInteger(), nullable=False, server_default="0"))
    op.execute("UPDATE trace SET bytes = length(record)")
    op.create_index("trace_by_age", "trace", ["recorded_us", "tenant", "trace_id", "bytes"], unique=False)
    op.create_index("trace_dead_letter_by_age", "trace_dead_letter", ["recorded_us"], unique=False)
    op.create_table(
        "trace_retention",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("removed_until_us", sa.BigInteger(), nullable=False),
        sa.Column("traces", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant"),
    )
    op.create_table(
        "trace_spool",
        sa.Column("spool", sa.Text(), nullable=False),
        sa.Column("settled_before_us", sa.BigInteger(), nullable=False),
        sa.Column("reported_us", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("spool"),
    )
    if op.get_bind().dialect.name != "postgresql":
        return
    every = "current_setting('telha.trace_tenants', true) = 'all'"
    mine = "tenant = nullif(current_setting('telha.trace_tenant', true), '')"
    for table, rows in (("trace_retention", f"{every} OR {mine}"), ("trace_spool", every)):
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY {table}_of_tenant ON {table} USING ({rows})")
