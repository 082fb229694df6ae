"""
The whole flow of a call, on the plan thread: authenticate → recall → weigh → select → slice → record.

Rule 1: every surface runs `_recalled_plan`; there is no second way to a plan (requirement C1).
Rule 2: everything a plan depends on is settled in `resolution` or read as of one `tx_t`; the clock is read once.
Rule 3: nothing here is async and nothing waits but for the store.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

from telha_planner import resolution
from telha_planner.answers import Answer, ContextAnswer, QueryAnswer, Suggested
from telha_planner.authentication import Authentication, Credentials
from telha_planner.caller import Caller
from telha_planner.columns.snapshot import Snapshot
from telha_planner.columns.tenant import Columns
from telha_planner.config import PlannerConfig
from telha_planner.core.errors import InsufficientEvidence, Unavailable
from telha_planner.core.explained import Explanation
from telha_planner.core.model import Int64, SpanRef
from telha_planner.core.plan import EvidencePlan
from telha_planner.core.request import PlanRequest, QueryRequest, SelectRequest, Window
from telha_planner.explaining import Recollection, reckoned
from telha_planner.filling import Filling
from telha_planner.items import items_of
from telha_planner.memory import clock
from telha_planner.memory.projection import TenantDeleted
from telha_planner.memory.properties import PropertiesErased
from telha_planner.memory.query import compiled
from telha_planner.memory.store import Store
from telha_planner.memory.texts import SourceTexts, TextErased
from telha_planner.models import speakers
from telha_planner.models.embedders.questions import QuestionNotEmbedded, Questions, QuestionVector
from telha_planner.models.tokenizers import Tokenizers
from telha_planner.nodes import nodes_at
from telha_planner.prompt import prompt_of
from telha_planner.recall import structured
from telha_planner.recall.given import of_spaces
from telha_planner.recall.ports import Recalled, RecallQuery
from telha_planner.recall.recall import recall, recall_in_detail
from telha_planner.recall.semantic import NO_VECTORS
from telha_planner.resolution import Surface
from telha_planner.select import select_pool
from telha_planner.suggesting import suggested
from telha_planner.trace.record import Circumstances, Rules, encode_record
from telha_planner.why_not import Reader, explained_for

REPLANS = 3
"""Times that a plan is made anew because an erasure took a text away under it (requirement R5)."""


DEFAULT_QUERY_PAGE = 100
"""Nodes in a page of Query when none is asked for."""


@dataclass(frozen=True, slots=True)
class Drafted:
    """A plan with what the surfaces still need: where each span came from, and in what circumstances."""

    plan: EvidencePlan
    explanation: Explanation | None
    rows: Int64
    recalled: Recalled
    snapshot: Snapshot
    query: RecallQuery
    caller: Caller
    circumstances: Circumstances
    suggestion: Suggested | None


class Planning:
    """
    Plans, one call at a time.

    Args:
        now: The clock, µs since 1970 UTC.
        new_trace_id: Makes a UUIDv7.
        questions: The vectors of questions; None without an embedder.
        credentials: Is told which credentials hold, and which do not.
        stage: Is told the seconds of `recall`, of `select` (weighing to slicing) and of `explain`.

    Attributes:
        rules: What all plans depend on, as records tell it.
    """

    def __init__(
        self,
        *,
        store: Store,
        columns: Columns,
        texts: SourceTexts,
        tokenizers: Tokenizers,
        config: PlannerConfig,
        now: Callable[[], int],
        new_trace_id: Callable[[], str],
        questions: Questions | None = None,
        credentials: Credentials | None = None,
        stage: Callable[[str, float], None] = lambda _, __: None,
    ) -> None:
        self._stage = stage
        self._store = store
        self._columns = columns
        self._texts = texts
        self._tokenizers = tokenizers
        self._config = config
        self._now = now
        self._new_trace_id = new_trace_id
        self._questions = questions
        self._filling = Filling(texts, tokenizers, config.planner)
        self._authenticated = Authentication(store, now, credentials)
        self._erasures: dict[int, int] = {}
        model = None if questions is None else questions.embedder.model
        self.rules = Rules(resolution.fingerprint(config, model), resolution.settings(config, model), version("telha"))

    def caller(self, credential: str) -> Caller:
        """
        Who holds *credential*.

        Raises:
            Unauthenticated: No valid key.
        """
        return self._authenticated(credential)[0]

    def forget(self, tenant: int) -> None:
        """Let go of the columns and texts of *tenant*, by number; what is asked next reads them anew."""
        self._columns.drop(tenant)
        self._texts.drop(tenant)

    def forget_erased(self) -> None:
        """Let go of what was read before an erasure, of tenants too that nobody asks about; raises `Unavailable`."""
        held = {*self._columns.tenants, *self._texts.tenants}
        if held:
            with self._store.reading() as connection:
                erasures = clock.erasures(connection, sorted(held))
            self._columns.drop_erased(erasures)
            self._texts.drop_erased(erasures)
            if held - erasures.keys() or any(tx > self._erasures.get(tenant, 0) for tenant, tx in erasures.items()):
                self._erasures.update(erasures)
                speakers.forget()

    def plan(
        self,
        credential: str,
        request: PlanRequest,
        sent: Mapping[str, Any],
        question: QuestionVector | None = None,
    ) -> Answer:
        """
        Plan from memory.

        Args:
            sent: The request as sent, for the trace.
            question: What the embedder made of the question, once `QuestionNotEmbedded` has asked for it.

        Raises:
            QuestionNotEmbedded: The question has to be embedded first.
        """
        drafted = self._recalled_plan(credential, request, resolution.plan_surface(self._config), question)
        spans = [planned.span for planned in drafted.plan.spans]
        insufficient = drafted.plan.stats.pool_spans == 0 and not request.allow_ungrounded
        trace_id, record = self._recorded("plan", drafted, sent, spans, insufficient=insufficient)
        window = _window(drafted.circumstances)
        return Answer(
            drafted.plan,
            window,
            trace_id,
            record,
            insufficient,
            tenant=drafted.caller.tenant_name,
            explanation=drafted.explanation,
            suggestion=drafted.suggestion,
        )

    def context(
        self,
        credential: str,
        request: PlanRequest,
        sent: Mapping[str, Any],
        question: QuestionVector | None = None,
        *,
        prompt: bool = False,
    ) -> ContextAnswer:
        """
        Plan from memory, as `plan`, and present the plan as items; an empty plan is an answer.

        Args:
            prompt: Make one text of them too.
        """
        drafted = self._recalled_plan(credential, request, resolution.context_surface(self._config), question)
        items, questions = items_of(drafted.plan, drafted.rows, drafted.recalled, drafted.snapshot, drafted.query)
        trace_id, record = "", None
        if self._config.context.trace:
            trace_id, record = self._recorded(
                "context", drafted, sent, [item.span for item in items], insufficient=False
            )
        window = _window(drafted.circumstances)
        tenant = drafted.caller.tenant_name
        return ContextAnswer(
            drafted.plan,
            window,
            trace_id,
            record,
            False,
            items,
            questions,
            tenant=tenant,
            explanation=drafted.explanation,
            suggestion=drafted.suggestion,
            prompt=prompt_of(drafted.plan, items, self._filling.counter(drafted.plan)) if prompt else None,
        )

    def select(self, credential: str, request: SelectRequest, sent: Mapping[str, Any]) -> Answer:
        """Select from the caller's own pool; memory is not read."""
        caller, _ = self._authenticated(credential)
        caller.need("read")
        selected = select_pool(request, self._config, self._tokenizers)
        plan = selected.plan
        insufficient = plan.stats.pool_spans == 0 and not request.allow_ungrounded
        trace_id = self._new_trace_id()
        record = encode_record(
            kind="select",
            trace_id=trace_id,
            recorded_us=self._now(),
            caller=caller,
            sent=sent,
            circumstances=Circumstances(None, None, (), None, None, "", self.rules),
            plan=plan,
            items=[planned.span for planned in plan.spans],
            pool=selected.entries,
            explanation=selected.explanation,
            error=_error(insufficient=insufficient),
        )
        return Answer(
            plan,
            Window(),
            trace_id,
            record,
            insufficient,
            tenant=caller.tenant_name,
            explanation=selected.explanation,
            suggestion=selected.suggestion,
        )

    def query(self, credential: str, request: QueryRequest) -> QueryAnswer:
        """
        One page of the nodes that satisfy *request*, by id; no plan, and so no trace.

        Raises:
            RequestInvalid: A `match` holds no word, or too many nodes had to be examined.
        """
        asked, size = request.window, request.page_size or DEFAULT_QUERY_PAGE
        if request.after is not None:
            asked = Window(request.after.valid_t, request.after.tx_t)
        for _ in range(REPLANS):
            caller, last_tx = self._authenticated(credential)
            caller.need("read")
            valid_t, tx_t = resolution.resolve_window(asked, last_tx, self._now())
            try:
                snapshot = self._columns.at(caller.tenant, last_tx)
                view = snapshot.view(caller.readable(request.spaces), valid_t, tx_t)
                places = structured.of_type(view, request.find)
                if request.after is not None:
                    places = structured.after(view, places, request.after.node_id, request.after.seen)
                if request.where is not None:
                    places = structured.satisfying(snapshot, view, places, compiled(request.where), size + 1)
                nodes = nodes_at(snapshot, view, places[:size])
            except (PropertiesErased, TenantDeleted):
                continue
            return QueryAnswer(nodes, len(places) > len(nodes), Window(valid_t, tx_t))
        raise Unavailable(part="a source that is being erased")

    def replan(self, credential: str, request: PlanRequest, surface: Surface, pinned: QuestionVector) -> Drafted:
        """
        Plan as *surface* does, and leave no record.

        Args:
            pinned: What *request* is planned with, whatever embedder is configured; a vector of its own wins.
        """
        return self._recalled_plan(credential, request, surface, None, pinned)

    def _recalled_plan(
        self,
        credential: str,
        request: PlanRequest,
        surface: Surface,
        asked: QuestionVector | None,
        pinned: QuestionVector | None = None,
    ) -> Drafted:
        for _ in range(REPLANS):
            caller, last_tx = self._authenticated(credential)
            caller.need("read")
            limits = resolution.resolve_limits(request, surface, self._config, self._tokenizers)
            caller.readable(request.spaces)  # who may not read must not have a question embedded
            window = resolution.resolve_window(request.window, last_tx, self._now())
            try:
                snapshot = self._columns.at(caller.tenant, last_tx)
                question = pinned or self._embedded(request, snapshot.active_model(window[1]), asked)
                if request.exclusions and pinned is None:
                    reach = of_spaces(snapshot.columns, caller.readable(request.spaces), request.exclusions)
                    request = replace(request, exclusions=reach)
                query = resolution.resolve_recall(request, limits, caller, self._config, window, question)
                began = time.perf_counter()
                detail = None
                if request.explain or request.why_not:
                    recalled, detail = recall_in_detail(snapshot, query)
                else:
                    recalled = recall(snapshot, query)
                between = time.perf_counter()
                plan, packed = self._filling.plan(caller.tenant, snapshot.erased_tx, recalled, limits)
                selected = time.perf_counter()
                explanation = None
                if detail is not None:
                    origin = Recollection(recalled, detail, snapshot)
                    reckoning = reckoned(packed, self._config.planner, origin)
                    reader = Reader(self._store, caller.tenant, caller.spaces)
                    explanation = explained_for(request, reckoning, origin, reader)
                    self._stage("explain", time.perf_counter() - selected)
                suggestion = suggested(packed, limits, request.suggest)
            except (TextErased, PropertiesErased, TenantDeleted):
                continue
            self._stage("recall", between - began)
            self._stage("select", selected - between)
            circumstances = Circumstances(
                valid_t=query.valid_t,
                tx_t=query.tx_t,
                spaces=query.spaces,
                query_vector=None if query.vector is None else query.vector.astype("<f4").tobytes(),
                vector_model=query.vector_model,
                index_version=snapshot.index_version,
                rules=self.rules,
                last_tx=last_tx,
                exclusions=() if query.exclusions is None else query.exclusions.spans,
            )
            return Drafted(plan, explanation, packed.rows, recalled, snapshot, query, caller, circumstances, suggestion)
        raise Unavailable(part="a source that is being erased")

    def _embedded(
        self, request: PlanRequest, active: str | None, asked: QuestionVector | None
    ) -> QuestionVector | None:
        if self._questions is None or request.question is None or not resolution.wants_vector(request):
            return None
        if active is None:
            return QuestionVector(None, skipped=NO_VECTORS)
        if active != self._questions.model:
            reason = f"the embedder makes vectors of {self._questions.model}, memory has those of {active}"
            return QuestionVector(None, skipped=reason)
        vector = asked or self._questions.known(request.question)
        if vector is None:
            raise QuestionNotEmbedded(request.question)
        return vector

    def _recorded(
        self, kind: str, drafted: Drafted, sent: Mapping[str, Any], items: Sequence[SpanRef], *, insufficient: bool
    ) -> tuple[str, bytes]:
        trace_id = self._new_trace_id()
        record = encode_record(
            kind=kind,
            trace_id=trace_id,
            recorded_us=self._now(),
            caller=drafted.caller,
            sent=sent,
            circumstances=drafted.circumstances,
            plan=drafted.plan,
            items=items,
            explanation=drafted.explanation,
            error=_error(insufficient=insufficient),
        )
        return trace_id, record


def _window(circumstances: Circumstances) -> Window:
    return Window(circumstances.valid_t, circumstances.tx_t)


def _error(*, insufficient: bool) -> str | None:
    return InsufficientEvidence.reason if insufficient else None
