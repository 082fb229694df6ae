"""What documents take of memory while they are parsed, in a process of their own with a bound."""

import json
import subprocess
import sys

import pytest

WORK = """
import json, resource, sys
sys.path.insert(0, "tests")
from ingest_builders import a_document
from telha_planner.core.errors import RequestInvalid
from telha_planner.ingest.document import TooManySpans
from telha_planner.ingest.parse import parse
parse(a_document("# a\\n\\nb", "a.md"), "acme"), parse(a_document("<p>a", "a.html"), "acme")
name, source, most_mb = sys.argv[1], sys.argv[2], int(sys.argv[3])
content = eval(source).encode()
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + (most_mb << 20),) * 2)
try:
    told = len(parse(a_document(content, name), "acme", 800_000).spans)
except (RequestInvalid, TooManySpans) as refused:
    told = str(refused) or "too many spans"
print(json.dumps(told))
"""

CASES = {
    "one word of 1 MB": ("a.md", '"x" * 1_000_000', 150),
    "a line of 4 MB": ("a.md", '"word " * 800_000', 150),
    "deep elements": ("a.html", '"<div>" * 100_000 + "x"', 100),
    "attributes": ("a.html", '"<p " + " ".join(f"a{k}=1" for k in range(300_000)) + ">x"', 200),
    "what unfolds": ("a.txt", '"ﷺ" * 300_000', 200),
    "a table of a million columns": ("a.md", '"|" + "a|" * 600_000 + "\\n|" + "-|" * 600_000', 200),
    "tables of short rows": (
        "a.md",
        '("|" + "a|" * 128 + "\\n|" + "-|" * 128 + "\\n" + "x\\n" * 500 + "\\n") * 300',
        300,
    ),
    "a table of a million cells": (
        "a.md",
        '("|" + "a|" * 1000 + "\\n|" + "-|" * 1000 + "\\n") + ("|" + "b|" * 1000 + "\\n") * 500',
        300,
    ),
    "lines without end": ("a.md", '"a\\n" * 4_500_000', 150),
    "a million turns": ("a.json", """'{"turns":[' + ",".join(['{"speaker":"a","text":"b"}'] * 900_000) + "]}" """, 700),
}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("name", "source", "most_mb"), CASES.values(), ids=CASES.keys())
def test_memory_is_bounded(name: str, source: str, most_mb: int) -> None:
    """M2: a document of a few megabytes takes a few hundred at most, or is refused before it takes them."""
    done = subprocess.run(
        [sys.executable, "-c", WORK, name, source, str(most_mb)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout)
    assert told


@pytest.mark.parametrize(
    ("source", "most_mb", "rule"),
    [
        ('"a\\n" * 4_000_001', 700, "must have at most 4,000,000 lines, as Markdown"),
        (
            '"".join(f"[a{k}]: /u\\n" for k in range(200_100)) + "\\nx"',
            400,
            "must have at most 200,000 link definitions",
        ),
        (
            '("|" + "a|" * 1000 + "\\n|" + "-|" * 1000 + "\\n" + "x\\n" * 60 + "\\n") * 20',
            700,
            "must have at most 1,000,000 empty cells in its tables",
        ),
    ],
)
def test_what_takes_too_much_is_named(source: str, most_mb: int, rule: str) -> None:
    """M2: the refusal names the field and the rule, and comes before the memory is taken."""
    done = subprocess.run(
        [sys.executable, "-c", WORK, "a.md", source, str(most_mb)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == f"content {rule}"
