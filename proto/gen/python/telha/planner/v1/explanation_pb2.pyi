from telha.planner.v1 import plan_pb2 as _plan_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SpanOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SPAN_OUTCOME_UNSPECIFIED: _ClassVar[SpanOutcome]
    SPAN_OUTCOME_PACKED: _ClassVar[SpanOutcome]
    SPAN_OUTCOME_DUPLICATE: _ClassVar[SpanOutcome]
    SPAN_OUTCOME_UNPACKABLE: _ClassVar[SpanOutcome]
    SPAN_OUTCOME_BUDGET: _ClassVar[SpanOutcome]
    SPAN_OUTCOME_SPAN_LIMIT: _ClassVar[SpanOutcome]
    SPAN_OUTCOME_SOURCE_CAP: _ClassVar[SpanOutcome]

class Verdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VERDICT_UNSPECIFIED: _ClassVar[Verdict]
    VERDICT_CANDIDATE: _ClassVar[Verdict]
    VERDICT_NOT_VISIBLE: _ClassVar[Verdict]
    VERDICT_OTHER_SPACE: _ClassVar[Verdict]
    VERDICT_NOT_FOUND: _ClassVar[Verdict]
    VERDICT_ZERO_SCORE: _ClassVar[Verdict]
    VERDICT_BELOW_FLOOR: _ClassVar[Verdict]
    VERDICT_WINDOW_TOO_LARGE: _ClassVar[Verdict]
    VERDICT_POORER_WINDOW: _ClassVar[Verdict]
    VERDICT_POOL_CAPPED: _ClassVar[Verdict]
    VERDICT_NO_PROVENANCE: _ClassVar[Verdict]
    VERDICT_ERASED: _ClassVar[Verdict]
    VERDICT_EXCLUDED: _ClassVar[Verdict]
    VERDICT_UNKNOWN: _ClassVar[Verdict]

