r"""
What to ask "why not?" of, as it is written on the command line.

    handbook.md                         a source, by its name or id
    handbook.md:Refunds                 a section of it; several titles are joined by ` > `
    notes\: May.md:Paris: day 2         `\:` is a colon of the name, `\\` a backslash
    SOURCE_ID@VERSION[START:END]        a span, as answers show it, blanks in it or not

Rule: the first colon without a backslash before it ends the name; all behind it is the section, as it stands.
"""

import re
from collections.abc import Mapping
from typing import Any

from telha_client import Span, WhyNot

from .problems import UsageInvalid

FLAG = "--why-not"
_SPAN = re.compile(
    r"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\s*@\s*([0-9]{1,16})\s*\[([0-9]{1,16}):([0-9]{1,16})\]"
)
_NAME = re.compile(r"((?:\\.|[^\\:]|\\$)*)(?::(.*))?", re.DOTALL)
_ESCAPED = re.compile(r"\\([\\:])")


def read(texts: list[str] | None) -> list[WhyNot] | None:
    """
    The subjects that *texts* name; None for none.

    Raises:
        UsageInvalid: One has no name before its colon, or nothing behind it.
    """
    return [parse(text) for text in texts] if texts else None


def parse(text: str) -> WhyNot:
    """The subject that *text* names; raises as `read`."""
    span = _SPAN.fullmatch(text.strip())
    if span is not None:
        source, version, start, end = span.groups()
        return WhyNot(span=Span(source, int(version), int(start), int(end)))
    found = _NAME.fullmatch(text)
    name, section = found.groups() if found else (text, None)
    if not name.strip():
        raise UsageInvalid(FLAG, "must begin with a source: SOURCE, SOURCE:SECTION or ID@VERSION[START:END]")
    if section is not None and not section.strip():
        raise UsageInvalid(FLAG, r"has no section behind its colon; write `\:` for a colon in a name")
    return WhyNot(_ESCAPED.sub(r"\1", name), section=section)


def written(subject: WhyNot) -> str:
    """*subject* as `parse` reads it."""
    if subject.span is not None:
        span = subject.span
        return f"{span.source_id}@{span.source_version_tx}[{span.start}:{span.end}]"
    name = (subject.source or "").replace("\\", "\\\\").replace(":", "\\:")
    return name if subject.section is None else f"{name}:{subject.section}"


def shown(subject: Mapping[str, Any]) -> str:
    """The subject in an answer, for a person; nothing in it is escaped."""
    if "span" in subject:
        span = subject["span"]
        return f"{span['sourceId']} @{span['sourceVersionTx']} [{span['start']}:{span['end']}]"
    return " > ".join(part for part in (subject.get("source"), subject.get("section")) if part)
