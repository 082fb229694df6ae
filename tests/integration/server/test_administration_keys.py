"""Keys and tenants over the wire: rights, spaces, pages, and what a key may not see."""

import asyncio
import time
from uuid import uuid4

import grpc
import pytest
from planner_server import RealPlanner
from telha.administration.v1 import administration_pb2 as pb
from telha_client import (
    AsyncClient,
    Client,
    Document,
    InvalidRequest,
    NotFound,
    PermissionDenied,
    TelhaError,
    Unauthenticated,
)
from telha_client.administration import Administration, AsyncAdministration
from telha_planner.core.errors import Unauthenticated as Refused
from telha_planner.memory.keys import KeyDraft

SERVICE = "telha.administration.v1.Administration"
OPERATOR = ("read", "operator")
LIMITED = ("a", "b")


class Clock:
    """The wall clock, and what it is made to go ahead."""

    ahead_us = 0

    def __call__(self):
        return time.time_ns() // 1000 + self.ahead_us


@pytest.fixture(scope="module")
def planner_clock():
    return Clock()


@pytest.fixture
def clock(planner_clock):
    """The planner's clock, to be set ahead until the end of the test."""
    yield planner_clock
    planner_clock.ahead_us = 0


@pytest.fixture(scope="module")
def planner(tmp_path_factory, planner_clock):
    with RealPlanner(tmp_path_factory.mktemp("administration"), now=planner_clock) as running:
        yield running


@pytest.fixture
def names():
    """Two tenants of the test's own."""
    return f"acme-{uuid4().hex[:8]}", f"rival-{uuid4().hex[:8]}"


def with_key(planner, key):
    return Client(planner.address, key)


def admin(planner, tenant, spaces=None):
    return planner.client(tenant, spaces, ("admin",))


def operator(planner):
    return planner.client("home", None, OPERATOR)


def ids(page):
    return [key.key_id for key in page.items]


def test_a_key_is_made_shown_once_listed_and_ended_at_once(planner, names):
    """A6, A9: the key that is answered works until it is revoked, and no list shows it."""
    with admin(planner, names[0]) as client:
        made = client.administration.create_key("агент 🚊", ["read", "write"], spaces=["b", "a"])
        assert made.api_key.spaces == ("a", "b")
        assert made.api_key.rights == ("read", "write")
        assert made.key not in repr(made)
        with with_key(planner, made.key) as other:
            assert other.memory.sources().items == ()
            listed = client.administration.keys()
            assert made.api_key in listed.items
            assert made.key.rpartition("_")[2] not in repr(listed)
            ended = client.administration.revoke_key(made.api_key.key_id)
            assert ended.revoked >= ended.created
            with pytest.raises(Unauthenticated):
                other.memory.sources()
        assert client.administration.revoke_key(made.api_key.key_id) == ended


def test_every_key_may_end_itself_and_no_other(planner, names):
    """A6: a key that leaked can be ended by whoever finds it."""
    with admin(planner, names[0]) as client:
        mine, other = (client.administration.create_key(name, ["read"]) for name in ("mine", "other"))
    with with_key(planner, mine.key) as reader:
        with pytest.raises(PermissionDenied, match="administer"):
            reader.administration.revoke_key(other.api_key.key_id)
        assert reader.administration.revoke_key(mine.api_key.key_id).revoked
        with pytest.raises(Unauthenticated):
            reader.administration.revoke_key(mine.api_key.key_id)


def test_a_key_ends_by_itself(planner, names, clock):
    """A6: from the instant on that was asked for; one that has passed is refused."""
    with admin(planner, names[0]) as client:
        soon = time.time_ns() // 1000 + 3_600_000_000
        made = client.administration.create_key("brief", ["read"], expires=soon)
        assert made.api_key.expires == soon
        with with_key(planner, made.key) as brief:
            brief.memory.sources()
            clock.ahead_us = soon - time.time_ns() // 1000
            with pytest.raises(Unauthenticated):
                brief.memory.sources()
        with pytest.raises(InvalidRequest, match="expires_us must lie ahead"):
            client.administration.create_key("past", ["read"], expires=soon)


