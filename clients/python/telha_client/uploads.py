"""
A document in pieces: what is streamed to the planner, and where it is read from.

Rule: content is read while it is sent and never held whole, unless the caller holds it already.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from telha.memory.v1 import memory_pb2

T = TypeVar("T")

CHUNK_BYTES = 1 << 20
STREAM_ABOVE = 2 << 20
"""A single document of more bytes is streamed by `ingest` too; the server's own limit of a message is 4 MiB or more."""
SECONDS_PER_BYTE = 1 / (128 * 1024)
"""What an upload's default time limit grows by: several times what ingestion needs."""


@dataclass(slots=True)
class Content:
    """
    The bytes of a document, to be read from the beginning as often as `opened` says.

    Attributes:
        opened: Gives them, at their first byte.
        size: How many there are, None if that cannot be known before they are read.
        rewinds: They can be read again.
        fault: What reading them has raised.
    """

    opened: Callable[[], BinaryIO]
    size: int | None
    rewinds: bool
    closes: bool = False
    fault: OSError | None = field(default=None)

    @classmethod
    def of_bytes(cls, content: bytes) -> "Content":
        """Bytes that are at hand."""
        return cls(lambda: io.BytesIO(content), len(content), rewinds=True)

    @classmethod
    def of_path(cls, path: Path) -> "Content":
        """A file by its path; raises `OSError` if there is none."""
        return cls(lambda: path.open("rb"), path.stat().st_size, rewinds=True, closes=True)

    @classmethod
    def of_file(cls, file: BinaryIO) -> "Content":
        """What remains of an open file; it stays open."""
        if not file.seekable():
            return cls(lambda: file, None, rewinds=False)
        start = file.tell()
        size = file.seek(0, io.SEEK_END) - start

        def rewound() -> BinaryIO:
            file.seek(start)
            return file

        return cls(rewound, size, rewinds=True)

    def pieces(self) -> Iterator[bytes]:
        """The bytes in pieces; a reader that fails ends them, and is kept in `fault`."""
        try:
            file = self.opened()
            try:
                while piece := file.read(CHUNK_BYTES):
                    yield piece
            finally:
                if self.closes:
                    file.close()
        except OSError as fault:
            self.fault = fault
            raise


@dataclass(frozen=True, slots=True)
class PreparedUpload(Generic[T]):
    """
    One streamed call, ready to be sent by either client.

    Attributes:
        method, read, repeatable, timeout: As in `Prepared`.
        header: The first message's.
    """

    method: str
    header: memory_pb2.IngestStreamHeader
    content: Content
    read: Callable[[bytes], T]
    repeatable: bool
    timeout: float | None

    def messages(self) -> Iterator[bytes]:
        """The messages in order: the header, then chunks."""
        yield memory_pb2.IngestStreamRequest(header=self.header).SerializeToString()
        for piece in self.content.pieces():
            yield memory_pb2.IngestStreamRequest(chunk=piece).SerializeToString()

    def seconds(self, ordinary: float) -> float:
        """The time limit: what the caller said, else *ordinary* and more for each byte."""
        if self.timeout is not None:
            return self.timeout
        return ordinary + SECONDS_PER_BYTE * (self.content.size or 64 << 20)
