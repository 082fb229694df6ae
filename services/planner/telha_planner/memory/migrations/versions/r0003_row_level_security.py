"""Row-level security on PostgreSQL: a transaction sees the rows of the tenant it names, and no others."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_DIRECTORY = {"tenant", "clock", "api_key", "deleted_tenant", "telha_schema"}


def upgrade() -> None:
    """Guard every table that holds what belongs to one tenant, the owner's own access included."""
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    for table in sorted(set(sa.inspect(connection).get_table_names()) - _DIRECTORY):
        op.execute(f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY')
        op.execute(f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY')
        # Once set, a setting that is not set any more is an empty text.
        op.execute(
            f'CREATE POLICY one_tenant ON "{table}" '
            "USING (tenant = nullif(current_setting('telha.tenant', true), '')::integer)"
        )
