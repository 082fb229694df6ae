"""The first schema."""

import sqlalchemy as sa
from alembic import op

from telha_planner.memory.float_vector import FloatVector

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create every table."""
    op.create_table(
        "api_key",
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("tenant", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("rights", sa.Text(), nullable=False),
        sa.Column("spaces", sa.Text(), nullable=True),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("revoked_us", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("key_id"),
    )
    op.create_table(
        "clarification",
        sa.Column("tenant", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("row_no", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("clarification_id", sa.LargeBinary(length=16), nullable=False),
        sa.Column("node_no", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("tx_from", sa.BigInteger(), nullable=False),
        sa.Column("tx_to", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "row_no"),
    )
    op.create_index("clarification_by_id", "clarification", ["tenant", "clarification_id", "tx_from"], unique=False)
    op.create_index("clarification_closed", "clarification", ["tenant", "tx_to"], unique=False)
    op.create_table(
        "clock",
        sa.Column("tenant", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("last_tx", sa.BigInteger(), nullable=False),
        sa.Column("next_no", sa.BigInteger(), nullable=False),
        sa.Column("erased_tx", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant"),
    )
    op.create_table(
        "edge",
        sa.Column("tenant", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("edge_no", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("edge_id", sa.LargeBinary(length=16), nullable=False),
        sa.Column("from_node_no", sa.BigInteger(), nullable=False),
        sa.Column("to_node_no", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("source_no", sa.BigInteger(), nullable=True),
        sa.Column("valid_from", sa.BigInteger(), nullable=False),
        sa.Column("valid_to", sa.BigInteger(), nullable=False),
        sa.Column("tx_from", sa.BigInteger(), nullable=False),
        sa.Column("tx_to", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "edge_no"),
    )
    op.create_index("edge_by_id", "edge", ["tenant", "edge_id", "tx_from"], unique=False)
    op.create_index("edge_closed", "edge", ["tenant", "tx_to"], unique=False)
    op.create_index("edge_of_source", "edge", ["tenant", "source_no"], unique=False)
    op.create_table(
        "erasure",
        sa.Column("tenant", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("tx", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("source_id", sa.LargeBinary(length=16), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "tx", "source_id"),
    )
    op.create_table(
        "node",
        sa.Column("tenant", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("node_no", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("node_id", sa.LargeBinary(length=16), nullable=False),
        sa.Column("space_no", sa.BigInteger(), nullable=False),
        sa.Column("source_no", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "node_no"),
        sa.UniqueConstraint("tenant", "node_id"),
    )
    op.create_index("node_of_source", "node", ["tenant", "source_no"], unique=False)
    op.create_table(
        "node_span",
        sa.Column("tenant", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("link_no", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("version_no", sa.BigInteger(), nullable=False),
        sa.Column("span_no", sa.BigInteger(), nullable=False),
        sa.Column("tx_from", sa.BigInteger(), nullable=False),
        sa.Column("tx_to", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "link_no"),
    )
    op.create_index("node_span_closed", "node_span", ["tenant", "tx_to"], unique=False)
    op.create_index("node_span_of_version", "node_span", ["tenant", "version_no"], unique=False)
    op.create_table(
        "node_version",
        sa.Column("tenant", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("version_no", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("node_no", sa.BigInteger(), nullable=False),
        sa.Column("tx_from", sa.BigInteger(), nullable=False),
        sa.Column("tx_to", sa.BigInteger(), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), nullable=False),
        sa.Column("valid_to", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("properties", sa.Text(), nullable=False),
        sa.Column("state_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("term_ids", sa.LargeBinary(), nullable=False),
        sa.Column("term_counts", sa.LargeBinary(), nullable=False),
        sa.Column("term_total", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "version_no"),
    )
    op.create_index("node_version_closed", "node_version", ["tenant", "tx_to"], unique=False)
    op.create_index("node_version_of_node", "node_version", ["tenant", "node_no", "tx_from"], unique=False)
    op.create_table(
        "source",
        sa.Column("tenant", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("source_no", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("source_id", sa.LargeBinary(length=16), nullable=False),
        sa.Column("space_no", sa.BigInteger(), nullable=False),
        sa.Column("span_class", sa.SmallInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "source_no"),
        sa.UniqueConstraint("tenant", "source_id"),
    )
    op.create_table(
        "source_version",
        sa.Column("tenant", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("source_no", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("version_tx", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("version_no", sa.BigInteger(), nullable=False),
        sa.Column("tx_to", sa.BigInteger(), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("uri", sa.Text(), nullable=True),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("input_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("length", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "source_no", "version_tx"),
    )
    op.create_index("source_version_new", "source_version", ["tenant", "version_no"], unique=False)
    op.create_table(
        "space",
        sa.Column("tenant", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("space_no", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "space_no"),
        sa.UniqueConstraint("tenant", "name"),
    )
    op.create_table(
        "span",
        sa.Column("tenant", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("span_no", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("source_no", sa.BigInteger(), nullable=False),
        sa.Column("version_tx", sa.BigInteger(), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("end", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=True),
        sa.Column("ascii_bytes", sa.BigInteger(), nullable=False),
        sa.Column("other_chars", sa.BigInteger(), nullable=False),
        sa.Column("cl100k_base", sa.BigInteger(), nullable=False),
        sa.Column("o200k_base", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "span_no"),
        sa.UniqueConstraint("tenant", "source_no", "version_tx", "start", "end"),
    )
    op.create_table(
        "tenant",
        sa.Column("tenant", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant"),
        sa.UniqueConstraint("name"),
    )
    # On PostgreSQL a table is a type too, and pgvector's own is named vector; the next revision ends the difference.
    vectors = "node_vector" if op.get_bind().dialect.name == "postgresql" else "vector"
    op.create_table(
        vectors,
        sa.Column("tenant", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("row_no", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("node_no", sa.BigInteger(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), nullable=False),
        sa.Column("values", FloatVector(), nullable=False),
        sa.Column("tx_from", sa.BigInteger(), nullable=False),
        sa.Column("tx_to", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "row_no"),
    )
    op.create_index("vector_closed", vectors, ["tenant", "tx_to"], unique=False)
    op.create_index("vector_of_node", vectors, ["tenant", "node_no", "model"], unique=False)
    op.create_table(
        "vector_model",
        sa.Column("tenant", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("row_no", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("dimensions", sa.Integer(), nullable=False),
        sa.Column("baseline", sa.Double(), nullable=False),
        sa.Column("tx_from", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "row_no"),
        sa.UniqueConstraint("tenant", "model"),
    )
