"""The command line against a running system, as the project shows itself."""

import http.client
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from running_telha import ROOT, Up
from telha_cli.render import number

pytestmark = pytest.mark.process

QUESTION = "how is the plan hash computed?"


def _rest(up: Up, path: str, body: dict[str, Any]) -> Any:
    connection = http.client.HTTPConnection(up.http.removeprefix("http://"), timeout=30)
    headers = {"authorization": f"Bearer {up.key}", "content-type": "application/json"}
    connection.request("POST", path, json.dumps(body), headers)
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return answer


def test_context_has_items_proof_and_account(up: Up) -> None:
    """A3, C4, C6: as JSON, within the budget, each item a slice of its source."""
    told = up.run("memory", "context", QUESTION, "--max-tokens", "800", "--json").json
    assert told["items"]
    assert told["planHash"].startswith("b3:")
    assert told["stats"]["budget"]["applied"] == 800
    assert told["stats"]["budget"]["used"] <= 800
    ids = {item["source"]["sourceId"] for item in told["items"]}
    texts = {each: up.run("sources", "get", each, "--text", "--json").json["text"].encode() for each in ids}
    for item in told["items"]:
        text = texts[item["source"]["sourceId"]]
        assert text[item["source"]["start"] : item["source"]["end"]].decode() == item["text"]
    trace = up.run("trace", "get", told["traceId"], "--json").json
    proof = up.run("trace", "verify", told["traceId"], "--json")
    assert (proof.code, proof.json["verified"], proof.json["recomputed"]) == (0, True, told["planHash"])
    assert trace["planHash"] == told["planHash"]
    assert trace["traceId"] == told["traceId"]


def test_context_shows_score_and_coordinates(up: Up) -> None:
    """A3: per item, at 80 columns."""
    told = up.run("memory", "context", QUESTION, "--max-tokens", "800", "--json").json
    shown = up.run("memory", "context", QUESTION, "--max-tokens", "800", COLUMNS="80").out
    for item in told["items"]:
        source = item["source"]
        assert f"{source['sourceId']} @{source['sourceVersionTx']} [{source['start']}:{source['end']}]" in shown
        assert number(item["score"]) in shown
    assert told["planHash"] in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_a_trace_is_replayed_and_compared(up: Up) -> None:
    """A3, X5: words first; the exit code is 0 for what is identical, 1 for what is not, as with `diff`."""
    one = up.run("plan", QUESTION, "--max-tokens", "300", "--json").json
    other = up.run("memory", "context", QUESTION, "--max-tokens", "800", "--json").json
    again = up.run("trace", "replay", one["traceId"], "--json")
    assert (again.code, again.json["outcome"], again.json["plan"]["planHash"]) == (0, "identical", one["planHash"])
    shown = up.run("trace", "replay", one["traceId"])
    assert (shown.code, shown.out.startswith("identical"), one["planHash"] in shown.out) == (0, True, True)
    found = up.run("trace", "diff", one["traceId"], other["traceId"], "--json")
    assert (found.code, found.json["difference"]["identical"]) == (1, False)
    assert found.json["before"]["planHash"] == one["planHash"]
    told = up.run("trace", "diff", one["traceId"], other["traceId"])
    assert told.out.startswith("The plans differ")
    assert {"budget", "new"} <= set(told.out.split())
    assert up.run("trace", "diff", one["traceId"], one["traceId"]).code == 0
    listed = up.run("trace", "list", "--max-used", "0", "--not-stranded", "--json")
    assert listed.code == 0
    assert all(trace["used"] == 0 for trace in listed.json["traces"])


def test_the_command_line_answers_as_rest_does(up: Up) -> None:
    """S12, C4: same members, same plan; a script may change from one to the other."""
    window = up.run("memory", "context", QUESTION, "--json").json["window"]
    instants = ["--valid-at", str(window["validTime"]), "--tx-at", str(window["txTime"])]
    by_cli = up.run("memory", "context", QUESTION, "--max-tokens", "500", "--json", *instants).json
    by_rest = _rest(up, "/v1/memory/context", {"question": QUESTION, "budget": {"maxTokens": 500}, "window": window})
    assert by_cli["planHash"] == by_rest["planHash"]
    assert by_cli.keys() == by_rest.keys()
    assert {**by_cli, "traceId": ""} == {**by_rest, "traceId": ""}
    by_cli = up.run("plan", QUESTION, "--max-tokens", "500", "--json", *instants).json
    by_rest = _rest(up, "/v1/plan", {"question": QUESTION, "budget": {"maxTokens": 500}, "window": window})
    assert {**by_cli, "traceId": ""} == {**by_rest, "traceId": ""}


