"""
`Administration`: API keys, tenants, and removal for good.

Rule 1: the caller is established first. `admin` acts inside the caller's tenant, `operator` on the installation; the
tenant that a request names is the object of the call, never a claim of who calls.
Rule 2: reads run on the plan thread. Writes of keys and tenants wait for the store's lock, so they have a thread of
their own: revoking a key waits neither for plans nor for a document that is being parsed, and the event loop and the
plan thread never wait for a lock.
Rule 3: refusals for what a key does not reach are those for what does not exist.
"""

import asyncio
import contextlib
import time
import uuid
from collections.abc import Callable
from typing import TypeVar

from telha.administration.v1 import administration_pb2 as pb

from telha_planner.caller import Caller
from telha_planner.core.errors import RequestInvalid, TelhaError
from telha_planner.core.value import check_name, parse_uuid
from telha_planner.memory.receipts import Deletion

from . import page_token
from .call import Call, Service
from .deletions import Deletions
from .dispatch import PlanThread, WorkThread
from .ports import Directory, Ingest, Planning
from .quota import Quota
from .translate_administration import (
    deletion_message,
    erase_space_response,
    key_message,
    read_draft,
    read_tenant,
    tenant_message,
)
from .wire import decode

DEFAULT_PAGE = 100
LARGEST_PAGE = 1000
TRACES_S = 10.0
"""How long a deletion waits for the trace writer before it answers without it."""
ANSWER_S = 1.0
"""What is left of the caller's time for the answer."""
_NUMBER_BYTES = 8
_KEY_ID_BYTES = 12

T = TypeVar("T")


