"""
The wire between the planner and its ingest child: one pickled message behind its length, in both directions.

Rule 1: both ends are this package, on a pipe that nobody else holds. Even so, a message may name only this package's
own types: what a client sent arrives here as fields of our dataclasses, never as a pickle.
Rule 2: `PREFIX` bytes of length, big-endian, then the message. Behind a call come as many bytes as its `body` says,
unless that is None: a document too large to be held in one piece, which becomes the method's last argument.
"""

import io
import pickle
from typing import NamedTuple

PREFIX = 8

_OWN = "telha_planner."


class Call(NamedTuple):
    """
    A request: *method* of the worker with *arguments*; *number* comes back in the reply; *body* bytes may follow.

    Attributes:
        key_id: The API key for which the worker is to write; None for none.
    """

    number: int
    method: str
    arguments: tuple[object, ...]
    body: int | None = None
    key_id: str | None = None


class Reply(NamedTuple):
    """
    The reply to call *number*.

    Attributes:
        value: What the method returned.
        error: What it raised, if the caller may see it (an error of `core.errors`).
        fault: What it raised otherwise, as text; our own mistake.
    """

    number: int
    value: object = None
    error: BaseException | None = None
    fault: str | None = None


class _OwnTypesOnly(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str) -> object:
        if not module_name.startswith(_OWN):
            raise pickle.UnpicklingError(f"a message must not name {module_name}.{global_name}")
        return super().find_class(module_name, global_name)


def encode(message: Call | Reply) -> bytes:
    """*message* as it goes over the pipe."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(PREFIX, "big") + body


def decode(body: bytes) -> object:
    """
    The message in *body*, without its length.

    Raises:
        pickle.UnpicklingError: It names a type that is not ours.
    """
    return _OwnTypesOnly(io.BytesIO(body)).load()
