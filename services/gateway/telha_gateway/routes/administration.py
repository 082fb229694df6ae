"""Keys, tenants, and what is removed for good."""

import msgspec
from telha.administration.v1 import administration_pb2 as pb

from telha_gateway.dto import administration
from telha_gateway.dto.shape import NAME_PATTERN
from telha_gateway.exchange import Exchange
from telha_gateway.operations import Operation, PathParameter, an_id


def _named(name: str, description: str) -> PathParameter:
    schema = {"type": "string", "minLength": 1, "maxLength": 128, "pattern": NAME_PATTERN}
    return PathParameter(name, description, schema)


async def _create_key(exchange: Exchange) -> msgspec.Struct:
    message = administration.create_key_message(await exchange.body(administration.CreateKeyRequest))
    answer = await exchange.call(exchange.upstream.administration.CreateKey, message)
    return administration.CreatedKey(key=answer.key, api_key=administration.key_answer(answer.api_key))


async def _keys(exchange: Exchange) -> msgspec.Struct:
    message = administration.list_keys_message(exchange.parameters(administration.KeyListParameters))
    answer = await exchange.call(exchange.upstream.administration.ListKeys, message)
    return administration.KeyPage(
        keys=[administration.key_answer(key) for key in answer.keys], next_page_token=answer.next_page_token or None
    )


async def _revoke_key(exchange: Exchange) -> msgspec.Struct:
    message = pb.RevokeKeyRequest(key_id=exchange.path_value)
    answer = await exchange.call(exchange.upstream.administration.RevokeKey, message, {"key_id": "id"})
    return administration.key_answer(answer.api_key)


async def _create_tenant(exchange: Exchange) -> msgspec.Struct:
    message = pb.CreateTenantRequest(name=(await exchange.body(administration.CreateTenantRequest)).name)
    answer = await exchange.call(exchange.upstream.administration.CreateTenant, message)
    return administration.CreatedTenant(tenant=administration.tenant_answer(answer.tenant), created=answer.created)


async def _tenants(exchange: Exchange) -> msgspec.Struct:
    page = exchange.parameters(administration.PageParameters)
    message = pb.ListTenantsRequest(page_size=page.page_size or 0, page_token=page.page_token or "")
    answer = await exchange.call(exchange.upstream.administration.ListTenants, message)
    return administration.TenantPage(
        tenants=[administration.tenant_answer(tenant) for tenant in answer.tenants],
        next_page_token=answer.next_page_token or None,
    )


async def _delete_tenant(exchange: Exchange) -> msgspec.Struct:
    message = pb.DeleteTenantRequest(tenant=exchange.path_value)
    answer = await exchange.call(exchange.upstream.administration.DeleteTenant, message, {"tenant": "name"})
    return administration.deletion_answer(answer.deletion)


async def _deletions(exchange: Exchange) -> msgspec.Struct:
    page = exchange.parameters(administration.PageParameters)
    message = pb.ListDeletionsRequest(page_size=page.page_size or 0, page_token=page.page_token or "")
    answer = await exchange.call(exchange.upstream.administration.ListDeletions, message)
    return administration.DeletionPage(
        deletions=[administration.deletion_answer(deletion) for deletion in answer.deletions],
        next_page_token=answer.next_page_token or None,
    )


async def _deletion(exchange: Exchange) -> msgspec.Struct:
    message = pb.GetDeletionRequest(deletion_id=exchange.path_value)
    answer = await exchange.call(exchange.upstream.administration.GetDeletion, message, {"deletion_id": "id"})
    return administration.deletion_answer(answer.deletion)


async def _erase_space(exchange: Exchange) -> msgspec.Struct:
    message = pb.EraseSpaceRequest(space=exchange.path_value)
    return administration.space_answer(await exchange.call(exchange.upstream.administration.EraseSpace, message))


OPERATIONS = (
    Operation(
        method="POST",
        path="/v1/keys",
        id="createKey",
        tag="Administration",
        summary="Make an API key",
        description="The key itself is in the answer and cannot be read again. Needs `admin`, for another tenant "
        "`operator`.",
        body=administration.CreateKeyRequest,
        answer=administration.CreatedKey,
        run=_create_key,
        statuses=(404,),
        leads_to={"revokeKey": ("id", "/apiKey/keyId")},
        example={"name": "the agent of the release team", "rights": ["read"], "spaces": ["main"]},
    ),
    Operation(
        method="GET",
        path="/v1/keys",
        id="listKeys",
        tag="Administration",
        summary="List keys, oldest first, those that have ended included",
        parameters=administration.KeyListParameters,
        answer=administration.KeyPage,
        run=_keys,
        statuses=(404,),
    ),
    Operation(
        method="DELETE",
        path="/v1/keys/{id}",
        id="revokeKey",
        tag="Administration",
        summary="End a key at once",
        description="The next call with it is refused. Ending it twice keeps the first instant; every key may end "
        "itself.",
        path_parameter=_named("id", "The key's id."),
        answer=administration.ApiKey,
        run=_revoke_key,
        statuses=(404,),
    ),
    Operation(
        method="POST",
        path="/v1/tenants",
        id="createTenant",
        tag="Administration",
        summary="Make a tenant; one that exists stays as it is",
        description="Needs `operator`.",
        body=administration.CreateTenantRequest,
        answer=administration.CreatedTenant,
        run=_create_tenant,
        leads_to={"deleteTenant": ("name", "/tenant/name")},
        example={"name": "acme-staging"},
    ),
    Operation(
        method="GET",
        path="/v1/tenants",
        id="listTenants",
        tag="Administration",
        summary="List tenants, oldest first",
        description="Needs `operator`.",
        parameters=administration.PageParameters,
        answer=administration.TenantPage,
        run=_tenants,
    ),
    Operation(
        method="DELETE",
        path="/v1/tenants/{name}",
        id="deleteTenant",
        tag="Administration",
        summary="Remove a tenant for good: memory, keys and traces",
        description="Needs `operator`, or `admin` without limit to spaces for the own tenant. The answer is a receipt, "
        "which `/v1/deletions` keeps.",
        path_parameter=_named("name", "The tenant."),
        answer=administration.Deletion,
        run=_delete_tenant,
        statuses=(404,),
        leads_to={"getDeletion": ("id", "/deletionId")},
    ),
    Operation(
        method="GET",
        path="/v1/deletions",
        id="listDeletions",
        tag="Administration",
        summary="List the receipts of deleted tenants",
        description="Needs `operator`.",
        parameters=administration.PageParameters,
        answer=administration.DeletionPage,
        run=_deletions,
    ),
    Operation(
        method="GET",
        path="/v1/deletions/{id}",
        id="getDeletion",
        tag="Administration",
        summary="Read the receipt of a deleted tenant",
        description="Needs `operator`.",
        path_parameter=an_id("The receipt."),
        answer=administration.Deletion,
        run=_deletion,
        statuses=(404,),
    ),
    Operation(
        method="DELETE",
        path="/v1/spaces/{space}",
        id="eraseSpace",
        tag="Administration",
        summary="Remove a space of the own tenant for good, with all that was derived from it",
        description="Needs `admin`.",
        path_parameter=_named("space", "The space."),
        answer=administration.SpaceErasure,
        run=_erase_space,
        statuses=(404,),
    ),
)
