"""
The planner's settings: one class per section of the configuration file, defaults included.

Rule 1: nothing is clamped. A value out of range, NaN, infinity or an unknown key stops the start, with key, value
and range. Rule 2: `kind_priors` live here and nowhere else.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from telha_planner.core.model import MAX_OFFSET
from telha_planner.core.value import MAX_DIMENSIONS

Ratio = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Weight = Annotated[float, Field(ge=0, le=8, allow_inf_nan=False)]
MAX_DOCUMENT_BYTES = 256 * 1024 * 1024
"""Largest document that a limit may allow: it is held in memory, several times over, while it is ingested."""
REFUSED_IN_WORDS = 2
"""Messages of up to this many times the limit are read, so that we refuse them in words; beyond, the transport does."""
MAX_GRPC_BYTES = 2**31 - 1

Tokens = Annotated[int, Field(ge=1, le=MAX_OFFSET)]

KIND_PRIORS: dict[str, float] = {
    "paragraph": 1.0,
    "heading": 0.6,
    "cell": 0.8,
    "code": 0.9,
    "body": 1.0,
    "section": 1.0,
}


class Section(BaseModel):
    """A section of the file; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ScoringSettings(Section):
    """`[planner.scoring]`: the constants of S(n), docs/scoring.md."""

    semantic_share: Unit = 0.5
    context_weight: Weight = 1.0
    source_weight: Weight = 0.25
    speaker_weight: Weight = 0.5
    other_days_weight: Unit = 0.5
    window_weight: Unit = 0.9
    sharpening: Literal[1, 2, 4, 8, 16, 32, 64] = 64
    hop_decay: Ratio = 0.5
    min_cosine: Unit = 0.0
    min_bm25: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)] = 0.0
    form_weight: Unit = 0.75
    bm25_k1: Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)] = 0.8
    bm25_b: Unit = 0.3
    min_similarity: Unit = 0.09


class PlannerSettings(Section):
    """`[planner]`: how plans are made."""

    default_budget: Tokens = 6000
    max_frac_per_source: Ratio = 0.4
    cache_discount: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = 0.5
    dedup_overlap: Annotated[float, Field(gt=0.5, le=1, allow_inf_nan=False)] = 0.8
    kind_priors: dict[str, Ratio] = Field(default_factory=lambda: dict(KIND_PRIORS))
    expand_depth: Annotated[int, Field(ge=0, le=2)] = 1
    top_k: Annotated[int, Field(ge=1, le=1000)] = 64
    alpha: Unit = 0.5
    scoring: ScoringSettings = Field(default_factory=ScoringSettings)

    @field_validator("kind_priors", mode="after")
    @classmethod
    def _merge_over_defaults(cls, priors: dict[str, float]) -> dict[str, float]:
        return {**KIND_PRIORS, **priors}


class ContextSettings(Section):
    """`[context]`: the Context surface."""

    enabled: bool = True
    max_tokens_ceiling: Tokens = 8192
    max_spans_ceiling: Annotated[int, Field(ge=1, le=MAX_OFFSET)] = 64
    default_max_tokens: Tokens = 2000
    trace: bool = True

    @model_validator(mode="after")
    def _default_within_ceiling(self) -> "ContextSettings":
        if self.default_max_tokens > self.max_tokens_ceiling:
            raise ValueError(
                f"default_max_tokens = {self.default_max_tokens} must be at most "
                f"max_tokens_ceiling = {self.max_tokens_ceiling}"
            )
        return self


class ModelSettings(Section):
    """`[tokens.models."NAME"]`: how a reading model counts, and how much it can read."""

    encoding: str
    context_window: Tokens


class TokenSettings(Section):
    """`[tokens]`: what counts tokens."""

    default_encoding: str = "o200k_base"
    models: dict[str, ModelSettings] = Field(default_factory=dict)
    tokenizer_files: dict[str, Path] = Field(default_factory=dict)


class EmbeddingSettings(Section):
    """
    `[embedding]`: what makes vectors of passages and questions.

    The last six keys are those of the provider `http`.
    """

    provider: Literal["none", "use", "e5", "minilm", "http"] = "none"
    url: str | None = None
    model: str | None = None
    dimensions: Annotated[int, Field(ge=1, le=MAX_DIMENSIONS)] | None = None
    baseline: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)] | None = None
    timeout_ms: Annotated[int, Field(ge=1, le=600_000)] = 10_000
    api_key: str = Field(default="", repr=False)

    @model_validator(mode="after")
    def _endpoint_whole(self) -> "EmbeddingSettings":
        told = {"url": self.url, "model": self.model, "dimensions": self.dimensions}
        missing = [name for name, value in told.items() if value is None]
        if self.provider == "http" and missing:
            raise ValueError(f'provider = "http" needs {" and ".join(missing)}')
        named = [name for name, value in {**told, "baseline": self.baseline}.items() if value is not None]
        if self.provider not in {"http", "none"} and named:
            raise ValueError(f'provider = "{self.provider}" has its own {" and ".join(named)}')
        return self


