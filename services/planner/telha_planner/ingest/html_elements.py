"""
The elements of HTML by what they do to the layout, as the standard's own style sheet and parser have it.

Names are lower case. What is in none of these sets is inline: it changes no text.
"""

import re

from .html_tokens import words

HEADINGS = {f"h{level}": level for level in range(1, 7)}
ITEMS = frozenset({"li", "dd", "dt"})
BLOCKS = words(
    """address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form header
    hgroup hr listing main menu nav ol p plaintext pre search section summary table ul xmp"""
) | {*HEADINGS, *ITEMS}
"""Stand on lines of their own and end an open paragraph."""
ROW_GROUPS = frozenset({"tbody", "thead", "tfoot"})
CELLS = frozenset({"td", "th"})
TABLE_PARTS = ROW_GROUPS | CELLS | {"caption", "colgroup", "tr"}
"""Stand in a table alone."""
BREAKS_ONLY = frozenset({"body", "legend", "option", "optgroup"})
"""Begin a line; whether they are open matters to nothing."""
VOID = words("area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr")
"""Have no content and no end tag."""
NEVER_SHOWN = words("annotation annotation-xml applet audio canvas datalist object script style svg template video")
"""Hide what they hold. What is raw text to the tokenizer never comes this far."""
SCOPE = words("table td th caption applet object template foreignobject desc annotation-xml")
PARAGRAPH_SCOPE = SCOPE | {"button"}
SCOPES = {
    "li": SCOPE | {"ol", "ul"},
    "template": frozenset[str](),
    "table": frozenset({"template"}),
    **dict.fromkeys(TABLE_PARTS, frozenset({"table", "template"})),
}
"""What the end of an element cannot reach across; of those not named here, it is `SCOPE`."""
ITEM_STOPS = (BLOCKS | TABLE_PARTS) - {"address", "div", "p"}
"""What the begin of an item cannot reach across to end the item before it."""
ROLES = {"li": "list item", "dd": "list item", "dt": "list item", "blockquote": "quote"}

_UNSHOWN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def is_hidden(name: str, found: dict[str, str]) -> bool:
    """Whether a browser shows nothing of the element *name* with the attributes *found*."""
    if name in NEVER_SHOWN:
        return True
    if name == "dialog" and "open" not in found:
        return True
    return "hidden" in found or _UNSHOWN_STYLE.search(found.get("style", "")) is not None
