"""
The trace writer's settings: `[writer]`, and what it shares with planners in `[trace]`.

Rule: `[trace]` belongs to the planner, which refuses its unknown keys; the writer reads what both must agree on.
"""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

FOREIGN_SECTIONS: Final = frozenset({"planner", "context", "tokens", "embedding", "store", "server", "gateway"})
"""Sections of the other services, which pass unread."""


POSTGRES_SCHEMES: Final = ("postgresql://", "postgres://")
"""How the address of a store begins that is no path."""


class SharedTraceSettings(BaseModel):
    """
    `[trace]`, as far as the writer reads it.

    Attributes:
        stream: Key of the stream; its hash tag keeps it and the dead-letter stream in one slot of a cluster.
        writer: Where the writer listens: `host:port` or `unix:/path`.
        internal_token: What planners must show; at least 16 characters.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    redis_url: str = "redis://127.0.0.1:6379/0"
    stream: str = "telha:{trace}:0"
    writer: str = "127.0.0.1:7341"
    internal_token: Annotated[str, Field(min_length=16)]


class WriterSettings(BaseModel):
    """
    `[writer]`.

    Attributes:
        store: Where the traces are: the path of a SQLite file, or `postgresql://user:password@host:port/database`.
        migrate: Whether a start migrates an older schema on PostgreSQL (`auto`), or refuses it.
        busy_timeout_ms: How long to wait for another writer's lock.
        group: Consumer group; all writers of one store share it.
        batch_entries: Most entries in one transaction.
        reclaim_idle_ms: A delivery that nobody acknowledged for this long is taken over.
        max_deliveries: An entry that was delivered more often is taken for poison.
        retention_days: Traces recorded longer ago are removed; 0 keeps all.
        retention_max_mb: While the records are more MiB together, the oldest are removed; 0 keeps all.
        metrics_host, metrics_port: Where Prometheus metrics are served; port 0 serves none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    store: str = "data/traces.db"
    migrate: Literal["manual", "auto"] = "manual"
    busy_timeout_ms: Annotated[int, Field(ge=1, le=600_000)] = 10_000
    group: str = "writer"
    batch_entries: Annotated[int, Field(ge=1, le=10_000)] = 200
    reclaim_idle_ms: Annotated[int, Field(ge=50, le=3_600_000)] = 3000
    max_deliveries: Annotated[int, Field(ge=1, le=1000)] = 5
    retention_days: Annotated[int, Field(ge=0, le=36_500)] = 0
    retention_max_mb: Annotated[int, Field(ge=0, le=1_073_741_824)] = 0
    metrics_host: str = "127.0.0.1"
    metrics_port: Annotated[int, Field(ge=0, le=65_535)] = 0
    drain_ms: Annotated[int, Field(ge=0, le=600_000)] = 10_000
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] = "json"

    @field_validator("store", mode="after")
    @classmethod
    def _path_or_postgresql(cls, store: str) -> str:
        # Without the value, which may hold a password.
        if not store.strip() or ("://" in store and not store.startswith(POSTGRES_SCHEMES)):
            raise ValueError("must be a path, or an address that begins with postgresql://")
        return store


class WriterConfig(BaseModel):
    """Everything the trace writer is told."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    trace: SharedTraceSettings
    writer: WriterSettings = Field(default_factory=WriterSettings)


class StreamSettings(BaseModel):
    """`[trace]`, as far as `telha-trace-writer dead-letters` reads it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    redis_url: str = "redis://127.0.0.1:6379/0"
    stream: str = "telha:{trace}:0"


class LettersConfig(BaseModel):
    """What `telha-trace-writer dead-letters` reads: where the store and the stream are."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    trace: StreamSettings = Field(default_factory=StreamSettings)
    writer: WriterSettings = Field(default_factory=WriterSettings)


class StoreConfig(BaseModel):
    """What `telha-trace-writer migrate` reads: where the store is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    writer: WriterSettings = Field(default_factory=WriterSettings)
