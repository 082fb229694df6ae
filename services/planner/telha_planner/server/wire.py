"""
From bytes to a message that holds nothing unexpected.

Protobuf keeps what it does not know and forgives much; a planner whose answer is a proof must not. A message with
broken UTF-8 or a field that this version does not know is refused with its place, at any depth.
"""

from typing import TypeVar

from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from telha_planner.core.errors import RequestInvalid

M = TypeVar("M", bound=Message)


def decode(message_type: type[M], raw: bytes) -> M:
    """
    Parse *raw* strictly.

    Raises:
        RequestInvalid: It does not parse, or has unknown fields; the path ends in the number of such a field.
    """
    try:
        message = message_type.FromString(raw)
    except DecodeError as fault:
        # Protobuf does not say where it failed, only why; its sentence is fit for the caller when it is about UTF-8.
        rule = "must be valid UTF-8 in every string field" if "UTF-8" in str(fault) else "must be a valid message"
        raise RequestInvalid(field="request", rule=rule) from None
    size = message.ByteSize()
    # Discarding walks the whole tree in C; only a message that shrank is walked here to find the place.
    message.DiscardUnknownFields()
    if message.ByteSize() != size:
        raise _unknown(message_type.FromString(raw))
    return message


def _unknown(message: Message) -> RequestInvalid:
    path, number = _find(message, "") or ("", 0)
    return RequestInvalid(field=f"{path}{number}", rule="is the number of a field that this version does not know")


def _find(message: Message, prefix: str) -> tuple[str, int] | None:
    unknown = UnknownFieldSet(message)
    if len(unknown):
        return prefix, unknown[0].field_number
    for descriptor, value in message.ListFields():
        if descriptor.message_type is None:
            continue
        if not descriptor.is_repeated:
            children = [(descriptor.name, value)]
        elif descriptor.message_type.GetOptions().map_entry:
            children = [(f"{descriptor.name}[{key}]", entry) for key, entry in value.items()]
            children = [(place, entry) for place, entry in children if isinstance(entry, Message)]
        else:
            children = [(f"{descriptor.name}[{index}]", entry) for index, entry in enumerate(value)]
        for place, child in children:
            found = _find(child, f"{prefix}{place}.")
            if found:
                return found
    return None
