"""A record as a whole: pinned, and the same in every process."""

import subprocess
import sys
from pathlib import Path

from blake3 import blake3
from ingest_builders import record_of
from telha_planner.ingest.parse import INGEST_VERSION
from telha_planner.memory.records import DocumentRecord
from telha_planner.models.analysis import ANALYSIS_VERSION

DOCUMENT = """---
title: Trams 电车
---
# Lines *and* stops

The first tram leaves at 05:12. See [fares](#fares) and [more](other.md).

- Harbour 👩‍🌾
- שָׁלוֹם

| stop | min |
|---|---|
| Harbour | 0 |
| Olive Hill | 24 |

## Fares

首班电车六点出发。

```py
price = 1.90
```
"""

PINNED = "56289366"


def digest(record: DocumentRecord) -> str:
    """A short digest of everything that is stored."""
    nodes = repr(record.nodes)
    for node in record.nodes:
        nodes = nodes.replace(f", preface={node.preface!r}", "", 1)  # stands before what is embedded; is not stored
    parts = [record.source_id, record.input_hash, repr(record.spans).encode(), nodes.encode()]
    return blake3(b"|".join([*parts, repr(record.edges).encode()])).hexdigest()[:8]


def test_the_record_is_pinned() -> None:
    """M2, S13: a change here changes every stored id or term: raise INGEST_VERSION or ANALYSIS_VERSION with it."""
    assert (INGEST_VERSION, ANALYSIS_VERSION, digest(record_of(DOCUMENT))) == (3, 1, PINNED)


def test_the_record_is_the_same_in_every_process() -> None:
    """S7: hash seed, time zone and locale change nothing."""
    program = (
        "from test_record import DOCUMENT, digest\n"
        "from ingest_builders import record_of\n"
        "print(digest(record_of(DOCUMENT)))"
    )
    here = Path(__file__).parent
    for seed, zone in (("1", "America/New_York"), ("2", "Asia/Kolkata")):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "TZ": zone, "PYTHONPATH": f"{here}:{here.parents[1]}"},
            capture_output=True,
            check=True,
            text=True,
        )
        assert done.stdout.strip() == PINNED
