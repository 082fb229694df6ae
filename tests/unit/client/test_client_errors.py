"""What a failed call means to a Python program, in words that are those of the server."""

from typing import Any, cast

import grpc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_client.errors import from_rpc
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
