"""The listener with real gRPC: health, reflection, limits, deadlines, cancellation, drain, TLS."""

import asyncio
import threading
import time

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from planner_server import PlannerServer
from structlog.testing import capture_logs
from telha_planner.config import ServerSettings
from telha_planner.core.errors import PermissionDenied
from telha_planner.server.call import Call, Service
from telha_planner.server.listener import ListenFailed, PortBusy, address_of
from telha_planner.server.wire import decode

NAME = "telha.planner.v1.Planner"
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class Echo:
    """A service whose one method does what the request says."""

    def __init__(self):
        self.entered = threading.Event()
        self.released = threading.Event()
        self.cancelled = threading.Event()
        self.calls: list[Call] = []

    def services(self):
        return [Service(NAME, {"Plan": self.answer}, invalid_reason="ODD_INVALID")]

    async def answer(self, raw, call):
        self.calls.append(call)
        asked = decode(StringValue, raw).value
        if asked == "wait":
            self.entered.set()
            try:
                while not self.released.is_set():  # noqa: ASYNC110  # the test sets it from another thread
                    await asyncio.sleep(0.005)
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        if asked == "crash":
            raise RuntimeError("the secret cause")
        if asked == "refuse":
            raise PermissionDenied(right="the space 空间\n")
        if asked == "large":
            return StringValue(value="x" * 5000)
        return StringValue(value=asked)


@pytest.fixture
def echo():
    return Echo()


@pytest.fixture
def server(echo):
    with PlannerServer(echo.services) as server:
        yield server


def call(address, text, *, timeout=30.0, metadata=(), channel=None):
    channel = channel or grpc.insecure_channel(address)
    with channel:
        method = channel.unary_unary(f"/{NAME}/Plan")
        raw, state = method.with_call(StringValue(value=text).SerializeToString(), timeout=timeout, metadata=metadata)
        return StringValue.FromString(raw).value, state


def failure(address, text, **more):
    with pytest.raises(grpc.RpcError) as caught:
        call(address, text, **more)
    trailers = dict(caught.value.trailing_metadata())
    details = status_pb2.Status.FromString(trailers.get("grpc-status-details-bin", b""))
    info = error_details_pb2.ErrorInfo.FromString(details.details[0].value) if details.details else None
    return caught.value, info, trailers


def health(address, service=""):
    with grpc.insecure_channel(address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        return stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=30).status


def test_health_is_answered_for_the_whole_and_for_each_service(server):
    """A1: health, overall and per service."""
    assert health(server.address) == health(server.address, NAME) == SERVING
    with pytest.raises(grpc.RpcError) as caught:
        health(server.address, "telha.absent.v1.Absent")
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND


def test_reflection_lists_and_describes_the_services(server):
    """A1: reflection."""
    asked = [
        reflection_pb2.ServerReflectionRequest(list_services=""),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol=NAME),
    ]
    with grpc.insecure_channel(server.address) as channel:
        listed, described = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(iter(asked))
    assert NAME in {service.name for service in listed.list_services_response.service}
    assert described.file_descriptor_response.file_descriptor_proto


def test_request_id_key_and_deadline_reach_the_handler(server, echo):
    """A1: request id, key and deadline reach the handler."""
    metadata = (("authorization", "Bearer telha_abcdefghijkl_secret"), ("x-request-id", "req-1"))
    assert call(server.address, "hello", timeout=700, metadata=metadata)[0] == "hello"
    seen = echo.calls[0]
    assert (seen.credential, seen.request_id) == ("telha_abcdefghijkl_secret", "req-1")
    assert 600 < seen.deadline - time.monotonic() < 701


@pytest.mark.parametrize("sent", ["", "Basic abc", "Bearer", "telha_abcdefghijkl_secret"])
def test_anything_but_a_bearer_token_is_no_credential(server, echo, sent):
    """A6: the key travels as a bearer token and in no other way."""
    call(server.address, "hello", metadata=(("authorization", sent),))
    assert echo.calls[0].credential == ""


def test_two_credentials_are_none(server, echo):
    """A6: whichever comes first."""
    for sent in (["Bearer a", "Bearer b"], ["Bearer b", "Bearer a"]):
        call(server.address, "hi", metadata=[("authorization", value) for value in sent])
        assert echo.calls[-1].credential == ""


