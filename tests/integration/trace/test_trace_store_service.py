"""`TraceStore` over real gRPC: who may ask, what a trace looks like, how pages go."""

import asyncio
import base64
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import msgpack
import pytest
from google.protobuf.json_format import MessageToDict
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status
from telha.trace.v1 import trace_store_pb2, traces_pb2
from telha_runtime import health
from telha_runtime.frame import Frame
from telha_trace_writer.opening import open_store
from telha_trace_writer.record import row_of
from trace_path import a_listener, a_record, config, credential, fetch, on_both_engines, place_of

pytestmark = on_both_engines


def stored(folder: Path, tenant: str = "acme", **changes: Any) -> str:
    """Store one record; its id."""
    trace_id = str(uuid4())
    store = open_store(place_of(folder), 1000)
    store.insert([row_of(Frame("s", 1, trace_id, tenant, a_record(trace_id, tenant, **changes)))])
    store.close()
    return trace_id


def served(folder: Path, test: Callable[[Any], Coroutine[Any, Any, None]]) -> None:
    """Run *test* against a service without Redis."""

    async def run() -> None:
        async with a_listener(config(folder, f"unix://{folder / 'nobody'}")) as stub:
            await test(stub)

    asyncio.run(run())


async def refusal(call: Any) -> tuple[grpc.StatusCode, str, list[str], bool]:
    """Code, reason, fields at fault, and whether trying again may help."""
    with pytest.raises(grpc.aio.AioRpcError) as fault:
        await call
    status = status_pb2.Status(code=fault.value.code().value[0], message=fault.value.details())
    detailed = rpc_status.from_call(fault.value)
    assert detailed is not None
    assert detailed.message == status.message
    info, bad, retry = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
    fields: list[str] = []
    retries = False
    for detail in detailed.details:
        detail.Unpack(info)
        if detail.Unpack(bad):
            fields += [violation.field for violation in bad.field_violations]
        retries = retries or detail.Unpack(retry)
    assert info.domain == "telha.dev"
    return fault.value.code(), info.reason, fields, retries


def browse(stub: Any, tenant: str = "acme", allowed: tuple[str, ...] = (), **filters: Any) -> Any:
    listing = traces_pb2.ListRequest(**filters)
    request = trace_store_pb2.BrowseRequest(tenant=tenant, allowed_spaces=allowed, list=listing)
    return stub.Browse(request, metadata=credential(), timeout=10)


