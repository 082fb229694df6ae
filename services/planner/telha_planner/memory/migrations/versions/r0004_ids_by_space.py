"""An id of a source or a node names one thing in each space, and no longer one in all of its tenant."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_KEYS = {"source": "source_id", "node": "node_id"}


def upgrade() -> None:
    """Exchange two unique constraints; rows stay as they are."""
    if op.get_bind().dialect.name == "postgresql":
        for table, key in _KEYS.items():
            old, new = f"{table}_tenant_{key}_key", f"{table}_tenant_{key}_space_no_key"
            op.execute(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {old}, DROP CONSTRAINT IF EXISTS {new}")
            op.create_unique_constraint(new, table, ["tenant", key, "space_no"])
        return
    # SQLite drops no constraint: the tables are written anew.
    op.create_table(
        "source_by_space",
        sa.Column("tenant", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("source_no", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("source_id", sa.LargeBinary(length=16), nullable=False),
        sa.Column("space_no", sa.BigInteger(), nullable=False),
        sa.Column("span_class", sa.SmallInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "source_no"),
        sa.UniqueConstraint("tenant", "source_id", "space_no"),
    )
    op.create_table(
        "node_by_space",
        sa.Column("tenant", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("node_no", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("node_id", sa.LargeBinary(length=16), nullable=False),
        sa.Column("space_no", sa.BigInteger(), nullable=False),
        sa.Column("source_no", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "node_no"),
        sa.UniqueConstraint("tenant", "node_id", "space_no"),
    )
    columns = {
        "source": "tenant, source_no, source_id, space_no, span_class",
        "node": "tenant, node_no, node_id, space_no, source_no",
    }
    for table, names in columns.items():
        op.execute(f"INSERT INTO {table}_by_space ({names}) SELECT {names} FROM {table}")  # noqa: S608  # names of ours
        op.drop_table(table)
        op.rename_table(f"{table}_by_space", table)
    op.create_index("node_of_source", "node", ["tenant", "source_no"], unique=False)
