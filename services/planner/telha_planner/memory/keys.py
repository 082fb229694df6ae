"""
API keys: who may act for which tenant, in which spaces, with which rights.

A key is `telha_<id>_<secret>`: 12 characters of lower-case base32 that may be logged, and 43 of base64url (256 bits)
that are shown once. The store holds the BLAKE3 of the whole key; a random 256-bit secret needs no slow hash.
Rule: a malformed, unknown or revoked key does the same work as a good one, and the comparison takes constant time.
"""

import base64
import hmac
import json
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from blake3 import blake3

from telha_planner.caller import Caller
from telha_planner.core.errors import NotFound, RequestInvalid
from telha_planner.core.request import ALL_SPACES, check_name, check_spaces

from .store import Store
from .tables import api_key, clock, tenant

RIGHTS = ("read", "write", "admin")

_KEY = re.compile(r"telha_([a-z2-7]{12})_[A-Za-z0-9_-]{43}", re.ASCII)
_NO_ID = ""
_NO_HASH = bytes(32)

_LOOKUP = (
    sa.select(
        api_key.c.secret_hash,
        api_key.c.tenant,
        api_key.c.rights,
        api_key.c.spaces,
        api_key.c.revoked_us,
        tenant.c.name,
        clock.c.last_tx,
    )
    .join(tenant, tenant.c.tenant == api_key.c.tenant)
    .join(clock, clock.c.tenant == api_key.c.tenant)
    .where(api_key.c.key_id == sa.bindparam("key_id"))
)


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """What may be shown of a key; `spaces` None is unlimited, instants are µs."""

    key_id: str
    tenant_name: str
    name: str
    rights: frozenset[str]
    spaces: tuple[str, ...] | None
    created_us: int
    revoked_us: int | None


def create(
    store: Store,
    tenant_name: str,
    *,
    name: str,
    rights: Sequence[str],
    spaces: Sequence[str] | None,
    now: Callable[[], int],
    create_tenant: bool = False,
) -> tuple[str, str]:
    """
    Make a key.

    Args:
        store: Where it is kept.
        tenant_name: The tenant it acts for.
        name: What it is for, for people.
        rights: Of `read`, `write`, `admin`; at least one.
        spaces: Spaces it is limited to; None is every space.
        now: The wall clock, µs.
        create_tenant: Make the tenant if there is none of that name.

    Returns:
        The key, which cannot be read again, and its id.

    Raises:
        RequestInvalid: A name, right or space breaks a rule.
        NotFound: There is no such tenant.
    """
    check_name("tenant", tenant_name)
    check_name("name", name)
    unknown = sorted(set(rights) - set(RIGHTS))
    if unknown or not rights:
        raise RequestInvalid(field="rights", rule=f"must be among {', '.join(RIGHTS)}")
    if spaces is not None:
        check_spaces(spaces)
        if not spaces or ALL_SPACES in spaces:
            raise RequestInvalid(field="spaces", rule="must name spaces, or be absent for every space")
    key_id = base64.b32encode(secrets.token_bytes(8)).decode()[:12].lower()
    key = f"telha_{key_id}_{secrets.token_urlsafe(32)}"
    with store.writing() as connection:
        number = _tenant_number(connection, tenant_name, create=create_tenant)
        connection.execute(
            sa.insert(api_key).values(
                key_id=key_id,
                secret_hash=_hash(key),
                tenant=number,
                name=name,
                rights=" ".join(right for right in RIGHTS if right in rights),
                spaces=None if spaces is None else json.dumps(sorted(spaces), ensure_ascii=False),
                created_us=now(),
                revoked_us=None,
            )
        )
    return key, key_id


def authenticate(connection: sa.Connection, credential: str) -> tuple[Caller, int] | None:
    """
    Tell who calls, in one statement.

    Args:
        connection: Of `Store.reading()`.
        credential: The key as it came.

    Returns:
        The caller, and the tenant's newest commit as of this snapshot; None for any key that does not hold.
    """
    shape = _KEY.fullmatch(credential)
    key_id = shape[1] if shape else _NO_ID
    row = connection.execute(_LOOKUP, {"key_id": key_id}).one_or_none()
    holds = hmac.compare_digest(_hash(credential), row.secret_hash if row else _NO_HASH)
    if row is None or not holds or row.revoked_us is not None:
        return None
    spaces = None if row.spaces is None else tuple(json.loads(row.spaces))
    caller = Caller(
        tenant=row.tenant, tenant_name=row.name, key_id=key_id, rights=frozenset(row.rights.split()), spaces=spaces
    )
    return caller, row.last_tx


def list_keys(store: Store, tenant_name: str | None = None) -> list[KeyInfo]:
    """
    Every key, revoked ones included, oldest first; of one tenant if *tenant_name* is given.

    Raises:
        RequestInvalid: No tenant has such a name.
    """
    if tenant_name is not None:
        check_name("tenant", tenant_name)
    statement = (
        sa.select(api_key, tenant.c.name.label("tenant_name"))
        .join(tenant, tenant.c.tenant == api_key.c.tenant)
        .order_by(api_key.c.created_us, api_key.c.key_id)
    )
    if tenant_name is not None:
        statement = statement.where(tenant.c.name == tenant_name)
    with store.reading() as connection:
        rows = connection.execute(statement).all()
    return [
        KeyInfo(
            key_id=row.key_id,
            tenant_name=row.tenant_name,
            name=row.name,
            rights=frozenset(row.rights.split()),
            spaces=None if row.spaces is None else tuple(json.loads(row.spaces)),
            created_us=row.created_us,
            revoked_us=row.revoked_us,
        )
        for row in rows
    ]


def revoke(store: Store, key_id: str, *, now: Callable[[], int]) -> None:
    """
    End a key at once: the next call with it is refused. Revoking twice keeps the first instant.

    Raises:
        RequestInvalid: No key has such an id.
        NotFound: There is no such key.
    """
    check_name("key_id", key_id)
    with store.writing() as connection:
        if connection.execute(sa.select(api_key.c.key_id).where(api_key.c.key_id == key_id)).one_or_none() is None:
            raise NotFound(resource="key")
        connection.execute(
            sa.update(api_key)
            .where(api_key.c.key_id == key_id, api_key.c.revoked_us.is_(None))
            .values(revoked_us=now())
        )


def _tenant_number(connection: sa.Connection, name: str, *, create: bool) -> int:
    found = connection.execute(sa.select(tenant.c.tenant).where(tenant.c.name == name)).scalar()
    if found is not None:
        return int(found)
    if not create:
        raise NotFound(resource="tenant")
    number = int(connection.execute(sa.insert(tenant).values(name=name).returning(tenant.c.tenant)).scalar_one())
    connection.execute(sa.insert(clock).values(tenant=number, last_tx=0, next_no=1, erased_tx=0))
    return number


def _hash(key: str) -> bytes:
    # surrogatepass: a credential may be any string, and none may raise.
    return blake3(key.encode("utf-8", "surrogatepass")).digest()