@pytest.mark.parametrize("metadata", [(), credential("wrong"), credential("")])
def test_every_call_needs_the_internal_credential(metadata: Any, folder: Path) -> None:
    """A6: no credential, no answer; health alone is open."""
    trace_id = stored(folder)

    async def test(stub: Any) -> None:
        for call in (
            stub.Fetch(trace_store_pb2.FetchRequest(tenant="acme", trace_id=trace_id), metadata=metadata),
            stub.Browse(trace_store_pb2.BrowseRequest(tenant="acme"), metadata=metadata),
            stub.Persisted(trace_store_pb2.PersistedRequest(trace_ids=[trace_id]), metadata=metadata),
            stub.DeleteTenant(trace_store_pb2.DeleteTenantRequest(tenant="acme", deleted_us=2**62), metadata=metadata),
        ):
            code, reason, _, _ = await refusal(call)
            assert (code, reason) == (grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")
        assert await asyncio.to_thread(health.serving, f"unix:{folder / 'w'}")

    served(folder, test)


def test_a_trace_shows_everything_whatever_its_kind(folder: Path) -> None:
    """X4: unknown kinds are decoded generically; nothing is lost to JSON's numbers or to bytes."""
    item = ["5d2f0c3b-0000-4000-8000-000000000001", 2**60, 0, 12]
    trace_id = stored(
        folder,
        kind="dream",
        spaces=None,
        item_coords=[item],
        pool=[[*item, "body", 0, 4602678819172646912, 3]],
        query_vector=b"\xff\x00",
        stats={"nan": float("nan"), "deep": [{"x": 1.5, "no": None, "yes": True}]},
        novelty=msgpack.ExtType(7, b"\x01"),
    )

    async def test(stub: Any) -> None:
        trace = await fetch(stub, trace_id)
        assert trace.summary.kind == "dream"
        assert list(trace.summary.spaces) == ["*"]
        record = MessageToDict(trace.record)
        assert record["item_coords"] == [[item[0], str(2**60), 0, 12]]
        assert record["pool"] == [[item[0], str(2**60), 0, 12, "body", 0, "4602678819172646912", 3]]
        assert record["query_vector"] == base64.b64encode(b"\xff\x00").decode()
        assert record["stats"] == {"nan": "nan", "deep": [{"x": 1.5, "no": None, "yes": True}]}
        assert record["novelty"] == {"ext": 7, "data": "AQ=="}
        assert (record["v"], record["budget"]["applied"], record["trace_id"]) == (1, 1800, trace_id)

    served(folder, test)


def test_a_trace_that_may_still_be_in_redis_is_pending(folder: Path) -> None:
    """X4: while Redis is away nothing unknown is "not found"; what is stored is found."""
    known = stored(folder)

    async def test(stub: Any) -> None:
        assert (await fetch(stub, known)).summary.trace_id == known
        answer = await refusal(fetch(stub, str(uuid4())))
        assert answer == (grpc.StatusCode.UNAVAILABLE, "TRACE_PENDING", [], True)

    served(folder, test)


def test_pages_go_from_the_newest_to_the_oldest_without_gap_or_repeat(folder: Path) -> None:
    """X4: also when many traces share an instant, and when new ones arrive in between."""
    expected = [stored(folder, recorded_us=1000 + number // 4) for number in range(22)]
    stored(folder, tenant="rival")

    async def test(stub: Any) -> None:
        found: list[str] = []
        token = ""
        while True:
            page = (await browse(stub, page_size=5, page_token=token)).page
            found += [trace.trace_id for trace in page.traces]
            instants = [trace.recorded_us for trace in page.traces]
            assert instants == sorted(instants, reverse=True)
            stored(folder, recorded_us=5000)
            token = page.next_page_token
            if not token:
                break
            assert len(page.traces) == 5
        assert sorted(found) == sorted(expected)

    served(folder, test)


def test_filters_narrow_a_listing(folder: Path) -> None:
    """X4: by kind, by time (from included, to excluded), by space; a summary says what each trace has."""
    one = stored(folder, kind="plan", recorded_us=10, spaces=["a"])
    two = stored(folder, kind="plan", recorded_us=20, spaces=["a", "b"])
    three = stored(folder, kind="select", recorded_us=30, spaces=["c"])

    async def test(stub: Any) -> None:
        async def listed(**filters: Any) -> list[str]:
            return [trace.trace_id for trace in (await browse(stub, **filters)).page.traces]

        assert await listed() == [three, two, one]
        assert await listed(kind="plan") == [two, one]
        assert await listed(from_us=20) == [three, two]
        assert await listed(to_us=20) == [one]
        assert await listed(space="b") == [two]
        assert await listed(space="b", kind="select") == []
        (newest,) = (await browse(stub, page_size=1)).page.traces
        shown = (newest.kind, newest.budget, newest.used, newest.items, newest.stranded, list(newest.spaces))
        assert shown == ("select", 1800, 700, 2, 40, ["c"])
        assert newest.plan_hash == "b3:" + "ab" * 32

    served(folder, test)


def test_a_caller_sees_only_traces_of_its_spaces(folder: Path) -> None:
    """M7, A6: a trace is seen when all that it read is allowed; one that read everything, by the unlimited."""
    inside = stored(folder, spaces=["a"])
    stored(folder, spaces=["a", "b"])
    stored(folder, spaces=[])
    stored(folder, spaces=["main"])
    unlimited = stored(folder, spaces=None)

    async def test(stub: Any) -> None:
        page = (await browse(stub, allowed=("a",))).page
        assert [trace.trace_id for trace in page.traces] == [inside]
        page = (await browse(stub)).page
        assert len(page.traces) == 5
        assert {trace.trace_id: list(trace.spaces) for trace in page.traces}[unlimited] == ["*"]
        assert [trace.trace_id for trace in (await browse(stub, space="zzz")).page.traces] == [unlimited]

    served(folder, test)


def test_a_limited_key_sees_its_own_calls_that_read_nothing(folder: Path) -> None:
    """X4, M7: beside those of its spaces; another key's it does not see."""
    mine = stored(folder, kind="select", spaces=[], key_id="mine")
    stored(folder, kind="select", spaces=[], key_id="theirs")
    inside = stored(folder, spaces=["a"], key_id="theirs")

    async def test(stub: Any) -> None:
        def listed(**filters: Any) -> Any:
            request = trace_store_pb2.BrowseRequest(
                tenant="acme", allowed_spaces=["a"], key_id="mine", list=traces_pb2.ListRequest(**filters)
            )
            return stub.Browse(request, metadata=credential(), timeout=10)

        assert [trace.trace_id for trace in (await listed()).page.traces] == [inside, mine]
        first = (await listed(page_size=1)).page
        second = (await listed(page_size=1, page_token=first.next_page_token)).page
        assert [trace.trace_id for trace in second.traces] == [mine]
        assert not second.next_page_token
        code, _, fields, _ = await refusal(browse(stub, allowed=("a",), page_token=first.next_page_token))
        assert (code, fields) == (grpc.StatusCode.INVALID_ARGUMENT, ["page_token"])

    served(folder, test)


def test_a_page_token_belongs_to_its_filters(folder: Path) -> None:
    """X4: another filter, tenant or scope with the same token is refused, and so is a token that is none."""
    for _ in range(3):
        stored(folder)
        stored(folder, tenant="rival")

    async def test(stub: Any) -> None:
        token = (await browse(stub, page_size=1, kind="context")).page.next_page_token
        assert len((await browse(stub, page_size=2, kind="context", page_token=token)).page.traces) == 2
        for wrong in (
            browse(stub, page_size=1, page_token=token),
            browse(stub, page_size=1, kind="plan", page_token=token),
            browse(stub, page_size=1, kind="context", from_us=1, page_token=token),
            browse(stub, "rival", page_size=1, kind="context", page_token=token),
            browse(stub, page_size=1, kind="context", allowed=("main",), page_token=token),
            browse(stub, page_token="no token"),
            browse(stub, page_token="AAAA"),
            browse(stub, page_token=base64.urlsafe_b64encode(msgpack.packb([1, b"short", b""])).decode()),
        ):
            code, reason, fields, _ = await refusal(wrong)
            assert (code, reason, fields) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST", ["page_token"])

    served(folder, test)


def test_bad_requests_are_refused_with_their_field(folder: Path) -> None:
    """X4: bad requests are refused with their field."""

    async def test(stub: Any) -> None:
        for call, field in (
            (fetch(stub, "x"), "trace_id"),
            (fetch(stub, str(uuid4()).upper()), "trace_id"),
            (browse(stub, page_size=-1), "page_size"),
            (
                stub.Persisted(trace_store_pb2.PersistedRequest(trace_ids=["x"]), metadata=credential()),
                "trace_ids[0]",
            ),
            (
                stub.Persisted(
                    trace_store_pb2.PersistedRequest(trace_ids=[str(uuid4())] * 10_001), metadata=credential()
                ),
                "trace_ids",
            ),
        ):
            code, reason, fields, _ = await refusal(call)
            assert (code, reason, fields) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST", [field])

    served(folder, test)


def test_persisted_names_a_subset_of_what_was_asked(folder: Path) -> None:
    """X3: thousands at once, whatever their tenants."""
    there = {stored(folder), stored(folder, tenant="rival")}

    async def test(stub: Any) -> None:
        asked = [*there, *(str(uuid4()) for _ in range(2000))]
        answer = await stub.Persisted(trace_store_pb2.PersistedRequest(trace_ids=asked), metadata=credential())
        assert set(answer.trace_ids) == there

    served(folder, test)
