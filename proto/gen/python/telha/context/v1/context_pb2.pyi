from telha.planner.v1 import explanation_pb2 as _explanation_pb2
from telha.planner.v1 import plan_pb2 as _plan_pb2
from telha.planner.v1 import suggestion_pb2 as _suggestion_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class BuildRequest(_message.Message):
    __slots__ = ("question", "query", "vector", "expand_depth", "window", "budget", "model", "spaces", "max_frac_per_source", "span_overhead_tokens", "legs", "include", "min_similarity", "explain", "why_not", "exclude", "suggest")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    EXPAND_DEPTH_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SPACES_FIELD_NUMBER: _ClassVar[int]
    MAX_FRAC_PER_SOURCE_FIELD_NUMBER: _ClassVar[int]
    SPAN_OVERHEAD_TOKENS_FIELD_NUMBER: _ClassVar[int]
    LEGS_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_FIELD_NUMBER: _ClassVar[int]
    MIN_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    EXPLAIN_FIELD_NUMBER: _ClassVar[int]
    WHY_NOT_FIELD_NUMBER: _ClassVar[int]
    EXCLUDE_FIELD_NUMBER: _ClassVar[int]
    SUGGEST_FIELD_NUMBER: _ClassVar[int]
    question: str
    query: _plan_pb2.NodeQuery
    vector: _plan_pb2.QueryVector
    expand_depth: int
    window: _plan_pb2.Window
    budget: _plan_pb2.Budget
    model: str
    spaces: _containers.RepeatedScalarFieldContainer[str]
    max_frac_per_source: float
    span_overhead_tokens: int
    legs: _containers.RepeatedScalarFieldContainer[_plan_pb2.Leg]
    include: Include
    min_similarity: float
    explain: bool
    why_not: _containers.RepeatedCompositeFieldContainer[_explanation_pb2.Subject]
    exclude: _plan_pb2.Exclude
    suggest: _suggestion_pb2.Suggest
    def __init__(self, question: _Optional[str] = ..., query: _Optional[_Union[_plan_pb2.NodeQuery, _Mapping]] = ..., vector: _Optional[_Union[_plan_pb2.QueryVector, _Mapping]] = ..., expand_depth: _Optional[int] = ..., window: _Optional[_Union[_plan_pb2.Window, _Mapping]] = ..., budget: _Optional[_Union[_plan_pb2.Budget, _Mapping]] = ..., model: _Optional[str] = ..., spaces: _Optional[_Iterable[str]] = ..., max_frac_per_source: _Optional[float] = ..., span_overhead_tokens: _Optional[int] = ..., legs: _Optional[_Iterable[_Union[_plan_pb2.Leg, str]]] = ..., include: _Optional[_Union[Include, _Mapping]] = ..., min_similarity: _Optional[float] = ..., explain: _Optional[bool] = ..., why_not: _Optional[_Iterable[_Union[_explanation_pb2.Subject, _Mapping]]] = ..., exclude: _Optional[_Union[_plan_pb2.Exclude, _Mapping]] = ..., suggest: _Optional[_Union[_suggestion_pb2.Suggest, _Mapping]] = ...) -> None: ...

class Include(_message.Message):
    __slots__ = ("open_questions", "scores", "stats", "prompt")
    OPEN_QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    STATS_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    open_questions: bool
    scores: bool
    stats: bool
    prompt: bool
    def __init__(self, open_questions: _Optional[bool] = ..., scores: _Optional[bool] = ..., stats: _Optional[bool] = ..., prompt: _Optional[bool] = ...) -> None: ...

class ItemSource(_message.Message):
    __slots__ = ("source_id", "source_version_tx", "start", "end", "name")
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_VERSION_TX_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    source_version_tx: int
    start: int
    end: int
    name: str
    def __init__(self, source_id: _Optional[str] = ..., source_version_tx: _Optional[int] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., name: _Optional[str] = ...) -> None: ...

class ValidTime(_message.Message):
    __slots__ = ("start_us", "end_us")
    START_US_FIELD_NUMBER: _ClassVar[int]
    END_US_FIELD_NUMBER: _ClassVar[int]
    start_us: int
    end_us: int
    def __init__(self, start_us: _Optional[int] = ..., end_us: _Optional[int] = ...) -> None: ...

class PendingClarification(_message.Message):
    __slots__ = ("clarification_id", "state")
    CLARIFICATION_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    clarification_id: str
    state: str
    def __init__(self, clarification_id: _Optional[str] = ..., state: _Optional[str] = ...) -> None: ...

class Item(_message.Message):
    __slots__ = ("text", "source", "kind", "span_class", "score", "valid_time", "pending_clarification")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SPAN_CLASS_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    VALID_TIME_FIELD_NUMBER: _ClassVar[int]
    PENDING_CLARIFICATION_FIELD_NUMBER: _ClassVar[int]
    text: str
    source: ItemSource
    kind: str
    span_class: _plan_pb2.SpanClass
    score: float
    valid_time: ValidTime
    pending_clarification: PendingClarification
    def __init__(self, text: _Optional[str] = ..., source: _Optional[_Union[ItemSource, _Mapping]] = ..., kind: _Optional[str] = ..., span_class: _Optional[_Union[_plan_pb2.SpanClass, str]] = ..., score: _Optional[float] = ..., valid_time: _Optional[_Union[ValidTime, _Mapping]] = ..., pending_clarification: _Optional[_Union[PendingClarification, _Mapping]] = ...) -> None: ...

