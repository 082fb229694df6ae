"""Documents in pieces over real gRPC: what arrives whole is written, and nothing else."""

import threading
import time
import uuid
from itertools import pairwise

import grpc
import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from planner_server import RealPlanner
from telha.memory.v1 import memory_pb2, memory_pb2_grpc
from telha_client import (
    DeadlineExceeded,
    Document,
    InvalidRequest,
    MessageTooLarge,
    PermissionDenied,
    Unauthenticated,
    requests,
)
from telha_client.errors import from_rpc
from telha_planner.config import PlannerConfig, ServerSettings

LIMIT = 400_000
MESSAGE = 64_000
TEXT = "# Trams\n\nThe first tram leaves at 05:12.\n\nשלום 🧑‍🚀 你好\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
Part = memory_pb2.IngestStreamRequest


def header(**fields):
    return Part(header=memory_pb2.IngestStreamHeader(**{"name": "trams.md", **fields}))


def until(holds):
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def chunks(content, size=10_000):
    return [Part(chunk=content[start : start + size]) for start in range(0, len(content), size)]


@pytest.fixture(scope="module")
def planner(tmp_path_factory, lasting_store_url):
    limits = ServerSettings(max_message_bytes=MESSAGE, max_document_bytes=LIMIT, max_upload_bytes=LIMIT)
    requests.TEXT_PIECE, piece = 1000, requests.TEXT_PIECE
    with RealPlanner(
        tmp_path_factory.mktemp("streamed"), PlannerConfig(server=limits), url=lasting_store_url
    ) as planner:
        yield planner
    requests.TEXT_PIECE = piece


@pytest.fixture
def tenant():
    return f"tenant-{uuid.uuid4()}"


@pytest.fixture
def client(planner, tenant):
    with planner.client(tenant) as client:
        yield client


@pytest.fixture
def stream(planner, tenant):
    """Sends messages as they are; raises what the client would."""
    own = planner.key(tenant)
    with grpc.insecure_channel(planner.address) as channel:
        stub = memory_pb2_grpc.MemoryStub(channel)

        def send(messages, timeout=60, key=own):
            try:
                return stub.IngestStream(iter(messages), timeout=timeout, metadata=[("authorization", f"Bearer {key}")])
            except grpc.RpcError as failure:
                raise from_rpc(failure) from None

        yield send


def texts_of(client):
    sources = client.memory.sources().items
    return {source.name: client.memory.source(source.source_id, include_text=True).text for source in sources}


def temporary_files():
    opened = psutil.Process().open_files()
    return [file.path for file in opened if "(deleted)" in file.path or "/#" in file.path]


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.lists(
        st.sampled_from(["# Head\n", "word ", "🧑‍🚀", "你好。", "שלום\n\n", "\r\n\r\n", "- item\n"]), min_size=1
    ).map("".join),
    cuts=st.lists(st.integers(0, 400)),
    announce=st.booleans(),
)
def test_a_stream_is_what_the_call_with_the_same_bytes_is(planner, text, cuts, announce):
    """M8: under any chunking, characters cut in two included, a stream writes what `Ingest` writes."""
    content = ("x" + text).encode()
    edges = sorted({0, len(content), *(cut for cut in cuts if cut < len(content))})
    pieces = [Part(chunk=content[one:other]) for one, other in pairwise(edges)]
    sent = header(**({"content_bytes": len(content)} if announce else {}))
    done = []
    for streamed in (True, False):
        name = f"tenant-{uuid.uuid4()}"
        with planner.client(name) as client, grpc.insecure_channel(planner.address) as channel:
            if streamed:
                metadata = [("authorization", f"Bearer {planner.key(name)}")]
                answer = memory_pb2_grpc.MemoryStub(channel).IngestStream(
                    iter([sent, *pieces]), metadata=metadata, timeout=60
                )
                counts = (answer.document.spans, answer.document.nodes_opened, answer.document.outcome)
            else:
                document = client.memory.ingest([Document(name="trams.md", content=content)]).documents[0]
                counts = (document.spans, document.nodes_opened, memory_pb2.INGEST_OUTCOME_CREATED)
            (source,) = client.memory.sources().items
            found = client.memory.source(source.source_id, include_text=True)
            nodes = [
                (node.type, dict(node.properties), [(span.start, span.end) for span in node.provenance])
                for kind in ("passage", "section", "window")
                for node in client.memory.query(kind).nodes
            ]
            described = sorted(nodes, key=repr)
            done.append((counts, found.text, source.content_hash, source.name, source.uri, described))
    assert done[0] == done[1]


