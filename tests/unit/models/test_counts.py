"""The packed form of terms."""

import numpy as np
from telha_planner.models.counts import Terms


def test_terms_are_packed_little_endian_and_ascending() -> None:
    """R1: ids ascending as uint64, counts beside them as uint32, both little-endian."""
    packed = Terms.of({2**64 - 1: 3, 5: 1, 2**63: 70_000})
    assert np.frombuffer(packed.ids, "<u8").tolist() == [5, 2**63, 2**64 - 1]
    assert np.frombuffer(packed.counts, "<u4").tolist() == [1, 70_000, 3]
    assert packed.total == 70_004
    assert Terms.of({}) == (b"", b"", 0)
