"""What a terminal would act on instead of showing: controls, and the marks that turn the order of characters."""

import re

_ACTED_ON = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Line feed and tab are layout; halves of pairs stand for bytes of a file name and cannot be written at all."""


def escaped(text: str) -> str:
    r"""
    *text* with `\uXXXX` for each character that a terminal would act on.

    A document of JSON stays the same document: there, such a character stands inside a string only.
    """
    return _ACTED_ON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
