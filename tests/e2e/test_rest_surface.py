"""The REST surface of a whole running system: real ingestion, real traces, and the same answers as over gRPC."""

import base64
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from rest_contract import check
from telha_client import Client

pytestmark = pytest.mark.process

TELHA = [sys.executable, "-m", "telha_cli.main"]
ENVIRON = {name: value for name, value in os.environ.items() if not name.startswith("TELHA_")}

NOTES = """# Harbour tram

The night tram to the harbour stops at two.

| line | platform |
|---|---|
| 7 | 港口 |

קו הלילה 🧑‍🚀 עוצר בשתיים.
"""


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A whole system on a folder of its own: what its `connection.json` says, and the folder."""
    data = tmp_path_factory.mktemp("rest") / "data"
    command = [*TELHA, "up", "--data", str(data), "--ephemeral-ports"]
    with subprocess.Popen(command, env=ENVIRON, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as up:
        try:
            deadline = time.monotonic() + 90
            while not (data / "connection.json").exists():
                assert up.poll() is None, "telha up ended at its start"
                assert time.monotonic() < deadline
                time.sleep(0.1)
            yield {**json.loads((data / "connection.json").read_text()), "data": str(data)}
        finally:
            up.send_signal(signal.SIGTERM)
            assert up.wait(60) == 0


@pytest.fixture(scope="module")
def rest(system: dict[str, Any]) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {system['key']}"}
    with httpx.Client(
        base_url=system["http"], headers=headers, timeout=30, event_hooks={"response": [check]}
    ) as client:
        yield client


PAGE = Path(__file__).parents[2].joinpath("docs/rest.md").read_text(encoding="utf-8")


def test_the_examples_of_the_page_work_in_their_order(rest: httpx.Client) -> None:
    """A2, A9: as they stand, on a system that has nothing but them."""
    examples = re.findall(r"^`POST (/[^`]+)`[^`]*\n\n```json(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(examples) == 7
    answers = {}
    for path, body in examples:
        answer = rest.post(path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 200, (path, answer.text)
        answers[path] = answer.json()
    assert any("sign-off" in span["text"] for span in answers["/v1/plan"]["spans"])
    (found,) = answers["/v1/query"]["nodes"]
    assert found["pendingClarification"]["state"] == "pending"
    then = {"question": "how do we deploy to eu-west?", "window": answers["/v1/plan"]["window"]}
    assert rest.post("/v1/plan", json=then).status_code == 200


def keys(system: dict[str, Any], *words: str) -> dict[str, Any]:
    """What `telha keys` answers on the system's own folder."""
    command = [*TELHA, "keys", *words, "--data", system["data"], "--json"]
    done = subprocess.run(command, env=ENVIRON, capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


def ingested(rest: httpx.Client, **document):
    answer = rest.post("/v1/memory/sources", json={"documents": [document]})
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(answer: httpx.Response):
    problem = answer.json()
    assert answer.status_code == 400, answer.text
    return problem["pointer"], problem["detail"]


def test_what_is_remembered_is_read_planned_traced_and_erased(rest):
    """A2, M2, M5, X4: the whole life of a document through REST."""
    first = ingested(rest, name="tram.md", text=NOTES)
    (document,) = first["documents"]
    source = document["sourceId"]
    assert (document["outcome"], document["sourceVersionTx"]) == ("created", first["txTime"])
    assert ingested(rest, name="tram.md", text=NOTES)["documents"][0]["outcome"] == "unchanged"

    read = rest.get(f"/v1/memory/sources/{source}", params={"includeText": "true"}).json()
    assert read["text"] == NOTES
    assert read["length"] == len(NOTES.encode())

    asked = {"question": "when does the night tram stop?", "budget": {"maxTokens": 120}}
    plan = rest.post("/v1/plan", json=asked).json()
    assert any("stops at two" in span["text"] for span in plan["spans"])

    trace = rest.get(f"/v1/trace/{plan['traceId']}")
    assert trace.status_code == 200, trace.text
    assert (trace.json()["kind"], trace.json()["planHash"]) == ("plan", plan["planHash"])
    assert trace.json()["record"]
    assert NOTES[20:40] not in trace.text

    changed = ingested(rest, name="tram.md", text=NOTES.replace("at two", "at three"))
    assert changed["documents"][0]["outcome"] == "updated"
    then = rest.post("/v1/plan", json=asked | {"window": plan["window"]}).json()
    assert then["planHash"] == plan["planHash"]
    now = rest.post("/v1/plan", json=asked).json()
    assert any("stops at three" in span["text"] for span in now["spans"])
    assert not any("stops at two" in span["text"] for span in now["spans"])
    old = rest.get(f"/v1/memory/sources/{source}", params={"includeText": "true", "version": first["txTime"]})
    assert old.json()["text"] == NOTES

    receipt = rest.delete(f"/v1/memory/sources/{source}").json()
    assert (receipt["sourceId"], receipt["versions"]) == (source, 2)
    assert rest.get(f"/v1/memory/sources/{source}").status_code == 404
    assert rest.delete(f"/v1/memory/sources/{source}").status_code == 404
    after = rest.post("/v1/plan", json=asked | {"allowUngrounded": True}).json()
    assert source not in {span["span"]["sourceId"] for span in after["spans"]}


def test_rest_and_grpc_give_one_plan(rest, system):
    """C1: the same request has the same hash on both."""
    ingested(rest, name="hash.md", text="# Hash\n\nThe plan hash is computed over big-endian integers.\n")
    question = "how is the plan hash computed?"
    plan = rest.post("/v1/plan", json={"question": question, "budget": {"maxTokens": 400}}).json()
    with Client(system["grpc"], system["key"]) as client:
        window = {"valid_time": plan["window"]["validTime"], "tx_time": plan["window"]["txTime"]}
        same = client.plan(question, max_tokens=400, **window)
    assert same.plan_hash == plan["planHash"]
    assert [span.text for span in same.spans] == [span["text"] for span in plan["spans"]] != []


def test_a_graph_written_through_rest_raises_its_open_question(rest):
    """M3, C5: nodes, edges and clarifications by API; a pending question comes with the item it concerns."""
    text = "The lighthouse ferry needs a pilot named Ana Quillfeather.\n"
    (document,) = ingested(rest, name="ferry.txt", contentBase64=base64.b64encode(text.encode()).decode())["documents"]
    place = {"sourceId": document["sourceId"], "sourceVersionTx": document["sourceVersionTx"]}
    ferry, pilot, question = (str(uuid4()) for _ in range(3))
    nodes = [
        {
            "nodeId": ferry,
            "type": "ferry",
            "properties": {"name": "lighthouse", "seats": 80},
            "provenance": [place | {"start": 0, "end": len(text) - 1}],
        },
        {"nodeId": pilot, "type": "pilot", "validFrom": "2020-01-01T00:00:00Z"},
    ]
    assert rest.post("/v1/memory/nodes", json={"nodes": nodes}).status_code == 200
    edge = {"edgeId": str(uuid4()), "fromNodeId": ferry, "toNodeId": pilot, "type": "piloted_by", "confidence": 0.5}
    assert rest.post("/v1/memory/edges", json={"edges": [edge]}).status_code == 200
    asked = {
        "clarificationId": question,
        "nodeId": ferry,
        "state": "conflicted",
        "question": "Does Ana still pilot the ferry?",
    }
    assert rest.post("/v1/memory/clarifications", json={"clarifications": [asked]}).status_code == 200
    context = rest.post("/v1/memory/context", json={"find": "ferry"}).json()
    assert question in {open_["clarificationId"] for open_ in context["openQuestions"]}
    flags = [item["pendingClarification"] for item in context["items"] if "pendingClarification" in item]
    assert {"clarificationId": question, "state": "conflicted"} in flags


def test_sources_and_traces_are_listed_to_the_end(rest):
    """A2, X4: pages follow one another, each entry once."""
    for number in range(3):
        ingested(rest, name=f"page-{number}.txt", text=f"Page number {number} of the pilot book.")
    for path, key, name in (("/v1/memory/sources", "sources", "sourceId"), ("/v1/traces", "traces", "traceId")):
        seen: list[str] = []
        token = None
        for _ in range(200):
            page = rest.get(path, params={"pageSize": 2} | ({"pageToken": token} if token else {})).json()
            seen += [entry[name] for entry in page[key]]
            token = page.get("nextPageToken")
            if token is None:
                break
        assert token is None
        assert len(seen) == len(set(seen)) >= 3
    answer = rest.get("/v1/memory/sources", params={"pageToken": "made-up"})
    assert refused(answer)[0] == "/pageToken"


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"name": "a.txt", "text": "x\0y"}, "/documents/1/text"),
        ({"name": "a.txt", "text": " \n"}, "/documents/1/text"),
        ({"name": "a.txt", "contentBase64": base64.b64encode(b"\xc3\x28").decode()}, "/documents/1/contentBase64"),
        ({"name": "", "text": "x"}, "/documents/1/name"),
        ({"name": "a.txt", "text": "x", "mediaType": "image/png"}, "/documents/1/mediaType"),
        ({"name": "a.txt", "text": "x", "sourceId": "not-a-uuid"}, "/documents/1/sourceId"),
        ({"name": "good.txt", "text": "again"}, "/documents/1"),
    ],
)
def test_a_bad_document_writes_nothing(rest, document, pointer):
    """M3: the whole batch is refused, with the index of the bad item, and nothing of it is stored."""
    name = f"good-{uuid4()}.txt"
    good = {"name": name if document["name"] != "good.txt" else "good.txt", "text": "A good document."}
    place, _ = refused(rest.post("/v1/memory/sources", json={"documents": [good, document]}))
    assert place.startswith(pointer)
    names = {source["name"] for source in rest.get("/v1/memory/sources", params={"pageSize": 1000}).json()["sources"]}
    assert good["name"] not in names


