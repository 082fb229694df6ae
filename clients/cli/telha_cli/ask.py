"""Commands that ask and remember: memory context, plan, select, ingest."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from . import options as given


class ReadAs(StrEnum):
    """What the files of `telha ingest` are."""

    DOCUMENTS = "documents"
    RECORDS = "records"
    ARTIFACTS = "artifacts"


memory_app = typer.Typer(help="Ask memory.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands of this module to *app*."""
    app.command("ingest")(ingest)
    app.add_typer(memory_app, name="memory")
    app.command("plan")(plan)
    app.command("select")(select)


@memory_app.callback()
def _memory() -> None:
    """Ask memory."""


@memory_app.command("context")
def context(
    question: given.Question = None,
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
    explain: given.Explain = False,
    why_not: given.WhyNot = None,
    suggest: given.Suggest = False,
    suggest_share: given.SuggestShare = None,
    prompt: given.Prompt = False,
    address: given.Address = None,
    key: given.Key = None,
    data: given.Data = None,
    as_json: given.AsJson = False,
) -> None:
    """What should I remember before I act? Items by score, with their coordinates."""
    from . import calls, output, problems, render, render_suggestion, subjects

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
        explain=explain or None,
        why_not=subjects.read(why_not),
        suggest=suggest_share if suggest_share is not None else suggest or None,
        prompt=prompt or None,
    )
    with calls.opened(address, key, data, os.environ) as service:
        answer = service.context(options)
    if prompt and not as_json:
        output.show_text(answer["prompt"]["text"], render_suggestion.about_prompt(answer))
        missing = render_suggestion.left_out(answer)
        if missing is not None:
            problems.note(missing)
        return
    output.show(answer, render.context, as_json=as_json)


def plan(
    question: given.Question = None,
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
    allow_ungrounded: given.Ungrounded = False,
    explain: given.Explain = False,
    why_not: given.WhyNot = None,
    suggest: given.Suggest = False,
    suggest_share: given.SuggestShare = None,
    address: given.Address = None,
    key: given.Key = None,
    data: given.Data = None,
    as_json: given.AsJson = False,
) -> None:
    """Plan the evidence for a question: spans in canonical order, and the plan hash."""
    from . import calls, output, render, subjects

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
        allow_ungrounded=allow_ungrounded or None,
        explain=explain or None,
        why_not=subjects.read(why_not),
        suggest=suggest_share if suggest_share is not None else suggest or None,
    )
    with calls.opened(address, key, data, os.environ) as service:
        answer = service.plan(options)
    output.show(answer, render.plan, as_json=as_json)


def select(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="POOL.JSON", help="A list of fragments, or the body of POST /v1/select; - reads standard input."
        ),
    ],
    budget: Annotated[
        int | None, typer.Option("--budget", "--max-tokens", metavar="N", help="Token budget.", show_default=False)
    ] = None,
    question: Annotated[
        str | None,
        typer.Option("--question", metavar="TEXT", help="Score the pool by this question.", show_default=False),
    ] = None,
    max_spans: given.MaxSpans = None,
    model: given.Model = None,
    max_frac_per_source: given.Share = None,
    span_overhead_tokens: given.Overhead = None,
    allow_ungrounded: given.Ungrounded = False,
    explain: given.Explain = False,
    why_not: given.WhyNot = None,
    suggest: given.Suggest = False,
    suggest_share: given.SuggestShare = None,
    address: given.Address = None,
    key: given.Key = None,
    data: given.Data = None,
    as_json: given.AsJson = False,
) -> None:
    """Pack a pool of your own fragments: exact budget, hash and trace without our memory."""
    from . import calls, output, pool, render, subjects

    fragments, told = pool.read(path)
    options = calls.given(
        question=question,
        max_tokens=budget,
        max_spans=max_spans,
        model=model,
        max_frac_per_source=max_frac_per_source,
        span_overhead_tokens=span_overhead_tokens,
        allow_ungrounded=allow_ungrounded or None,
        explain=explain or None,
        why_not=subjects.read(why_not),
        suggest=suggest_share if suggest_share is not None else suggest or None,
    )
    with calls.opened(address, key, data, os.environ) as service:
        answer = service.select(fragments, told | options)
    output.show(answer, render.plan, as_json=as_json)


def ingest(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATHS", help="Files and folders of text, Markdown, HTML, conversations.")
    ],
    space: Annotated[
        str | None,
        typer.Option(
            "--space", metavar="NAME", help="Space to write to. Default: the key's, or main.", show_default=False
        ),
    ] = None,
    valid_from: Annotated[
        str | None,
        typer.Option("--valid-from", metavar="TIME", help="Since when it is true. Default: now.", show_default=False),
    ] = None,
    read_as: Annotated[
        ReadAs,
        typer.Option("--as", help="What the files are; records and artifacts are JSON lines: docs/ingestion.md."),
    ] = ReadAs.DOCUMENTS,
    idempotency_key: Annotated[
        str | None,
        typer.Option(
            "--idempotency-key", metavar="KEY", help="Carry out the calls of this run once.", show_default=False
        ),
    ] = None,
    address: given.Address = None,
    key: given.Key = None,
    data: given.Data = None,
    as_json: given.AsJson = False,
) -> None:
    """Remember documents: split, count and index them, a version each time they change."""
    from . import calls, documents, instants, output, records, remember, tables
    from .problems import FAILED, UsageInvalid

    keys = remember.Keys(idempotency_key)
    if read_as is not ReadAs.DOCUMENTS:
        if valid_from is not None:
            raise UsageInvalid("--valid-from", f"must be absent beside --as {read_as.value}; each says it itself")
        read = records.read(paths, space, artifacts=read_as is ReadAs.ARTIFACTS)
        with calls.opened(address, key, data, os.environ) as service:
            written = records.write(service, read, keys)
        output.show(written, tables.records, as_json=as_json)
        return
    since = instants.parse("--valid-from", valid_from) if valid_from is not None else None
    gathered = documents.gather(paths)
    with calls.opened(address, key, data, os.environ) as service:
        report = remember.ingest(service, gathered, space, since, keys, quiet=as_json)
    output.show(report, tables.ingested, as_json=as_json)
    if report["refused"]:
        raise typer.Exit(FAILED)
