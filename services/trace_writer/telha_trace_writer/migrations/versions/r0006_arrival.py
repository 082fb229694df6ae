"""When each trace arrived, by the writer's clock: in that order they go when there are too many."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add it; of what is there the order of recording is the best that is known, and it goes first."""
    op.add_column("trace", sa.Column("arrived_us", sa.BigInteger(), nullable=False, server_default="0"))
    columns = ["arrived_us", "recorded_us", "tenant", "trace_id", "bytes"]
    op.create_index("trace_by_arrival", "trace", columns, unique=False)