def test_lines_into_a_pipe_are_whole(up: Up) -> None:
    """A3: `telha … | grep` sees each text in one line, as it stands in the source, and no blanks at the end."""
    told = up.run("plan", QUESTION, "--json").json
    shown = up.run("plan", QUESTION).out.splitlines()
    firsts = [span["text"].strip("\n").split("\n")[0] for span in told["spans"]]
    assert max(map(len, firsts)) > 80
    for first in firsts:
        assert any(line.endswith(first.replace("\t", "    ")) for line in shown)
    assert shown == [line.rstrip() for line in shown]
    ascii_only = up.run("plan", QUESTION, PYTHONIOENCODING="ascii")
    assert (ascii_only.code, ascii_only.out.isascii()) == (0, True)
    assert "budget  ###" in ascii_only.out
    assert up.run("plan", QUESTION, "--json", PYTHONIOENCODING="latin-1").json["planHash"] == told["planHash"]


def test_a_floor_that_kept_all_out_is_told(up: Up) -> None:
    """R6: no evidence, though something was found: how much, and how to let it in."""
    refused = up.run("plan", QUESTION, "--min-similarity", "1")
    assert refused.code == 1
    assert "no evidence was found for this request" in refused.err
    assert "found and are below the floor of 1: --min-similarity 0 switches it off" in refused.err
    nothing = up.run("plan", "xyzzy plugh", "--min-similarity", "1")
    assert nothing.code == 1
    assert "floor" not in nothing.err


@pytest.mark.parametrize("command", [("plan",), ("memory", "context")])
def test_legs_are_chosen(up: Up, command: tuple[str, ...]) -> None:
    """R1: only the legs that are named run; without the option all that the request gives something to."""

    def found(*legs: str) -> dict[str, int]:
        stats = up.run(*command, QUESTION, "--find", "passage", "--json", *legs).json["stats"]
        counts: dict[str, int] = stats.get("recall", stats)["legs"]
        return counts

    both = found()
    assert both["query"] > 0
    assert both["lexical"] > 0
    words = found("--legs", "lexical")
    assert (words["query"], words["lexical"]) == (0, both["lexical"])
    assert found("--legs", "structured, lexical") == both


def test_select_packs_a_pool_of_the_users_own(up: Up) -> None:
    """S11: from a file or standard input, without memory."""
    done = up.run("select", "tests/golden/pool-small.json", "--budget", "500", "--json")
    assert done.code == 0, done.err
    told = done.json
    assert told["stats"]["applied"] == 500
    assert told["used"] <= 500
    assert up.run("trace", "get", told["traceId"], "--json").json["planHash"] == told["planHash"]
    assert (
        _rest(
            up,
            "/v1/select",
            {**json.loads((ROOT / "tests/golden/pool-small.json").read_text()), "budget": {"maxTokens": 500}},
        )["planHash"]
        == told["planHash"]
    )


def test_ingest_is_idempotent_and_accounts_for_all(up: Up, tmp_path: Path) -> None:
    """M2, A3: what was written, skipped and refused; exit 1 if anything was refused."""
    (tmp_path / "good.md").write_text("# Tea\n\nGreen tea is brewed at 80 degrees.\n")
    (tmp_path / "image.md").write_bytes(b"\x89PNG\0\0")
    first = up.run("ingest", str(tmp_path), "--space", "kitchen", "--json")
    assert first.code == 0
    assert [document["outcome"] for document in first.json["documents"]] == ["created"]
    assert first.json["skipped"] == [{"path": f"{tmp_path.name}/image.md", "reason": "binary"}]
    again = up.run("ingest", str(tmp_path / "good.md"), "--space", "kitchen", "--json")
    assert [document["outcome"] for document in again.json["documents"]] == ["unchanged"]
    (tmp_path / "bad.txt").write_bytes(b"caf\xe9")
    (tmp_path / "nul.txt").write_bytes(b"x" * 9000 + b"\0")
    (tmp_path / "new.md").write_text("Black tea wants boiling water.\n")
    mixed = up.run("ingest", str(tmp_path), "--space", "kitchen", "--json")
    assert mixed.code == 1
    assert {document["outcome"] for document in mixed.json["documents"]} == {"created", "unchanged"}
    assert {Path(refused["path"]).name for refused in mixed.json["refused"]} == {"bad.txt", "nul.txt"}
    told = up.run("memory", "context", "how hot is green tea brewed?", "--space", "kitchen", "--json").json
    assert any("80 degrees" in item["text"] for item in told["items"])
    source = first.json["documents"][0]["sourceId"]
    kept = up.run("sources", "erase", source, typed="n\n")
    assert kept.code == 1
    assert f"good.md (source {source}) for good? [y/N]" in kept.err
    assert kept.err.endswith("telha: nothing erased\n")
    erase = ("sources", "erase", source, "--yes", "--json", "--idempotency-key", f"erase {source}".replace(" ", "-"))
    erased = up.run(*erase).json
    assert erased["versions"] == 1
    assert up.run(*erase).json == {**erased, "replayed": True}
    assert up.run("sources", "get", source, "--json").problem["code"] == "NOT_FOUND"


