"""A pool that goes on without end."""

import sys
from pathlib import Path

import pytest
from telha_cli import pool
from telha_cli.problems import UsageInvalid


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file without end")
def test_a_file_without_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """S11: `telha select /dev/zero` is refused, and takes no more memory than a pool may."""
    monkeypatch.setattr(pool, "MOST_BYTES", 1 << 20)
    with pytest.raises(UsageInvalid, match="must be at most 1,048,576 bytes"):
        pool.read(Path("/dev/zero"))
