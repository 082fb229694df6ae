"""
The bitemporal schema, the same on every engine.

Instants are int64 µs since 1970 UTC; intervals are half-open `[from, to)`, and `OPEN_END` stands for "no end".
Every table begins with `tenant`, so that it can be distributed by it. Rows are appended; the only update is the
closing of `tx_to`. Surrogate numbers (`*_no`) come from the tenant's counter in `clock` and only ever grow, so a
reader that has seen number n and instant t finds what is new by `no > n`, and what was closed by `tx_to > t`.

The indexes on `tx_to` are for that tail alone. A query that narrows by something else writes its condition on `tx_to`
so that they cannot serve it (`clock.Commit.stands`): nearly every row is open, and SQLite would walk them all.

`api_key` is the one exception to "tenant first": the key is what tells the tenant.
`DIRECTORY` says who there is; every other table holds what belongs to one tenant and is seen by it alone.
"""

import sqlalchemy as sa

from .float_vector import FloatVector

metadata = sa.MetaData()

BIG = sa.BigInteger
_ID = sa.LargeBinary(16)

tenant = sa.Table(
    "tenant",
    metadata,
    sa.Column("tenant", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
)

clock = sa.Table(
    "clock",
    metadata,
    sa.Column("tenant", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("last_tx", BIG, nullable=False),  # 0 before the first commit
    sa.Column("next_no", BIG, nullable=False),  # next free surrogate number, from 1
    sa.Column("erased_tx", BIG, nullable=False),  # commit of the newest erasure, 0 if none
)

space = sa.Table(
    "space",
    metadata,
    sa.Column("tenant", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("space_no", BIG, primary_key=True, autoincrement=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.UniqueConstraint("tenant", "name"),
)

source = sa.Table(
    "source",
    metadata,
    sa.Column("tenant", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("source_no", BIG, primary_key=True, autoincrement=False),
    sa.Column("source_id", _ID, nullable=False),
    sa.Column("space_no", BIG, nullable=False),
    sa.Column("span_class", sa.SmallInteger, nullable=False),  # 0 truth, 1 cache (derived artifact)
    sa.UniqueConstraint("tenant", "source_id", "space_no"),  # an id names one thing in each space
)

source_version = sa.Table(
    "source_version",
    metadata,
    sa.Column("tenant", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("source_no", BIG, primary_key=True, autoincrement=False),
    sa.Column("version_tx", BIG, primary_key=True, autoincrement=False),
    sa.Column("version_no", BIG, nullable=False),
    sa.Column("tx_to", BIG, nullable=False),
    sa.Column("valid_from", BIG, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("uri", sa.Text),
    sa.Column("media_type", sa.Text, nullable=False),
    sa.Column("content_hash", sa.LargeBinary(32), nullable=False),  # BLAKE3 of the canonical text
    sa.Column("input_hash", sa.LargeBinary(32), nullable=False),  # BLAKE3 of all that ingestion was given
    sa.Column("length", BIG, nullable=False),  # bytes of canonical UTF-8
    sa.Column("text", sa.LargeBinary, nullable=False),
    sa.Index("source_version_new", "tenant", "version_no"),
)

span = sa.Table(
    "span",
    metadata,
    sa.Column("tenant", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("span_no", BIG, primary_key=True, autoincrement=False),
    sa.Column("source_no", BIG, nullable=False),
    sa.Column("version_tx", BIG, nullable=False),
    sa.Column("start", BIG, nullable=False),
    sa.Column("end", BIG, nullable=False),
    sa.Column("kind", sa.Text),  # NULL: no ledger row, the span counts as `body`
    sa.Column("ascii_bytes", BIG, nullable=False),
    sa.Column("other_chars", BIG, nullable=False),
    sa.Column("cl100k_base", BIG, nullable=False),
    sa.Column("o200k_base", BIG, nullable=False),
    sa.UniqueConstraint("tenant", "source_no", "version_tx", "start", "end"),
)

node = sa.Table(
    "node",
    metadata,
    sa.Column("tenant", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("node_no", BIG, primary_key=True, autoincrement=False),
    sa.Column("node_id", _ID, nullable=False),
    sa.Column("space_no", BIG, nullable=False),
    sa.Column("source_no", BIG),  # set for nodes made by ingestion, NULL for nodes written by API
    sa.UniqueConstraint("tenant", "node_id", "space_no"),
    sa.Index("node_of_source", "tenant", "source_no"),
)

node_version = sa.Table(
    "node_version",
    metadata,
    sa.Column("tenant", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("version_no", BIG, primary_key=True, autoincrement=False),
    sa.Column("node_no", BIG, nullable=False),
    sa.Column("tx_from", BIG, nullable=False),
    sa.Column("tx_to", BIG, nullable=False),
    sa.Column("valid_from", BIG, nullable=False),
    sa.Column("valid_to", BIG, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("properties", sa.Text, nullable=False),  # RFC 8785 JSON object
    sa.Column("state_hash", sa.LargeBinary(32), nullable=False),  # equal hash: nothing to write
    sa.Column("term_ids", sa.LargeBinary, nullable=False),  # uint64 little-endian, ascending
    sa.Column("term_counts", sa.LargeBinary, nullable=False),  # uint32 little-endian, beside term_ids
    sa.Column("term_total", BIG, nullable=False),  # document length of BM25
    # Stands before its text in what is embedded: names of source and sections. NULL: nothing is embedded.
    sa.Column("preface", sa.Text),
    sa.Index("node_version_of_node", "tenant", "node_no", "tx_from"),
    sa.Index("node_version_closed", "tenant", "tx_to"),
)

# A link ends when its node version is kept and moves to the next version of its source. Links of a version that has
# ended itself stay as they are: they are read through a visible version only.
node_span = sa.Table(
    "node_span",
    metadata,
    sa.Column("tenant", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("link_no", BIG, primary_key=True, autoincrement=False),
    sa.Column("version_no", BIG, nullable=False),
    sa.Column("span_no", BIG, nullable=False),
    sa.Column("tx_from", BIG, nullable=False),
    sa.Column("tx_to", BIG, nullable=False),
    sa.Index("node_span_of_version", "tenant", "version_no"),
    sa.Index("node_span_closed", "tenant", "tx_to"),
)

edge = sa.Table(
    "edge",
    metadata,
    sa.Column("tenant", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("edge_no", BIG, primary_key=True, autoincrement=False),
    sa.Column("edge_id", _ID, nullable=False),
    sa.Column("from_node_no", BIG, nullable=False),
    sa.Column("to_node_no", BIG, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("confidence", sa.Double, nullable=False),
    sa.Column("source_no", BIG),  # set for edges made by ingestion
    sa.Column("valid_from", BIG, nullable=False),
    sa.Column("valid_to", BIG, nullable=False),
    sa.Column("tx_from", BIG, nullable=False),
    sa.Column("tx_to", BIG, nullable=False),
    sa.Index("edge_by_id", "tenant", "edge_id", "tx_from"),
    sa.Index("edge_of_source", "tenant", "source_no"),
    sa.Index("edge_closed", "tenant", "tx_to"),
)

clarification = sa.Table(
    "clarification",
    metadata,
    sa.Column("tenant", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("row_no", BIG, primary_key=True, autoincrement=False),
    sa.Column("clarification_id", _ID, nullable=False),
    sa.Column("node_no", BIG, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("tx_from", BIG, nullable=False),
    sa.Column("tx_to", BIG, nullable=False),
    sa.Index("clarification_by_id", "tenant", "clarification_id", "tx_from"),
    sa.Index("clarification_closed", "tenant", "tx_to"),
)

vector = sa.Table(
    "node_vector",  # on PostgreSQL a table is a type too, and pgvector's own is named vector
    metadata,
    sa.Column("tenant", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("row_no", BIG, primary_key=True, autoincrement=False),
    sa.Column("node_no", BIG, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("valid_from", BIG, nullable=False),
    sa.Column("values", FloatVector, nullable=False),
    sa.Column("tx_from", BIG, nullable=False),
    sa.Column("tx_to", BIG, nullable=False),
    sa.Column("text_hash", sa.LargeBinary(16)),  # of the text it was made from; NULL: the caller's own vector
    sa.Index("vector_of_node", "tenant", "node_no", "model"),
    sa.Index("vector_of_text", "tenant", "model", "text_hash"),
    sa.Index("vector_closed", "tenant", "tx_to"),
)

vector_model = sa.Table(
    "vector_model",
    metadata,
    sa.Column("tenant", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("row_no", BIG, primary_key=True, autoincrement=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("dimensions", sa.Integer, nullable=False),
    sa.Column("baseline", sa.Double, nullable=False),  # cosine of unrelated texts under the model
    sa.UniqueConstraint("tenant", "model"),
)

# The newest row at tx_t names the active model; the vectors of others wait.
active_model = sa.Table(
    "active_model",
    metadata,
    sa.Column("tenant", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("row_no", BIG, primary_key=True, autoincrement=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("tx_from", BIG, nullable=False),
)

erasure = sa.Table(
    "erasure",
    metadata,
    sa.Column("tenant", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("tx", BIG, primary_key=True, autoincrement=False),
    sa.Column("source_id", _ID, primary_key=True),  # zeros: what a whole space held beside its sources
    sa.Column("space", sa.Text),  # where; null: in several, or a source before this was noted
)

derivation = sa.Table(
    "derivation",
    metadata,
    sa.Column("tenant", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("artifact_no", BIG, primary_key=True, autoincrement=False),  # the source_no of a derived artifact
    sa.Column("source_no", BIG, primary_key=True, autoincrement=False),  # a source that it was made from
    sa.Index("derivation_of_source", "tenant", "source_no"),
)

idempotency = sa.Table(
    "idempotency",
    metadata,
    sa.Column("tenant", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("request_hash", sa.LargeBinary(32), nullable=False),  # BLAKE3 of the method and all that it was given
    sa.Column("outcome", sa.LargeBinary, nullable=False),  # what was answered, to be answered again
    sa.Column("created_us", BIG, nullable=False),
    sa.Index("idempotency_by_age", "tenant", "created_us"),
)

# Tenants that are gone: their numbers are never given out again, and their receipts can be shown.
deleted_tenant = sa.Table(
    "deleted_tenant",
    metadata,
    sa.Column("tenant", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("deletion_id", _ID, nullable=False, unique=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("deleted_us", BIG, nullable=False),
    sa.Column("removed", sa.Text, nullable=False),  # JSON object: rows removed, by table
    sa.Column("traces", BIG),  # traces removed; NULL: the trace writer has not said so yet
    sa.Index("deleted_tenant_by_name", "name"),
)

api_key = sa.Table(
    "api_key",
    metadata,
    sa.Column("key_id", sa.Text, primary_key=True),
    sa.Column("secret_hash", sa.LargeBinary(32), nullable=False),  # BLAKE3 of the whole key
    sa.Column("tenant", sa.Integer, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("rights", sa.Text, nullable=False),  # space-separated: read write admin operator
    sa.Column("spaces", sa.Text),  # JSON array; NULL: every space of the tenant
    sa.Column("created_us", BIG, nullable=False),
    sa.Column("revoked_us", BIG),
    sa.Column("expires_us", BIG),  # NULL: never
    sa.Index("api_key_of_tenant", "tenant", "created_us", "key_id"),
)

DIRECTORY = (tenant, clock, api_key, deleted_tenant)
"""Read before it is known whose call it is, or across tenants; they hold no content."""

CONTENT = tuple(table for table in metadata.sorted_tables if table not in DIRECTORY)
"""What belongs to one tenant each."""
