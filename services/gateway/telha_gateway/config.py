"""
The gateway's settings: `[gateway]` of the configuration file.

Rule: nothing is clamped; a value out of range or an unknown key stops the start.
"""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Milliseconds = Annotated[int, Field(ge=1, le=3_600_000)]

FOREIGN_SECTIONS = frozenset({"planner", "context", "tokens", "embedding", "store", "server", "trace", "writer"})
"""Sections of the other services, which share the file."""


_SEVERAL = (re.compile(r"\d+\.\d+\.\d+\.\d+:\d+"), re.compile(r"\[[0-9a-fA-F:.]+\]:\d+"))


class GatewaySettings(BaseModel):
    """`[gateway]`: the REST listener and the way to the planner."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 7380
    planner: str = "127.0.0.1:7340"
    planner_tls: bool = False
    planner_tls_authority: Path | None = None
    planner_tls_certificate: Path | None = None
    planner_tls_key: Path | None = None
    max_body_bytes: Annotated[int, Field(ge=1024, le=1 << 30)] = 4 * 1024 * 1024
    max_held_bytes: Annotated[int, Field(ge=1024, le=1 << 40)] = 64 * 1024 * 1024
    timeout_ms: Milliseconds = 30_000
    upload_timeout_ms: Milliseconds = 600_000
    drain_notice_ms: Annotated[int, Field(ge=0, le=600_000)] = 0
    drain_ms: Annotated[int, Field(ge=0, le=600_000)] = 10_000
    viewer: bool = True
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] = "json"

    @model_validator(mode="after")
    def _tls_whole(self) -> "GatewaySettings":
        if (self.planner_tls_certificate is None) != (self.planner_tls_key is None):
            raise ValueError("planner_tls_certificate and planner_tls_key must be given together")
        named = self.planner_tls_authority is not None or self.planner_tls_certificate is not None
        if named and not self.planner_tls:
            raise ValueError(
                "planner_tls_authority, planner_tls_certificate and planner_tls_key need planner_tls = true"
            )
        return self

    @field_validator("planner")
    @classmethod
    def _addresses(cls, planner: str) -> str:
        each = planner.split(",")
        if len(each) > 1 and not any(all(map(kind.fullmatch, each)) for kind in _SEVERAL):
            raise ValueError("of several planners each must be an IP address with a port, all of one kind")
        return planner

    @model_validator(mode="after")
    def _room_for_one(self) -> "GatewaySettings":
        if self.max_held_bytes < self.max_body_bytes:
            raise ValueError("max_held_bytes must be at least max_body_bytes, or the largest body never fits")
        return self


class GatewayConfig(BaseModel):
    """Everything the gateway is told; the sections of other services pass by unread."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    gateway: GatewaySettings = Field(default_factory=GatewaySettings)
