"""Every relative link in a document leads somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """A9: documents do not point at what is not there."""
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert not missing


def test_every_decision_is_listed() -> None:
    """A9: docs/adr/README.md lists each decision once, in order; numbers have no gap, and each page has its own."""
    listed = re.findall(r"\]\((\d{4}-[a-z-]+\.md)\)", (ROOT / "docs/adr/README.md").read_text(encoding="utf-8"))
    assert listed == sorted(path.name for path in (ROOT / "docs/adr").glob("[0-9]*.md"))
    assert [int(name[:4]) for name in listed] == list(range(1, len(listed) + 1))
    for name in listed:
        assert (ROOT / "docs/adr" / name).read_text(encoding="utf-8").startswith(f"# {name[:4]} ")