@pytest.mark.parametrize(
    ("rights", "granted", "allowed"),
    [
        (("admin",), ("read", "write", "admin"), True),
        (("admin",), ("operator",), False),
        (("admin",), ("read", "operator"), False),
        (("operator",), ("operator", "admin", "write", "read"), True),
        (("read", "write"), ("read",), False),
        (("read", "write", "admin"), ("operator",), False),
    ],
)
def test_no_key_grants_what_it_may_not(planner, names, rights, granted, allowed):
    """A6: no way leads from a right to a higher one."""
    with planner.client(names[0], None, rights) as client:
        if allowed:
            assert set(client.administration.create_key("k", granted).api_key.rights) == set(granted)
        else:
            with pytest.raises(PermissionDenied):
                client.administration.create_key("k", granted)


def test_a_limited_key_grants_its_own_spaces_alone(planner, names):
    """M7: neither others nor all of them; naming none gives its own."""
    with admin(planner, names[0], LIMITED) as client:
        assert client.administration.create_key("k", ["read"], spaces=["a"]).api_key.spaces == ("a",)
        assert client.administration.create_key("k", ["admin"]).api_key.spaces == LIMITED
        for spaces in (["c"], ["a", "c"], ["main"]):
            with pytest.raises(PermissionDenied, match=r"the space (c|main)"):
                client.administration.create_key("k", ["read"], spaces=spaces)
        with pytest.raises(InvalidRequest, match="spaces"):
            client.administration.create_key("k", ["read"], spaces=["*"])


def test_a_limited_key_reaches_only_keys_within_its_spaces(planner, names):
    """M7: keys of other spaces, and unlimited ones, are answered as absent."""
    with admin(planner, names[0]) as whole, admin(planner, names[0], LIMITED) as limited:
        within = [
            whole.administration.create_key("in", ["read"], spaces=["a"]),
            planner.key_id(names[0], LIMITED, ("admin",)),
        ]
        outside = [
            whole.administration.create_key("out", ["read"], spaces=spaces) for spaces in (["c"], ["a", "c"], ())
        ]
        seen = ids(limited.administration.keys())
        assert set(seen) == {within[0].api_key.key_id, within[1]}
        for key in outside:
            assert absent(limited, key.api_key.key_id) == absent(limited, "aaaaaaaaaaaa")
        assert limited.administration.revoke_key(within[0].api_key.key_id).revoked
        assert not [key for key in whole.administration.keys().items if key.revoked and key.name == "out"]


def absent(client, key_id):
    with pytest.raises(NotFound) as refused:
        client.administration.revoke_key(key_id)
    return (refused.value.code, refused.value.message, refused.value.reason, refused.value.metadata)


def test_an_admin_does_not_reach_keys_that_operate(planner):
    """A6: whoever administers the operator's tenant cannot lock the operator out, nor see the key."""
    planner.key("home", None, OPERATOR)
    operating = planner.key_id("home", None, OPERATOR)
    with admin(planner, "home") as client:
        assert operating not in ids(client.administration.keys())
        assert absent(client, operating) == absent(client, "aaaaaaaaaaaa")


def test_an_operator_makes_tenants_and_their_first_keys(planner, names):
    """A6, A9: the way in which a platform takes in a customer."""
    with operator(planner) as client:
        made = client.administration.create_tenant(names[0])
        assert (made.tenant.name, made.created, made.tenant.last_tx) == (names[0], True, None)
        assert not client.administration.create_tenant(names[0]).created
        key = client.administration.create_key("first", ["read", "write", "admin"], tenant=names[0])
        with with_key(planner, key.key) as customer:
            assert ids(customer.administration.keys()) == [key.api_key.key_id]
        assert ids(client.administration.keys(names[0])) == [key.api_key.key_id]
        assert client.administration.revoke_key(key.api_key.key_id).revoked
        with pytest.raises(NotFound, match="tenant"):
            client.administration.create_key("k", ["read"], tenant="nobody's")
        with pytest.raises(NotFound, match="tenant"):
            client.administration.keys("nobody's")


