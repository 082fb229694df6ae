"""Vectors by text, models by time, derived artifacts, idempotency and API keys, erasure of spaces and tenants."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add columns that are empty in old rows, and new tables."""
    if op.get_bind().dialect.name != "postgresql":
        op.rename_table("vector", "node_vector")
    op.add_column("node_vector", sa.Column("text_hash", sa.LargeBinary(length=16), nullable=True))
    op.create_index("vector_of_text", "node_vector", ["tenant", "model", "text_hash"], unique=False)
    op.add_column("node_version", sa.Column("preface", sa.Text(), nullable=True))
    op.create_table(
        "active_model",
        sa.Column("tenant", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("row_no", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("tx_from", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "row_no"),
    )
    op.execute(
        sa.text(
            "INSERT INTO active_model (tenant, row_no, model, tx_from) "
            "SELECT tenant, row_no, model, tx_from FROM vector_model WHERE tx_from < :open_end"
        ).bindparams(open_end=2**63 - 1)
    )
    op.drop_column("vector_model", "tx_from")
    op.add_column("erasure", sa.Column("space", sa.Text(), nullable=True))
    op.create_table(
        "derivation",
        sa.Column("tenant", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("artifact_no", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("source_no", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "artifact_no", "source_no"),
    )
    op.create_index("derivation_of_source", "derivation", ["tenant", "source_no"], unique=False)
    op.create_table(
        "idempotency",
        sa.Column("tenant", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("request_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("outcome", sa.LargeBinary(), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "key"),
    )
    op.create_index("idempotency_by_age", "idempotency", ["tenant", "created_us"], unique=False)
    op.create_table(
        "deleted_tenant",
        sa.Column("tenant", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("deletion_id", sa.LargeBinary(length=16), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("deleted_us", sa.BigInteger(), nullable=False),
        sa.Column("removed", sa.Text(), nullable=False),
        sa.Column("traces", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("tenant"),
        sa.UniqueConstraint("deletion_id"),
    )
    op.create_index("deleted_tenant_by_name", "deleted_tenant", ["name"], unique=False)
    op.add_column("api_key", sa.Column("expires_us", sa.BigInteger(), nullable=True))
    op.create_index("api_key_of_tenant", "api_key", ["tenant", "created_us", "key_id"], unique=False)
