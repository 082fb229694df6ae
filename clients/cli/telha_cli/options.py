"""The options that several commands share, each with its one help text."""

from pathlib import Path
from typing import Annotated

import typer

Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="Planner to call. Default: TELHA_ADDRESS, else the `telha up` on ./data, else your newest.",
        show_default=False,
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key", metavar="KEY", help="API key. Default: TELHA_KEY, else that of `telha up`.", show_default=False
    ),
]
Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="Call the `telha up` of this data folder.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON as REST answers it; errors too, on standard error.")]

Question = Annotated[
    str | None, typer.Argument(metavar="QUESTION", help="What to find evidence for.", show_default=False)
]
Find = Annotated[
    str | None, typer.Option("--find", metavar="TYPE", help="Start from nodes of this type too.", show_default=False)
]
Where = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="JSON",
        help="""Only nodes that satisfy this, e.g. '{"tier": {"lte": 2}}'.""",
        show_default=False,
    ),
]
ValidAt = Annotated[
    str | None,
    typer.Option(
        "--valid-at",
        metavar="TIME",
        help="What was true then, e.g. 2026-06-30T12:00:00Z. Default: now.",
        show_default=False,
    ),
]
TxAt = Annotated[
    str | None,
    typer.Option(
        "--tx-at", metavar="TIME", help="As memory knew it then. Default: the last commit.", show_default=False
    ),
]
MaxTokens = Annotated[int | None, typer.Option("--max-tokens", metavar="N", help="Token budget.", show_default=False)]
MaxSpans = Annotated[
    int | None, typer.Option("--max-spans", metavar="N", help="Span limit; 0 means none.", show_default=False)
]
Space = Annotated[
    list[str] | None,
    typer.Option(
        "--space",
        metavar="NAME",
        help="Space to read; may be repeated. `*` reads all that the key allows. Default: those of the key, or main.",
        show_default=False,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Model that will read the text: decides how tokens are counted.",
        show_default=False,
    ),
]
Share = Annotated[
    float | None,
    typer.Option(
        "--max-frac-per-source",
        metavar="X",
        help="Share of the budget that one source may take, above 0 to 1.",
        show_default=False,
    ),
]
Overhead = Annotated[
    int | None,
    typer.Option("--span-overhead-tokens", metavar="N", help="Tokens you add around each span.", show_default=False),
]
Depth = Annotated[
    int | None,
    typer.Option(
        "--expand-depth", metavar="N", help="Hops to follow from what matches: 0, 1 or 2.", show_default=False
    ),
]
Legs = Annotated[
    str | None,
    typer.Option(
        "--legs",
        metavar="LIST",
        help="Ways to look, of structured,semantic,lexical. Default: all that the request gives something to.",
        show_default=False,
    ),
]
Floor = Annotated[
    float | None,
    typer.Option(
        "--min-similarity",
        metavar="X",
        help="Evidence below which nothing is relevant, 0 to 1; 0 keeps all.",
        show_default=False,
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        metavar="TRACE",
        help="Leave out what this earlier call gave; may be repeated.",
        show_default=False,
    ),
]
Suggest = Annotated[
    bool, typer.Option("--suggest", help="Show what other budgets would have packed, and the least that is enough.")
]
SuggestShare = Annotated[
    float | None,
    typer.Option(
        "--suggest-share",
        metavar="X",
        help="Enough is what weighs this share of the heaviest, above 0 to 1; turns --suggest on. Default: 0.1.",
        show_default=False,
    ),
]
Prompt = Annotated[
    bool,
    typer.Option(
        "--prompt",
        help="Print one text for a model to read: numbered passages, fenced as data. What has no room in it is told on "
        "standard error; --span-overhead-tokens 40 makes room.",
    ),
]
Explain = Annotated[
    bool, typer.Option("--explain", help="Show each candidate too, and why it is in the plan or out of it.")
]
WhyNot = Annotated[
    list[str] | None,
    typer.Option(
        "--why-not",
        metavar="SUBJECT",
        help=r"Ask why this is not in the plan: SOURCE, SOURCE:SECTION (`\:` is a colon of a name) or "
        "ID@VERSION[START:END]; may be repeated.",
        show_default=False,
    ),
]
IdempotencyKey = Annotated[
    str | None,
    typer.Option("--idempotency-key", metavar="KEY", help="Carry the call out once.", show_default=False),
]
Ungrounded = Annotated[
    bool, typer.Option("--allow-ungrounded", help="Answer an empty plan where there is no evidence.")
]
