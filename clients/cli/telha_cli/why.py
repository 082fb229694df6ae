"""`telha explain`: why something is not in the plan for a question."""

import os

import typer

from . import options as given


def register(app: typer.Typer) -> None:
    """Add the command of this module to *app*."""
    app.command("explain")(explain)


def explain(
    question: given.Question = None,
    why_not: given.WhyNot = None,
    find: given.Find = None,
    where: given.Where = None,
    valid_at: given.ValidAt = None,
    tx_at: given.TxAt = None,
    max_tokens: given.MaxTokens = None,
    max_spans: given.MaxSpans = None,
    space: given.Space = None,
    model: given.Model = None,
    max_frac_per_source: given.Share = None,
    span_overhead_tokens: given.Overhead = None,
    expand_depth: given.Depth = None,
    legs: given.Legs = None,
    min_similarity: given.Floor = None,
    exclude: given.Exclude = None,
    suggest: given.Suggest = False,
    suggest_share: given.SuggestShare = None,
    address: given.Address = None,
    key: given.Key = None,
    data: given.Data = None,
    as_json: given.AsJson = False,
) -> None:
    """Say why each candidate for a question is in the plan or out of it, and why what you name is not in it."""
    from . import calls, output, render_explanation, subjects

    options = calls.reading(
        valid_at,
        tx_at,
        space,
        question=question,
        find=find,
        where=calls.conditions(where),
        max_tokens=max_tokens,
        max_spans=max_spans,
        model=model,
        max_frac_per_source=max_frac_per_source,
        span_overhead_tokens=span_overhead_tokens,
        expand_depth=expand_depth,
        legs=calls.listed(legs),
        min_similarity=min_similarity,
        exclude=exclude or None,
        suggest=suggest_share if suggest_share is not None else suggest or None,
        # Where nothing was found there is the more to explain.
        allow_ungrounded=True,
        explain=True,
        why_not=subjects.read(why_not),
    )
    with calls.opened(address, key, data, os.environ) as service:
        answer = service.plan(options)
    output.show(answer, render_explanation.answer, as_json=as_json)
