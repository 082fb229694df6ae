"""
A pool of fragments from a JSON file, for `telha select`.

The file is a list of fragments, or the body of `POST /v1/select`: camelCase, no unknown fields, numbers as numbers.
"""

import sys
from pathlib import Path
from typing import Any, Literal

import msgspec
from telha_client import Fragment, Span

from .problems import Problem, UsageInvalid

MOST_BYTES = 256 * 1024 * 1024
"""Far more than the 100,000 fragments that a server takes; what goes on without end is not read to its end."""

_SHAPE = (
    'a fragment is {"span": {"sourceId": "<uuid>", "sourceVersionTx": 1, "start": 0, "end": 35}, '
    '"text": "…", "score": 0.8}; see docs/select.md'
)


class _Strict(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """Refuses what it does not know."""


class _Span(_Strict):
    source_id: str
    source_version_tx: int
    start: int
    end: int


class _Fragment(_Strict):
    span: _Span
    kind: str = "body"
    span_class: Literal["truth", "cache"] = msgspec.field(default="truth", name="class")
    text: str | None = None
    tokens: int | None = None
    score: float | None = None


class _Budget(_Strict):
    max_tokens: int | None = None
    max_spans: int | None = None


class _Body(_Strict):
    pool: list[_Fragment]
    question: str | None = None
    budget: _Budget = msgspec.field(default_factory=_Budget)
    model: str | None = None
    max_frac_per_source: float | None = None
    span_overhead_tokens: int | None = None
    allow_ungrounded: bool = False
    explain: bool = False


def read(path: Path) -> tuple[list[Fragment], dict[str, Any]]:
    """
    Read the file at *path* (`-` is standard input).

    Returns:
        The fragments, and the other members of the body as keyword arguments of the client's `select`; what the file
        does not say is left out.

    Raises:
        UsageInvalid: There is no such file, or it is too large.
        Problem: It is not JSON of this shape; names the place.
    """
    try:
        if str(path) == "-":
            content = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with path.open("rb") as opened:
                content = opened.read(MOST_BYTES + 1)
    except OSError as fault:
        raise UsageInvalid(str(path), f"cannot be read: {fault.strerror}") from None
    if len(content) > MOST_BYTES:
        raise UsageInvalid(str(path), f"must be at most {MOST_BYTES:,} bytes")
    try:
        if content.lstrip().startswith(b"["):
            body = _Body(pool=msgspec.json.decode(content, type=list[_Fragment]))
        else:
            body = msgspec.json.decode(content, type=_Body)
    except msgspec.ValidationError as fault:
        rule, _, place = str(fault).partition(" - at `$")
        field = place.rstrip("`").lstrip(".")
        field = f"pool{field}" if not field or field.startswith("[") else field
        extra = {"field": field, "rule": rule}
        raise Problem("INVALID_REQUEST", f"{path}: {field}: {rule}", hint=_SHAPE, extra=extra) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise Problem("INVALID_REQUEST", f"{path} is not valid JSON: {fault}") from None
    told = {
        "question": body.question,
        "max_tokens": body.budget.max_tokens,
        "max_spans": body.budget.max_spans,
        "model": body.model,
        "max_frac_per_source": body.max_frac_per_source,
        "span_overhead_tokens": body.span_overhead_tokens,
        "allow_ungrounded": body.allow_ungrounded or None,
        "explain": body.explain or None,
    }
    return [_fragment(fragment) for fragment in body.pool], {k: v for k, v in told.items() if v is not None}


def _fragment(given: _Fragment) -> Fragment:
    span = given.span
    return Fragment(
        span=Span(span.source_id, span.source_version_tx, span.start, span.end),
        kind=given.kind,
        span_class=given.span_class,
        text=given.text,
        tokens=given.tokens,
        score=given.score,
    )