class StoreSettings(Section):
    """`[store]`: the system of record."""

    url: str = "sqlite:///data/memory.db"
    migrate: Literal["manual", "auto"] = "manual"
    busy_timeout_ms: Annotated[int, Field(ge=1, le=600_000)] = 10_000
    columns_memory_mb: Annotated[int, Field(ge=16, le=1_048_576)] = 2048
    text_cache_mb: Annotated[int, Field(ge=1, le=1_048_576)] = 128


class ServerSettings(Section):
    """`[server]`: the gRPC listener."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 7340
    max_message_bytes: Annotated[int, Field(ge=1024, le=1 << 30)] = 4 * 1024 * 1024
    max_document_bytes: Annotated[int, Field(ge=1024, le=MAX_DOCUMENT_BYTES)] = 64 * 1024 * 1024
    max_held_bytes: Annotated[int, Field(ge=1024, le=1 << 40)] = 128 * 1024 * 1024
    max_upload_bytes: Annotated[int, Field(ge=1024, le=1 << 40)] = 256 * 1024 * 1024
    max_waiting: Annotated[int, Field(ge=0, le=10_000)] = 4
    default_deadline_ms: Annotated[int, Field(ge=1, le=3_600_000)] = 30_000
    idempotency_hours: Annotated[int, Field(ge=1, le=720)] = 24
    drain_notice_ms: Annotated[int, Field(ge=0, le=600_000)] = 0
    drain_ms: Annotated[int, Field(ge=0, le=600_000)] = 10_000
    max_connection_age_ms: Annotated[int, Field(ge=0, le=86_400_000)] = 300_000
    plan_calls_per_minute: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    context_calls_per_minute: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    write_calls_per_minute: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    metrics_port: Annotated[int, Field(ge=0, le=65_535)] = 0
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] = "json"
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    tls_client_authority: Path | None = None

    @property
    def max_read_bytes(self) -> int:
        """Largest message that is read at all: beyond `max_message_bytes` only to be refused in words."""
        return min(REFUSED_IN_WORDS * self.max_message_bytes, MAX_GRPC_BYTES)

    @model_validator(mode="after")
    def _messages_fit(self) -> "ServerSettings":
        if self.max_held_bytes < self.max_read_bytes:
            raise ValueError(
                f"max_held_bytes = {self.max_held_bytes} must be at least {self.max_read_bytes}, "
                f"{REFUSED_IN_WORDS} times max_message_bytes"
            )
        return self

    @model_validator(mode="after")
    def _uploads_fit(self) -> "ServerSettings":
        least = max(self.max_document_bytes, self.max_read_bytes)
        if self.max_upload_bytes < least:
            raise ValueError(
                f"max_upload_bytes = {self.max_upload_bytes} must be at least {least}, the greater of "
                f"max_document_bytes and {REFUSED_IN_WORDS} times max_message_bytes"
            )
        return self

    @model_validator(mode="after")
    def _tls_whole(self) -> "ServerSettings":
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise ValueError("tls_certificate and tls_key must be given together")
        if self.tls_client_authority is not None and self.tls_certificate is None:
            raise ValueError("tls_client_authority needs tls_certificate and tls_key")
        return self


class TraceSettings(Section):
    """
    `[trace]`: how records leave the planner.

    Attributes:
        durability: What a call waits for: its record in the `spool` on this disk, or in the `stream` of Redis.
        required: Whether a call fails when its record cannot be kept; else it is answered without a trace id.
        stream_max_entries: Planners send nothing while the stream holds more.
    """

    durability: Literal["spool", "stream"] = "spool"
    required: bool = True
    spool: Path = Path("data/spool")
    spool_max_mb: Annotated[int, Field(ge=1, le=1_048_576)] = 256
    redis_url: str = "redis://127.0.0.1:6379/0"
    stream: str = "telha:{trace}:0"
    stream_max_entries: Annotated[int, Field(ge=1, le=100_000_000)] = 100_000
    writer: str = "127.0.0.1:7341"
    internal_token: str = ""


FOREIGN_SECTIONS = frozenset({"writer", "gateway"})
"""Sections of the other services, which share the file."""


class PlannerConfig(Section):
    """Everything the planner is told; the sections of other services pass by unread."""

    planner: PlannerSettings = Field(default_factory=PlannerSettings)
    context: ContextSettings = Field(default_factory=ContextSettings)
    tokens: TokenSettings = Field(default_factory=TokenSettings)
    embedding: EmbeddingSettings = Field(default_factory=EmbeddingSettings)
    store: StoreSettings = Field(default_factory=StoreSettings)
    server: ServerSettings = Field(default_factory=ServerSettings)
    trace: TraceSettings = Field(default_factory=TraceSettings)