class AdministrationSurface:
    """
    Serves `telha.administration.v1.Administration`.

    Args:
        writes: The thread of the writes of keys and tenants.
        quota: Writes of each key, those of `Memory` included; ending a key never waits for it.
    """

    def __init__(
        self,
        planning: Planning,
        thread: PlanThread,
        writes: WorkThread,
        directory: Directory,
        ingest: Ingest,
        deletions: Deletions,
        quota: Quota,
    ) -> None:
        self._planning = planning
        self._thread = thread
        self._writes = writes
        self._directory = directory
        self._ingest = ingest
        self._deletions = deletions
        self._quota = quota
        self._deleting: set[asyncio.Task[Deletion]] = set()

    def service(self) -> Service:
        """The service for the listener."""
        return Service(
            "telha.administration.v1.Administration",
            {
                "CreateKey": self.create_key,
                "ListKeys": self.list_keys,
                "RevokeKey": self.revoke_key,
                "CreateTenant": self.create_tenant,
                "ListTenants": self.list_tenants,
                "DeleteTenant": self.delete_tenant,
                "GetDeletion": self.get_deletion,
                "ListDeletions": self.list_deletions,
                "EraseSpace": self.erase_space,
            },
        )

    async def create_key(self, raw: bytes, call: Call) -> pb.CreateKeyResponse:
        """Make a key."""

        def read(caller: Caller) -> pb.CreateKeyRequest:
            _need_administration(caller)
            return decode(pb.CreateKeyRequest, raw)

        caller, request = await self._as_caller(call, read, self._quota)
        tenant, draft = read_tenant(request), read_draft(request)
        key, info = await self._writes.run(
            lambda: self._directory.create_key(caller, tenant, draft), call.deadline, call.holder
        )
        return pb.CreateKeyResponse(key=key, api_key=key_message(info))

    async def list_keys(self, raw: bytes, call: Call) -> pb.ListKeysResponse:
        """List keys, oldest first."""

        def read(caller: Caller) -> pb.ListKeysResponse:
            _need_administration(caller)
            request = decode(pb.ListKeysRequest, raw)
            tenant = read_tenant(request)
            size = page_token.page_size(request.page_size, DEFAULT_PAGE, LARGEST_PAGE)
            filters = b"keys" if tenant is None else b"keys\0" + tenant.encode()
            after = _key_position(page_token.read(request.page_token, filters)) if request.page_token else None
            found = self._directory.keys(caller, tenant, after, size + 1)
            token = ""
            if len(found) > size:
                last = found[size - 1]
                position = last.created_us.to_bytes(_NUMBER_BYTES, "big") + last.key_id.encode()
                token = page_token.write(position, filters)
            return pb.ListKeysResponse(keys=map(key_message, found[:size]), next_page_token=token)

        return (await self._as_caller(call, read))[1]

    async def revoke_key(self, raw: bytes, call: Call) -> pb.RevokeKeyResponse:
        """End a key at once; every key may end itself."""

        def read(caller: Caller) -> str:
            key_id = decode(pb.RevokeKeyRequest, raw).key_id
            if key_id != caller.key_id:
                _need_administration(caller)
            check_name("key_id", key_id)
            return key_id

        caller, key_id = await self._as_caller(call, read)
        info = await self._writes.run(lambda: self._directory.revoke_key(caller, key_id), call.deadline, call.holder)
        return pb.RevokeKeyResponse(api_key=key_message(info))

    async def create_tenant(self, raw: bytes, call: Call) -> pb.CreateTenantResponse:
        """Make a tenant, unless it exists."""

        def read(caller: Caller) -> str:
            caller.need("operator")
            name = decode(pb.CreateTenantRequest, raw).name
            check_name("name", name)
            return name

        caller, name = await self._as_caller(call, read, self._quota)
        info, created = await self._writes.run(
            lambda: self._directory.create_tenant(caller, name), call.deadline, call.holder
        )
        return pb.CreateTenantResponse(tenant=tenant_message(info), created=created)

    async def list_tenants(self, raw: bytes, call: Call) -> pb.ListTenantsResponse:
        """List tenants in the order in which they were made."""

        def read(caller: Caller) -> pb.ListTenantsResponse:
            caller.need("operator")
            request = decode(pb.ListTenantsRequest, raw)
            size = page_token.page_size(request.page_size, DEFAULT_PAGE, LARGEST_PAGE)
            after = _number(page_token.read(request.page_token, b"tenants")) if request.page_token else 0
            found = self._directory.tenants(after, size + 1)
            token = ""
            if len(found) > size:
                token = page_token.write(found[size - 1].number.to_bytes(_NUMBER_BYTES, "big"), b"tenants")
            return pb.ListTenantsResponse(tenants=map(tenant_message, found[:size]), next_page_token=token)

        return (await self._as_caller(call, read))[1]

    async def delete_tenant(self, raw: bytes, call: Call) -> pb.DeleteTenantResponse:
        """Remove a tenant for good. Once begun it goes to its end, also without its caller."""

        def read(caller: Caller) -> int:
            name = decode(pb.DeleteTenantRequest, raw).tenant
            check_name("tenant", name)
            return self._directory.deletable(caller, name)

        caller, number = await self._as_caller(call, read, self._quota)
        task = asyncio.create_task(self._delete(number, caller.key_id, call.deadline))
        self._deleting.add(task)
        task.add_done_callback(self._deleting.discard)
        return pb.DeleteTenantResponse(deletion=deletion_message(await asyncio.shield(task)))

    async def get_deletion(self, raw: bytes, call: Call) -> pb.GetDeletionResponse:
        """Read a receipt."""

        def read(caller: Caller) -> Deletion:
            caller.need("operator")
            return self._directory.deletion(parse_uuid("deletion_id", decode(pb.GetDeletionRequest, raw).deletion_id))

        return pb.GetDeletionResponse(deletion=deletion_message((await self._as_caller(call, read))[1]))

    async def list_deletions(self, raw: bytes, call: Call) -> pb.ListDeletionsResponse:
        """List receipts."""

        def read(caller: Caller) -> pb.ListDeletionsResponse:
            caller.need("operator")
            request = decode(pb.ListDeletionsRequest, raw)
            size = page_token.page_size(request.page_size, DEFAULT_PAGE, LARGEST_PAGE)
            after = _number(page_token.read(request.page_token, b"deletions")) if request.page_token else 0
            found = self._directory.deletions(after, size + 1)
            token = ""
            if len(found) > size:
                token = page_token.write(found[size - 1].number.to_bytes(_NUMBER_BYTES, "big"), b"deletions")
            return pb.ListDeletionsResponse(deletions=map(deletion_message, found[:size]), next_page_token=token)

        return (await self._as_caller(call, read))[1]

    async def erase_space(self, raw: bytes, call: Call) -> pb.EraseSpaceResponse:
        """Remove a space of the caller's tenant for good."""

        def read(caller: Caller) -> str:
            caller.need("admin")
            space = decode(pb.EraseSpaceRequest, raw).space
            check_name("space", space)
            caller.need_space(space)
            return space

        caller, space = await self._as_caller(call, read, self._quota)
        return erase_space_response(await self._ingest.erase_space(caller.tenant, space, by=caller.key_id))

    async def _delete(self, number: int, by: str, deadline: float) -> Deletion:
        deletion = await self._ingest.delete_tenant(number, uuid.uuid4().bytes, by=by)
        await self._deletions.drop(deletion)
        # What the trace writer does not do in time, a later round has it do.
        with contextlib.suppress(TelhaError, TimeoutError):
            async with asyncio.timeout(min(TRACES_S, deadline - time.monotonic() - ANSWER_S)):
                return await self._deletions.finish(deletion)
        return deletion

    async def _as_caller(self, call: Call, work: Callable[[Caller], T], quota: Quota | None = None) -> tuple[Caller, T]:
        credential = call.need_credential() if quota is None else call.admitted(quota)

        def run() -> tuple[Caller, T]:
            caller = self._planning.caller(credential)
            return caller, work(caller)

        caller, result = await self._thread.run(run, call.deadline, call.holder)
        call.tenant = caller.tenant_name
        return caller, result


def _need_administration(caller: Caller) -> None:
    if "operator" not in caller.rights:
        caller.need("admin")


def _number(position: bytes) -> int:
    if len(position) != _NUMBER_BYTES:
        raise _bad_token()
    return min(int.from_bytes(position, "big"), 2**31 - 1)


def _key_position(position: bytes) -> tuple[int, str]:
    created_us = int.from_bytes(position[:_NUMBER_BYTES], "big")
    key_id = position[_NUMBER_BYTES:]
    if len(position) != _NUMBER_BYTES + _KEY_ID_BYTES or not key_id.isascii() or created_us >= 2**63:
        raise _bad_token()
    return created_us, key_id.decode()


def _bad_token() -> RequestInvalid:
    return RequestInvalid(field="page_token", rule="must be the token of the previous page, with the same filters")
