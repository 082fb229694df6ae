"""
Bytes of request bodies that the gateway holds at one moment, over all exchanges, so that memory has a bound.

Rule: what does not fit is refused at once with advice to try again; nothing waits for room. Only what has arrived
counts, so that a caller who announces much and sends little keeps nobody out.
"""

from telha_gateway.problems import Failure, Refused

RETRY_AFTER_MS = 500


class Room:
    """
    Room for *limit* bytes.

    Attributes:
        held: Bytes that are held now.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.held = 0

    def check(self, announced: int) -> None:
        """
        Look whether *announced* bytes would fit.

        Raises:
            Refused: They would not.
        """
        if self.held + announced > self._limit:
            detail = "the gateway holds as many bytes of requests as it accepts; try again"
            raise Refused(Failure(429, "OVERLOADED", detail, retry_after_ms=RETRY_AFTER_MS))

    def take(self, arrived: int) -> None:
        """
        Hold *arrived* more bytes.

        Raises:
            Refused: They do not fit; nothing was taken.
        """
        self.check(arrived)
        self.held += arrived

    def give_back(self, size: int) -> None:
        """Hold *size* bytes less."""
        self.held -= size
