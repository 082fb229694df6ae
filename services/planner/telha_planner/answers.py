"""What the planner answers: the plan, for Context the plan's spans as items, and for Query nodes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from telha_planner.core.explained import Explanation
from telha_planner.core.model import SpanClass, SpanRef
from telha_planner.core.plan import EvidencePlan
from telha_planner.core.request import Window
from telha_planner.core.suggestion import Suggestion


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A clarification that is `pending` or `conflicted`, with its question in words."""

    clarification_id: bytes
    state: str
    question: str


@dataclass(frozen=True, slots=True)
class ContextItem:
    """
    One span of the plan, seen from the Context surface (requirement C4).

    Attributes:
        name: Display name of the source's version.
        score: The plan's weight, bit for bit.
        valid_from, valid_to: Validity of the node that set the weight; None is open.
        caveat: The clarification that is open on a node behind the span: conflicted before pending, then lowest id.
    """

    text: str
    span: SpanRef
    name: str
    kind: str
    span_class: SpanClass
    score: float
    valid_from: int
    valid_to: int | None
    caveat: OpenQuestion | None


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage of a prompt: its number, from 1, the place of its item, from 0, and its span."""

    number: int
    item: int
    span: SpanRef


@dataclass(frozen=True, slots=True)
class Prompt:
    """
    A context as one text for a model to read (docs/prompt.md).

    Attributes:
        format: Version of the layout.
        text: Empty where no passage is shown.
        tokens: Of the whole *text*; at most the plan's budget.
        tokenizer: Encoding that counted, or `estimate`.
        citations: By number.
        left_out: Spans of the plan that did not fit, in the order of their items.
    """

    format: str
    text: str
    tokens: int
    tokenizer: str
    citations: tuple[Citation, ...]
    left_out: tuple[SpanRef, ...]


@dataclass(frozen=True, slots=True)
class Suggested:
    """
    What other budgets would have packed, and whether a caller may have them.

    Attributes:
        max_tokens: What to ask for, so that the smallest budget is applied; None without one.
        greatest: The greatest budget that a call may have, as applied; None is no limit.
        forbidden_by: What keeps a call from all that is wanted: `ceiling`, `context_window`, `max_spans`; or None.
    """

    suggestion: Suggestion
    max_tokens: int | None
    greatest: int | None
    forbidden_by: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """
    The answer to Plan and Select.

    Attributes:
        window: The instants that were read at; both None for Select.
        trace_id: Empty when the surface's traces are switched off.
        record: The trace record, to be made durable before the answer leaves; None when switched off.
        insufficient: The pool was empty and the caller did not allow that; the record still counts.
        tenant: Name of the caller's tenant, for counters and logs.
        explanation, suggestion: Where they were asked for.
    """

    plan: EvidencePlan
    window: Window
    trace_id: str
    record: bytes | None
    insufficient: bool
    tenant: str = field(default="", kw_only=True)
    explanation: Explanation | None = field(default=None, kw_only=True)
    suggestion: Suggested | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class ContextAnswer(Answer):
    """
    The answer to Context.

    Attributes:
        items: By score desc, ties in canonical order.
        open_questions: Each once, by id.
        prompt: None unless it was asked for.
    """

    items: tuple[ContextItem, ...]
    open_questions: tuple[OpenQuestion, ...]
    prompt: Prompt | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class FoundNode:
    """
    One node as Query presents it (requirement M4).

    Attributes:
        properties: As JSON decoding gives them.
        valid_to: None is open.
        provenance: The spans it rests on, in canonical order.
        caveat: The clarification that is open on the node: conflicted before pending, then lowest id.
    """

    node_id: bytes
    type: str
    space: str
    properties: Mapping[str, Any]
    valid_from: int
    valid_to: int | None
    provenance: tuple[SpanRef, ...]
    caveat: OpenQuestion | None


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """
    The answer to Query.

    Attributes:
        nodes: By id.
        more: There are nodes after the last one.
        window: The instants that were read at, both set.
    """

    nodes: tuple[FoundNode, ...]
    more: bool
    window: Window
