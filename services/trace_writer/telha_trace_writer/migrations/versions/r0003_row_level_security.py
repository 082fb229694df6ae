"""
PostgreSQL shows a transaction the rows of the tenant that it names; only the writer's own work sees all.

Forced, so that it holds for the owner of the tables too. SQLite has no such thing.
"""

from alembic import op

revision = "0003"
down_revision = "0002"

TABLES = ("trace", "trace_space", "trace_dead_letter", "trace_deletion", "trace_dropped")


def upgrade() -> None:
    """Switch row-level security on."""
    if op.get_bind().dialect.name != "postgresql":
        return
    # A setting that was set for one transaction is '' afterwards, which is also the tenant of unknown dead letters.
    mine = "tenant = nullif(current_setting('telha.trace_tenant', true), '')"
    every = "current_setting('telha.trace_tenants', true) = 'all'"
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY {table}_of_tenant ON {table} USING ({every} OR {mine})")
