"""Which planner of several a REST call goes to: the caller's word passes through, and can do no harm."""

import pytest
from gateway_server import PLANNED
from telha.memory.v1 import memory_pb2

AFFINITY = "x-telha-affinity"


@pytest.fixture(autouse=True)
def answered(script):
    document = memory_pb2.IngestedDocument(
        source_id="0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10",
        source_version_tx=7,
        outcome=memory_pb2.INGEST_OUTCOME_CREATED,
        spans=3,
    )
    script.answers |= {"Plan": PLANNED, "IngestStream": memory_pb2.IngestStreamResponse(document=document, tx_us=7)}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/plan", {"json": {"question": "q"}}),
        ("/v1/memory/documents?name=a", {"content": b"a", "headers": {"content-type": "text/plain"}}),
    ],
)
def test_it_passes_through(rest, script, path, body):
    """A2: a balancer between gateway and planners sees what the caller sent."""
    headers = {AFFINITY: "acme", **body.pop("headers", {})}
    rest.post(path, headers=headers, **body)
    assert script.metadata[AFFINITY] == "acme"


@pytest.mark.parametrize("sent", [b"", b"two words", "straße".encode(), b"a" * 256, b"a\tb"])
def test_what_cannot_be_sent_is_left_out(rest, script, sent):
    """A2: it is a matter of speed, so no call fails for it."""
    assert rest.post("/v1/plan", json={"question": "q"}, headers={AFFINITY: sent}).status_code == 200
    assert AFFINITY not in script.metadata


def test_without_one_none_is_made_up(rest, script):
    """A2: the gateway knows no keys; the balancer goes by the credential."""
    rest.post("/v1/plan", json={"question": "q"})
    assert AFFINITY not in script.metadata
