"""Keyword arguments of the calls, typed once for both clients. What is absent keeps the server's default."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from .inputs import Instant, WhyNot
from .results import Context, Plan

LegName = Literal["structured", "semantic", "lexical"]


class Limits(TypedDict, total=False):
    """
    Limits of a plan, and how long to wait.

    Keys:
        max_tokens: Budget, at least 1.
        max_spans: Span limit; 0 means none.
        model: The model that will read the spans: decides tokenizer and context window.
        max_frac_per_source: Share of the budget that one source may take, in (0, 1].
        span_overhead_tokens: Tokens that the caller adds around each span.
        explain: Say of each candidate why it is in the plan or out of it; never alters the plan.
        why_not: What to ask "why is it not in the plan?" of, candidates or not, at most 32; never alters the plan.
        suggest: Say what other budgets would have packed; a number is the share of the greatest weight from which on a
            span is wanted, True the server's.
        timeout: Seconds for the whole call, repetitions included.
    """

    max_tokens: int | None
    max_spans: int | None
    model: str | None
    max_frac_per_source: float | None
    span_overhead_tokens: int | None
    explain: bool
    why_not: Sequence[WhyNot]
    suggest: bool | float
    timeout: float | None


class ReadOptions(Limits, total=False):
    """
    What to read from memory.

    Keys:
        find, find_limit: Node type to start from, and most nodes of it.
        where: What those nodes must satisfy: `{field: {operator: value}}`; see docs/query-language.md.
        vector, vector_model: Query vector, and the model that made it.
        expand_depth: Hops, 0 to 2.
        valid_time: The instant at which facts must be true.
        tx_time: The instant as of which memory is read ("as we knew it then").
        spaces: Spaces to read; `*` is every space that the key allows.
        legs: Legs to use; empty is all that the request implies.
        min_similarity: Evidence below which nothing is relevant, in [0, 1]; 0 keeps all.
        exclude: Earlier answers, or the ids of their traces, at most 32: what they gave does not come again.
    """

    find: str | None
    find_limit: int | None
    where: Mapping[str, Any] | None
    vector: Sequence[float] | None
    vector_model: str | None
    expand_depth: int | None
    valid_time: Instant | None
    tx_time: Instant | None
    spaces: Sequence[str]
    legs: Sequence[LegName]
    min_similarity: float | None
    exclude: Sequence[str | Plan | Context]


class PlanOptions(ReadOptions, total=False):
    """As `ReadOptions`; *allow_ungrounded* answers an empty pool with an empty plan instead of an error."""

    allow_ungrounded: bool


class ContextOptions(ReadOptions, total=False):
    """
    As `ReadOptions`; the switches leave parts of the answer out and never alter the plan.

    *prompt* adds the items as one text for a model to read.
    """

    open_questions: bool
    scores: bool
    stats: bool
    prompt: bool


class SelectOptions(Limits, total=False):
    """As `Limits`; *question* scores the pool, *allow_ungrounded* as in `PlanOptions`."""

    question: str | None
    allow_ungrounded: bool


def check(options: object, known: type) -> None:
    """Refuse a keyword that *known* (a TypedDict) does not have, as Python does for any function."""
    assert isinstance(options, dict)  # noqa: S101 `**options` always is
    names: frozenset[str] = getattr(known, "__optional_keys__", frozenset())
    for name in options:
        if name not in names:
            raise TypeError(f"unexpected keyword argument {name!r}; known are {', '.join(sorted(names))}")