def test_all_of_the_header_is_kept(client, stream):
    """M8: a streamed document has every field that an ingested one has."""
    source, instant = str(uuid.uuid4()), 1_600_000_000_000_000
    sent = header(
        source_id=source, uri="https://example.org/x", space="own", media_type="text/html", valid_from_us=instant
    )
    answer = stream([sent, *chunks(b"<title>T</title><p>Trams.")])
    assert answer.document.source_id == source
    found = client.memory.source(source, include_text=True)
    assert (found.text, found.source.uri, found.source.space) == ("Trams.", "https://example.org/x", "own")
    assert found.source.valid_from == instant
    again = stream([sent, *chunks(b"<title>T</title><p>Trams.", 3)])
    assert again.document.outcome == memory_pb2.INGEST_OUTCOME_UNCHANGED


def test_the_largest_document_goes_in_and_one_byte_more_does_not(client, stream):
    """M8: the limit counts bytes, is exact, and is named with the field where it shows."""
    full = (TEXT * (LIMIT // len(TEXT.encode()) + 1)).encode()[:LIMIT].decode(errors="replace").encode()[:LIMIT]
    full = full.decode(errors="ignore").encode().ljust(LIMIT, b".")
    assert stream([header(), *chunks(full)]).document.spans > 1000
    assert texts_of(client) == {"trams.md": full.decode()}
    for messages, field in [
        ([header(name="b"), *chunks(full + b".")], "chunk"),
        ([header(name="b", content_bytes=LIMIT + 1)], "header.content_bytes"),
    ]:
        with pytest.raises(MessageTooLarge) as refusal:
            stream(messages)
        assert (refusal.value.reason, refusal.value.field) == ("DOCUMENT_TOO_LARGE", field)
        assert f"{LIMIT:,}" in refusal.value.rule
    with pytest.raises(MessageTooLarge) as refusal:
        stream([header(name="b"), Part(chunk=b"x" * (MESSAGE + 10))])
    assert refusal.value.reason == "MESSAGE_TOO_LARGE"
    assert len(client.memory.sources().items) == 1


def test_a_document_too_large_is_refused_before_it_has_come(stream):
    """M8: the refusal does not wait for the end of the stream."""
    sent = []

    def endless():
        yield header()
        while True:
            sent.append(1)
            yield Part(chunk=b"word " * 10_000)

    with pytest.raises(MessageTooLarge):
        stream(endless())
    assert len(sent) < 200


@pytest.mark.parametrize(
    ("messages", "field"),
    [
        ([], "header"),
        ([Part()], "header"),
        ([Part(chunk=b"x"), header()], "header"),
        ([header(), header()], "chunk"),
        ([header(), Part()], "chunk"),
        ([header(), Part(chunk=b"x"), Part(chunk=b"")], "chunk"),
        ([header()], "chunk"),
        ([header(), Part(chunk=b" \n")], "chunk"),
        ([header(), Part(chunk=b"a\0b")], "chunk"),
        ([header(), Part(chunk="é".encode()[:1]), Part(chunk=b"x")], "chunk"),
        ([header(), Part(chunk=b"\xed\xa0"), Part(chunk=b"\x80")], "chunk"),
        ([header(), Part(chunk="é".encode()[:1])], "chunk"),
        ([header(content_bytes=3), Part(chunk=b"ab")], "header.content_bytes"),
        ([header(content_bytes=3), Part(chunk=b"abcd")], "header.content_bytes"),
        ([header(content_bytes=0)], "chunk"),
        ([header(name=""), Part(chunk=b"x")], "header.name"),
        ([header(source_id="?"), Part(chunk=b"x")], "header.source_id"),
        ([header(media_type="text/x"), Part(chunk=b"x")], "header.media_type"),
        ([header(media_type="application/json"), Part(chunk=b"{")], "chunk"),
        ([header(idempotency_key="a b"), Part(chunk=b"x")], "idempotency_key"),
    ],
)
def test_a_stream_that_breaks_a_rule_is_refused_with_its_place(client, stream, messages, field):
    """M8, M3: nothing is written, and the field is named as the contract names it."""
    with pytest.raises(InvalidRequest) as refusal:
        stream(messages)
    assert refusal.value.field == field
    assert client.memory.sources().items == ()


def test_who_may_not_write_sends_no_content(planner, tenant, stream):
    """A6, M7: key, right and space are checked at the header."""
    with pytest.raises(Unauthenticated):
        stream([header(), *chunks(b"x")], key="wrong")
    with pytest.raises(PermissionDenied):
        stream([header(), *chunks(b"x")], key=planner.key(tenant, None, ("read",)))
    with pytest.raises(PermissionDenied):
        stream([header(space="other"), *chunks(b"x")], key=planner.key(tenant, ["own"]))


def test_a_stream_takes_an_idempotency_key(client, stream):
    """M8: the same bytes in other pieces are the same request; other bytes, or another header, are not."""
    content = TEXT.encode()
    first = stream([header(idempotency_key="k"), *chunks(content)])
    again = stream([header(idempotency_key="k"), *chunks(content, 7)])
    assert (first.replayed, again.replayed, again.document) == (False, True, first.document)
    for messages in (
        [header(idempotency_key="k"), *chunks(content + b".")],
        [header(idempotency_key="k", name="other.md"), *chunks(content)],
    ):
        with pytest.raises(Exception, match="IDEMPOTENCY_KEY_REUSED"):
            stream(messages)
    assert len(client.memory.sources().items) == 1


@pytest.mark.parametrize("announced", [True, False])
def test_a_stream_that_is_broken_off_leaves_nothing(planner, tenant, client, announced):
    """M8: cancelled, late, or its connection cut: nothing is written, and no file stays."""
    metadata = [("authorization", f"Bearer {planner.key(tenant)}")]

    def halting(started, over):
        yield header(**({"content_bytes": 60_000} if announced else {}))
        yield from chunks(b"Half of it. " * 2000)
        started.set()
        over.wait(60)

    for how in ("cancelled", "late", "cut"):
        channel, started, over = grpc.insecure_channel(planner.address), threading.Event(), threading.Event()
        call = memory_pb2_grpc.MemoryStub(channel).IngestStream.future(
            halting(started, over), timeout=1 if how == "late" else 60, metadata=metadata
        )
        # Who is too late before the half has come is broken off as well.
        assert started.wait(30) or how == "late"
        if how == "cancelled":
            call.cancel()
        elif how == "cut":
            channel.close()
        with pytest.raises((grpc.RpcError, grpc.FutureCancelledError)):
            call.result()
        over.set()
        channel.close()
    until(lambda: temporary_files() == [])
    assert client.memory.ingest([Document(name="x", content="x")]).documents[0].outcome == "created"
    assert [source.name for source in client.memory.sources().items] == ["x"]


def test_all_streams_together_are_bounded(planner, tenant, stream):
    """M8: what is on its way is bounded; what exceeds it is refused with a hint when to come back."""
    gate, started = threading.Event(), threading.Event()

    def held():
        yield header(content_bytes=LIMIT - MESSAGE + 1)
        yield Part(chunk=b"x")
        started.set()
        gate.wait(60)

    with grpc.insecure_channel(planner.address) as channel:
        metadata = [("authorization", f"Bearer {planner.key(tenant)}")]
        call = memory_pb2_grpc.MemoryStub(channel).IngestStream.future(held(), timeout=60, metadata=metadata)
        assert started.wait(30)
        until(lambda: planner.uploads.shares.held > 0)
        with pytest.raises(Exception, match="OVERLOADED") as refusal:
            stream([header(name="other.md"), *chunks(b"small")])
        assert refusal.value.retry_after == 1.0
        call.cancel()
        gate.set()
    until(lambda: planner.uploads.shares.held == 0)
    assert stream([header(name="other.md"), *chunks(b"small")]).document.spans == 1


@pytest.mark.parametrize("ended", ["revoked", "deleted"])
def test_a_key_that_ends_while_its_document_comes_writes_nothing(planner, stream, ended):
    """A6: the last chunk comes after the key was revoked, or after its tenant was deleted."""
    tenant = f"tenant-{uuid.uuid4()}"
    key = planner.key(tenant)
    admin = planner.client("installation", rights=("operator",)).administration

    def parts():
        yield header()
        yield Part(chunk=TEXT.encode())
        if ended == "revoked":
            admin.revoke_key(planner.key_id(tenant))
        else:
            admin.delete_tenant(tenant)
        yield Part(chunk=TEXT.encode())

    with pytest.raises(Unauthenticated):
        stream(parts(), key=key)
    if ended == "revoked":
        with planner.client(tenant, rights=("read",)) as reader:
            assert reader.memory.sources().items == ()


@pytest.mark.parametrize("brought", [0, 1, 2])
def test_a_stream_that_hangs_holds_no_room_for_long(planner, tenant, stream, monkeypatch, brought):
    """M8, A1: a caller who stops in the middle, whatever its own deadline, does not keep others from sending."""
    monkeypatch.setattr("telha_planner.server.uploads.LONGEST_PAUSE_S", 0.3)
    more = threading.Event()

    def parts():
        yield from [header(content_bytes=LIMIT), Part(chunk=b"words")][:brought]
        more.wait(120)

    started = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        stream(parts(), timeout=3600)
    assert time.monotonic() - started < 60
    more.set()
    monkeypatch.undo()
    assert stream([header(content_bytes=LIMIT), *chunks(b"a" * LIMIT)]).document.spans
