import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from memory_builders import JUNE, a_tenant
from telha_planner.core.errors import NotFound, RequestInvalid, Unavailable
from telha_planner.memory import keys
from telha_planner.memory.store import Store


def _create(store: Store, **changed: object) -> tuple[str, str]:
    settings: dict[str, object] = {
        "name": "agent",
        "rights": ["read"],
        "spaces": None,
        "now": lambda: JUNE,
        "create_tenant": True,
    }
    return keys.create(store, "acme", **(settings | changed))  # type: ignore[arg-type]


def _authenticated(store: Store, credential: str) -> object:
    with store.reading() as connection:
        return keys.authenticate(connection, credential, lambda: JUNE)


def test_a_key_tells_tenant_rights_and_spaces(store: Store) -> None:
    """A6: scope comes from the key alone."""
    key, key_id = _create(store, rights=["write", "read"], spaces=["zoo", "alpha"])
    assert re.fullmatch(r"telha_[a-z2-7]{12}_[A-Za-z0-9_-]{43}", key)
    assert key.split("_")[1] == key_id
    with store.reading() as connection:
        found = keys.authenticate(connection, key, lambda: JUNE)
    assert found is not None
    caller, last_tx = found
    assert (caller.tenant_name, caller.key_id, last_tx) == ("acme", key_id, 0)
    assert caller.rights == {"read", "write"}
    assert caller.spaces == ("alpha", "zoo")


def test_the_store_holds_no_key(store: Store) -> None:
    """A6: keys are stored hashed."""
    key, _ = _create(store)
    with store.reading() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM api_key").all()
    assert key not in repr(rows)
    assert key.split("_", 2)[2] not in repr(rows)


def test_keys_that_do_not_hold_are_refused_alike(store: Store) -> None:
    """A6: malformed, unknown, altered and revoked keys all get nothing."""
    key, key_id = _create(store)
    other, _ = _create(store)
    altered = key[:-1] + ("A" if key[-1] != "A" else "B")
    swapped = f"telha_{key_id}_{other.split('_', 2)[2]}"
    for credential in ("", "x", "telha__", key + "x", key[:-1], altered, swapped, key.upper(), "\ud800", "telha_é"):
        assert _authenticated(store, credential) is None, credential
    assert _authenticated(store, key) is not None
    keys.revoke(store, key_id, now=lambda: JUNE + 5)
    assert _authenticated(store, key) is None
    assert _authenticated(store, other) is not None


def test_a_check_is_one_statement_with_a_constant_time_comparison(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A6: a malformed key does the same work as a good one."""
    key, _ = _create(store)
    compared: list[tuple[bytes, bytes]] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return one == other

    monkeypatch.setattr(keys.hmac, "compare_digest", compare)
    for credential in (key, "malformed"):
        statements: list[str] = []
        with store.reading() as connection:
            execute = connection.execute

            def counted(
                statement: object, *arguments: object, run: object = execute, seen: list[str] = statements
            ) -> object:
                seen.append(str(statement))
                return run(statement, *arguments)  # type: ignore[operator]

            monkeypatch.setattr(connection, "execute", counted)
            keys.authenticate(connection, credential, lambda: JUNE)
        assert len(statements) == 1
    assert [(len(one), len(other)) for one, other in compared] == [(32, 32), (32, 32)]


def test_keys_are_listed_without_secrets_and_revoked_once(store: Store) -> None:
    """A3: keys can be listed and revoked."""
    _, first = _create(store)
    keys.create(store, "beta", name="b", rights=["admin"], spaces=None, now=lambda: JUNE + 1, create_tenant=True)
    keys.revoke(store, first, now=lambda: JUNE + 7)
    keys.revoke(store, first, now=lambda: JUNE + 9)
    listed = keys.list_keys(store)
    assert [(key.tenant_name, key.revoked_us) for key in listed] == [("acme", JUNE + 7), ("beta", None)]
    assert [key.key_id for key in keys.list_keys(store, "acme")] == [first]
    with pytest.raises(NotFound):
        keys.revoke(store, "nosuchkey", now=lambda: JUNE)


def test_text_that_nothing_can_store_is_refused_wherever_a_key_is_named(store: Store) -> None:
    """S10: a word of the command line may hold bytes that are not UTF-8."""
    with pytest.raises(RequestInvalid, match="lone surrogates"):
        keys.revoke(store, "\udcff", now=lambda: JUNE)
    with pytest.raises(RequestInvalid, match="lone surrogates"):
        keys.list_keys(store, "\udcff")


def test_a_tenant_is_made_only_when_asked(store: Store) -> None:
    """A6: a mistyped tenant is an error, not a new tenant."""
    with pytest.raises(NotFound, match="tenant"):
        _create(store, create_tenant=False)
    number, _ = a_tenant(store)
    assert a_tenant(store)[0] == number
    assert a_tenant(store, "beta")[0] != number


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"rights": []}, "rights"),
        ({"rights": ["fly"]}, "rights"),
        ({"spaces": []}, "spaces"),
        ({"spaces": ["*"]}, "spaces"),
        ({"spaces": ["a", "a"]}, "spaces[1]"),
        ({"name": " "}, "name"),
    ],
)
def test_a_key_that_breaks_a_rule_is_refused(store: Store, changed: dict[str, object], field: str) -> None:
    """A6: a key that breaks a rule is refused."""
    with pytest.raises(RequestInvalid) as refused:
        _create(store, **changed)
    assert refused.value.field == field
    assert keys.list_keys(store) == []


def test_a_tenant_holds_only_so_many_keys_that_have_not_ended(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A9: the table is bounded by what holds; ended keys make room and stay listed."""
    monkeypatch.setattr(keys, "MAX_KEYS", 3)
    made = [_create(store)[1] for _ in range(2)]
    _create(store, expires_us=JUNE + 10)
    with pytest.raises(RequestInvalid, match="3 keys that have not ended"):
        _create(store)
    keys.create(store, "beta", name="b", rights=["read"], spaces=None, now=lambda: JUNE, create_tenant=True)
    keys.revoke(store, made[0], now=lambda: JUNE)
    _create(store)
    with pytest.raises(RequestInvalid):
        _create(store)
    _create(store, now=lambda: JUNE + 10)
    assert len(keys.list_keys(store, "acme")) == 5


def test_a_key_holds_until_the_instant_it_was_given(store: Store) -> None:
    """A6: and not at it."""
    key, _ = _create(store, expires_us=JUNE + 10)
    with store.reading() as connection:
        assert keys.authenticate(connection, key, lambda: JUNE + 9) is not None
        assert keys.authenticate(connection, key, lambda: JUNE + 10) is None
    for refused in (JUNE, -1, 2**63 - 1):
        with pytest.raises(RequestInvalid, match="expires_us"):
            _create(store, expires_us=refused)


def test_tenants_made_at_once_get_numbers_of_their_own(store: Store) -> None:
    """A6: whoever loses the race is told to try again, and two that want one name share it."""

    def make(name: str) -> int:
        while True:
            try:
                key, _ = keys.create(
                    store, name, name="k", rights=["read"], spaces=None, now=lambda: JUNE, create_tenant=True
                )
            except Unavailable:
                continue
            with store.reading() as connection:
                found = keys.authenticate(connection, key, lambda: JUNE)
            assert found is not None
            return found[0].tenant

    names = [f"t{number}" for number in range(12)] * 2
    with ThreadPoolExecutor(4) as threads:
        numbers = list(threads.map(make, names))
    assert numbers[:12] == numbers[12:]
    assert len(set(numbers)) == 12