class TimeAxis(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TIME_AXIS_UNSPECIFIED: _ClassVar[TimeAxis]
    TIME_AXIS_VALID_TIME: _ClassVar[TimeAxis]
    TIME_AXIS_TX_TIME: _ClassVar[TimeAxis]
SPAN_OUTCOME_UNSPECIFIED: SpanOutcome
SPAN_OUTCOME_PACKED: SpanOutcome
SPAN_OUTCOME_DUPLICATE: SpanOutcome
SPAN_OUTCOME_UNPACKABLE: SpanOutcome
SPAN_OUTCOME_BUDGET: SpanOutcome
SPAN_OUTCOME_SPAN_LIMIT: SpanOutcome
SPAN_OUTCOME_SOURCE_CAP: SpanOutcome
VERDICT_UNSPECIFIED: Verdict
VERDICT_CANDIDATE: Verdict
VERDICT_NOT_VISIBLE: Verdict
VERDICT_OTHER_SPACE: Verdict
VERDICT_NOT_FOUND: Verdict
VERDICT_ZERO_SCORE: Verdict
VERDICT_BELOW_FLOOR: Verdict
VERDICT_WINDOW_TOO_LARGE: Verdict
VERDICT_POORER_WINDOW: Verdict
VERDICT_POOL_CAPPED: Verdict
VERDICT_NO_PROVENANCE: Verdict
VERDICT_ERASED: Verdict
VERDICT_EXCLUDED: Verdict
VERDICT_UNKNOWN: Verdict
TIME_AXIS_UNSPECIFIED: TimeAxis
TIME_AXIS_VALID_TIME: TimeAxis
TIME_AXIS_TX_TIME: TimeAxis

class Subject(_message.Message):
    __slots__ = ("span", "source")
    SPAN_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    span: _plan_pb2.SpanRef
    source: SourceSubject
    def __init__(self, span: _Optional[_Union[_plan_pb2.SpanRef, _Mapping]] = ..., source: _Optional[_Union[SourceSubject, _Mapping]] = ...) -> None: ...

class SourceSubject(_message.Message):
    __slots__ = ("source", "section")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SECTION_FIELD_NUMBER: _ClassVar[int]
    source: str
    section: str
    def __init__(self, source: _Optional[str] = ..., section: _Optional[str] = ...) -> None: ...

class LegRank(_message.Message):
    __slots__ = ("leg", "rank")
    LEG_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    leg: _plan_pb2.Leg
    rank: int
    def __init__(self, leg: _Optional[_Union[_plan_pb2.Leg, str]] = ..., rank: _Optional[int] = ...) -> None: ...

class ScoreParts(_message.Message):
    __slots__ = ("node_id", "score", "similarity", "semantic", "lexical", "context", "source", "speaker", "days", "decay", "hops", "path", "structured", "evidence", "legs", "window")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    SEMANTIC_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SPEAKER_FIELD_NUMBER: _ClassVar[int]
    DAYS_FIELD_NUMBER: _ClassVar[int]
    DECAY_FIELD_NUMBER: _ClassVar[int]
    HOPS_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    LEGS_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    node_id: str
    score: float
    similarity: float
    semantic: float
    lexical: float
    context: float
    source: float
    speaker: float
    days: float
    decay: float
    hops: int
    path: _containers.RepeatedScalarFieldContainer[str]
    structured: bool
    evidence: float
    legs: _containers.RepeatedCompositeFieldContainer[LegRank]
    window: float
    def __init__(self, node_id: _Optional[str] = ..., score: _Optional[float] = ..., similarity: _Optional[float] = ..., semantic: _Optional[float] = ..., lexical: _Optional[float] = ..., context: _Optional[float] = ..., source: _Optional[float] = ..., speaker: _Optional[float] = ..., days: _Optional[float] = ..., decay: _Optional[float] = ..., hops: _Optional[int] = ..., path: _Optional[_Iterable[str]] = ..., structured: _Optional[bool] = ..., evidence: _Optional[float] = ..., legs: _Optional[_Iterable[_Union[LegRank, _Mapping]]] = ..., window: _Optional[float] = ...) -> None: ...

class ScoreConstants(_message.Message):
    __slots__ = ("semantic_share", "context_weight", "source_weight", "speaker_weight", "greatest", "sharpening", "alpha")
    SEMANTIC_SHARE_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    SPEAKER_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    GREATEST_FIELD_NUMBER: _ClassVar[int]
    SHARPENING_FIELD_NUMBER: _ClassVar[int]
    ALPHA_FIELD_NUMBER: _ClassVar[int]
    semantic_share: float
    context_weight: float
    source_weight: float
    speaker_weight: float
    greatest: float
    sharpening: int
    alpha: float
    def __init__(self, semantic_share: _Optional[float] = ..., context_weight: _Optional[float] = ..., source_weight: _Optional[float] = ..., speaker_weight: _Optional[float] = ..., greatest: _Optional[float] = ..., sharpening: _Optional[int] = ..., alpha: _Optional[float] = ...) -> None: ...

class Duplicate(_message.Message):
    __slots__ = ("of", "overlap")
    OF_FIELD_NUMBER: _ClassVar[int]
    OVERLAP_FIELD_NUMBER: _ClassVar[int]
    of: _plan_pb2.SpanRef
    overlap: float
    def __init__(self, of: _Optional[_Union[_plan_pb2.SpanRef, _Mapping]] = ..., overlap: _Optional[float] = ...) -> None: ...

class ExplainedSpan(_message.Message):
    __slots__ = ("span", "source_name", "kind", "span_class", "weight", "kind_prior", "cache_discount", "tokens", "outcome", "rank", "density", "budget_left", "source_spent", "duplicate", "score", "because")
    SPAN_FIELD_NUMBER: _ClassVar[int]
    SOURCE_NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SPAN_CLASS_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    KIND_PRIOR_FIELD_NUMBER: _ClassVar[int]
    CACHE_DISCOUNT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    DENSITY_FIELD_NUMBER: _ClassVar[int]
    BUDGET_LEFT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_SPENT_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    BECAUSE_FIELD_NUMBER: _ClassVar[int]
    span: _plan_pb2.SpanRef
    source_name: str
    kind: str
    span_class: _plan_pb2.SpanClass
    weight: float
    kind_prior: float
    cache_discount: float
    tokens: int
    outcome: SpanOutcome
    rank: int
    density: float
    budget_left: int
    source_spent: int
    duplicate: Duplicate
    score: ScoreParts
    because: str
    def __init__(self, span: _Optional[_Union[_plan_pb2.SpanRef, _Mapping]] = ..., source_name: _Optional[str] = ..., kind: _Optional[str] = ..., span_class: _Optional[_Union[_plan_pb2.SpanClass, str]] = ..., weight: _Optional[float] = ..., kind_prior: _Optional[float] = ..., cache_discount: _Optional[float] = ..., tokens: _Optional[int] = ..., outcome: _Optional[_Union[SpanOutcome, str]] = ..., rank: _Optional[int] = ..., density: _Optional[float] = ..., budget_left: _Optional[int] = ..., source_spent: _Optional[int] = ..., duplicate: _Optional[_Union[Duplicate, _Mapping]] = ..., score: _Optional[_Union[ScoreParts, _Mapping]] = ..., because: _Optional[str] = ...) -> None: ...

class ExplainedNode(_message.Message):
    __slots__ = ("node_id", "type", "span", "verdict", "score", "ranks", "axis", "since_us", "until_us", "instead", "because")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    RANKS_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    SINCE_US_FIELD_NUMBER: _ClassVar[int]
    UNTIL_US_FIELD_NUMBER: _ClassVar[int]
    INSTEAD_FIELD_NUMBER: _ClassVar[int]
    BECAUSE_FIELD_NUMBER: _ClassVar[int]
    node_id: str
    type: str
    span: _plan_pb2.SpanRef
    verdict: Verdict
    score: ScoreParts
    ranks: _containers.RepeatedCompositeFieldContainer[LegRank]
    axis: TimeAxis
    since_us: int
    until_us: int
    instead: _plan_pb2.SpanRef
    because: str
    def __init__(self, node_id: _Optional[str] = ..., type: _Optional[str] = ..., span: _Optional[_Union[_plan_pb2.SpanRef, _Mapping]] = ..., verdict: _Optional[_Union[Verdict, str]] = ..., score: _Optional[_Union[ScoreParts, _Mapping]] = ..., ranks: _Optional[_Iterable[_Union[LegRank, _Mapping]]] = ..., axis: _Optional[_Union[TimeAxis, str]] = ..., since_us: _Optional[int] = ..., until_us: _Optional[int] = ..., instead: _Optional[_Union[_plan_pb2.SpanRef, _Mapping]] = ..., because: _Optional[str] = ...) -> None: ...

class ExplainedSubject(_message.Message):
    __slots__ = ("subject", "verdict", "candidates", "candidates_left_out", "nodes", "nodes_left_out", "because")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    NODES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    BECAUSE_FIELD_NUMBER: _ClassVar[int]
    subject: Subject
    verdict: Verdict
    candidates: _containers.RepeatedCompositeFieldContainer[ExplainedSpan]
    candidates_left_out: int
    nodes: _containers.RepeatedCompositeFieldContainer[ExplainedNode]
    nodes_left_out: int
    because: str
    def __init__(self, subject: _Optional[_Union[Subject, _Mapping]] = ..., verdict: _Optional[_Union[Verdict, str]] = ..., candidates: _Optional[_Iterable[_Union[ExplainedSpan, _Mapping]]] = ..., candidates_left_out: _Optional[int] = ..., nodes: _Optional[_Iterable[_Union[ExplainedNode, _Mapping]]] = ..., nodes_left_out: _Optional[int] = ..., because: _Optional[str] = ...) -> None: ...

class Explanation(_message.Message):
    __slots__ = ("spans", "spans_left_out", "source_cap", "top_k", "subjects", "constants")
    SPANS_FIELD_NUMBER: _ClassVar[int]
    SPANS_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_CAP_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    SUBJECTS_FIELD_NUMBER: _ClassVar[int]
    CONSTANTS_FIELD_NUMBER: _ClassVar[int]
    spans: _containers.RepeatedCompositeFieldContainer[ExplainedSpan]
    spans_left_out: int
    source_cap: int
    top_k: int
    subjects: _containers.RepeatedCompositeFieldContainer[ExplainedSubject]
    constants: ScoreConstants
    def __init__(self, spans: _Optional[_Iterable[_Union[ExplainedSpan, _Mapping]]] = ..., spans_left_out: _Optional[int] = ..., source_cap: _Optional[int] = ..., top_k: _Optional[int] = ..., subjects: _Optional[_Iterable[_Union[ExplainedSubject, _Mapping]]] = ..., constants: _Optional[_Union[ScoreConstants, _Mapping]] = ...) -> None: ...