def test_the_spelling_of_a_path_is_not_the_document(up: Up, tmp_path: Path) -> None:
    """M2: a folder named in three ways is one folder, and nothing is written anew."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "tea.md").write_text("Oolong.\n")
    outcomes = []
    for spelling in ("notes", "./notes/", str(tmp_path / "notes"), "notes/../notes/tea.md"):
        (told,) = up.run("ingest", spelling, "--space", "spelt", "--json", cwd=tmp_path).json["documents"]
        outcomes.append((told["name"], told["outcome"]))
    assert outcomes == [("notes/tea.md", "created"), *[("notes/tea.md", "unchanged")] * 3]


def test_a_document_too_large_or_oddly_named_takes_no_neighbour_with_it(up: Up, tmp_path: Path) -> None:
    """A3, A1, M8: each is told by itself, with the rule; one that is only too large for a message is streamed."""
    (tmp_path / "huge.txt").write_text("word " * 1_000_000)
    (tmp_path / "monstrous.txt").write_text("word " * 13_500_000)
    long = tmp_path / ("家" * 80) / ("家" * 80) / ("家" * 80) / "uri.md"
    long.parent.mkdir(parents=True)
    long.write_text("deep\n")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md")).write_text("odd\n")
    (tmp_path / "small.md").write_text("small\n")
    told = up.run("ingest", str(tmp_path), "--space", "sizes", "--json")
    assert told.code == 1
    assert [Path(document["name"]).name for document in told.json["documents"]] == [
        "caf\\xe9.md",
        "huge.txt",
        "small.md",
    ]
    refused = {Path(refused["path"]).name: refused["reason"] for refused in told.json["refused"]}
    rule = "belongs to a document of more than the 67,108,864 bytes that are accepted"
    assert refused == {
        "monstrous.txt": f"header.content_bytes {rule}: [server] max_document_bytes is the limit",
        "uri.md": "uri must be at most 2,048 bytes",
    }
    assert up.run("keys", "revoke", os.fsdecode(b"\xff"), "--data", str(up.data)).err == (
        "telha: key_id must not contain lone surrogates\n"
    )


def until_listed(up: Up, count: int) -> list[dict]:
    """The traces, once at least *count* of them are persisted."""
    deadline = time.monotonic() + 60
    while len(traces := up.run("trace", "list", "--json").json["traces"]) < count:
        assert time.monotonic() < deadline
    return traces


def test_lists_show_what_is_there(up: Up) -> None:
    """A3, X4: sources and traces, in order, in pages."""
    sources = up.run("sources", "list", "--json").json["sources"]
    assert "README.md" in {source["name"] for source in sources}
    assert [source["sourceId"] for source in sources] == sorted(source["sourceId"] for source in sources)
    text = up.run("sources", "get", sources[0]["sourceId"], "--text", "--json").json["text"]
    assert up.run("sources", "get", sources[0]["sourceId"], "--text").out == text
    two = up.run("sources", "list", "--limit", "2", "--json").json
    assert two["sources"] == sources[:2]
    third = up.run("sources", "list", "--limit", "1", "--page-token", two["nextPageToken"], "--json").json["sources"]
    assert third == sources[2:3]
    nodes = up.run("query", "passage", "--limit", "3", "--json").json["nodes"]
    token = up.run("query", "passage", "--limit", "2", "--json").json["nextPageToken"]
    assert up.run("query", "passage", "--limit", "1", "--page-token", token, "--json").json["nodes"] == nodes[2:]
    for listed in (("sources", "list"), ("query", "passage")):
        assert "--page-token" in up.run(*listed, "--limit", "1").out
    up.run("plan", QUESTION)
    traces = up.run("trace", "list", "--kind", "plan", "--json").json["traces"]
    assert traces
    assert {trace["kind"] for trace in traces} == {"plan"}
    assert [trace["recorded"] for trace in traces] == sorted((trace["recorded"] for trace in traces), reverse=True)
    up.run("plan", QUESTION)
    newest = until_listed(up, 2)
    first = up.run("trace", "list", "--limit", "1", "--json").json
    behind = up.run("trace", "list", "--limit", "1", "--page-token", first["nextPageToken"], "--json").json["traces"]
    assert [*first["traces"], *behind] == newest[:2]
    assert up.run("trace", "list").code == up.run("sources", "list").code == 0
    assert up.run("trace", "list", "--kind", "foo").out == "no trace of kind foo\n"
    record = up.run("trace", "get", traces[0]["traceId"], "--json").json["record"]
    assert list(record) == sorted(record)


def test_keys_open_what_they_say_until_revoked(up: Up) -> None:
    """A6: tenant, spaces and rights are those of the key; revoking holds at once."""
    made = up.run("keys", "create", "--name", "reader", "--rights", "read", "--data", str(up.data), "--json").json
    assert up.run("memory", "context", QUESTION, "--key", made["key"]).code == 0
    refused = up.run("ingest", "README.md", "--key", made["key"], "--json")
    assert refused.code == 1
    assert refused.problem["code"] == "PERMISSION_DENIED"
    other = up.run(
        "keys", "create", "--name", "x", "--tenant", "other", "--create-tenant", "--data", str(up.data), "--json"
    ).json
    told = up.run("memory", "context", QUESTION, "--key", other["key"], "--json").json
    assert told["items"] == []
    listed = up.run("keys", "list", "--data", str(up.data), "--json")
    assert made["keyId"] in {key["keyId"] for key in listed.json["keys"]}
    assert made["key"] not in listed.out
    assert up.run("keys", "list", "--data", str(up.data)).code == 0
    assert up.run("keys", "revoke", made["keyId"], "--data", str(up.data)).code == 0
    gone = up.run("memory", "context", QUESTION, "--key", made["key"], "--json")
    assert gone.code == 1
    assert gone.problem["code"] == "UNAUTHENTICATED"


def test_a_right_does_not_include_another(up: Up, tmp_path: Path) -> None:
    """A6: write ingests and erases and reads nothing; admin alone neither reads nor writes."""

    def key(rights: str) -> str:
        made = up.run("keys", "create", "--name", rights, "--rights", rights, "--data", str(up.data), "--json")
        return str(made.json["key"])

    (tmp_path / "pool.json").write_text("[]")
    (tmp_path / "secret.md").write_text("A writer may not read this.\n")
    writer, admin = key("write"), key("admin")
    reads = (("plan", "x"), ("select", str(tmp_path / "pool.json")), ("sources", "list"), ("trace", "list"))
    for words in reads:
        for each in (writer, admin):
            assert up.run(*words, "--key", each, "--json").problem["code"] == "PERMISSION_DENIED", words
    assert (
        up.run("ingest", str(tmp_path / "secret.md"), "--key", admin, "--json").problem["code"] == "PERMISSION_DENIED"
    )
    done = up.run("ingest", str(tmp_path / "secret.md"), "--key", writer, "--space", "rights", "--json")
    source = done.json["documents"][0]["sourceId"]
    erased = up.run("sources", "erase", source, "--key", writer, typed="y\n")
    assert erased.code == 0
    assert f"Erase source {source} for good?" in erased.err


def test_the_environment_names_a_server(up: Up) -> None:
    """A3: TELHA_ADDRESS and TELHA_KEY win over what runs here."""
    away = up.run("plan", "x", TELHA_ADDRESS="127.0.0.1:9", TELHA_KEY="telha_x", XDG_STATE_HOME="/nonexistent")
    assert away.code == 1
    assert away.err.startswith("telha: no telha answers at 127.0.0.1:9")
    here = up.run("plan", QUESTION, TELHA_ADDRESS=up.grpc, TELHA_KEY=up.key, XDG_STATE_HOME="/nonexistent")
    assert here.code == 0


def test_a_proxy_has_no_say_on_this_machine(up: Up) -> None:
    """A3: a proxy that is set for the web must not hide the system that runs here."""
    away = "http://127.0.0.1:9"
    assert up.run("memory", "context", QUESTION, http_proxy=away, https_proxy=away, grpc_proxy=away).code == 0
