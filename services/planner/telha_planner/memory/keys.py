"""
API keys: who may act for which tenant, in which spaces, with which rights.

A key is `telha_<id>_<secret>`: 12 characters of lower-case base32 that may be logged, and 43 of base64url (256 bits)
that are shown once. The store holds the BLAKE3 of the whole key; a random 256-bit secret needs no slow hash.
Rule 1: a malformed, unknown, revoked or expired key does the same work as a good one, and the comparison takes constant
time. Rule 2: keys that have ended stay listed; those that have not are bounded in number for each tenant.
Rule 3: a write looks at its key once more inside its transaction (`need_standing`), so that none commits after the
revocation has, however long it waited.
"""

import base64
import hmac
import json
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from blake3 import blake3

from telha_planner.caller import RIGHTS, Caller
from telha_planner.core.errors import NotFound, RequestInvalid, Unauthenticated
from telha_planner.core.request import ALL_SPACES, OPEN_END, check_spaces
from telha_planner.core.value import check_name, check_range

from . import tenants
from .store import Store
from .tables import api_key, clock, tenant

MAX_KEYS = 10_000
"""Most keys of one tenant that have not ended."""

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
        api_key.c.expires_us,
        tenant.c.name,
        clock.c.last_tx,
    )
    .join(tenant, tenant.c.tenant == api_key.c.tenant)
    .join(clock, clock.c.tenant == api_key.c.tenant)
    .where(api_key.c.key_id == sa.bindparam("key_id"))
)
_INFO = sa.select(
    api_key.c.key_id,
    tenant.c.name.label("tenant_name"),
    api_key.c.name,
    api_key.c.rights,
    api_key.c.spaces,
    api_key.c.created_us,
    api_key.c.expires_us,
    api_key.c.revoked_us,
    api_key.c.tenant,
).join(tenant, tenant.c.tenant == api_key.c.tenant)


@dataclass(frozen=True, slots=True)
class KeyDraft:
    """
    A key to be made.

    Attributes:
        name: What it is for, for people.
        rights: Of `read`, `write`, `admin`, `operator`; at least one, each once.
        spaces: Spaces it is limited to; None is every space.
        expires_us: When it ends by itself, µs; None is never.

    Raises:
        RequestInvalid: A name, right, space or instant breaks a rule.
    """

    name: str
    rights: Sequence[str]
    spaces: Sequence[str] | None = None
    expires_us: int | None = None

    def __post_init__(self) -> None:
        check_name("name", self.name)
        if not self.rights or not set(self.rights) <= set(RIGHTS):
            raise RequestInvalid(field="rights", rule=f"must be among {', '.join(RIGHTS)}")
        if len(set(self.rights)) < len(self.rights):
            raise RequestInvalid(field="rights", rule="must not repeat a right")
        check_range("expires_us", self.expires_us, 0, OPEN_END - 1)
        if self.spaces is None:
            return
        check_spaces(self.spaces)
        if not self.spaces or ALL_SPACES in self.spaces:
            raise RequestInvalid(field="spaces", rule="must name spaces, or be absent for every space")
        if "operator" in self.rights:
            raise RequestInvalid(field="spaces", rule="must be absent beside the right operator")


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """What may be shown of a key; `spaces` None is unlimited, instants are µs."""

    key_id: str
    tenant_name: str
    name: str
    rights: frozenset[str]
    spaces: tuple[str, ...] | None
    created_us: int
    expires_us: int | None
    revoked_us: int | None


def create(
    store: Store,
    tenant_name: str,
    *,
    name: str,
    rights: Sequence[str],
    spaces: Sequence[str] | None,
    now: Callable[[], int],
    expires_us: int | None = None,
    create_tenant: bool = False,
) -> tuple[str, str]:
    """
    Make a key.

    Args:
        store: Where it is kept.
        tenant_name: The tenant it acts for.
        name, rights, spaces, expires_us: See `KeyDraft`.
        now: The wall clock, µs.
        create_tenant: Make the tenant if there is none of that name.

    Returns:
        The key, which cannot be read again, and its id.

    Raises:
        RequestInvalid: See `KeyDraft` and `insert`, and for a new tenant `tenants.insert`.
        NotFound: There is no such tenant.
    """
    check_name("tenant", tenant_name)
    draft = KeyDraft(name, rights, spaces, expires_us)
    with store.writing() as connection:
        number = tenants.locked(connection, tenant_name)
        if number is None:
            if not create_tenant:
                raise NotFound(resource="tenant")
            number = tenants.insert(connection, tenant_name, now(), field="tenant")
        key, info = insert(connection, number, tenant_name, draft, now())
    return key, info.key_id


def insert(
    connection: sa.Connection, number: int, tenant_name: str, draft: KeyDraft, created_us: int
) -> tuple[str, KeyInfo]:
    """
    Make a key of the tenant *number*, whose row is locked.

    Raises:
        RequestInvalid: It would have ended already, or the tenant has as many as it may.
    """
    if draft.expires_us is not None and draft.expires_us <= created_us:
        raise RequestInvalid(field="expires_us", rule="must lie ahead")
    if _standing(connection, number, created_us) >= MAX_KEYS:
        raise RequestInvalid(field="tenant", rule=f"holds {MAX_KEYS:,} keys that have not ended, and may hold no more")
    key_id = base64.b32encode(secrets.token_bytes(8)).decode()[:12].lower()
    key = f"telha_{key_id}_{secrets.token_urlsafe(32)}"
    spaces = None if draft.spaces is None else tuple(sorted(draft.spaces))
    connection.execute(
        sa.insert(api_key).values(
            key_id=key_id,
            secret_hash=_hash(key),
            tenant=number,
            name=draft.name,
            rights=" ".join(right for right in RIGHTS if right in draft.rights),
            spaces=None if spaces is None else json.dumps(spaces, ensure_ascii=False),
            created_us=created_us,
            revoked_us=None,
            expires_us=draft.expires_us,
        )
    )
    rights = frozenset(draft.rights)
    return key, KeyInfo(key_id, tenant_name, draft.name, rights, spaces, created_us, draft.expires_us, None)


