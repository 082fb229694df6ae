"""`telha keys`, `telha tenants` and `telha spaces` against a running system and on its store."""

import time
from uuid import uuid4

import pytest
from running_telha import Up


@pytest.fixture
def acme() -> str:
    """A tenant of the test's own."""
    return f"acme {uuid4().hex[:6]} 客户"


def _key(up: Up, *words: str) -> dict[str, object]:
    done = up.run("keys", "create", *words, "--json")
    assert done.code == 0, done.err
    told: dict[str, object] = done.json
    return told


def test_a_platform_takes_in_a_customer_and_lets_it_go(up: Up, acme: str) -> None:
    """A3, A6, M5: tenant, keys, memory, and nothing of it afterwards; each step through the running server."""
    assert up.run("tenants", "create", acme, "--json").json == {"name": acme, "created": True}
    at = f"\nat {up.grpc}\n"
    assert up.run("tenants", "create", acme).out == f"exists already: {acme}{at}"
    misspelt = up.run("keys", "create", "--admin", "--tenant", f"{acme}x")
    assert (misspelt.code, misspelt.err) == (
        1,
        f"telha: there is no tenant {acme}x at {up.grpc}\n       --create-tenant makes it\n",
    )
    first = _key(up, "--admin", "--tenant", acme)
    assert (first["tenant"], first["rights"], first["spaces"]) == (acme, ["read", "write", "admin"], [])
    by = ("--key", str(first["key"]))
    reader = _key(
        up, "--name", "reader", "--space", "agent-7", "--space", "空间", "--expires", "2100-01-01T00:00:00Z", *by
    )
    assert (reader["tenant"], reader["spaces"]) == (acme, ["agent-7", "空间"])
    listed = up.run("keys", "list", *by, "--json").json["keys"]
    assert [key["keyId"] for key in listed] == [first["keyId"], reader["keyId"]]
    assert "2100-01-01" in up.run("keys", "list", *by).out
    assert up.run("keys", "list", "--tenant", acme, "--json").json["keys"] == listed
    for words in (("tenants", "list"), ("tenants", "create", "mine"), ("keys", "create", "--operator")):
        assert up.run(*words, *by, "--json").problem["code"] == "PERMISSION_DENIED", words
    assert up.run("ingest", "README.md", "--space", "agent-7", *by).code == 0
    assert up.run("plan", "what is a plan hash?", "--space", "agent-7", *by).code == 0
    assert up.run("spaces", "erase", "agent-7", *by, typed="n\n").code == 1
    erased = up.run("spaces", "erase", "agent-7", *by, typed="y\n")
    assert erased.code == 0
    assert f"Erase space agent-7 with all that it holds, at {up.grpc}, for good?" in erased.err
    assert "1 sources" in erased.out
    assert erased.out.endswith(at)
    assert up.run("spaces", "erase", "agent-7", "--yes", *by, "--json").problem["code"] == "NOT_FOUND"
    assert up.run("keys", "revoke", str(reader["keyId"]), *by).out == f"revoked {reader['keyId']}{at}"
    refused = up.run("tenants", "delete", acme, typed="\n")
    assert refused.code == 1
    assert refused.err.endswith("telha: nothing deleted\n")
    receipt = up.run("tenants", "delete", acme, "--yes", "--json").json
    assert (receipt["tenant"], receipt["keys"], receipt["traces"]) == (acme, 2, 1)
    assert receipt in up.run("tenants", "deletions", "--json").json["deletions"]
    assert up.run("sources", "list", *by, "--json").problem["code"] == "UNAUTHENTICATED"
    assert acme not in [tenant["name"] for tenant in up.run("tenants", "list", "--json").json["tenants"]]


def test_what_is_done_on_the_store_holds_for_the_running_system(up: Up, acme: str) -> None:
    """A3, M5: keys made beside it open it; a tenant deleted beside it loses its traces too."""
    place = ("--data", str(up.data))
    typo = up.run("keys", "create", "--operator", "--tenant", acme, *place)
    assert (typo.code, typo.err) == (1, "telha: tenant must exist; --create-tenant makes it\n")
    key = _key(up, "--operator", "--tenant", acme, "--create-tenant", *place)
    assert up.run("tenants", "create", acme, *place).out == f"exists already: {acme}\non the store in {up.data}\n"
    by = ("--key", str(key["key"]))
    assert up.run("ingest", "README.md", *by).code == 0
    assert up.run("plan", "what is a plan hash?", *by).code == 0
    assert acme in up.run("tenants", "list", *by).out
    assert up.run("tenants", "list", *place, "--json").json == up.run("tenants", "list", "--json").json
    gone = up.run("tenants", "delete", acme, "--yes", *place, "--json").json
    assert "traces" not in gone
    assert up.run("tenants", "list", *by, "--json").problem["code"] == "UNAUTHENTICATED"
    deadline = time.monotonic() + 60
    while True:
        (receipt,) = (
            one
            for one in up.run("tenants", "deletions", "--json").json["deletions"]
            if one["deletionId"] == gone["deletionId"]
        )
        if "traces" in receipt:
            break
        assert time.monotonic() < deadline
        time.sleep(1)
    assert receipt == gone | {"traces": 1}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("keys", "create"), "--name is required"),
        (("keys", "create", "--admin", "--operator"), "--rights must not be given beside"),
        (("keys", "create", "--name", "x", "--rights", "read", "--admin"), "--rights must not be given beside"),
        (("keys", "create", "--name", "x", "--expires", "soon"), "--expires"),
        (("keys", "create", "--name", "x", "--create-tenant"), "--create-tenant needs --tenant NAME"),
        (("keys", "list", "--url", "sqlite:///x", "--key", "k"), "--key must not be given beside --url"),
    ],
)
def test_a_wrong_command_is_told_as_such(up: Up, words: tuple[str, ...], message: str) -> None:
    """A3: exit code 2, one line, nothing done."""
    done = up.run(*words)
    assert done.code == 2
    assert message in done.err
