"""Run by Alembic: migrates over the connection that the store hands in, inside its transaction."""

from alembic import context

from telha_trace_writer.migrations import VERSION_TABLE
from telha_trace_writer.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
)
with context.begin_transaction():
    context.run_migrations()
