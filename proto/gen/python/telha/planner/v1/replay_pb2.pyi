from telha.planner.v1 import difference_pb2 as _difference_pb2
from telha.planner.v1 import explanation_pb2 as _explanation_pb2
from telha.planner.v1 import plan_pb2 as _plan_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ReplayOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REPLAY_OUTCOME_UNSPECIFIED: _ClassVar[ReplayOutcome]
    REPLAY_OUTCOME_IDENTICAL: _ClassVar[ReplayOutcome]
    REPLAY_OUTCOME_CHANGED: _ClassVar[ReplayOutcome]
    REPLAY_OUTCOME_ERASED: _ClassVar[ReplayOutcome]
REPLAY_OUTCOME_UNSPECIFIED: ReplayOutcome
REPLAY_OUTCOME_IDENTICAL: ReplayOutcome
REPLAY_OUTCOME_CHANGED: ReplayOutcome
REPLAY_OUTCOME_ERASED: ReplayOutcome

class ReplayRequest(_message.Message):
    __slots__ = ("trace_id", "explain", "why_not")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    EXPLAIN_FIELD_NUMBER: _ClassVar[int]
    WHY_NOT_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    explain: bool
    why_not: _containers.RepeatedCompositeFieldContainer[_explanation_pb2.Subject]
    def __init__(self, trace_id: _Optional[str] = ..., explain: _Optional[bool] = ..., why_not: _Optional[_Iterable[_Union[_explanation_pb2.Subject, _Mapping]]] = ...) -> None: ...

class ErasedSource(_message.Message):
    __slots__ = ("source_id", "erased_us", "spans")
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    ERASED_US_FIELD_NUMBER: _ClassVar[int]
    SPANS_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    erased_us: int
    spans: int
    def __init__(self, source_id: _Optional[str] = ..., erased_us: _Optional[int] = ..., spans: _Optional[int] = ...) -> None: ...

class ComparedPlan(_message.Message):
    __slots__ = ("trace_id", "kind", "recorded_us", "plan_hash", "window", "budget", "used")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    RECORDED_US_FIELD_NUMBER: _ClassVar[int]
    PLAN_HASH_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    USED_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    kind: str
    recorded_us: int
    plan_hash: str
    window: _plan_pb2.Window
    budget: int
    used: int
    def __init__(self, trace_id: _Optional[str] = ..., kind: _Optional[str] = ..., recorded_us: _Optional[int] = ..., plan_hash: _Optional[str] = ..., window: _Optional[_Union[_plan_pb2.Window, _Mapping]] = ..., budget: _Optional[int] = ..., used: _Optional[int] = ...) -> None: ...

class ReplayResponse(_message.Message):
    __slots__ = ("outcome", "recorded", "plan", "window", "difference", "erased", "explanation")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    RECORDED_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCE_FIELD_NUMBER: _ClassVar[int]
    ERASED_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    outcome: ReplayOutcome
    recorded: ComparedPlan
    plan: _plan_pb2.EvidencePlan
    window: _plan_pb2.Window
    difference: _difference_pb2.PlanDifference
    erased: _containers.RepeatedCompositeFieldContainer[ErasedSource]
    explanation: _explanation_pb2.Explanation
    def __init__(self, outcome: _Optional[_Union[ReplayOutcome, str]] = ..., recorded: _Optional[_Union[ComparedPlan, _Mapping]] = ..., plan: _Optional[_Union[_plan_pb2.EvidencePlan, _Mapping]] = ..., window: _Optional[_Union[_plan_pb2.Window, _Mapping]] = ..., difference: _Optional[_Union[_difference_pb2.PlanDifference, _Mapping]] = ..., erased: _Optional[_Iterable[_Union[ErasedSource, _Mapping]]] = ..., explanation: _Optional[_Union[_explanation_pb2.Explanation, _Mapping]] = ...) -> None: ...

class DiffRequest(_message.Message):
    __slots__ = ("trace_id", "other_trace_id")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    OTHER_TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    other_trace_id: str
    def __init__(self, trace_id: _Optional[str] = ..., other_trace_id: _Optional[str] = ...) -> None: ...

class DiffResponse(_message.Message):
    __slots__ = ("before", "after", "difference")
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCE_FIELD_NUMBER: _ClassVar[int]
    before: ComparedPlan
    after: ComparedPlan
    difference: _difference_pb2.PlanDifference
    def __init__(self, before: _Optional[_Union[ComparedPlan, _Mapping]] = ..., after: _Optional[_Union[ComparedPlan, _Mapping]] = ..., difference: _Optional[_Union[_difference_pb2.PlanDifference, _Mapping]] = ...) -> None: ...
