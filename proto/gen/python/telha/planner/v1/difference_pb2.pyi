from telha.planner.v1 import plan_pb2 as _plan_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PlanInput(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PLAN_INPUT_UNSPECIFIED: _ClassVar[PlanInput]
    PLAN_INPUT_REQUEST: _ClassVar[PlanInput]
    PLAN_INPUT_WINDOW: _ClassVar[PlanInput]
    PLAN_INPUT_SPACES: _ClassVar[PlanInput]
    PLAN_INPUT_BUDGET: _ClassVar[PlanInput]
    PLAN_INPUT_PLAN_MODEL: _ClassVar[PlanInput]
    PLAN_INPUT_SCORE_MODEL: _ClassVar[PlanInput]
    PLAN_INPUT_TOKENIZER: _ClassVar[PlanInput]
    PLAN_INPUT_INDEX_VERSION: _ClassVar[PlanInput]
    PLAN_INPUT_CONFIGURATION: _ClassVar[PlanInput]
    PLAN_INPUT_QUERY_VECTOR: _ClassVar[PlanInput]
    PLAN_INPUT_EXCLUSIONS: _ClassVar[PlanInput]
    PLAN_INPUT_POOL: _ClassVar[PlanInput]
    PLAN_INPUT_ERASURE: _ClassVar[PlanInput]
    PLAN_INPUT_CODE: _ClassVar[PlanInput]
PLAN_INPUT_UNSPECIFIED: PlanInput
PLAN_INPUT_REQUEST: PlanInput
PLAN_INPUT_WINDOW: PlanInput
PLAN_INPUT_SPACES: PlanInput
PLAN_INPUT_BUDGET: PlanInput
PLAN_INPUT_PLAN_MODEL: PlanInput
PLAN_INPUT_SCORE_MODEL: PlanInput
PLAN_INPUT_TOKENIZER: PlanInput
PLAN_INPUT_INDEX_VERSION: PlanInput
PLAN_INPUT_CONFIGURATION: PlanInput
PLAN_INPUT_QUERY_VECTOR: PlanInput
PLAN_INPUT_EXCLUSIONS: PlanInput
PLAN_INPUT_POOL: PlanInput
PLAN_INPUT_ERASURE: PlanInput
PLAN_INPUT_CODE: PlanInput

class InputChange(_message.Message):
    __slots__ = ("input", "before", "after")
    INPUT_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    input: PlanInput
    before: str
    after: str
    def __init__(self, input: _Optional[_Union[PlanInput, str]] = ..., before: _Optional[str] = ..., after: _Optional[str] = ...) -> None: ...

class DifferentSpan(_message.Message):
    __slots__ = ("span", "kind", "span_class", "weight", "tokens", "source_name")
    SPAN_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SPAN_CLASS_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_NAME_FIELD_NUMBER: _ClassVar[int]
    span: _plan_pb2.SpanRef
    kind: str
    span_class: _plan_pb2.SpanClass
    weight: float
    tokens: int
    source_name: str
    def __init__(self, span: _Optional[_Union[_plan_pb2.SpanRef, _Mapping]] = ..., kind: _Optional[str] = ..., span_class: _Optional[_Union[_plan_pb2.SpanClass, str]] = ..., weight: _Optional[float] = ..., tokens: _Optional[int] = ..., source_name: _Optional[str] = ...) -> None: ...

class ReweighedSpan(_message.Message):
    __slots__ = ("span", "before", "after")
    SPAN_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    span: _plan_pb2.SpanRef
    before: DifferentSpan
    after: DifferentSpan
    def __init__(self, span: _Optional[_Union[_plan_pb2.SpanRef, _Mapping]] = ..., before: _Optional[_Union[DifferentSpan, _Mapping]] = ..., after: _Optional[_Union[DifferentSpan, _Mapping]] = ...) -> None: ...

class PlanDifference(_message.Message):
    __slots__ = ("identical", "gone", "new", "reweighed", "unchanged", "changes", "because")
    IDENTICAL_FIELD_NUMBER: _ClassVar[int]
    GONE_FIELD_NUMBER: _ClassVar[int]
    NEW_FIELD_NUMBER: _ClassVar[int]
    REWEIGHED_FIELD_NUMBER: _ClassVar[int]
    UNCHANGED_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    BECAUSE_FIELD_NUMBER: _ClassVar[int]
    identical: bool
    gone: _containers.RepeatedCompositeFieldContainer[DifferentSpan]
    new: _containers.RepeatedCompositeFieldContainer[DifferentSpan]
    reweighed: _containers.RepeatedCompositeFieldContainer[ReweighedSpan]
    unchanged: int
    changes: _containers.RepeatedCompositeFieldContainer[InputChange]
    because: str
    def __init__(self, identical: _Optional[bool] = ..., gone: _Optional[_Iterable[_Union[DifferentSpan, _Mapping]]] = ..., new: _Optional[_Iterable[_Union[DifferentSpan, _Mapping]]] = ..., reweighed: _Optional[_Iterable[_Union[ReweighedSpan, _Mapping]]] = ..., unchanged: _Optional[int] = ..., changes: _Optional[_Iterable[_Union[InputChange, _Mapping]]] = ..., because: _Optional[str] = ...) -> None: ...
