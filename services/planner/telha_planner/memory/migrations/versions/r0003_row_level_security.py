"""Row-level security on PostgreSQL: a transaction sees the rows of the tenant it names, and no others."""

from alembic import op

revision = "0003"
down_revision = "0002"

_CONTENT = (
    "active_model",
    "clarification",
    "derivation",
    "edge",
    "erasure",
    "idempotency",
    "node",
    "node_span",
    "node_vector",
    "node_version",
    "source",
    "source_version",
    "space",
    "span",
    "vector_model",
)


def upgrade() -> None:
    """Guard every table that holds what belongs to one tenant, the owner's own access included, and no neighbour's."""
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    for table in _CONTENT:
        op.execute(f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY')
        op.execute(f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY')
        # Once set, a setting that is not set any more is an empty text.
        op.execute(
            f'CREATE POLICY one_tenant ON "{table}" '
            "USING (tenant = nullif(current_setting('telha.tenant', true), '')::integer)"
        )