def test_a_call_without_deadline_gets_the_default_one(echo):
    """A1: every call has a deadline."""
    with PlannerServer(echo.services, default_deadline_ms=200) as server:
        error, info, _ = failure(server.address, "wait", timeout=None)
    assert (error.code(), info.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED")


def test_a_client_that_goes_away_cancels_its_call(server, echo):
    """A1: cancellation."""
    with grpc.insecure_channel(server.address) as channel:
        future = channel.unary_unary(f"/{NAME}/Plan").future(StringValue(value="wait").SerializeToString(), timeout=30)
        assert echo.entered.wait(30)
        future.cancel()
        assert echo.cancelled.wait(30)


def test_an_unexpected_error_shows_the_request_id_and_nothing_else(server):
    """A1: internals never reach a caller."""
    with capture_logs() as logs:
        error, info, trailers = failure(server.address, "crash", metadata=(("x-request-id", "req-7"),))
    assert (error.code(), info.reason, dict(info.metadata)) == (
        grpc.StatusCode.INTERNAL,
        "INTERNAL",
        {"request_id": "req-7"},
    )
    assert trailers["x-request-id"] == "req-7"
    assert "secret" not in str(trailers) + error.details()
    assert [entry["event"] for entry in logs if entry["log_level"] == "error"] == ["call failed"]


def test_a_status_message_is_plain_ascii_and_the_details_are_not(server):
    """A1: a status message is plain ASCII and the details are not."""
    error, info, _ = failure(server.address, "refuse")
    assert error.details() == "the key lacks the space \\u7a7a\\u95f4\\n"
    assert info.metadata["right"] == "the space 空间\n"


def test_a_surface_spells_its_own_invalid_reason(server):
    """C7: each surface has its own reason for an invalid request."""
    with grpc.insecure_channel(server.address) as channel, pytest.raises(grpc.RpcError) as caught:
        channel.unary_unary(f"/{NAME}/Plan")(b"\x98\x06\x01", timeout=5)
    details = status_pb2.Status.FromString(dict(caught.value.trailing_metadata())["grpc-status-details-bin"])
    info, bad = (detail.value for detail in details.details)
    assert error_details_pb2.ErrorInfo.FromString(info).reason == "ODD_INVALID"
    (violation,) = error_details_pb2.BadRequest.FromString(bad).field_violations
    assert violation.field == "99"


def test_messages_beyond_the_limit_are_refused_both_ways(echo):
    """A1: limits."""
    with PlannerServer(echo.services, max_message_bytes=4096) as server:
        for text in ("x" * 4094, "large"):
            error, info, _ = failure(server.address, text)
            assert (error.code(), info.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "MESSAGE_TOO_LARGE")
            assert dict(info.metadata) == {"limit": "4096"}
        assert call(server.address, "x" * 4093)[0] == "x" * 4093
        error, info, _ = failure(server.address, "x" * 9000)
        assert (error.code(), info) == (grpc.StatusCode.RESOURCE_EXHAUSTED, None)


def test_the_access_line_names_the_call_but_neither_question_nor_key(server):
    """A8: logs never hold a question or a credential."""
    with capture_logs() as logs:
        call(server.address, "a private question", metadata=(("authorization", "Bearer telha_abcdefghijkl_secret"),))
    (line,) = [entry for entry in logs if entry["event"] == "call"]
    assert (line["method"], line["code"], line["key"]) == (f"{NAME}/Plan", "OK", "abcdefghijkl")
    assert "private" not in str(line)
    assert "secret" not in str(line)


def test_a_taken_port_is_an_error_with_a_sentence(server, echo):
    """A1: two servers never share a port."""
    port = int(server.address.rpartition(":")[2])
    with pytest.raises(PortBusy, match=f"port {port} on 127.0.0.1 is in use"), PlannerServer(echo.services, port=port):
        pass


def test_a_unix_socket_serves_and_is_not_stolen(echo, tmp_path):
    """A1: a unix socket serves and is not stolen."""
    address = f"unix:{tmp_path}/telha.sock"
    with PlannerServer(echo.services, host=address) as server:
        assert server.address == address
        assert call(address, "hello")[0] == "hello"
        with pytest.raises(PortBusy), PlannerServer(echo.services, host=address):
            pass
        assert call(address, "still here")[0] == "still here"


def test_a_socket_path_that_no_system_takes_is_an_error_with_a_sentence(echo, tmp_path):
    """A1: a socket path that no system takes is an error with a sentence."""
    with (
        pytest.raises(ListenFailed, match="longer than the 107 bytes"),
        PlannerServer(echo.services, host=f"unix:{tmp_path}/{'x' * 120}"),
    ):
        pass


def test_an_address_that_is_not_ours_is_an_error_with_a_sentence(echo):
    """A1: an address that is not ours is an error with a sentence."""
    with pytest.raises(ListenFailed, match="cannot listen on"), PlannerServer(echo.services, host="203.0.113.7"):
        pass


@pytest.mark.parametrize(("host", "address"), [("::1", "[::1]:7"), ("[::1]", "[::1]:7"), ("10.0.0.1", "10.0.0.1:7")])
def test_an_ipv6_host_gets_its_brackets(host, address):
    """A1: an IPv6 host gets its brackets."""
    assert address_of(ServerSettings(host=host, port=7)) == address


def test_a_drain_finishes_what_runs_and_refuses_what_is_new(echo):
    """A1: graceful drain: NOT_SERVING, no new calls, calls in flight finish."""
    with PlannerServer(echo.services, drain_ms=60_000) as server, grpc.insecure_channel(server.address) as channel:
        plan = channel.unary_unary(f"/{NAME}/Plan")
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(service=NAME))
        assert next(watch).status == SERVING
        running = plan.future(StringValue(value="wait").SerializeToString(), timeout=30)
        assert echo.entered.wait(30)
        drained = asyncio.run_coroutine_threadsafe(server.listener.drain(), server._loop)
        assert next(watch).status == NOT_SERVING
        error, info, _ = failure(server.address, "too late")
        assert (error.code(), info.reason) == (grpc.StatusCode.UNAVAILABLE, "DRAINING")
        assert not drained.done()
        echo.released.set()
        assert StringValue.FromString(running.result()).value == "wait"
        # The watch, a call without end, does not hold the drain for its whole grace.
        drained.result(30)


