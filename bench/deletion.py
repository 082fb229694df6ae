"""
How long it takes to erase one space of a large tenant, and to delete the tenant: `python bench/deletion.py [SPANS]`.

The store's write lock is held for as long as this says; the memory is that of this process.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

from telha_planner.memory import keys
from telha_planner.memory.writes import Writer
from tenant import TENANT, TX, build

SPANS = 100_000


def main(spans: int) -> None:
    """Print seconds, rows and growth of the peak memory."""
    with tempfile.TemporaryDirectory() as folder:
        tenant = build(Path(folder), spans, spaces=10)
        keys.create(tenant.store, "bench", name="bench", rights=("read",), spaces=None, now=lambda: TX)
        size = Path(folder, "memory.db").stat().st_size
        print(f"{tenant.nodes:,} nodes, {size / 1e6:,.0f} MB")
        writer = Writer(tenant.store, lambda: time.time_ns() // 1000)
        for name, act in (
            ("one space of ten", lambda: writer.erase_space(TENANT, "space 1").removed),
            ("the tenant", lambda: writer.delete_tenant(TENANT, bytes(16)).rows),
        ):
            before, started = _peak_mb(), time.perf_counter()
            removed = act()
            print(f"{name}: {time.perf_counter() - started:.1f} s, +{_peak_mb() - before:.0f} MB, {removed}")
        tenant.store.close()


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SPANS)
