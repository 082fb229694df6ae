"""What a request asks to be explained, written into its message."""

from collections.abc import Mapping
from typing import Any

from telha.planner.v1 import plan_pb2

from .errors import invalid
from .fields import put
from .inputs import Span, WhyNot


def fill_explain(message: Any, options: Mapping[str, Any]) -> None:  # noqa: ANN401 (three messages alike)
    """Write `explain` and `why_not` of *options* into *message*."""
    put(message, "explain", options.get("explain"))
    for index, asked in enumerate(options.get("why_not", ())):
        place = f"why_not[{index}]"
        if not isinstance(asked, WhyNot):
            raise TypeError(f"{place} must be a WhyNot, not a {type(asked).__name__}")
        if (asked.span is None) == (asked.source is None):
            raise invalid(place, "must have a source or a span, and not both")
        subject = message.why_not.add()
        if asked.span is not None:
            if asked.section is not None:
                raise invalid(f"{place}.section", "belongs to a source, not to a span")
            put_span(subject.span, asked.span, f"{place}.span")
        else:
            put(subject.source, "source", asked.source, f"{place}.source")
            put(subject.source, "section", asked.section, f"{place}.source")


def put_span(message: plan_pb2.SpanRef, span: Span, place: str) -> None:
    """Write *span* into *message*, which stands at *place* in the request."""
    for name in ("source_id", "source_version_tx", "start", "end"):
        put(message, name, getattr(span, name), place)