def test_lists_come_in_pages(planner, names):
    """A9: every key and tenant once, in a fixed order, with tokens bound to what was asked."""
    with operator(planner) as client:
        for tenant in names:
            client.administration.create_tenant(tenant)
        made = [client.administration.create_key("k", ["read"], tenant=names[0]).api_key.key_id for _ in range(7)]
        found, token = [], ""
        while True:
            page = client.administration.keys(names[0], page_size=3, page_token=token)
            found += ids(page)
            token = page.next_page_token
            if not token:
                break
        assert found == made
        first = client.administration.keys(names[0], page_size=3)
        for stolen in (first.next_page_token[:-2], first.next_page_token + "x", "AAAA"):
            with pytest.raises(InvalidRequest, match="page_token"):
                client.administration.keys(names[0], page_token=stolen)
        with pytest.raises(InvalidRequest, match="page_token"):
            client.administration.keys(names[1], page_token=first.next_page_token)
        tenants, token = [], ""
        while True:
            page = client.administration.tenants(page_size=2, page_token=token)
            tenants += [tenant.name for tenant in page.items]
            token = page.next_page_token
            if not token:
                break
        assert len(tenants) == len(set(tenants))
        assert [tenant for tenant in tenants if tenant in names] == list(names)
        with pytest.raises(InvalidRequest, match="page_token"):
            client.administration.tenants(page_token=first.next_page_token)


def test_the_asynchronous_client_administers_too(planner, names):
    """A5: every call of the synchronous one, with the same answers."""

    async def run():
        async with AsyncClient(planner.address, planner.key("home", None, OPERATOR)) as client:
            administration = client.administration
            made = await administration.create_tenant(names[0])
            key = await administration.create_key("k", ["read", "write", "admin"], tenant=names[0])
            assert (await administration.keys(names[0])).items == (key.api_key,)
            assert made.tenant in (await administration.tenants(page_size=1000)).items
            async with AsyncClient(planner.address, key.key) as customer:
                await customer.memory.ingest([Document(name="n", content="words", space="s")])
                assert (await customer.administration.erase_space("s")).removed.sources == 1
            assert (await administration.revoke_key(key.api_key.key_id)).revoked
            receipt = await administration.delete_tenant(names[0])
            assert await administration.deletion(receipt.deletion_id) == receipt
            assert receipt in (await administration.deletions(page_size=1000)).items

    asyncio.run(run())
    calls = [
        {name for name in vars(kind) if not name.startswith("_")} for kind in (Administration, AsyncAdministration)
    ]
    assert calls[0] == calls[1]
    assert len(calls[0]) == len(ASKS)


ASKS = {
    "CreateKey": lambda tenant, _: pb.CreateKeyRequest(tenant=tenant, name="k", rights=[pb.RIGHT_READ]),
    "ListKeys": lambda tenant, _: pb.ListKeysRequest(tenant=tenant),
    "RevokeKey": lambda _, key_id: pb.RevokeKeyRequest(key_id=key_id),
    "CreateTenant": lambda tenant, _: pb.CreateTenantRequest(name=tenant),
    "ListTenants": lambda *_: pb.ListTenantsRequest(),
    "DeleteTenant": lambda tenant, _: pb.DeleteTenantRequest(tenant=tenant),
    "GetDeletion": lambda *_: pb.GetDeletionRequest(deletion_id=str(uuid4())),
    "ListDeletions": lambda *_: pb.ListDeletionsRequest(),
    "EraseSpace": lambda tenant, _: pb.EraseSpaceRequest(space=tenant),
}
OPERATORS = {"CreateTenant", "ListTenants", "GetDeletion", "ListDeletions"}


def test_every_method_is_asked_below():
    """A6: a method that is added is added to these tests."""
    service = pb.DESCRIPTOR.services_by_name["Administration"]
    assert set(ASKS) == {method.name for method in service.methods}


