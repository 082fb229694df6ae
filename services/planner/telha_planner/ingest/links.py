"""Links inside a document: which heading a fragment means."""

from collections.abc import Sequence
from urllib.parse import unquote

import unicodedata2

from telha_planner.models import characters


def fragment(link: str) -> str | None:
    """The fragment that *link* names in its own document, decoded and folded; None for a link that leaves it."""
    return characters.folded(characters.normalized(unquote(link[1:]))) if link.startswith("#") else None


def slugs(titles: Sequence[str]) -> dict[str, int]:
    """
    The fragments by which headings are linked, as the common renderers make them.

    Case is folded, spaces become hyphens, punctuation goes, repetitions are numbered.

    Returns:
        Fragment → index into *titles*.
    """
    found: dict[str, int] = {}
    seen: dict[str, int] = {}
    for index, title in enumerate(titles):
        slug = _slug(title)
        number = seen.get(slug, 0)
        seen[slug] = number + 1
        found.setdefault(f"{slug}-{number}" if number else slug, index)
    return found


def _slug(title: str) -> str:
    folded = characters.folded(characters.normalized(title))
    kept = (character for character in folded if character in "-_ " or _is_word(character))
    return "".join(kept).replace(" ", "-")


def _is_word(character: str) -> bool:
    return str(unicodedata2.category(character))[0] in "LNM"
