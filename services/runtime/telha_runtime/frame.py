"""
The frame of a stream entry: what stands around a trace record between a planner's spool and the trace writer.

An entry has one field, `f`: a msgpack map `{v, spool, seq, trace_id, tenant, record}`.
Rule 1: the frame never looks into `record`; what a record means is docs/trace-record.md.
Rule 2: a version that this program does not know is not malformed. It came from a newer planner, so it must be kept
for a newer writer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeVar
from uuid import UUID

import msgpack

FIELD: Final = b"f"
"""The one field of a stream entry."""

VERSION: Final = 1
"""The version that `encode` writes and `decode` reads."""

_T = TypeVar("_T")


class FrameMalformed(Exception):
    """The entry is not a frame and never will be: it belongs into the dead-letter stream."""


class FrameUnknown(Exception):
    """The entry is a frame of a version that this program does not know; *version* says which."""

    def __init__(self, version: int) -> None:
        self.version = version
        super().__init__(f"frame version {version} is not known to this program, which reads version {VERSION}")


@dataclass(frozen=True, slots=True)
class Frame:
    """
    One record on its way.

    Attributes:
        spool: Name of the spool it left.
        seq: Its number in that spool, from 1.
        trace_id: Canonical lower-case UUID.
        tenant: Name of the tenant.
        record: The msgpack trace record, unread.
    """

    spool: str
    seq: int
    trace_id: str
    tenant: str
    record: bytes


def encode(frame: Frame) -> bytes:
    """The value of the field `f`."""
    packed: bytes = msgpack.packb(
        {
            "v": VERSION,
            "spool": frame.spool,
            "seq": frame.seq,
            "trace_id": frame.trace_id,
            "tenant": frame.tenant,
            "record": frame.record,
        }
    )
    return packed


def decode(fields: Mapping[bytes, bytes]) -> Frame:
    """
    Read the fields of a stream entry.

    Raises:
        FrameMalformed: It is no frame; the message says why, without quoting content.
        FrameUnknown: It is a frame of another version.
    """
    value = fields.get(FIELD)
    if value is None:
        raise FrameMalformed("the entry has no field f")
    try:
        content = msgpack.unpackb(value, strict_map_key=True)
    except (ValueError, msgpack.UnpackException) as fault:
        # The unpacker's own message may quote the bytes it stumbled over.
        raise FrameMalformed("the field f is not one msgpack value") from fault
    if not isinstance(content, dict):
        raise FrameMalformed("the frame is not a map")
    version = content.get("v")
    if type(version) is not int:
        raise FrameMalformed("the frame has no version")
    if version != VERSION:
        raise FrameUnknown(version)
    return Frame(
        spool=_typed(content, "spool", str),
        seq=_typed(content, "seq", int),
        trace_id=_trace_id(_typed(content, "trace_id", str)),
        tenant=_typed(content, "tenant", str),
        record=_typed(content, "record", bytes),
    )


def _typed(content: dict[str, object], key: str, kind: type[_T]) -> _T:
    value = content.get(key)
    if type(value) is not kind:
        raise FrameMalformed(f"{key} is absent or not of type {kind.__name__}")
    return value


def _trace_id(text: str) -> str:
    try:
        canonical = str(UUID(text))
    except ValueError:
        canonical = ""
    if canonical != text:
        raise FrameMalformed("trace_id is not a lower-case UUID")
    return text
