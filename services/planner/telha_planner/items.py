"""A plan as Context presents it: items by score, with validity and open questions (requirements C4, C5)."""

from telha_planner.answers import ContextItem, OpenQuestion
from telha_planner.columns.snapshot import Snapshot
from telha_planner.core.model import Int64
from telha_planner.core.ordering import descending_key_of
from telha_planner.core.plan import EvidencePlan
from telha_planner.core.request import OPEN_END
from telha_planner.recall.behind import questions_behind
from telha_planner.recall.ports import Recalled, RecallQuery


def items_of(
    plan: EvidencePlan, rows: Int64, recalled: Recalled, snapshot: Snapshot, query: RecallQuery
) -> tuple[tuple[ContextItem, ...], tuple[OpenQuestion, ...]]:
    """
    The plan's spans as items, highest score first, and every open question behind them once, by id.

    Args:
        rows: For each span of the plan, the row of *recalled* that set its weight.
    """
    behind = questions_behind(snapshot, query, recalled.span_no[rows])
    versions = zip(recalled.source_no[rows].tolist(), recalled.version[rows].tolist(), strict=True)
    names = [snapshot.source_name(source_no, version_tx) or "" for source_no, version_tx in versions]
    items: list[ContextItem] = []
    questions: dict[bytes, OpenQuestion] = {}
    for planned, row, name, found in zip(plan.spans, rows.tolist(), names, behind, strict=True):
        asked = [OpenQuestion(question.clarification_id, question.state, question.question) for question in found]
        questions.update((question.clarification_id, question) for question in asked)
        valid_to = int(recalled.valid_to[row])
        items.append(
            ContextItem(
                text=planned.text,
                span=planned.span,
                name=name,
                kind=planned.kind,
                span_class=planned.span_class,
                score=planned.weight,
                valid_from=int(recalled.valid_from[row]),
                valid_to=None if valid_to == OPEN_END else valid_to,
                caveat=asked[0] if asked else None,
            )
        )
    # The plan is in canonical order and the sort is stable, so ties stay in canonical order.
    items.sort(key=lambda item: descending_key_of(item.score))
    return tuple(items), tuple(questions[key] for key in sorted(questions))
