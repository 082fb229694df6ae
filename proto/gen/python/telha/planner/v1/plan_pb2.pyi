from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SpanClass(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SPAN_CLASS_UNSPECIFIED: _ClassVar[SpanClass]
    SPAN_CLASS_TRUTH: _ClassVar[SpanClass]
    SPAN_CLASS_CACHE: _ClassVar[SpanClass]

class Leg(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LEG_UNSPECIFIED: _ClassVar[Leg]
    LEG_STRUCTURED: _ClassVar[Leg]
    LEG_SEMANTIC: _ClassVar[Leg]
    LEG_LEXICAL: _ClassVar[Leg]
SPAN_CLASS_UNSPECIFIED: SpanClass
SPAN_CLASS_TRUTH: SpanClass
SPAN_CLASS_CACHE: SpanClass
LEG_UNSPECIFIED: Leg
LEG_STRUCTURED: Leg
LEG_SEMANTIC: Leg
LEG_LEXICAL: Leg

class SpanRef(_message.Message):
    __slots__ = ("source_id", "source_version_tx", "start", "end")
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_VERSION_TX_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    source_version_tx: int
    start: int
    end: int
    def __init__(self, source_id: _Optional[str] = ..., source_version_tx: _Optional[int] = ..., start: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class Window(_message.Message):
    __slots__ = ("valid_time_us", "tx_time_us")
    VALID_TIME_US_FIELD_NUMBER: _ClassVar[int]
    TX_TIME_US_FIELD_NUMBER: _ClassVar[int]
    valid_time_us: int
    tx_time_us: int
    def __init__(self, valid_time_us: _Optional[int] = ..., tx_time_us: _Optional[int] = ...) -> None: ...

class Budget(_message.Message):
    __slots__ = ("max_tokens", "max_spans")
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_SPANS_FIELD_NUMBER: _ClassVar[int]
    max_tokens: int
    max_spans: int
    def __init__(self, max_tokens: _Optional[int] = ..., max_spans: _Optional[int] = ...) -> None: ...

class NodeQuery(_message.Message):
    __slots__ = ("find", "limit", "where")
    FIND_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    WHERE_FIELD_NUMBER: _ClassVar[int]
    find: str
    limit: int
    where: _struct_pb2.Struct
    def __init__(self, find: _Optional[str] = ..., limit: _Optional[int] = ..., where: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class QueryVector(_message.Message):
    __slots__ = ("values", "model")
    VALUES_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[float]
    model: str
    def __init__(self, values: _Optional[_Iterable[float]] = ..., model: _Optional[str] = ...) -> None: ...

class Exclude(_message.Message):
    __slots__ = ("trace_ids",)
    TRACE_IDS_FIELD_NUMBER: _ClassVar[int]
    trace_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, trace_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class PlannedSpan(_message.Message):
    __slots__ = ("span", "kind", "span_class", "weight", "tokens", "text")
    SPAN_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SPAN_CLASS_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    span: SpanRef
    kind: str
    span_class: SpanClass
    weight: float
    tokens: int
    text: str
    def __init__(self, span: _Optional[_Union[SpanRef, _Mapping]] = ..., kind: _Optional[str] = ..., span_class: _Optional[_Union[SpanClass, str]] = ..., weight: _Optional[float] = ..., tokens: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class RecallStats(_message.Message):
    __slots__ = ("legs", "nodes", "nodes_without_spans", "kind_missing", "slices_missing", "zero_score", "pool_capped", "vector_leg_skipped", "min_similarity", "below_floor", "best_evidence", "excluded")
    LEGS_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    NODES_WITHOUT_SPANS_FIELD_NUMBER: _ClassVar[int]
    KIND_MISSING_FIELD_NUMBER: _ClassVar[int]
    SLICES_MISSING_FIELD_NUMBER: _ClassVar[int]
    ZERO_SCORE_FIELD_NUMBER: _ClassVar[int]
    POOL_CAPPED_FIELD_NUMBER: _ClassVar[int]
    VECTOR_LEG_SKIPPED_FIELD_NUMBER: _ClassVar[int]
    MIN_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    BELOW_FLOOR_FIELD_NUMBER: _ClassVar[int]
    BEST_EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_FIELD_NUMBER: _ClassVar[int]
    legs: LegCounts
    nodes: int
    nodes_without_spans: int
    kind_missing: int
    slices_missing: int
    zero_score: int
    pool_capped: int
    vector_leg_skipped: str
    min_similarity: float
    below_floor: int
    best_evidence: float
    excluded: int
    def __init__(self, legs: _Optional[_Union[LegCounts, _Mapping]] = ..., nodes: _Optional[int] = ..., nodes_without_spans: _Optional[int] = ..., kind_missing: _Optional[int] = ..., slices_missing: _Optional[int] = ..., zero_score: _Optional[int] = ..., pool_capped: _Optional[int] = ..., vector_leg_skipped: _Optional[str] = ..., min_similarity: _Optional[float] = ..., below_floor: _Optional[int] = ..., best_evidence: _Optional[float] = ..., excluded: _Optional[int] = ...) -> None: ...

class LegCounts(_message.Message):
    __slots__ = ("query", "vector", "lexical", "traversal")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_FIELD_NUMBER: _ClassVar[int]
    TRAVERSAL_FIELD_NUMBER: _ClassVar[int]
    query: int
    vector: int
    lexical: int
    traversal: int
    def __init__(self, query: _Optional[int] = ..., vector: _Optional[int] = ..., lexical: _Optional[int] = ..., traversal: _Optional[int] = ...) -> None: ...

class PlanStats(_message.Message):
    __slots__ = ("pool_spans", "selected_spans", "deduped", "unpackable", "budget_skipped", "cap_skipped", "span_limit_skipped", "budget_stranded_by_cap", "token_estimate", "tokenizer", "requested", "applied", "max_spans", "max_frac_per_source", "span_overhead_tokens", "recall", "plan_model", "score_model", "packed_weight", "weight_upper_bound", "weight_share")
    POOL_SPANS_FIELD_NUMBER: _ClassVar[int]
    SELECTED_SPANS_FIELD_NUMBER: _ClassVar[int]
    DEDUPED_FIELD_NUMBER: _ClassVar[int]
    UNPACKABLE_FIELD_NUMBER: _ClassVar[int]
    BUDGET_SKIPPED_FIELD_NUMBER: _ClassVar[int]
    CAP_SKIPPED_FIELD_NUMBER: _ClassVar[int]
    SPAN_LIMIT_SKIPPED_FIELD_NUMBER: _ClassVar[int]
    BUDGET_STRANDED_BY_CAP_FIELD_NUMBER: _ClassVar[int]
    TOKEN_ESTIMATE_FIELD_NUMBER: _ClassVar[int]
    TOKENIZER_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_FIELD_NUMBER: _ClassVar[int]
    APPLIED_FIELD_NUMBER: _ClassVar[int]
    MAX_SPANS_FIELD_NUMBER: _ClassVar[int]
    MAX_FRAC_PER_SOURCE_FIELD_NUMBER: _ClassVar[int]
    SPAN_OVERHEAD_TOKENS_FIELD_NUMBER: _ClassVar[int]
    RECALL_FIELD_NUMBER: _ClassVar[int]
    PLAN_MODEL_FIELD_NUMBER: _ClassVar[int]
    SCORE_MODEL_FIELD_NUMBER: _ClassVar[int]
    PACKED_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_UPPER_BOUND_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_SHARE_FIELD_NUMBER: _ClassVar[int]
    pool_spans: int
    selected_spans: int
    deduped: int
    unpackable: int
    budget_skipped: int
    cap_skipped: int
    span_limit_skipped: int
    budget_stranded_by_cap: int
    token_estimate: bool
    tokenizer: str
    requested: int
    applied: int
    max_spans: int
    max_frac_per_source: float
    span_overhead_tokens: int
    recall: RecallStats
    plan_model: str
    score_model: str
    packed_weight: float
    weight_upper_bound: float
    weight_share: float
    def __init__(self, pool_spans: _Optional[int] = ..., selected_spans: _Optional[int] = ..., deduped: _Optional[int] = ..., unpackable: _Optional[int] = ..., budget_skipped: _Optional[int] = ..., cap_skipped: _Optional[int] = ..., span_limit_skipped: _Optional[int] = ..., budget_stranded_by_cap: _Optional[int] = ..., token_estimate: _Optional[bool] = ..., tokenizer: _Optional[str] = ..., requested: _Optional[int] = ..., applied: _Optional[int] = ..., max_spans: _Optional[int] = ..., max_frac_per_source: _Optional[float] = ..., span_overhead_tokens: _Optional[int] = ..., recall: _Optional[_Union[RecallStats, _Mapping]] = ..., plan_model: _Optional[str] = ..., score_model: _Optional[str] = ..., packed_weight: _Optional[float] = ..., weight_upper_bound: _Optional[float] = ..., weight_share: _Optional[float] = ...) -> None: ...

class EvidencePlan(_message.Message):
    __slots__ = ("plan_model", "budget", "used", "spans", "stats", "plan_hash", "trace_id")
    PLAN_MODEL_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    USED_FIELD_NUMBER: _ClassVar[int]
    SPANS_FIELD_NUMBER: _ClassVar[int]
    STATS_FIELD_NUMBER: _ClassVar[int]
    PLAN_HASH_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    plan_model: str
    budget: int
    used: int
    spans: _containers.RepeatedCompositeFieldContainer[PlannedSpan]
    stats: PlanStats
    plan_hash: str
    trace_id: str
    def __init__(self, plan_model: _Optional[str] = ..., budget: _Optional[int] = ..., used: _Optional[int] = ..., spans: _Optional[_Iterable[_Union[PlannedSpan, _Mapping]]] = ..., stats: _Optional[_Union[PlanStats, _Mapping]] = ..., plan_hash: _Optional[str] = ..., trace_id: _Optional[str] = ...) -> None: ...
