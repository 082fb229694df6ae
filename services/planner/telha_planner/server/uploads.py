"""
Documents on their way in: the bytes of each stream go to an unnamed temporary file, never to this process's memory.

Rule 1: a stream is refused at the byte that is one too many, and at the door if it says so itself.
Rule 2: all streams together hold at most `max_total` bytes, a new one at least `least` of them, so that neither their
number nor their sizes can exhaust the disk or, by their messages, memory. A tenant's first stream may take what is
free; with more of them it leaves as much free as it holds, so that one tenant cannot keep the others out (`shares`).
Rule 3: whatever ends a stream, its file is gone with it: it has no name.
Rule 4: a stream that brings nothing for a while ends, so that callers who hang do not hold the room of all others.
"""

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import IO

from blake3 import blake3

from telha_planner.config import ServerSettings
from telha_planner.core.errors import DeadlineExceeded, DocumentTooLarge, RequestInvalid

from .shares import Shares

RETRY_AFTER_MS = 1000
LONGEST_PAUSE_S = 60.0
"""Longest time between two messages of a stream."""


async def without_long_pauses(messages: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """*messages*; raises `DeadlineExceeded` if the next one does not come in time."""
    while True:
        try:
            async with asyncio.timeout(LONGEST_PAUSE_S):
                message = await anext(messages)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise DeadlineExceeded from None
        yield message
        del message  # not kept while the next one comes


class Uploads:
    """
    The streams of one process; used from one event loop.

    Args:
        max_document: Most bytes of one document.
        max_total: Most bytes of all that are on their way.
        least: What a stream counts for however small it is.
    """

    def __init__(self, max_document: int, max_total: int, least: int) -> None:
        self.max_document = max_document
        self.shares = Shares(max_total, RETRY_AFTER_MS)
        self._least = least
        self._streams: Counter[int] = Counter()

    @classmethod
    def under(cls, settings: ServerSettings) -> "Uploads":
        """As *settings* allow."""
        return cls(settings.max_document_bytes, settings.max_upload_bytes, settings.max_read_bytes)

    @contextmanager
    def opened(self, tenant: int, announced: int | None) -> Iterator["Upload"]:
        """
        A new upload for the length of a block.

        Args:
            tenant: Whose it is.
            announced: Bytes that will come, if the caller says so.

        Raises:
            DocumentTooLarge: More are announced than a document may have.
            Overloaded: Too much is on its way.
        """
        if announced is not None and announced > self.max_document:
            raise DocumentTooLarge.at("header.content_bytes", self.max_document)
        upload = Upload(self, tenant, announced)
        self._streams[tenant] += 1
        try:
            upload.reserve(max(self._least, announced or 0))
            with tempfile.TemporaryFile(buffering=0) as file:
                upload.file = file
                yield upload
        finally:
            self.shares.give_back(tenant, upload.reserved)
            self._streams[tenant] -= 1
            if not self._streams[tenant]:
                del self._streams[tenant]

    def take(self, tenant: int, size: int) -> None:
        """Count *size* more bytes of *tenant* as on their way; raises `Overloaded`."""
        self.shares.take(tenant, size, first=self._streams[tenant] <= 1)


class Upload:
    """
    One stream's content.

    Attributes:
        file: Where it is kept.
        size: Bytes so far.
        reserved: Bytes that it counts for.
    """

    file: IO[bytes]

    def __init__(self, uploads: Uploads, tenant: int, announced: int | None) -> None:
        self._uploads = uploads
        self._tenant = tenant
        self._announced = announced
        self._hash = blake3()
        self.size = 0
        self.reserved = 0

    def reserve(self, size: int) -> None:
        """Count for at least *size* bytes."""
        if size > self.reserved:
            self._uploads.take(self._tenant, size - self.reserved)
            self.reserved = size

    async def add(self, chunk: bytes) -> None:
        """
        Keep the next bytes.

        Raises:
            RequestInvalid: There are none, or more than were announced.
            DocumentTooLarge: The document has more than it may.
            Overloaded: Too much is on its way.
        """
        if not chunk:
            raise RequestInvalid(field="chunk", rule="must not be empty")
        size = self.size + len(chunk)
        if size > self._uploads.max_document:
            raise DocumentTooLarge.at("chunk", self._uploads.max_document)
        if self._announced is not None and size > self._announced:
            raise self._unlike()
        self.reserve(size)
        writing = asyncio.ensure_future(asyncio.to_thread(self._write, chunk))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait([writing])  # the file must not be closed under the thread that writes it
            raise
        self.size = size

    def digest(self) -> bytes:
        """
        BLAKE3 of the whole content; call it at the end.

        Raises:
            RequestInvalid: Fewer bytes came than were announced.
        """
        if self._announced not in (None, self.size):
            raise self._unlike()
        return self._hash.digest()

    def _write(self, chunk: bytes) -> None:
        self._hash.update(chunk)
        rest = memoryview(chunk)
        while rest:
            rest = rest[self.file.write(rest) :]

    def _unlike(self) -> RequestInvalid:
        return RequestInvalid(field="header.content_bytes", rule="must be the number of bytes that follow")
