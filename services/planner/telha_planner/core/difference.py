"""
How two plans differ, and which of their inputs do.

Both sides are what a trace record keeps of a plan: its hash, its spans without texts, and the inputs by name. A replay
compares the record with the record that the plan made anew would leave; a diff compares two records.
Rule 1: a difference is a function of its two sides; turned round it is the difference from the other to the one.
Rule 2: where the hashes differ, at least one input is named: if all that is known is equal, the code is.
Rule 3: an input that one side does not tell is not compared.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from .model import SpanClass, SpanRef


class PlanInput(Enum):
    """What a plan depends on; the value completes "another …" in words, in the order in which changes are told."""

    REQUEST = "request"
    WINDOW = "window"
    SPACES = "spaces"
    BUDGET = "budget"
    PLAN_MODEL = "plan model"
    SCORE_MODEL = "score model"
    TOKENIZER = "tokenizer"
    INDEX_VERSION = "index version"
    CONFIGURATION = "configuration"
    QUERY_VECTOR = "query vector"
    EXCLUSIONS = "exclusions"
    POOL = "pool"
    ERASURE = "erasure"
    CODE = "code"


Named = Mapping[str, str]
"""The values that an input is made of, by name; the name is empty where there is but one."""


@dataclass(frozen=True, slots=True)
class HeldSpan:
    """A span of a plan, all that the plan hash covers of it; *tokens* without overhead."""

    span: SpanRef
    kind: str
    span_class: SpanClass
    weight: float
    tokens: int


@dataclass(frozen=True, slots=True)
class Compared:
    """
    One side.

    Attributes:
        spans: In canonical order.
        inputs: What the side tells of its inputs; what it does not tell is absent.
    """

    plan_hash: str
    spans: tuple[HeldSpan, ...]
    inputs: Mapping[PlanInput, Named]


@dataclass(frozen=True, slots=True)
class InputChange:
    """An input that differs, with the values that do, as `name = value`; empty where a side does not tell."""

    input: PlanInput
    before: str
    after: str

    def turned(self) -> "InputChange":
        """The change from after to before."""
        return InputChange(self.input, self.after, self.before)


@dataclass(frozen=True, slots=True)
class Difference:
    """
    What leads from one plan to another.

    Attributes:
        gone: Spans of the first alone, in canonical order.
        new: Spans of the second alone, in canonical order.
        reweighed: Spans of both with another kind, class, weight or count, as before and as after, in canonical order.
        unchanged: How many spans both hold alike.
        changes: Inputs that differ, each once, in the order of `PlanInput`.
    """

    identical: bool
    gone: tuple[HeldSpan, ...]
    new: tuple[HeldSpan, ...]
    reweighed: tuple[tuple[HeldSpan, HeldSpan], ...]
    unchanged: int
    changes: tuple[InputChange, ...]


def difference(before: Compared, after: Compared, known: Sequence[InputChange] = ()) -> Difference:
    """
    What leads from *before* to *after*.

    Args:
        known: Changes that neither side tells, such as an erasure between them.
    """
    one = {held.span: held for held in before.spans}
    other = {held.span: held for held in after.spans}
    both = [span for span in one if span in other]
    reweighed = tuple((one[span], other[span]) for span in both if not _alike(one[span], other[span]))
    identical = before.plan_hash == after.plan_hash
    return Difference(
        identical=identical,
        gone=tuple(held for span, held in one.items() if span not in other),
        new=tuple(held for span, held in other.items() if span not in one),
        reweighed=reweighed,
        unchanged=len(both) - len(reweighed),
        changes=_changes(before.inputs, after.inputs, known, identical=identical),
    )


def in_words(found: Difference) -> str:
    """The difference in one or two sentences of English."""
    causes = _listed([change.input.value for change in found.changes])
    if found.identical:
        told = "The plans are identical"
        return f"{told}, although these inputs differ: {causes}." if found.changes else f"{told}."
    counts = [
        f"{len(spans)} {words}"
        for spans, words in ((found.gone, "gone"), (found.new, "new"), (found.reweighed, "with other facts"))
        if spans
    ]
    spans = f"{_listed(counts)}, {found.unchanged} unchanged" if counts else f"all {found.unchanged} unchanged"
    return f"The plans differ: of their spans, {spans}. What differs of their inputs: {causes}."


def _alike(one: HeldSpan, other: HeldSpan) -> bool:
    return _facts(one) == _facts(other)


def _facts(held: HeldSpan) -> tuple[str, SpanClass, bytes, int]:
    # The bits of the weight are what the hash covers.
    return held.kind, held.span_class, struct.pack(">d", held.weight), held.tokens


def _changes(
    before: Mapping[PlanInput, Named],
    after: Mapping[PlanInput, Named],
    known: Sequence[InputChange],
    *,
    identical: bool,
) -> tuple[InputChange, ...]:
    found = {change.input: change for change in known}
    for of in PlanInput:
        if of not in before or of not in after:
            continue
        one, other = before[of], after[of]
        names = [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)]
        if names:
            found[of] = InputChange(of, _spelled(one, names), _spelled(other, names))
    if not found and not identical:
        code = (_spelled(side.get(PlanInput.CODE, {}), [""]) for side in (before, after))
        found[PlanInput.CODE] = InputChange(PlanInput.CODE, *code)
    return tuple(found[of] for of in PlanInput if of in found)


def _spelled(values: Named, names: Sequence[str]) -> str:
    return ", ".join(f"{name} = {values[name]}" if name else values[name] for name in names if name in values)


def _listed(words: Sequence[str]) -> str:
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
