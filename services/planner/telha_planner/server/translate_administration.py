"""Administration messages to and from what the store keeps."""

from collections.abc import Sequence
from dataclasses import asdict

from telha.administration.v1 import administration_pb2 as pb

from telha_planner.core.errors import RequestInvalid
from telha_planner.core.value import check_name, format_uuid
from telha_planner.memory.keys import KeyDraft, KeyInfo
from telha_planner.memory.receipts import Deletion, Removed, SpaceReceipt
from telha_planner.memory.tenants import TenantInfo

_RIGHTS = {
    "read": pb.RIGHT_READ,
    "write": pb.RIGHT_WRITE,
    "admin": pb.RIGHT_ADMIN,
    "operator": pb.RIGHT_OPERATOR,
}
_NAMES = {number: name for name, number in _RIGHTS.items()}


def read_tenant(message: pb.CreateKeyRequest | pb.ListKeysRequest) -> str | None:
    """The tenant that is named, None for the caller's own."""
    if not message.HasField("tenant"):
        return None
    check_name("tenant", message.tenant)
    return message.tenant


def read_draft(message: pb.CreateKeyRequest) -> KeyDraft:
    """The key that is asked for."""
    return KeyDraft(
        name=message.name,
        rights=_read_rights(message.rights),
        spaces=tuple(message.spaces) or None,
        expires_us=message.expires_us if message.HasField("expires_us") else None,
    )


def key_message(info: KeyInfo) -> pb.ApiKey:
    """What may be shown of a key."""
    return pb.ApiKey(
        key_id=info.key_id,
        tenant=info.tenant_name,
        name=info.name,
        rights=[number for name, number in _RIGHTS.items() if name in info.rights],
        spaces=info.spaces or (),
        created_us=info.created_us,
        expires_us=info.expires_us,
        revoked_us=info.revoked_us,
    )


def tenant_message(info: TenantInfo) -> pb.Tenant:
    """A tenant as listed."""
    return pb.Tenant(name=info.name, last_tx_us=info.last_tx or None)


def deletion_message(deletion: Deletion) -> pb.Deletion:
    """The receipt of a deleted tenant."""
    return pb.Deletion(
        deletion_id=format_uuid(deletion.deletion_id),
        tenant=deletion.name,
        deleted_us=deletion.deleted_us,
        removed=_removed(deletion.removed),
        keys=deletion.keys,
        rows=deletion.rows,
        traces=deletion.traces,
    )


def erase_space_response(receipt: SpaceReceipt) -> pb.EraseSpaceResponse:
    """What the erasure of a space removed."""
    return pb.EraseSpaceResponse(space=receipt.space, tx_us=receipt.tx, removed=_removed(receipt.removed))


def _removed(removed: Removed) -> pb.Removed:
    return pb.Removed(**asdict(removed))


def _read_rights(rights: Sequence[pb.Right]) -> tuple[str, ...]:
    if not rights:
        raise RequestInvalid(field="rights", rule="must name at least one right")
    for index, right in enumerate(rights):
        if right not in _NAMES:
            raise RequestInvalid(field=f"rights[{index}]", rule="must be a right that this version knows")
    return tuple(_NAMES[right] for right in rights)
