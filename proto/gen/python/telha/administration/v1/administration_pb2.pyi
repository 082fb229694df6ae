from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Right(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RIGHT_UNSPECIFIED: _ClassVar[Right]
    RIGHT_READ: _ClassVar[Right]
    RIGHT_WRITE: _ClassVar[Right]
    RIGHT_ADMIN: _ClassVar[Right]
    RIGHT_OPERATOR: _ClassVar[Right]
RIGHT_UNSPECIFIED: Right
RIGHT_READ: Right
RIGHT_WRITE: Right
RIGHT_ADMIN: Right
RIGHT_OPERATOR: Right

class ApiKey(_message.Message):
    __slots__ = ("key_id", "tenant", "name", "rights", "spaces", "created_us", "expires_us", "revoked_us")
    KEY_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RIGHTS_FIELD_NUMBER: _ClassVar[int]
    SPACES_FIELD_NUMBER: _ClassVar[int]
    CREATED_US_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_US_FIELD_NUMBER: _ClassVar[int]
    REVOKED_US_FIELD_NUMBER: _ClassVar[int]
    key_id: str
    tenant: str
    name: str
    rights: _containers.RepeatedScalarFieldContainer[Right]
    spaces: _containers.RepeatedScalarFieldContainer[str]
    created_us: int
    expires_us: int
    revoked_us: int
    def __init__(self, key_id: _Optional[str] = ..., tenant: _Optional[str] = ..., name: _Optional[str] = ..., rights: _Optional[_Iterable[_Union[Right, str]]] = ..., spaces: _Optional[_Iterable[str]] = ..., created_us: _Optional[int] = ..., expires_us: _Optional[int] = ..., revoked_us: _Optional[int] = ...) -> None: ...

class CreateKeyRequest(_message.Message):
    __slots__ = ("tenant", "name", "rights", "spaces", "expires_us")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RIGHTS_FIELD_NUMBER: _ClassVar[int]
    SPACES_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_US_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    name: str
    rights: _containers.RepeatedScalarFieldContainer[Right]
    spaces: _containers.RepeatedScalarFieldContainer[str]
    expires_us: int
    def __init__(self, tenant: _Optional[str] = ..., name: _Optional[str] = ..., rights: _Optional[_Iterable[_Union[Right, str]]] = ..., spaces: _Optional[_Iterable[str]] = ..., expires_us: _Optional[int] = ...) -> None: ...

class CreateKeyResponse(_message.Message):
    __slots__ = ("key", "api_key")
    KEY_FIELD_NUMBER: _ClassVar[int]
    API_KEY_FIELD_NUMBER: _ClassVar[int]
    key: str
    api_key: ApiKey
    def __init__(self, key: _Optional[str] = ..., api_key: _Optional[_Union[ApiKey, _Mapping]] = ...) -> None: ...

class ListKeysRequest(_message.Message):
    __slots__ = ("tenant", "page_size", "page_token")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    page_size: int
    page_token: str
    def __init__(self, tenant: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListKeysResponse(_message.Message):
    __slots__ = ("keys", "next_page_token")
    KEYS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    keys: _containers.RepeatedCompositeFieldContainer[ApiKey]
    next_page_token: str
    def __init__(self, keys: _Optional[_Iterable[_Union[ApiKey, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RevokeKeyRequest(_message.Message):
    __slots__ = ("key_id",)
    KEY_ID_FIELD_NUMBER: _ClassVar[int]
    key_id: str
    def __init__(self, key_id: _Optional[str] = ...) -> None: ...

class RevokeKeyResponse(_message.Message):
    __slots__ = ("api_key",)
    API_KEY_FIELD_NUMBER: _ClassVar[int]
    api_key: ApiKey
    def __init__(self, api_key: _Optional[_Union[ApiKey, _Mapping]] = ...) -> None: ...

class Tenant(_message.Message):
    __slots__ = ("name", "last_tx_us")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LAST_TX_US_FIELD_NUMBER: _ClassVar[int]
    name: str
    last_tx_us: int
    def __init__(self, name: _Optional[str] = ..., last_tx_us: _Optional[int] = ...) -> None: ...

class CreateTenantRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class CreateTenantResponse(_message.Message):
    __slots__ = ("tenant", "created")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    tenant: Tenant
    created: bool
    def __init__(self, tenant: _Optional[_Union[Tenant, _Mapping]] = ..., created: _Optional[bool] = ...) -> None: ...

class ListTenantsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListTenantsResponse(_message.Message):
    __slots__ = ("tenants", "next_page_token")
    TENANTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    tenants: _containers.RepeatedCompositeFieldContainer[Tenant]
    next_page_token: str
    def __init__(self, tenants: _Optional[_Iterable[_Union[Tenant, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Removed(_message.Message):
    __slots__ = ("sources", "versions", "spans", "nodes", "edges", "clarifications", "vectors")
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    SPANS_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    EDGES_FIELD_NUMBER: _ClassVar[int]
    CLARIFICATIONS_FIELD_NUMBER: _ClassVar[int]
    VECTORS_FIELD_NUMBER: _ClassVar[int]
    sources: int
    versions: int
    spans: int
    nodes: int
    edges: int
    clarifications: int
    vectors: int
    def __init__(self, sources: _Optional[int] = ..., versions: _Optional[int] = ..., spans: _Optional[int] = ..., nodes: _Optional[int] = ..., edges: _Optional[int] = ..., clarifications: _Optional[int] = ..., vectors: _Optional[int] = ...) -> None: ...

class Deletion(_message.Message):
    __slots__ = ("deletion_id", "tenant", "deleted_us", "removed", "keys", "rows", "traces")
    DELETION_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    DELETED_US_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    TRACES_FIELD_NUMBER: _ClassVar[int]
    deletion_id: str
    tenant: str
    deleted_us: int
    removed: Removed
    keys: int
    rows: int
    traces: int
    def __init__(self, deletion_id: _Optional[str] = ..., tenant: _Optional[str] = ..., deleted_us: _Optional[int] = ..., removed: _Optional[_Union[Removed, _Mapping]] = ..., keys: _Optional[int] = ..., rows: _Optional[int] = ..., traces: _Optional[int] = ...) -> None: ...

class DeleteTenantRequest(_message.Message):
    __slots__ = ("tenant",)
    TENANT_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    def __init__(self, tenant: _Optional[str] = ...) -> None: ...

class DeleteTenantResponse(_message.Message):
    __slots__ = ("deletion",)
    DELETION_FIELD_NUMBER: _ClassVar[int]
    deletion: Deletion
    def __init__(self, deletion: _Optional[_Union[Deletion, _Mapping]] = ...) -> None: ...

class GetDeletionRequest(_message.Message):
    __slots__ = ("deletion_id",)
    DELETION_ID_FIELD_NUMBER: _ClassVar[int]
    deletion_id: str
    def __init__(self, deletion_id: _Optional[str] = ...) -> None: ...

class GetDeletionResponse(_message.Message):
    __slots__ = ("deletion",)
    DELETION_FIELD_NUMBER: _ClassVar[int]
    deletion: Deletion
    def __init__(self, deletion: _Optional[_Union[Deletion, _Mapping]] = ...) -> None: ...

class ListDeletionsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDeletionsResponse(_message.Message):
    __slots__ = ("deletions", "next_page_token")
    DELETIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    deletions: _containers.RepeatedCompositeFieldContainer[Deletion]
    next_page_token: str
    def __init__(self, deletions: _Optional[_Iterable[_Union[Deletion, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class EraseSpaceRequest(_message.Message):
    __slots__ = ("space",)
    SPACE_FIELD_NUMBER: _ClassVar[int]
    space: str
    def __init__(self, space: _Optional[str] = ...) -> None: ...

class EraseSpaceResponse(_message.Message):
    __slots__ = ("space", "tx_us", "removed")
    SPACE_FIELD_NUMBER: _ClassVar[int]
    TX_US_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    space: str
    tx_us: int
    removed: Removed
    def __init__(self, space: _Optional[str] = ..., tx_us: _Optional[int] = ..., removed: _Optional[_Union[Removed, _Mapping]] = ...) -> None: ...