def called(planner, key, method, message):
    with grpc.insecure_channel(planner.address) as channel:
        try:
            metadata = (("authorization", f"Bearer {key}"),)
            answer = channel.unary_unary(f"/{SERVICE}/{method}")(message.SerializeToString(), 20, metadata=metadata)
        except grpc.RpcError as failure:
            details = {key: value for key, value in failure.trailing_metadata() if key != "x-request-id"}
            return failure.code().name, failure.details(), details
    return "OK", answer


@pytest.mark.parametrize("method", ASKS)
@pytest.mark.parametrize("rights", [("admin",), ("read", "write", "admin")])
def test_an_admin_gets_nothing_of_another_tenant(planner, names, method, rights):
    """A6: on every method, foreign and absent are one answer to the byte, and nothing is written."""
    theirs = planner.key(names[1])
    with with_key(planner, theirs) as rival:
        rival.memory.ingest([Document(name="n", content="theirs", space=names[1])])
    foreign = ASKS[method](names[1], planner.key_id(names[1]))
    nobody = ASKS[method]("nobody's", "aaaaaaaaaaaa")
    key = planner.key(names[0], None, rights)
    answer = called(planner, key, method, foreign)
    assert answer == called(planner, key, method, nobody)
    assert answer[0] == ("PERMISSION_DENIED" if method in OPERATORS else "NOT_FOUND")
    with with_key(planner, theirs) as rival:
        assert len(rival.memory.sources(["*"]).items) == 1
        assert [info.revoked for info in rival.administration.keys().items] == [None]


@pytest.mark.parametrize("method", ASKS)
def test_every_method_asks_for_a_key_and_a_right(planner, names, method):
    """A6: none is open, and neither read nor write administers."""
    request = ASKS[method](names[0], "aaaaaaaaaaaa")
    assert called(planner, "telha_x", method, request)[0] == "UNAUTHENTICATED"
    reader = planner.key(names[0], None, ("read", "write"))
    assert called(planner, reader, method, request)[0] == "PERMISSION_DENIED"


def test_a_key_revoked_while_its_call_waits_makes_nothing(planner, names):
    """A6: revocation holds from its commit on, also for calls that were let in before."""
    with admin(planner, names[0]) as client:
        deputy = client.administration.create_key("deputy", ["admin"])
        caller = planner.caller(deputy.key)
        client.administration.revoke_key(deputy.api_key.key_id)
        with pytest.raises(Refused):
            planner.directory.create_key(caller, None, KeyDraft("late", ("read",)))
        assert "late" not in [key.name for key in client.administration.keys().items]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 129}, "name"),
        ({"rights": []}, "rights"),
        ({"rights": [0]}, "rights[0]"),
        ({"rights": [9]}, "rights[0]"),
        ({"rights": [1, 1]}, "rights"),
        ({"spaces": ["*"]}, "spaces"),
        ({"spaces": ["a", "a"]}, "spaces[1]"),
        ({"spaces": [f"s{number}" for number in range(257)]}, "spaces"),
        ({"tenant": ""}, "tenant"),
        ({"expires_us": -1}, "expires_us"),
        ({"expires_us": 2**63 - 1}, "expires_us"),
    ],
)
def test_a_request_that_breaks_a_rule_is_refused(planner, names, changes, field):
    """S10: with its place, and nothing is made."""
    key = planner.key(names[0], None, ("admin",))
    request = pb.CreateKeyRequest(**({"name": "k", "rights": [1]} | changes))
    code, words, _ = called(planner, key, "CreateKey", request)
    assert (code, words.split(" ")[0]) == ("INVALID_ARGUMENT", field)
    with with_key(planner, key) as client:
        assert len(client.administration.keys().items) == 1


def test_an_operator_key_is_never_limited(planner):
    """A6: the installation has no spaces."""
    with operator(planner) as client, pytest.raises(TelhaError, match="spaces must be absent beside"):
        client.administration.create_key("k", ["operator"], spaces=["a"])
