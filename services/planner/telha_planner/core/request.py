"""
What a caller may ask of the planner, and the rules at every door.

Every surface (gRPC, REST through gRPC, CLI, in process) builds these types, so each rule stands here once.
Rule 1: a value that breaks a rule is refused with its field and the rule; nothing is clamped or repaired,
except that −0.0 becomes +0.0.
Rule 2: field paths use the wire's spelling (`budget.max_tokens`), and indices for lists (`pool[3].score`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from .errors import RequestInvalid
from .model import MAX_OFFSET, SpanClass, SpanRef
from .predicate import Where
from .subject import MAX_SUBJECT_BYTES, MAX_SUBJECTS, Subject
from .value import check_name, check_range, check_share, check_text, check_vector, check_weight, parse_uuid

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1
OPEN_END = INT64_MAX
"""The end of an interval that has none."""

MAX_QUESTION_BYTES = 16_384
MAX_SPACES = 256
MAX_FIND_LIMIT = 1000
MAX_QUERY_PAGE = 1000
MAX_OVERHEAD_TOKENS = 1_000_000
MAX_FRAGMENTS = 100_000
MAX_EXCLUDED_TRACES = 32
MAX_EXCLUSIONS = 20_000
"""Spans that a request may have left out; a trace names a few dozen."""
ALL_SPACES = "*"

_ID_BYTES = 16


class Leg(Enum):
    """A way in which recall finds nodes."""

    STRUCTURED = "structured"
    SEMANTIC = "semantic"
    LEXICAL = "lexical"


@dataclass(frozen=True, slots=True)
class Window:
    """
    The two instants of a read, µs since 1970 UTC; None where the caller left the default.

    Attributes:
        valid_time: The instant at which facts must be true.
        tx_time: The instant as of which memory is read.
    """

    valid_time: int | None = None
    tx_time: int | None = None


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """
    Asks for a plan. None means: the default applies.

    Attributes:
        question: What the caller wants to know.
        find: Node type of the structured leg.
        find_limit: Most nodes of the structured leg.
        where: What those nodes must satisfy; only beside *find*.
        vector: Query vector, finite float32 values.
        vector_model: Model of *vector*; None is the tenant's active model.
        expand_depth: Hops, 0..2.
        max_tokens: Requested budget, ≥ 1.
        max_spans: Span limit; 0 means none.
        model: Reading model, which decides tokenizer and context window.
        spaces: Spaces asked for; empty means the key's own or `main`.
        legs: Legs named explicitly; empty means all implied.
        min_similarity: Evidence below which nothing is relevant, [0, 1]; 0 keeps all.
        explain: Say of each candidate why it is in the plan or out of it; never alters the plan.
        why_not: Subjects of which it is to be said why they are in the plan or out of it, at most 32.
        exclusions: Spans that were given before and are left out, with their duplicates; their order does not matter.
        suggest: Say what other budgets would have packed: the share of the greatest weight from which a span is wanted,
            (0, 1]; None does not.
    """

    question: str | None = None
    find: str | None = None
    find_limit: int | None = None
    where: Where | None = None
    vector: tuple[float, ...] | None = None
    vector_model: str | None = None
    expand_depth: int | None = None
    window: Window = field(default_factory=Window)
    max_tokens: int | None = None
    max_spans: int | None = None
    model: str | None = None
    spaces: tuple[str, ...] = ()
    max_frac_per_source: float | None = None
    span_overhead_tokens: int | None = None
    legs: frozenset[Leg] = frozenset()
    allow_ungrounded: bool = False
    min_similarity: float | None = None
    explain: bool = False
    why_not: tuple[Subject, ...] = ()
    exclusions: tuple[SpanRef, ...] = ()
    suggest: float | None = None

    def __post_init__(self) -> None:
        if self.question is None and self.find is None and self.vector is None:
            raise RequestInvalid(field="question", rule="or query or vector is required")
        check_question(self.question)
        check_where("query.where", self.where, self.find)
        if self.find is not None:
            check_name("query.find", self.find)
        check_range("query.limit", self.find_limit, 1, MAX_FIND_LIMIT)
        if self.vector is not None:
            check_vector("vector.values", self.vector)
        if self.vector_model is not None:
            check_name("vector.model", self.vector_model)
        check_range("expand_depth", self.expand_depth, 0, 2)
        check_window(self.window)
        check_limits(self.max_tokens, self.max_spans, self.max_frac_per_source, self.span_overhead_tokens)
        if self.model is not None:
            check_name("model", self.model)
        check_spaces(self.spaces)
        check_floor(self.min_similarity)
        check_subjects(self.why_not)
        if len(self.exclusions) > MAX_EXCLUSIONS:
            rule = f"must name traces that gave at most {MAX_EXCLUSIONS:,} spans together"
            raise RequestInvalid(field="exclude.trace_ids", rule=rule)
        check_suggest(self.suggest)


@dataclass(frozen=True, slots=True)
class QueryPosition:
    """
    Where a page of a query ended.

    Attributes:
        node_id: The last node's.
        valid_t, tx_t: The instants that its first page resolved, µs.
        seen: Nodes of that id that were told; each space may have one.
    """

    node_id: bytes
    valid_t: int
    tx_t: int
    seen: int = 1


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """
    Asks for nodes, by id.

    Attributes:
        find: Their type.
        where: What they must satisfy.
        page_size: Most nodes to return, 1..1000; None is the default.
        after: The end of the page before; its instants then stand for *window*.
    """

    find: str
    where: Where | None = None
    window: Window = field(default_factory=Window)
    spaces: tuple[str, ...] = ()
    page_size: int | None = None
    after: QueryPosition | None = None

    def __post_init__(self) -> None:
        check_where("where", self.where, self.find)
        check_name("find", self.find)
        check_window(self.window)
        check_spaces(self.spaces)
        check_range("page_size", self.page_size, 1, MAX_QUERY_PAGE)


@dataclass(frozen=True, slots=True)
class Fragment:
    """
    One span of a pool that the caller sends.

    Attributes:
        text: Needed to count tokens and to score by a question.
        tokens: Exact tokens; win over counting *text*.
        score: Evidence weight S, finite and ≥ 0; not beside a question.
    """

    span: SpanRef
    kind: str = "body"
    span_class: SpanClass = SpanClass.TRUTH
    text: str | None = None
    tokens: int | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class SelectRequest:
    """Asks for a selection from *pool*; the other fields as in `PlanRequest`."""

    pool: Sequence[Fragment]
    question: str | None = None
    max_tokens: int | None = None
    max_spans: int | None = None
    model: str | None = None
    max_frac_per_source: float | None = None
    span_overhead_tokens: int | None = None
    allow_ungrounded: bool = False
    explain: bool = False
    why_not: tuple[Subject, ...] = ()
    suggest: float | None = None

    def __post_init__(self) -> None:
        check_question(self.question)
        check_subjects(self.why_not)
        check_suggest(self.suggest)
        if len(self.pool) > MAX_FRAGMENTS:
            raise RequestInvalid(field="pool", rule=f"must hold at most {MAX_FRAGMENTS:,} fragments")
        check_limits(self.max_tokens, self.max_spans, self.max_frac_per_source, self.span_overhead_tokens)
        if self.model is not None:
            check_name("model", self.model)
        texts: dict[SpanRef, str] = {}
        for index, fragment in enumerate(self.pool):
            _check_fragment(f"pool[{index}]", fragment, scored_by_question=self.question is not None)
            if fragment.text is None:
                continue
            if texts.setdefault(fragment.span, fragment.text) != fragment.text:
                rule = "must equal the text given before for the same coordinate"
                raise RequestInvalid(field=f"pool[{index}].text", rule=rule)


def _check_fragment(place: str, fragment: Fragment, *, scored_by_question: bool) -> None:
    check_span(f"{place}.span", fragment.span)
    check_name(f"{place}.kind", fragment.kind)
    if fragment.text is not None:
        check_text(f"{place}.text", fragment.text)
    check_range(f"{place}.tokens", fragment.tokens, 0, MAX_OFFSET)
    if fragment.text is None and fragment.tokens is None:
        raise RequestInvalid(field=f"{place}.text", rule="or tokens is required")
    if scored_by_question:
        if fragment.score is not None:
            raise RequestInvalid(field=f"{place}.score", rule="must be absent beside a question")
        if fragment.text is None:
            raise RequestInvalid(field=f"{place}.text", rule="is required beside a question")
    elif fragment.score is None:
        raise RequestInvalid(field=f"{place}.score", rule="is required without a question")
    else:
        check_weight(f"{place}.score", fragment.score)


def check_question(question: str | None) -> None:
    """Refuse a blank, oversized or unstorable question."""
    if question is None:
        return
    check_text("question", question)
    if not question.strip():
        raise RequestInvalid(field="question", rule="must not be blank")
    if len(question.encode()) > MAX_QUESTION_BYTES:
        raise RequestInvalid(field="question", rule=f"must be at most {MAX_QUESTION_BYTES:,} bytes")


def check_where(place: str, where: Where | None, find: str | None) -> None:
    """Refuse conditions on nodes of no type."""
    if where is not None and not find:
        raise RequestInvalid(field=place, rule="must not be given without find")


def check_window(window: Window) -> None:
    """Refuse instants outside int64 µs, the open end excluded."""
    check_range("window.valid_time_us", window.valid_time, INT64_MIN, OPEN_END - 1)
    check_range("window.tx_time_us", window.tx_time, INT64_MIN, OPEN_END - 1)


def check_limits(
    max_tokens: int | None,
    max_spans: int | None,
    max_frac_per_source: float | None,
    span_overhead_tokens: int | None,
) -> None:
    """Refuse a budget, span limit, source share or overhead out of range."""
    if max_tokens is not None and max_tokens < 1:
        raise RequestInvalid(field="budget.max_tokens", rule="must be at least 1")
    check_range("budget.max_tokens", max_tokens, 1, MAX_OFFSET)
    if max_spans is not None and max_spans < 0:
        raise RequestInvalid(field="budget.max_spans", rule="must be at least 0")
    check_range("budget.max_spans", max_spans, 0, MAX_OFFSET)
    if max_frac_per_source is not None and not 0 < max_frac_per_source <= 1:
        raise RequestInvalid(field="max_frac_per_source", rule="must be above 0 and at most 1")
    check_range("span_overhead_tokens", span_overhead_tokens, 0, MAX_OVERHEAD_TOKENS)


def check_floor(min_similarity: float | None) -> None:
    """Refuse a floor outside [0, 1]; None passes."""
    if min_similarity is not None:
        check_share("min_similarity", min_similarity)


def check_spaces(spaces: Sequence[str]) -> None:
    """Refuse too many, repeated or malformed spaces, and `*` beside others."""
    if len(spaces) > MAX_SPACES:
        raise RequestInvalid(field="spaces", rule=f"must name at most {MAX_SPACES} spaces")
    for index, space in enumerate(spaces):
        check_name(f"spaces[{index}]", space)
        if space in spaces[:index]:
            raise RequestInvalid(field=f"spaces[{index}]", rule="must not repeat a space")
    if ALL_SPACES in spaces and len(spaces) > 1:
        raise RequestInvalid(field="spaces", rule="must not name spaces beside *")


def check_subjects(subjects: Sequence[Subject]) -> None:
    """Refuse too many subjects, coordinates that cannot be, and names that nothing can bear."""
    if len(subjects) > MAX_SUBJECTS:
        raise RequestInvalid(field="why_not", rule=f"must hold at most {MAX_SUBJECTS} subjects")
    for index, subject in enumerate(subjects):
        if isinstance(subject, SpanRef):
            check_span(f"why_not[{index}].span", subject)
        else:
            check_name(f"why_not[{index}].source.source", subject.source, MAX_SUBJECT_BYTES)
            if subject.section:
                check_name(f"why_not[{index}].source.section", subject.section, MAX_SUBJECT_BYTES)


def check_suggest(weight_share: float | None) -> None:
    """Refuse a share of the greatest weight outside (0, 1]; None passes."""
    if weight_share is not None and not 0 < weight_share <= 1:
        raise RequestInvalid(field="suggest.weight_share", rule="must be above 0 and at most 1")


def check_excluded_traces(trace_ids: Sequence[str]) -> None:
    """Refuse no traces, too many, one that is named twice, and what is no trace id."""
    if not 1 <= len(trace_ids) <= MAX_EXCLUDED_TRACES:
        raise RequestInvalid(field="exclude.trace_ids", rule=f"must name 1 to {MAX_EXCLUDED_TRACES} traces")
    for index, trace_id in enumerate(trace_ids):
        parse_uuid(f"exclude.trace_ids[{index}]", trace_id)
        if trace_id in trace_ids[:index]:
            raise RequestInvalid(field=f"exclude.trace_ids[{index}]", rule="must not repeat a trace")


def check_span(place: str, span: SpanRef) -> None:
    """Refuse a coordinate with an impossible id, version or offset."""
    if len(span.source_id) != _ID_BYTES:
        raise RequestInvalid(field=f"{place}.source_id", rule="must be the 16 bytes of a UUID")
    check_range(f"{place}.source_version_tx", span.source_version_tx, INT64_MIN, INT64_MAX)
    check_range(f"{place}.start", span.start, 0, MAX_OFFSET)
    check_range(f"{place}.end", span.end, 0, MAX_OFFSET)
    if span.start >= span.end:
        raise RequestInvalid(field=f"{place}.end", rule="must be greater than start")
