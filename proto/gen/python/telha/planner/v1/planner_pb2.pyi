from telha.planner.v1 import explanation_pb2 as _explanation_pb2
from telha.planner.v1 import plan_pb2 as _plan_pb2
from telha.planner.v1 import replay_pb2 as _replay_pb2
from telha.planner.v1 import suggestion_pb2 as _suggestion_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PlanRequest(_message.Message):
    __slots__ = ("question", "query", "vector", "expand_depth", "window", "budget", "model", "spaces", "max_frac_per_source", "span_overhead_tokens", "legs", "allow_ungrounded", "min_similarity", "explain", "why_not", "exclude", "suggest")
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
    ALLOW_UNGROUNDED_FIELD_NUMBER: _ClassVar[int]
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
    allow_ungrounded: bool
    min_similarity: float
    explain: bool
    why_not: _containers.RepeatedCompositeFieldContainer[_explanation_pb2.Subject]
    exclude: _plan_pb2.Exclude
    suggest: _suggestion_pb2.Suggest
    def __init__(self, question: _Optional[str] = ..., query: _Optional[_Union[_plan_pb2.NodeQuery, _Mapping]] = ..., vector: _Optional[_Union[_plan_pb2.QueryVector, _Mapping]] = ..., expand_depth: _Optional[int] = ..., window: _Optional[_Union[_plan_pb2.Window, _Mapping]] = ..., budget: _Optional[_Union[_plan_pb2.Budget, _Mapping]] = ..., model: _Optional[str] = ..., spaces: _Optional[_Iterable[str]] = ..., max_frac_per_source: _Optional[float] = ..., span_overhead_tokens: _Optional[int] = ..., legs: _Optional[_Iterable[_Union[_plan_pb2.Leg, str]]] = ..., allow_ungrounded: _Optional[bool] = ..., min_similarity: _Optional[float] = ..., explain: _Optional[bool] = ..., why_not: _Optional[_Iterable[_Union[_explanation_pb2.Subject, _Mapping]]] = ..., exclude: _Optional[_Union[_plan_pb2.Exclude, _Mapping]] = ..., suggest: _Optional[_Union[_suggestion_pb2.Suggest, _Mapping]] = ...) -> None: ...

class PlanResponse(_message.Message):
    __slots__ = ("plan", "window", "explanation", "suggestion")
    PLAN_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    SUGGESTION_FIELD_NUMBER: _ClassVar[int]
    plan: _plan_pb2.EvidencePlan
    window: _plan_pb2.Window
    explanation: _explanation_pb2.Explanation
    suggestion: _suggestion_pb2.Suggestion
    def __init__(self, plan: _Optional[_Union[_plan_pb2.EvidencePlan, _Mapping]] = ..., window: _Optional[_Union[_plan_pb2.Window, _Mapping]] = ..., explanation: _Optional[_Union[_explanation_pb2.Explanation, _Mapping]] = ..., suggestion: _Optional[_Union[_suggestion_pb2.Suggestion, _Mapping]] = ...) -> None: ...

class Fragment(_message.Message):
    __slots__ = ("span", "kind", "span_class", "text", "tokens", "score")
    SPAN_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SPAN_CLASS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    span: _plan_pb2.SpanRef
    kind: str
    span_class: _plan_pb2.SpanClass
    text: str
    tokens: int
    score: float
    def __init__(self, span: _Optional[_Union[_plan_pb2.SpanRef, _Mapping]] = ..., kind: _Optional[str] = ..., span_class: _Optional[_Union[_plan_pb2.SpanClass, str]] = ..., text: _Optional[str] = ..., tokens: _Optional[int] = ..., score: _Optional[float] = ...) -> None: ...

class SelectRequest(_message.Message):
    __slots__ = ("pool", "question", "budget", "model", "max_frac_per_source", "span_overhead_tokens", "allow_ungrounded", "explain", "why_not", "suggest")
    POOL_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MAX_FRAC_PER_SOURCE_FIELD_NUMBER: _ClassVar[int]
    SPAN_OVERHEAD_TOKENS_FIELD_NUMBER: _ClassVar[int]
    ALLOW_UNGROUNDED_FIELD_NUMBER: _ClassVar[int]
    EXPLAIN_FIELD_NUMBER: _ClassVar[int]
    WHY_NOT_FIELD_NUMBER: _ClassVar[int]
    SUGGEST_FIELD_NUMBER: _ClassVar[int]
    pool: _containers.RepeatedCompositeFieldContainer[Fragment]
    question: str
    budget: _plan_pb2.Budget
    model: str
    max_frac_per_source: float
    span_overhead_tokens: int
    allow_ungrounded: bool
    explain: bool
    why_not: _containers.RepeatedCompositeFieldContainer[_explanation_pb2.Subject]
    suggest: _suggestion_pb2.Suggest
    def __init__(self, pool: _Optional[_Iterable[_Union[Fragment, _Mapping]]] = ..., question: _Optional[str] = ..., budget: _Optional[_Union[_plan_pb2.Budget, _Mapping]] = ..., model: _Optional[str] = ..., max_frac_per_source: _Optional[float] = ..., span_overhead_tokens: _Optional[int] = ..., allow_ungrounded: _Optional[bool] = ..., explain: _Optional[bool] = ..., why_not: _Optional[_Iterable[_Union[_explanation_pb2.Subject, _Mapping]]] = ..., suggest: _Optional[_Union[_suggestion_pb2.Suggest, _Mapping]] = ...) -> None: ...

class SelectResponse(_message.Message):
    __slots__ = ("plan", "explanation", "suggestion")
    PLAN_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    SUGGESTION_FIELD_NUMBER: _ClassVar[int]
    plan: _plan_pb2.EvidencePlan
    explanation: _explanation_pb2.Explanation
    suggestion: _suggestion_pb2.Suggestion
    def __init__(self, plan: _Optional[_Union[_plan_pb2.EvidencePlan, _Mapping]] = ..., explanation: _Optional[_Union[_explanation_pb2.Explanation, _Mapping]] = ..., suggestion: _Optional[_Union[_suggestion_pb2.Suggestion, _Mapping]] = ...) -> None: ...