def test_bad_spans_of_a_node_are_refused_with_their_place(rest):
    """S10: spans beyond the end, backwards, inside a character, or of a source that is not there."""
    (document,) = ingested(rest, name="accents.txt", text="Café at the quay.")["documents"]
    place = {"sourceId": document["sourceId"], "sourceVersionTx": document["sourceVersionTx"]}
    for start, end in ((0, 4000), (5, 5), (6, 2), (0, 4)):
        node = {"nodeId": str(uuid4()), "type": "t", "provenance": [place | {"start": start, "end": end}]}
        pointer, _ = refused(rest.post("/v1/memory/nodes", json={"nodes": [node]}))
        assert pointer.startswith("/nodes/0/provenance/0"), (start, end, pointer)
    foreign = {"sourceId": str(uuid4()), "sourceVersionTx": 1, "start": 0, "end": 1}
    node = {"nodeId": str(uuid4()), "type": "t", "provenance": [foreign]}
    pointer, _ = refused(rest.post("/v1/memory/nodes", json={"nodes": [node]}))
    assert pointer.startswith("/nodes/0/provenance/0")


def test_the_rest_of_the_bad_graph_list(rest):
    """M1, M3: duplicate ids, dangling ends, bad ratios and bad intervals are refused by place."""
    one = str(uuid4())
    twice = [{"nodeId": one, "type": "t"}, {"nodeId": one, "type": "t"}]
    assert refused(rest.post("/v1/memory/nodes", json={"nodes": twice}))[0].startswith("/nodes/1")
    assert refused(rest.post("/v1/memory/nodes", json={"nodes": []}))[0] == "/nodes"
    backwards = [{"nodeId": one, "type": "t", "validFrom": 5, "validTo": 5}]
    pointer, detail = refused(rest.post("/v1/memory/nodes", json={"nodes": backwards}))
    assert pointer == "/nodes/0/validTo"
    assert "_" not in detail
    zero = [{"nodeId": one, "type": "t", "vector": {"model": "m", "values": []}}]
    assert refused(rest.post("/v1/memory/nodes", json={"nodes": zero}))[0] == "/nodes/0/vector/values"
    edge = {"edgeId": one, "fromNodeId": str(uuid4()), "toNodeId": str(uuid4()), "type": "t"}
    assert refused(rest.post("/v1/memory/edges", json={"edges": [edge]}))[0].startswith("/edges/0/")
    sure = [edge | {"confidence": 1.5}]
    assert refused(rest.post("/v1/memory/edges", json={"edges": sure}))[0] == "/edges/0/confidence"
    asked = {"clarificationId": one, "nodeId": one, "state": "maybe", "question": "q"}
    pointer, _ = refused(rest.post("/v1/memory/clarifications", json={"clarifications": [asked]}))
    assert pointer == "/clarifications/0/state"