class Citation(_message.Message):
    __slots__ = ("number", "item", "span")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    ITEM_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    number: int
    item: int
    span: _plan_pb2.SpanRef
    def __init__(self, number: _Optional[int] = ..., item: _Optional[int] = ..., span: _Optional[_Union[_plan_pb2.SpanRef, _Mapping]] = ...) -> None: ...

class Prompt(_message.Message):
    __slots__ = ("format", "text", "tokens", "tokenizer", "citations", "left_out")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOKENIZER_FIELD_NUMBER: _ClassVar[int]
    CITATIONS_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    format: str
    text: str
    tokens: int
    tokenizer: str
    citations: _containers.RepeatedCompositeFieldContainer[Citation]
    left_out: _containers.RepeatedCompositeFieldContainer[_plan_pb2.SpanRef]
    def __init__(self, format: _Optional[str] = ..., text: _Optional[str] = ..., tokens: _Optional[int] = ..., tokenizer: _Optional[str] = ..., citations: _Optional[_Iterable[_Union[Citation, _Mapping]]] = ..., left_out: _Optional[_Iterable[_Union[_plan_pb2.SpanRef, _Mapping]]] = ...) -> None: ...

class OpenQuestion(_message.Message):
    __slots__ = ("clarification_id", "state", "question")
    CLARIFICATION_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    clarification_id: str
    state: str
    question: str
    def __init__(self, clarification_id: _Optional[str] = ..., state: _Optional[str] = ..., question: _Optional[str] = ...) -> None: ...

class BudgetStats(_message.Message):
    __slots__ = ("requested", "applied", "used", "stranded")
    REQUESTED_FIELD_NUMBER: _ClassVar[int]
    APPLIED_FIELD_NUMBER: _ClassVar[int]
    USED_FIELD_NUMBER: _ClassVar[int]
    STRANDED_FIELD_NUMBER: _ClassVar[int]
    requested: int
    applied: int
    used: int
    stranded: int
    def __init__(self, requested: _Optional[int] = ..., applied: _Optional[int] = ..., used: _Optional[int] = ..., stranded: _Optional[int] = ...) -> None: ...

class ContextStats(_message.Message):
    __slots__ = ("legs", "candidates", "dedup_dropped", "cap_skipped", "budget_skipped", "unpackable", "span_limit_skipped", "budget", "vector_leg_skipped", "token_estimate", "tokenizer", "plan")
    LEGS_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    DEDUP_DROPPED_FIELD_NUMBER: _ClassVar[int]
    CAP_SKIPPED_FIELD_NUMBER: _ClassVar[int]
    BUDGET_SKIPPED_FIELD_NUMBER: _ClassVar[int]
    UNPACKABLE_FIELD_NUMBER: _ClassVar[int]
    SPAN_LIMIT_SKIPPED_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    VECTOR_LEG_SKIPPED_FIELD_NUMBER: _ClassVar[int]
    TOKEN_ESTIMATE_FIELD_NUMBER: _ClassVar[int]
    TOKENIZER_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    legs: _plan_pb2.LegCounts
    candidates: int
    dedup_dropped: int
    cap_skipped: int
    budget_skipped: int
    unpackable: int
    span_limit_skipped: int
    budget: BudgetStats
    vector_leg_skipped: str
    token_estimate: bool
    tokenizer: str
    plan: _plan_pb2.PlanStats
    def __init__(self, legs: _Optional[_Union[_plan_pb2.LegCounts, _Mapping]] = ..., candidates: _Optional[int] = ..., dedup_dropped: _Optional[int] = ..., cap_skipped: _Optional[int] = ..., budget_skipped: _Optional[int] = ..., unpackable: _Optional[int] = ..., span_limit_skipped: _Optional[int] = ..., budget: _Optional[_Union[BudgetStats, _Mapping]] = ..., vector_leg_skipped: _Optional[str] = ..., token_estimate: _Optional[bool] = ..., tokenizer: _Optional[str] = ..., plan: _Optional[_Union[_plan_pb2.PlanStats, _Mapping]] = ...) -> None: ...

class BuildResponse(_message.Message):
    __slots__ = ("items", "open_questions", "stats", "trace_id", "plan_hash", "window", "explanation", "suggestion", "prompt")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    OPEN_QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    STATS_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    PLAN_HASH_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    SUGGESTION_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[Item]
    open_questions: _containers.RepeatedCompositeFieldContainer[OpenQuestion]
    stats: ContextStats
    trace_id: str
    plan_hash: str
    window: _plan_pb2.Window
    explanation: _explanation_pb2.Explanation
    suggestion: _suggestion_pb2.Suggestion
    prompt: Prompt
    def __init__(self, items: _Optional[_Iterable[_Union[Item, _Mapping]]] = ..., open_questions: _Optional[_Iterable[_Union[OpenQuestion, _Mapping]]] = ..., stats: _Optional[_Union[ContextStats, _Mapping]] = ..., trace_id: _Optional[str] = ..., plan_hash: _Optional[str] = ..., window: _Optional[_Union[_plan_pb2.Window, _Mapping]] = ..., explanation: _Optional[_Union[_explanation_pb2.Explanation, _Mapping]] = ..., suggestion: _Optional[_Union[_suggestion_pb2.Suggestion, _Mapping]] = ..., prompt: _Optional[_Union[Prompt, _Mapping]] = ...) -> None: ...
