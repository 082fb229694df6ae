"""
The viewer's files as they are sent: read once, named by a hash of them all.

Rule 1: only what stands in `web/` is ever sent; a name is looked up in a table and never becomes a path.
Rule 2: a file's address holds the hash of all files, so that a browser may keep it for good and never mixes versions.
"""

import gzip
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

WEB = Path(__file__).parent / "web"
PAGE = "page.html"
ROOT_MARK = b"{root}"
"""Stands in the page for the way from its own address to the gateway's root."""
BUILD_MARK = b"{build}"
"""Stands in the page for the hash of all files."""

_MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class File:
    """
    One file, ready to be sent.

    Attributes:
        content: Its bytes.
        packed: The same, gzipped.
        media_type: Of `content-type`.
        tag: Its strong entity tag, without quotes.
    """

    content: bytes
    packed: bytes
    media_type: str
    tag: str


@cache
def assets() -> dict[str, File]:
    """All files but the page, by name."""
    return {
        path.name: _file(path.read_bytes(), _MEDIA_TYPES[path.suffix])
        for path in sorted(WEB.iterdir())
        if path.suffix in _MEDIA_TYPES and path.name != PAGE
    }


@cache
def build() -> str:
    """The hash of all files, 16 hexadecimal digits."""
    told = sha256((WEB / PAGE).read_bytes())
    for name, file in assets().items():
        told.update(f"\0{name}\0{file.tag}".encode())
    return told.hexdigest()[:16]


@cache
def page(depth: int) -> File:
    """
    The page, for an address *depth* segments below the gateway's root.

    Its links are relative, so that the viewer also works where a proxy puts the gateway under a path of its own.
    """
    root = ("../" * depth).encode() or b"./"
    raw = (WEB / PAGE).read_bytes()
    return _file(raw.replace(ROOT_MARK, root).replace(BUILD_MARK, build().encode()), _MEDIA_TYPES[".html"])


def _file(content: bytes, media_type: str) -> File:
    return File(content, gzip.compress(content, mtime=0), media_type, sha256(content).hexdigest()[:32])
