"""Pictures in the documentation: there, small, shown, and told in words to those who do not see them."""

import re
import struct
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PICTURE = re.compile(r"!\[(?P<text>[^\]]*)\]\((?P<path>[^)\s]+)\)|<(?:img|source)\s(?P<tag>[^>]*)>")
MOST_BYTES = 150_000


def _shown() -> dict[Path, list[str | None]]:
    """Every picture that a page shows, with its words; None where a `source` is one form of an `img` beside it."""
    shown: dict[Path, list[str | None]] = {}
    for page in PAGES:
        for found in PICTURE.finditer(page.read_text(encoding="utf-8")):
            told = dict(re.findall(r'(\w+)="([^"]*)"', found["tag"] or ""))
            path = found["path"] or told.get("src") or told["srcset"]
            text = None if "srcset" in told else told.get("alt", found["text"] or "")
            if "://" not in path:
                shown.setdefault((page.parent / path).resolve(), []).append(text)
    return shown


def test_every_picture_is_shown_and_every_shown_one_is_there() -> None:
    """X7: no page shows a picture that is missing, and no picture is there for nobody."""
    assert set(_shown()) == {path.resolve() for path in IMAGES.iterdir()}


def test_every_picture_is_told_in_words() -> None:
    """X7: whoever does not see a picture reads what it shows."""
    short = {
        path.name: texts for path, texts in _shown().items() for text in texts if text is not None and len(text) < 40
    }
    assert short == {}


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", ["list", "trace", "why-not", "diff"])
def test_each_view_of_the_viewer_has_its_small_pictures(view: str, theme: str, width: int) -> None:
    """X7: wide and narrow, light and dark, as `make screenshots` draws them."""
    content = (IMAGES / f"viewer-{view}-{width}-{theme}.png").read_bytes()
    assert len(content) <= MOST_BYTES
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">I", content[16:20]) == (width,)
