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
        capsys, "keys", "create", "--data", str(data), "--tenant", "t", "--name", "n", "--rights", "write,read"
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
        "spaces": None,
        "created": 0,
        "revoked": None,
    }
    assert answer(capsys, "keys", "revoke", made["keyId"], "--data", str(data)) == {
        "keyId": made["keyId"],
        "revoked": True,
    }
    (listed,) = answer(capsys, "keys", "list", "--data", str(data))["keys"]
    assert listed["revoked"] >= listed["created"]


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
