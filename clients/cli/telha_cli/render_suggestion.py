"""What other budgets would have packed, and what a prompt block holds, as people read it."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from . import render

Json = Mapping[str, Any]

_FORBIDDEN = {
    "ceiling": "the ceiling of {greatest:,} tokens forbids it",
    "context_window": "the reading model's context window allows {greatest:,} tokens",
    "max_spans": "the span limit keeps every budget from it",
}


def suggestion(told: Json) -> RenderableType:
    """The suggestion of a plan, a context or a selection."""
    wanted = told["wantedSpans"]
    share = f"{told['weightShare'] * 100:g} % of the heaviest"
    line = Text("suggest ", style="dim")
    line.append(f"{wanted:,} {'span weighs' if wanted == 1 else 'spans weigh'} at least {share}", style="not dim")
    if wanted:
        line.append("\n        ").append(_budget(told), style="not dim")
    steps = [
        [
            f"{step['budget']:,}",
            f"{step['used']:,}",
            f"{step['spans']:,}",
            render.number(step["packedWeight"]),
            f"{step['shareOfBound'] * 100:.0f} %",
        ]
        for step in told["steps"]
    ]
    if not steps:
        return line
    return Group(line, Text(""), render.rows(["a budget of", "uses", "spans", "weight", "of the bound"], steps))


def about_prompt(answer: Json) -> RenderableType:
    """What stands above a prompt block on a terminal."""
    prompt = answer["prompt"]
    cited = len(prompt["citations"])
    counted = "estimated" if prompt["tokenizer"] == "estimate" else prompt["tokenizer"]
    line = Text("prompt  ", style="dim")
    line.append(f"{cited:,} {'passage' if cited == 1 else 'passages'}, {prompt['tokens']:,} tokens", style="not dim")
    return line.append(f" ({counted})")


def left_out(answer: Json) -> str | None:
    """What has to be said of passages that a prompt block has no room for, in one line; None if it holds them all."""
    prompt = answer["prompt"]
    cited, left = len(prompt["citations"]), len(prompt["leftOut"])
    if not left:
        return None
    words = f"{left:,} of {cited + left:,} passages {'is' if left == 1 else 'are'} left out of the block"
    room = f"it has {prompt['tokens']:,} tokens of a budget of {answer['stats']['budget']['applied']:,}"
    return f"{words}: no room ({room}); trace {answer['traceId']}"


def _budget(told: Json) -> str:
    smallest = told.get("smallestBudget")
    by = str(told.get("forbiddenBy", ""))
    forbidden = _FORBIDDEN.get(by, by).format(greatest=told.get("greatestBudget", 0))
    if smallest is None:
        return f"no budget is known to pack them all{': ' if forbidden else ''}{forbidden}"
    suffices = "is the least that packs them all" if told["exact"] else "packs them all; less may do"
    asked = f": {forbidden}" if forbidden else f": --max-tokens {told['maxTokens']}"
    return f"a budget of {smallest:,} tokens {suffices}{asked}"
