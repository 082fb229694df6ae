import json

import pytest
from telha_planner.__main__ import main


def answer(capsys, *arguments: str) -> dict:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", ["plain", "a b", "%41", "what?x=1", "#3", "ключи"])
def test_keys_are_made_listed_and_revoked_in_any_folder(name, tmp_path, capsys):
    """A3, A6: the first key comes from the data folder itself, whatever the folder is called."""
    data = tmp_path / name
    made = answer(
        capsys,
        "keys",
        "create",
        "--data",
        str(data),
        "--tenant",
        "t",
        "--create-tenant",
        "--name",
        "n",
        "--rights",
        "write,read",
    )
    assert (data / "memory.db").exists()
    assert made["key"].startswith(f"telha_{made['keyId']}_")
    assert made["rights"] == ["read", "write"]
    (listed,) = answer(capsys, "keys", "list", "--data", str(data))["keys"]
    assert listed | {"created": 0} == {
        "keyId": made["keyId"],
        "tenant": "t",
        "name": "n",
        "rights": ["read", "write"],
        "spaces": [],
        "created": 0,
    }
    assert made == {"key": made["key"], **listed}
    ended = answer(capsys, "keys", "revoke", made["keyId"], "--data", str(data))
    (listed,) = answer(capsys, "keys", "list", "--data", str(data))["keys"]
    assert listed == ended
    assert listed["revoked"] >= listed["created"]


@pytest.mark.parametrize(
    ("shorthand", "rights"),
    [("--admin", ["read", "write", "admin"]), ("--operator", ["read", "write", "admin", "operator"])],
)
def test_the_first_key_needs_one_word(shorthand, rights, tmp_path, capsys):
    """A6: on an empty store, for the tenant `default`; by folder, address or settings file alike."""
    made = answer(capsys, "keys", "create", shorthand, "--data", str(tmp_path))
    assert (made["tenant"], made["name"], made["rights"]) == ("default", shorthand[2:], rights)
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    (tmp_path / "telha.toml").write_text(f'[store]\nurl = "{url}"\n[server]\nport = 1\n')
    for place in (("--url", url), ("--config", str(tmp_path / "telha.toml"))):
        assert [key["keyId"] for key in answer(capsys, "keys", "list", *place)["keys"]] == [made["keyId"]]


def test_tenants_are_made_listed_and_deleted_on_the_store(tmp_path, capsys):
    """M5, A9: with receipts; the traces wait for a planner."""
    place = ("--data", str(tmp_path))
    assert answer(capsys, "tenants", "create", "acme", *place) == {"name": "acme", "created": True}
    assert answer(capsys, "tenants", "create", "acme", *place) == {"name": "acme", "created": False}
    answer(capsys, "keys", "create", "--admin", "--tenant", "acme", *place)
    answer(capsys, "keys", "create", "--admin", *place)
    assert [tenant["name"] for tenant in answer(capsys, "tenants", "list", *place)["tenants"]] == ["acme", "default"]
    receipt = answer(capsys, "tenants", "delete", "acme", "--yes", *place)
    assert (receipt["tenant"], receipt["keys"], "traces" in receipt) == ("acme", 1, False)
    assert answer(capsys, "tenants", "deletions", *place)["deletions"] == [receipt]
    assert [key["tenant"] for key in answer(capsys, "keys", "list", *place)["keys"]] == ["default"]
    assert main(["tenants", "delete", "acme", "--yes", *place]) == 1
    assert capsys.readouterr().err == "no such tenant\n"
    with pytest.raises(SystemExit):
        main(["tenants", "delete", "default", *place])
    assert [tenant["name"] for tenant in answer(capsys, "tenants", "list", *place)["tenants"]] == ["default"]
    assert main(["keys", "create", "--admin", "--tenant", "acme", "--create-tenant", *place]) == 1
    assert "is the name of a deleted tenant" in capsys.readouterr().err


def test_a_misspelt_tenant_is_not_made(tmp_path, capsys):
    """A6: a key for a tenant that does not exist is refused, unless the tenant is asked for too."""
    place = ("--data", str(tmp_path))
    assert main(["keys", "create", "--admin", "--tenant", "acmee", *place]) == 1
    assert capsys.readouterr().err == "tenant must exist; --create-tenant makes it\n"
    assert answer(capsys, "tenants", "list", *place)["tenants"] == []
    assert (
        answer(capsys, "keys", "create", "--admin", "--tenant", "acme", "--create-tenant", *place)["tenant"] == "acme"
    )
    assert (
        answer(capsys, "keys", "create", "--admin", "--tenant", "acme", "--create-tenant", *place)["tenant"] == "acme"
    )
    assert [tenant["name"] for tenant in answer(capsys, "tenants", "list", *place)["tenants"]] == ["acme"]


def test_settings_that_are_wrong_are_told_as_such(tmp_path, capsys):
    """G1: with the key and the range; nothing is made."""
    (tmp_path / "telha.toml").write_text("[store]\nbusy_timeout_ms = 0\n")
    assert main(["keys", "list", "--config", str(tmp_path / "telha.toml")]) == 78
    assert "store.busy_timeout_ms" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("create", "--tenant", "t", "--name", "n", "--rights", "fly"),
            "rights must be among read, write, admin, operator\n",
        ),
        (("create", "--tenant", " ", "--name", "n", "--rights", "read"), "tenant must not be blank\n"),
        (("create", "--tenant", "t", "--name", "n", "--rights", "read", "--space", "*"), "spaces must name spaces"),
        (("revoke", "nobody"), "no such key\n"),
    ],
)
def test_a_refusal_is_one_sentence(arguments, sentence, tmp_path, capsys):
    """A3: refused with the field and the rule, exit code 1, nothing made."""
    assert main(["keys", *arguments, "--data", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith(sentence)
    assert captured.err.count("\n") == 1
    assert not captured.out
    assert answer(capsys, "keys", "list", "--data", str(tmp_path)) == {"keys": []}
