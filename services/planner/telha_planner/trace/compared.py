"""
Two records as the two sides of a difference: their spans, and their inputs by name and value.

Rule: what a record of an older version does not tell is left out, so that it is not taken for a change.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from blake3 import blake3

from telha_planner.core.difference import Compared, Named, PlanInput
from telha_planner.core.value import format_uuid

from .recorded import Recorded

_TOLD_ELSEWHERE = frozenset(
    {"window", "budget", "maxFracPerSource", "spanOverheadTokens", "spaces", "vector", "exclude", "pool"}
)
"""Parts of a request that are compared as they were resolved."""

_NO_INPUTS = frozenset({"explain", "whyNot", "suggest", "include", "allowUngrounded"})
"""Parts of a request that no plan depends on."""

_DIGITS = 16
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def pair(before: Recorded, after: Recorded) -> tuple[Compared, Compared]:
    """Both records as sides of a difference."""
    configurations = _configurations(before, after)
    return tuple(  # type: ignore[return-value]  # two of two
        Compared(record.plan_hash, record.held, dict(_inputs(record, configuration)))
        for record, configuration in zip((before, after), configurations, strict=True)
    )


def instant(us: int) -> str:
    """The instant in RFC 3339, microseconds included; beyond what a calendar holds, the number."""
    try:
        return (_EPOCH + timedelta(microseconds=us)).isoformat(timespec="microseconds").replace("+00:00", "Z")
    except OverflowError:
        return str(us)


def _inputs(record: Recorded, configuration: Named) -> Iterator[tuple[PlanInput, Named]]:
    asked = record.request.items()
    request = {key: _spelled(value) for key, value in asked if key not in _TOLD_ELSEWHERE | _NO_INPUTS}
    budget = {key: _spelled(value) for key, value in record.budget.items() if key not in {"used", "stranded"}}
    yield PlanInput.REQUEST, request
    yield PlanInput.BUDGET, budget
    yield PlanInput.PLAN_MODEL, {"": record.plan_model}
    yield PlanInput.TOKENIZER, {"": record.tokenizer}
    yield PlanInput.CONFIGURATION, configuration
    yield PlanInput.EXCLUSIONS, {"": _counted([[*_place(span)] for span in record.exclusions])}
    if record.software is not None:
        yield PlanInput.CODE, {"": record.software}
    if record.pool is not None:
        rows = [[*_place(row.span), row.kind, row.span_class, row.score.hex(), row.tokens] for row in record.pool]
        yield PlanInput.POOL, {"": _counted(sorted(rows))}
        return
    yield PlanInput.SCORE_MODEL, {"": record.score_model}
    yield PlanInput.INDEX_VERSION, {"": record.index_version}
    yield PlanInput.SPACES, {"": "every space" if record.spaces is None else ", ".join(sorted(record.spaces))}
    if record.valid_t is not None and record.tx_t is not None:
        yield PlanInput.WINDOW, {"validTime": instant(record.valid_t), "txTime": instant(record.tx_t)}
    vector = "none"
    if record.query_vector is not None:
        vector = f"{record.vector_model or 'of the active model'}, {_digest(record.query_vector)}"
    yield PlanInput.QUERY_VECTOR, {"": vector}


def _configurations(before: Recorded, after: Recorded) -> tuple[Named, Named]:
    prints = ({"": before.config_fingerprint}, {"": after.config_fingerprint})
    if before.settings is None or after.settings is None or before.settings == after.settings:
        return prints
    one, other = ({key: _spelled(value) for key, value in side.items()} for side in (before.settings, after.settings))
    return one, other


def _spelled(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _counted(rows: list[list[Any]]) -> str:
    return f"{len(rows)}, {_digest(json.dumps(rows).encode())}" if rows else "0"


def _digest(content: bytes) -> str:
    return f"b3:{blake3(content).hexdigest()[:_DIGITS]}"


def _place(span: Iterable[Any]) -> tuple[Any, ...]:
    source_id, *rest = span
    return format_uuid(source_id), *rest