def authenticate(connection: sa.Connection, credential: str, now: Callable[[], int]) -> tuple[Caller, int] | None:
    """
    Tell who calls, in one statement.

    Args:
        connection: Of `Store.reading()`.
        credential: The key as it came.
        now: The wall clock, µs; asked only about a key that expires.

    Returns:
        The caller, and the tenant's newest commit as of this snapshot; None for any key that does not hold.
    """
    shape = _KEY.fullmatch(credential)
    key_id = shape[1] if shape else _NO_ID
    row = connection.execute(_LOOKUP, {"key_id": key_id}).one_or_none()
    holds = hmac.compare_digest(_hash(credential), row.secret_hash if row else _NO_HASH)
    if row is None or not holds or _ended(row, now):
        return None
    caller = Caller(
        tenant=row.tenant,
        tenant_name=row.name,
        key_id=key_id,
        rights=frozenset(row.rights.split()),
        spaces=_spaces(row.spaces),
    )
    return caller, row.last_tx


def need_standing(connection: sa.Connection, key_id: str, now: Callable[[], int]) -> None:
    """
    Refuse a key that has ended since its call was let in; one that stands does so until the write transaction ends.

    Raises:
        Unauthenticated: It was revoked, has expired, or went with its tenant.
    """
    statement = sa.select(api_key.c.revoked_us, api_key.c.expires_us).where(api_key.c.key_id == key_id)
    row = connection.execute(statement.with_for_update()).one_or_none()
    if row is None or _ended(row, now):
        raise Unauthenticated


def list_keys(store: Store, tenant_name: str | None = None) -> list[KeyInfo]:
    """
    Every key, ended ones included, oldest first; of one tenant if *tenant_name* is given.

    Raises:
        RequestInvalid: No tenant has such a name.
    """
    if tenant_name is not None:
        check_name("tenant", tenant_name)
    statement = _INFO.order_by(api_key.c.created_us, api_key.c.key_id)
    if tenant_name is not None:
        statement = statement.where(tenant.c.name == tenant_name)
    with store.reading() as connection:
        return [_info(row) for row in connection.execute(statement)]


def keys_after(connection: sa.Connection, number: int, position: tuple[int, str] | None) -> Iterator[KeyInfo]:
    """The keys of the tenant *number* behind *position* (made, id), oldest first."""
    statement = _INFO.where(api_key.c.tenant == number).order_by(api_key.c.created_us, api_key.c.key_id)
    if position is not None:
        created_us, key_id = position
        later = sa.and_(api_key.c.created_us == created_us, api_key.c.key_id > key_id)
        statement = statement.where(sa.or_(api_key.c.created_us > created_us, later))
    for row in connection.execute(statement):
        yield _info(row)


def find(connection: sa.Connection, key_id: str) -> tuple[int, KeyInfo] | None:
    """The tenant's number and the key with the id *key_id*, locked for a write."""
    statement = _INFO.where(api_key.c.key_id == key_id).with_for_update(of=api_key)
    row = connection.execute(statement).one_or_none()
    return None if row is None else (row.tenant, _info(row))


def end(connection: sa.Connection, key_id: str, revoked_us: int) -> None:
    """Revoke the key with the id *key_id*; one that is revoked keeps its instant."""
    still = sa.update(api_key).where(api_key.c.key_id == key_id, api_key.c.revoked_us.is_(None))
    connection.execute(still.values(revoked_us=revoked_us))


def revoke(store: Store, key_id: str, *, now: Callable[[], int]) -> None:
    """
    End a key at once: the next call with it is refused. Revoking twice keeps the first instant.

    Raises:
        RequestInvalid: No key has such an id.
        NotFound: There is no such key.
    """
    check_name("key_id", key_id)
    with store.writing() as connection:
        if find(connection, key_id) is None:
            raise NotFound(resource="key")
        end(connection, key_id, now())


def _standing(connection: sa.Connection, number: int, at_us: int) -> int:
    statement = sa.select(sa.func.count()).where(
        api_key.c.tenant == number,
        api_key.c.revoked_us.is_(None),
        sa.or_(api_key.c.expires_us.is_(None), api_key.c.expires_us > at_us),
    )
    return int(connection.execute(statement).scalar_one())


def _ended(row: Any, now: Callable[[], int]) -> bool:  # noqa: ANN401 (a row with both instants)
    return row.revoked_us is not None or (row.expires_us is not None and row.expires_us <= now())


def _info(row: Any) -> KeyInfo:  # noqa: ANN401 (a row of _INFO)
    return KeyInfo(
        key_id=row.key_id,
        tenant_name=row.tenant_name,
        name=row.name,
        rights=frozenset(row.rights.split()),
        spaces=_spaces(row.spaces),
        created_us=row.created_us,
        expires_us=row.expires_us,
        revoked_us=row.revoked_us,
    )


def _spaces(stored: str | None) -> tuple[str, ...] | None:
    return None if stored is None else tuple(json.loads(stored))


def _hash(key: str) -> bytes:
    # surrogatepass: a credential may be any string, and none may raise.
    return blake3(key.encode("utf-8", "surrogatepass")).digest()