def test_calls_are_answered_while_the_drain_is_announced(echo):
    """A1: health says NOT_SERVING first, so that balancers go elsewhere before anything is refused."""
    with PlannerServer(echo.services) as server:
        server.listener._settings = server.settings.model_copy(update={"drain_notice_ms": 60_000})
        drained = asyncio.run_coroutine_threadsafe(server.listener.drain(), server._loop)
        while health(server.address) == SERVING:
            time.sleep(0.005)
        assert call(server.address, "welcome")[0] == "welcome"
        assert not drained.done()
        drained.cancel()
        server.listener._settings = server.settings


def test_a_connection_of_age_ends_without_harm_to_its_calls(echo):
    """A1: a balancer can spread connections anew; no call fails for it."""
    with (
        PlannerServer(echo.services, max_connection_age_ms=300) as server,
        grpc.insecure_channel(server.address) as channel,
    ):
        states = []
        channel.subscribe(states.append)
        plan = channel.unary_unary(f"/{NAME}/Plan")
        running = plan.future(StringValue(value="wait").SerializeToString(), timeout=30)
        raw = StringValue(value="hi").SerializeToString()
        end = time.monotonic() + 30
        while connections(states) < 2:
            assert plan(raw, timeout=30) == raw
            assert time.monotonic() < end
        echo.released.set()
        assert StringValue.FromString(running.result()).value == "wait"


def connections(states):
    """How many connections a channel that was in *states* has had."""
    return states.count(grpc.ChannelConnectivity.READY)


def test_a_drain_does_not_wait_longer_than_it_may(echo):
    """A1: a drain does not wait longer than it may."""
    with PlannerServer(echo.services, drain_ms=100) as server, grpc.insecure_channel(server.address) as channel:
        running = channel.unary_unary(f"/{NAME}/Plan").future(StringValue(value="wait").SerializeToString())
        assert echo.entered.wait(30)
        before = time.monotonic()
        server.run(server.listener.drain())
        assert time.monotonic() - before < 30
        assert running.exception().code() in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}
