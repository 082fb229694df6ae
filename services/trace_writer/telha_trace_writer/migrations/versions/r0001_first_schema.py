"""The first schema, as its SQLite files have it."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create traces and dead letters."""
    op.create_table(
        "trace",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("trace_id", sa.LargeBinary(length=16), nullable=False),
        sa.Column("recorded_us", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("spaces", sa.Text(), nullable=True),
        sa.Column("plan_hash", sa.Text(), nullable=True),
        sa.Column("budget", sa.BigInteger(), nullable=False),
        sa.Column("used", sa.BigInteger(), nullable=False),
        sa.Column("items", sa.BigInteger(), nullable=False),
        sa.Column("stranded", sa.BigInteger(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "trace_id"),
    )
    op.create_index("trace_by_time", "trace", ["tenant", "recorded_us", "trace_id"], unique=False)
    op.create_index("trace_by_id", "trace", ["trace_id"], unique=False)
    op.create_table(
        "dead_letter",
        sa.Column("entry_id", sa.Text(), nullable=False),
        sa.Column("trace_id", sa.LargeBinary(length=16), nullable=True),
        sa.Column("buried_us", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("fields", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("entry_id"),
    )
    op.create_index("dead_letter_by_trace", "dead_letter", ["trace_id"], unique=False)
