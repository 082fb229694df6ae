from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TraceSummary(_message.Message):
    __slots__ = ("trace_id", "kind", "recorded_us", "spaces", "plan_hash", "budget", "used", "items", "stranded")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    RECORDED_US_FIELD_NUMBER: _ClassVar[int]
    SPACES_FIELD_NUMBER: _ClassVar[int]
    PLAN_HASH_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    USED_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    STRANDED_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    kind: str
    recorded_us: int
    spaces: _containers.RepeatedScalarFieldContainer[str]
    plan_hash: str
    budget: int
    used: int
    items: int
    stranded: int
    def __init__(self, trace_id: _Optional[str] = ..., kind: _Optional[str] = ..., recorded_us: _Optional[int] = ..., spaces: _Optional[_Iterable[str]] = ..., plan_hash: _Optional[str] = ..., budget: _Optional[int] = ..., used: _Optional[int] = ..., items: _Optional[int] = ..., stranded: _Optional[int] = ...) -> None: ...

class GetRequest(_message.Message):
    __slots__ = ("trace_id",)
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    def __init__(self, trace_id: _Optional[str] = ...) -> None: ...

class GetResponse(_message.Message):
    __slots__ = ("summary", "record", "pool_left_out", "explained_left_out", "erased_items")
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    RECORD_FIELD_NUMBER: _ClassVar[int]
    POOL_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    EXPLAINED_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    ERASED_ITEMS_FIELD_NUMBER: _ClassVar[int]
    summary: TraceSummary
    record: _struct_pb2.Struct
    pool_left_out: int
    explained_left_out: int
    erased_items: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, summary: _Optional[_Union[TraceSummary, _Mapping]] = ..., record: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., pool_left_out: _Optional[int] = ..., explained_left_out: _Optional[int] = ..., erased_items: _Optional[_Iterable[int]] = ...) -> None: ...

class ListRequest(_message.Message):
    __slots__ = ("kind", "space", "from_us", "to_us", "page_size", "page_token", "min_used_share", "max_used_share", "stranded")
    KIND_FIELD_NUMBER: _ClassVar[int]
    SPACE_FIELD_NUMBER: _ClassVar[int]
    FROM_US_FIELD_NUMBER: _ClassVar[int]
    TO_US_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    MIN_USED_SHARE_FIELD_NUMBER: _ClassVar[int]
    MAX_USED_SHARE_FIELD_NUMBER: _ClassVar[int]
    STRANDED_FIELD_NUMBER: _ClassVar[int]
    kind: str
    space: str
    from_us: int
    to_us: int
    page_size: int
    page_token: str
    min_used_share: float
    max_used_share: float
    stranded: bool
    def __init__(self, kind: _Optional[str] = ..., space: _Optional[str] = ..., from_us: _Optional[int] = ..., to_us: _Optional[int] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., min_used_share: _Optional[float] = ..., max_used_share: _Optional[float] = ..., stranded: _Optional[bool] = ...) -> None: ...

class ListResponse(_message.Message):
    __slots__ = ("traces", "next_page_token")
    TRACES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    traces: _containers.RepeatedCompositeFieldContainer[TraceSummary]
    next_page_token: str
    def __init__(self, traces: _Optional[_Iterable[_Union[TraceSummary, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class DeleteRequest(_message.Message):
    __slots__ = ("trace_id",)
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    def __init__(self, trace_id: _Optional[str] = ...) -> None: ...

class DeleteResponse(_message.Message):
    __slots__ = ("trace",)
    TRACE_FIELD_NUMBER: _ClassVar[int]
    trace: TraceSummary
    def __init__(self, trace: _Optional[_Union[TraceSummary, _Mapping]] = ...) -> None: ...
