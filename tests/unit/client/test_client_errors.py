"""What a failed call means to a Python program, in words that are those of the server."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import grpc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_client.errors import Unavailable, from_rpc
from telha_planner.core import errors
from telha_planner.core.errors import RequestInvalid, TelhaError
from telha_planner.server.status import DETAILS_KEY, MAX_MESSAGE_CHARS, code_of, details_of, message_of


class _Failed:
    """A call that ended with *error*, as the transport hands it over: the message in ASCII, the details in bytes."""

    def __init__(self, error: TelhaError) -> None:
        self._error = error

    def code(self) -> grpc.StatusCode:
        return code_of(self._error)

    def details(self) -> str:
        return message_of(self._error)

    def trailing_metadata(self) -> list[tuple[str, str | bytes]]:
        return [(DETAILS_KEY, details_of(self._error, self._error.reason))]


def _heard(error: TelhaError) -> str:
    return from_rpc(cast("Any", _Failed(error))).message


@pytest.mark.parametrize(
    "error",
    [
        RequestInvalid(field="where.path", rule='must be an object of operators, such as {"eq": …}'),
        errors.PermissionDenied(right="the space 北京 👩‍👩‍👧‍👦"),
        errors.NotFound(resource="מקור"),
    ],
)
def test_a_message_is_read_as_it_was_written(error: TelhaError) -> None:
    """A1: a person is shown no escapes, whether a field is at fault or not."""
    assert _heard(error) == str(error)


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=3_000))
def test_any_message_arrives(rule: str) -> None:
    """A1: as far as a header may carry it; half a character is none, and a lone surrogate does not stop it."""
    error = RequestInvalid(field="f", rule=rule)
    heard = _heard(error)
    assert len(heard.encode()) <= MAX_MESSAGE_CHARS
    if rule.isprintable():
        assert str(error).startswith(heard)


@pytest.mark.parametrize("by", ["server", "closed", "cancelled"])
def test_a_call_that_the_server_broke_off_may_be_made_again(by: str) -> None:
    """A9: a cancellation without a reason is the server's end, unless this side asked for it."""
    entered = threading.Event()

    def answer(_: bytes, context: grpc.ServicerContext) -> bytes:
        entered.set()
        if by == "server":
            context.cancel()
        while context.is_active():
            time.sleep(0.01)
        return b""

    handlers = {"Wait": grpc.unary_unary_rpc_method_handler(answer)}
    server = grpc.server(ThreadPoolExecutor(1), options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Test", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        call = channel.unary_unary("/test.Test/Wait").future(b"", timeout=10)
        assert entered.wait(10)
        if by == "closed":
            channel.close()
        elif by == "cancelled":
            call.cancel()
        with pytest.raises((grpc.RpcError, grpc.FutureCancelledError)):
            call.result()
        error = from_rpc(cast("Any", call))
    server.stop(None).wait()
    assert error.code == "CANCELLED"
    assert isinstance(error, Unavailable) == (by == "server")
    assert (error.retry_after is not None) == (by == "server")
