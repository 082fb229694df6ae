"""UUIDs as two unsigned 64-bit halves: comparing (hi, lo) is comparing the 16 bytes."""

from collections.abc import Sequence

import numpy as np

from telha_planner.core.model import UInt64


def halves(ids: Sequence[bytes]) -> tuple[UInt64, UInt64]:
    """The big-endian halves of many 16-byte ids."""
    pairs = np.frombuffer(b"".join(ids), ">u8").reshape(-1, 2).astype(np.uint64)
    return pairs[:, 0], pairs[:, 1]


def whole(hi: UInt64, lo: UInt64) -> list[bytes]:
    """The 16-byte ids of two halves."""
    packed = np.stack([hi, lo], axis=1).astype(">u8").tobytes()
    return [packed[at : at + 16] for at in range(0, len(packed), 16)]


class Codes:
    """Small integers for names that repeat, in order of first sight; a code never decides an order."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    def of(self, names: Sequence[str]) -> list[int]:
        """Codes of *names*, new ones included."""
        codes = self._codes
        return [codes.setdefault(name, len(codes)) for name in names]

    def get(self, name: str) -> int | None:
        """The code of *name*, or None if it was never seen."""
        return self._codes.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, by its code."""
        return tuple(self._codes)
