"""Items for prompt blocks, in as few words as a test can afford, and a reader of blocks by docs/prompt.md alone."""

import re
from dataclasses import dataclass

from telha_planner.answers import ContextItem
from telha_planner.core.model import PackingRule, SpanClass, SpanRef
from telha_planner.core.ordering import descending_key_of
from telha_planner.core.plan import EvidencePlan, PlannedSpan, PlanStats

JUNE = 1_780_272_000_000_000
_HEADING = re.compile(r'\[([0-9]+)\] "([^"\n]*)", (valid [^\n"]*)\n(`{3,})\n')


@dataclass(frozen=True)
class Passage:
    """One passage as a reader finds it."""

    number: int
    name: str
    validity: str
    text: str


def passages_in(block: str) -> list[Passage]:
    """The passages of *block*; fails where it is not as documented."""
    found, at = [], block.index("\n\n") + 2
    while at < len(block):
        heading = _HEADING.match(block, at)
        assert heading, block[at : at + 80]
        number, name, validity, fence = heading.groups()
        end = block.index(f"\n{fence}\n", heading.end() - 1)
        text = block[heading.end() : end]
        assert fence not in text
        found.append(Passage(int(number), name, validity, text))
        at = end + len(fence) + 2
        if at < len(block):
            assert block[at] == "\n"
            at += 1
    return found


def a_plan(rows, budget: int, tokenizer: str = "o200k_base", overhead: int = 0):
    """A plan of *rows* (text, name, weight, tokens), and its items."""
    planned = [
        PlannedSpan(SpanRef(bytes([0, number]) + bytes(14), JUNE, 0, 9), "body", SpanClass.TRUTH, weight, tokens, text)
        for number, (text, _, weight, tokens) in enumerate(rows)
    ]
    rule = PackingRule(budget, 1.0, 0.8, 0, overhead)
    stats = PlanStats(
        pool_spans=len(rows),
        selected_spans=len(rows),
        deduped=0,
        unpackable=0,
        budget_skipped=0,
        cap_skipped=0,
        span_limit_skipped=0,
        budget_stranded_by_cap=0,
        token_estimate=tokenizer == "estimate",
        tokenizer=tokenizer,
        requested=budget,
        applied=budget,
        max_spans=0,
        max_frac_per_source=rule.max_frac_per_source,
        span_overhead_tokens=overhead,
        recall=None,
    )
    plan = EvidencePlan(budget, sum(one.tokens for one in planned), tuple(planned), stats, "b3:" + "0" * 64)
    items = [
        ContextItem(one.text, one.span, name, one.kind, one.span_class, one.weight, JUNE, None, None)
        for one, (_, name, *_) in zip(planned, rows, strict=True)
    ]
    items.sort(key=lambda item: descending_key_of(item.score))
    return plan, items
