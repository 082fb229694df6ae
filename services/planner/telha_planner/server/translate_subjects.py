"""
What a caller asks "why not?" of, from the wire.

As the request that it is part of, it is read twice over: as checked types, and as the JSON-able list of its trace.
"""

from collections.abc import Iterable
from typing import Any

from telha.planner.v1 import explanation_pb2

from telha_planner.core.errors import RequestInvalid
from telha_planner.core.model import SpanRef
from telha_planner.core.subject import SourceSubject, Subject
from telha_planner.core.value import parse_uuid


def read_subjects(messages: Iterable[explanation_pb2.Subject]) -> tuple[tuple[Subject, ...], list[dict[str, Any]]]:
    """
    The subjects of `why_not`, and as sent.

    Raises:
        RequestInvalid: One names neither a span nor a source, or an id that is not a lower-case UUID.
    """
    subjects: list[Subject] = []
    sent: list[dict[str, Any]] = []
    for index, message in enumerate(messages):
        place = f"why_not[{index}]"
        if message.HasField("span"):
            span = message.span
            source_id = parse_uuid(f"{place}.span.source_id", span.source_id)
            subjects.append(SpanRef(source_id, span.source_version_tx, span.start, span.end))
            named = {"sourceId": span.source_id, "sourceVersionTx": span.source_version_tx}
            sent.append({"span": {**named, "start": span.start, "end": span.end}})
        elif message.HasField("source"):
            subjects.append(SourceSubject(message.source.source, message.source.section))
            named = {"source": message.source.source}
            sent.append({"source": {**named, "section": message.source.section} if message.source.section else named})
        else:
            raise RequestInvalid(field=place, rule="must name a span or a source")
    return tuple(subjects), sent
