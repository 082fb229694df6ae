"""What was used of each budget, beside what listings look at; by key, the traces alone that read nothing."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Create the columns, fill them from what stands in old rows, and put them into the index by time."""
    op.add_column("trace", sa.Column("used_share", sa.Double(), nullable=False, server_default="0"))
    op.add_column("trace_space", sa.Column("used_share", sa.Double(), nullable=False, server_default="0"))
    op.add_column("trace_space", sa.Column("stranded", sa.BigInteger(), nullable=False, server_default="0"))
    op.execute(
        "UPDATE trace SET used_share = CASE WHEN used >= budget THEN 1.0 "
        "ELSE CAST(used AS DOUBLE PRECISION) / budget END WHERE budget > 0"
    )
    same = "trace.tenant = trace_space.tenant AND trace.trace_id = trace_space.trace_id"
    for column in ("used_share", "stranded"):
        op.execute(
            f"UPDATE trace_space SET {column} = coalesce((SELECT {column} FROM trace WHERE {same}), 0)"  # noqa: S608  # names of ours
        )
    op.drop_index("trace_by_time", "trace")
    columns = ["tenant", "recorded_us", "trace_id", "kind", "used_share", "stranded"]
    op.create_index("trace_by_time", "trace", columns, unique=False)
    op.drop_index("trace_by_key", "trace")
    nothing = sa.text("spaces = '[]'")
    columns = ["tenant", "key_id", "recorded_us", "trace_id", "kind", "used_share", "stranded"]
    op.create_index("trace_by_key", "trace", columns, sqlite_where=nothing, postgresql_where=nothing)
