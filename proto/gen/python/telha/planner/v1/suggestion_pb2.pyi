from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Suggest(_message.Message):
    __slots__ = ("weight_share",)
    WEIGHT_SHARE_FIELD_NUMBER: _ClassVar[int]
    weight_share: float
    def __init__(self, weight_share: _Optional[float] = ...) -> None: ...

class BudgetStep(_message.Message):
    __slots__ = ("budget", "used", "spans", "packed_weight", "share_of_bound")
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    USED_FIELD_NUMBER: _ClassVar[int]
    SPANS_FIELD_NUMBER: _ClassVar[int]
    PACKED_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    SHARE_OF_BOUND_FIELD_NUMBER: _ClassVar[int]
    budget: int
    used: int
    spans: int
    packed_weight: float
    share_of_bound: float
    def __init__(self, budget: _Optional[int] = ..., used: _Optional[int] = ..., spans: _Optional[int] = ..., packed_weight: _Optional[float] = ..., share_of_bound: _Optional[float] = ...) -> None: ...

class Suggestion(_message.Message):
    __slots__ = ("weight_share", "wanted_spans", "smallest_budget", "exact", "max_tokens", "greatest_budget", "forbidden_by", "steps")
    WEIGHT_SHARE_FIELD_NUMBER: _ClassVar[int]
    WANTED_SPANS_FIELD_NUMBER: _ClassVar[int]
    SMALLEST_BUDGET_FIELD_NUMBER: _ClassVar[int]
    EXACT_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    GREATEST_BUDGET_FIELD_NUMBER: _ClassVar[int]
    FORBIDDEN_BY_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    weight_share: float
    wanted_spans: int
    smallest_budget: int
    exact: bool
    max_tokens: int
    greatest_budget: int
    forbidden_by: str
    steps: _containers.RepeatedCompositeFieldContainer[BudgetStep]
    def __init__(self, weight_share: _Optional[float] = ..., wanted_spans: _Optional[int] = ..., smallest_budget: _Optional[int] = ..., exact: _Optional[bool] = ..., max_tokens: _Optional[int] = ..., greatest_budget: _Optional[int] = ..., forbidden_by: _Optional[str] = ..., steps: _Optional[_Iterable[_Union[BudgetStep, _Mapping]]] = ...) -> None: ...
