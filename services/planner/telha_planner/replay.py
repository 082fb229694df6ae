"""
A recorded plan made anew, and compared with the record; on the plan thread.

    record → the request it was made of, its circumstances pinned → the one pipeline → the record that this plan would
    leave → the difference between the two records

Rule 1: there is no second way to a plan: Plan and Context traces go through `Planning.replan`, a Select trace through
Phase B over the pool that it recorded. Rule 2: instants, spaces and the query vector are the recorded ones; budget,
settings and code are those of today, and what of them differs is named. Rule 3: a replay leaves nothing behind.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from telha_planner import resolution
from telha_planner.caller import Caller
from telha_planner.config import PlannerConfig
from telha_planner.core.difference import Difference, HeldSpan, InputChange, PlanInput, difference
from telha_planner.core.errors import NotFound
from telha_planner.core.explained import Explanation
from telha_planner.core.model import SpanRef
from telha_planner.core.plan import EvidencePlan, LegCounts, RecallStats
from telha_planner.core.request import ALL_SPACES, PlanRequest, SelectRequest, Window
from telha_planner.core.subject import Subject
from telha_planner.core.value import format_uuid
from telha_planner.memory import erased
from telha_planner.memory.erased import Version
from telha_planner.memory.store import Store
from telha_planner.models.embedders.questions import QuestionVector
from telha_planner.models.tokenizers import Tokenizers
from telha_planner.pipeline import Planning
from telha_planner.select import Counted, reselect
from telha_planner.trace.compared import instant, pair
from telha_planner.trace.record import Circumstances, encode_record
from telha_planner.trace.recorded import Gave, Recorded, read_record

SURFACES = {"plan": resolution.plan_surface, "context": resolution.context_surface}


@dataclass(frozen=True, slots=True)
class ErasedSource:
    """A source that a record cites and that was erased since; *spans* is how many spans went with it."""

    source_id: bytes
    erased_us: int
    spans: int


@dataclass(frozen=True, slots=True)
class Replayed:
    """
    A plan made anew.

    Attributes:
        resolvable: Whether any recorded span can still be resolved; true where none was recorded.
        names: Display names of sources that the two plans cite, where memory has them.
        explanation: Of the plan as made anew; None where it was not asked for.
    """

    plan: EvidencePlan
    window: Window
    difference: Difference
    erased: tuple[ErasedSource, ...]
    resolvable: bool
    names: Mapping[Version, str]
    explanation: Explanation | None


class Replaying:
    """Replays, one call at a time."""

    def __init__(self, planning: Planning, store: Store, config: PlannerConfig, tokenizers: Tokenizers) -> None:
        self._planning = planning
        self._store = store
        self._config = config
        self._tokenizers = tokenizers

    def replay(
        self,
        credential: str,
        recorded: Recorded,
        request: PlanRequest | SelectRequest,
        *,
        explain: bool = False,
        why_not: tuple[Subject, ...] = (),
    ) -> Replayed:
        """
        Make the plan of *recorded* anew and compare.

        Args:
            request: The recorded request, read through the same checks as one from the wire.
            explain: Say of each candidate of the plan made anew why it is in or out.
            why_not: Say it of these.

        Raises:
            NotFound: The key may not see the trace.
        """
        caller = self._planning.caller(credential)
        caller.need("read")
        if not may_see(caller, recorded):
            raise NotFound(resource="trace")
        asked = replace(request, explain=explain, why_not=why_not)
        plan, circumstances, explanation = self._again(credential, recorded, asked)
        again = _as_recorded(recorded, plan, circumstances, caller)
        sides, spaces = pair(recorded, again), circumstances.spaces
        found, names, gone = difference(*sides), dict[Version, str](), tuple[ErasedSource, ...]()
        if not found.identical and recorded.kind != "select":
            names, gone = self._cited(caller, recorded, spaces, [*recorded.held, *again.held])
            found = difference(*sides, self._erasures(caller, recorded, spaces, gone))
        lost = sum(source.spans for source in gone)
        return Replayed(
            plan=plan,
            window=Window(circumstances.valid_t, circumstances.tx_t),
            difference=found,
            erased=gone,
            resolvable=lost < len(recorded.held) or not recorded.held,
            names=names,
            explanation=explanation,
        )

    def erased_of(self, caller: Caller, spans: Sequence[SpanRef]) -> list[int]:
        """Places in *spans* of those whose text is not in memory any more, from 0."""
        versions = [(span.source_id, span.source_version_tx) for span in spans]
        with self._store.reading(caller.tenant) as connection:
            known = erased.standing(connection, caller.tenant, caller.spaces, versions)
        return [place for place, version in enumerate(versions) if version not in known]

    def names(self, credential: str, held: Sequence[HeldSpan]) -> dict[Version, str]:
        """Display names of the sources of *held*, as far as memory has them and the key may read them."""
        caller = self._planning.caller(credential)
        with self._store.reading(caller.tenant) as connection:
            return erased.standing(connection, caller.tenant, caller.spaces, map(version_of, held))

    def _again(
        self, credential: str, recorded: Recorded, request: PlanRequest | SelectRequest
    ) -> tuple[EvidencePlan, Circumstances, Explanation | None]:
        if isinstance(request, PlanRequest):
            surface = SURFACES[recorded.kind](self._config)
            drafted = self._planning.replan(credential, _pinned(request, recorded), surface, _vector(recorded))
            return drafted.plan, drafted.circumstances, drafted.explanation
        recall = recorded.stats.get("recall") or {}
        stats = RecallStats(
            legs=LegCounts(lexical=(recall.get("legs") or {}).get("lexical", 0)),
            nodes=recall.get("nodes", 0),
            zero_score=recall.get("zeroScore", 0),
        )
        counted = Counted(recorded.tokenizer, recorded.token_estimate, stats)
        selected = reselect(request, recorded.pool or (), counted, self._config, self._tokenizers)
        circumstances = Circumstances(None, None, (), None, None, "", self._planning.rules)
        return selected.plan, circumstances, selected.explanation

    def _cited(
        self, caller: Caller, recorded: Recorded, spaces: tuple[str, ...] | None, held: list[HeldSpan]
    ) -> tuple[dict[Version, str], tuple[ErasedSource, ...]]:
        versions = {version_of(one) for one in held}
        with self._store.reading(caller.tenant) as connection:
            names = erased.standing(connection, caller.tenant, spaces, versions)
            missing = Counter(version_of(one) for one in recorded.held if version_of(one) not in names)
            lost: Counter[tuple[bytes, int]] = Counter()
            for version, spans in missing.items():
                # What was never here, as before a restored backup, was not erased.
                at = erased.first_erasure(connection, caller.tenant, spaces, version)
                if at is not None:
                    lost[version[0], at] += spans
        return names, tuple(ErasedSource(source_id, at, spans) for (source_id, at), spans in sorted(lost.items()))

    def _erasures(
        self,
        caller: Caller,
        recorded: Recorded,
        spaces: tuple[str, ...] | None,
        gone: tuple[ErasedSource, ...],
    ) -> list[InputChange]:
        if gone:
            told = [f"{format_uuid(source.source_id)} at {instant(source.erased_us)}" for source in gone]
            return [InputChange(PlanInput.ERASURE, "", ", ".join(told))]
        known = recorded.recorded_us if recorded.last_tx is None else recorded.last_tx
        with self._store.reading(caller.tenant) as connection:
            last = erased.latest(connection, caller.tenant, spaces, known)
        if last is None:
            return []
        what = f"the space {last.space}" if last.source_id is None else format_uuid(last.source_id)
        return [InputChange(PlanInput.ERASURE, "", f"{what} at {instant(last.tx)}")]


def may_see(caller: Caller, recorded: Recorded | Gave) -> bool:
    """Whether *caller* may see the trace: it may read all that the trace read, or made one that read nothing."""
    if caller.spaces is None:
        return True
    if recorded.spaces is None:
        return False
    return set(recorded.spaces) <= set(caller.spaces) if recorded.spaces else recorded.key_id == caller.key_id


def version_of(held: HeldSpan) -> Version:
    """The source and version of a span."""
    return held.span.source_id, held.span.source_version_tx


def _pinned(request: PlanRequest, recorded: Recorded) -> PlanRequest:
    spaces = (ALL_SPACES,) if recorded.spaces is None else recorded.spaces
    window = Window(recorded.valid_t, recorded.tx_t)
    return replace(request, window=window, spaces=spaces, exclusions=recorded.exclusions)


def _vector(recorded: Recorded) -> QuestionVector:
    if recorded.query_vector is not None:
        return QuestionVector(np.frombuffer(recorded.query_vector, dtype="<f4"), recorded.vector_model)
    recall = recorded.stats.get("recall") or {}
    return QuestionVector(None, skipped=recall.get("vectorLegSkipped"))


def _as_recorded(recorded: Recorded, plan: EvidencePlan, circumstances: Circumstances, caller: Caller) -> Recorded:
    """The record that *plan* would leave, read back."""
    record = encode_record(
        kind=recorded.kind,
        trace_id="",
        recorded_us=0,
        caller=caller,
        sent=recorded.request,
        circumstances=circumstances,
        plan=plan,
        items=[planned.span for planned in plan.spans],
        pool=recorded.pool,
    )
    return read_record(record)
