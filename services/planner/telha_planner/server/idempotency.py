"""
The idempotency key of a write, as sent.

Rule: two requests are the same if their messages are, the key aside: fields in their order, maps by key, so that it
does not matter how a client's library writes them down.
"""

import re
from typing import Any

from google.protobuf.message import Message

from telha_planner.caller import Caller
from telha_planner.core.errors import RequestInvalid
from telha_planner.memory.idempotency import key_of
from telha_planner.memory.records import IdempotencyKey

MAX_KEY_CHARACTERS = 255
_FIELD = "idempotency_key"
_VISIBLE = re.compile(r"[!-~]*")


def read_key(request: Message, method: str, caller: Caller, content: bytes = b"") -> IdempotencyKey | None:
    """
    The key that *request* carries, None if it is empty.

    Args:
        request: A message with a field `idempotency_key`.
        method: The method called.
        caller: Whose spaces the key belongs to.
        content: What was sent beside the message.

    Raises:
        RequestInvalid: It is too long, or not of visible ASCII characters.
    """
    given = str(getattr(request, _FIELD))
    if not given:
        return None
    if len(given) > MAX_KEY_CHARACTERS or not _VISIBLE.fullmatch(given):
        rule = f"must be 1 to {MAX_KEY_CHARACTERS} visible ASCII characters"
        raise RequestInvalid(field=_FIELD, rule=rule)
    rest: Any = type(request)()
    rest.CopyFrom(request)
    rest.ClearField(_FIELD)
    written = rest.SerializeToString(deterministic=True)
    return key_of(given, caller.spaces, method, len(written).to_bytes(8, "big") + written + content)