def test_ids_that_are_none_are_refused_and_ids_of_nobody_are_not_found(rest):
    """A2: a malformed id is 400 at `/id`, an unknown one 404, for sources and traces alike."""
    for path in ("/v1/memory/sources/", "/v1/trace/"):
        assert refused(rest.get(path + "Nonsense"))[0] == "/id"
        answer = rest.get(path + str(uuid4()))
        assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")


def test_five_megabytes_are_too_many(rest):
    """A1: a 5 MB message is a 413 and says how much is accepted."""
    answer = rest.post("/v1/memory/sources", json={"documents": [{"name": "big.txt", "text": "x" * 5_000_000}]})
    assert (answer.status_code, answer.json()["code"]) == (413, "MESSAGE_TOO_LARGE")
    assert "4194304" in answer.json()["detail"]


def test_a_revoked_key_is_worth_nothing(rest, system):
    """A6: missing, malformed and revoked keys get one answer."""
    made = keys(system, "create", "--name", "short-lived")
    headers = {"authorization": f"Bearer {made['key']}"}
    body = {"question": "tram", "allowUngrounded": True}
    assert rest.post("/v1/plan", json=body, headers=headers).status_code == 200
    keys(system, "revoke", made["keyId"])
    answer = rest.post("/v1/plan", json=body, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHENTICATED")
