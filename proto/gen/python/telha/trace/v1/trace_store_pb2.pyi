from telha.trace.v1 import traces_pb2 as _traces_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FetchRequest(_message.Message):
    __slots__ = ("tenant", "trace_id", "searched_spools", "allowed_spaces", "key_id", "as_written")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    SEARCHED_SPOOLS_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_SPACES_FIELD_NUMBER: _ClassVar[int]
    KEY_ID_FIELD_NUMBER: _ClassVar[int]
    AS_WRITTEN_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    trace_id: str
    searched_spools: _containers.RepeatedScalarFieldContainer[str]
    allowed_spaces: _containers.RepeatedScalarFieldContainer[str]
    key_id: str
    as_written: bool
    def __init__(self, tenant: _Optional[str] = ..., trace_id: _Optional[str] = ..., searched_spools: _Optional[_Iterable[str]] = ..., allowed_spaces: _Optional[_Iterable[str]] = ..., key_id: _Optional[str] = ..., as_written: _Optional[bool] = ...) -> None: ...

class FetchResponse(_message.Message):
    __slots__ = ("trace", "record")
    TRACE_FIELD_NUMBER: _ClassVar[int]
    RECORD_FIELD_NUMBER: _ClassVar[int]
    trace: _traces_pb2.GetResponse
    record: bytes
    def __init__(self, trace: _Optional[_Union[_traces_pb2.GetResponse, _Mapping]] = ..., record: _Optional[bytes] = ...) -> None: ...

class BrowseRequest(_message.Message):
    __slots__ = ("tenant", "allowed_spaces", "list", "key_id")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_SPACES_FIELD_NUMBER: _ClassVar[int]
    LIST_FIELD_NUMBER: _ClassVar[int]
    KEY_ID_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    allowed_spaces: _containers.RepeatedScalarFieldContainer[str]
    list: _traces_pb2.ListRequest
    key_id: str
    def __init__(self, tenant: _Optional[str] = ..., allowed_spaces: _Optional[_Iterable[str]] = ..., list: _Optional[_Union[_traces_pb2.ListRequest, _Mapping]] = ..., key_id: _Optional[str] = ...) -> None: ...

class BrowseResponse(_message.Message):
    __slots__ = ("page",)
    PAGE_FIELD_NUMBER: _ClassVar[int]
    page: _traces_pb2.ListResponse
    def __init__(self, page: _Optional[_Union[_traces_pb2.ListResponse, _Mapping]] = ...) -> None: ...

class PersistedRequest(_message.Message):
    __slots__ = ("trace_ids", "spools")
    TRACE_IDS_FIELD_NUMBER: _ClassVar[int]
    SPOOLS_FIELD_NUMBER: _ClassVar[int]
    trace_ids: _containers.RepeatedScalarFieldContainer[str]
    spools: _containers.RepeatedCompositeFieldContainer[SpoolState]
    def __init__(self, trace_ids: _Optional[_Iterable[str]] = ..., spools: _Optional[_Iterable[_Union[SpoolState, _Mapping]]] = ...) -> None: ...

class SpoolState(_message.Message):
    __slots__ = ("spool", "settled_before_us", "gone")
    SPOOL_FIELD_NUMBER: _ClassVar[int]
    SETTLED_BEFORE_US_FIELD_NUMBER: _ClassVar[int]
    GONE_FIELD_NUMBER: _ClassVar[int]
    spool: str
    settled_before_us: int
    gone: bool
    def __init__(self, spool: _Optional[str] = ..., settled_before_us: _Optional[int] = ..., gone: _Optional[bool] = ...) -> None: ...

class PersistedResponse(_message.Message):
    __slots__ = ("trace_ids",)
    TRACE_IDS_FIELD_NUMBER: _ClassVar[int]
    trace_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, trace_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class DeleteTenantRequest(_message.Message):
    __slots__ = ("tenant", "deleted_us")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    DELETED_US_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    deleted_us: int
    def __init__(self, tenant: _Optional[str] = ..., deleted_us: _Optional[int] = ...) -> None: ...

class DeleteTenantResponse(_message.Message):
    __slots__ = ("traces", "dead_letters", "dropped")
    TRACES_FIELD_NUMBER: _ClassVar[int]
    DEAD_LETTERS_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    traces: int
    dead_letters: int
    dropped: int
    def __init__(self, traces: _Optional[int] = ..., dead_letters: _Optional[int] = ..., dropped: _Optional[int] = ...) -> None: ...

class DeleteTraceRequest(_message.Message):
    __slots__ = ("tenant", "trace_id")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    trace_id: str
    def __init__(self, tenant: _Optional[str] = ..., trace_id: _Optional[str] = ...) -> None: ...

class DeleteTraceResponse(_message.Message):
    __slots__ = ("stored",)
    STORED_FIELD_NUMBER: _ClassVar[int]
    stored: bool
    def __init__(self, stored: _Optional[bool] = ...) -> None: ...
