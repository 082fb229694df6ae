"""What to ask "why not?" of, as it is typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from telha_cli import subjects
from telha_cli.problems import UsageInvalid
from telha_client import Span, WhyNot

ID = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("handbook.md", WhyNot("handbook.md")),
        ("handbook.md:Refunds", WhyNot("handbook.md", section="Refunds")),
        ("handbook.md:Refunds > By card", WhyNot("handbook.md", section="Refunds > By card")),
        (f"{ID}:Refunds", WhyNot(ID, section="Refunds")),
        (r"notes\: May.md", WhyNot("notes: May.md")),
        (r"notes\: May.md:Day 2: Paris", WhyNot("notes: May.md", section="Day 2: Paris")),
        (r"a\\b:c", WhyNot(r"a\b", section="c")),
        (r"docs\a.md", WhyNot(r"docs\a.md")),
        ("docs\\", WhyNot("docs\\")),
        (r"https\://example.org/a:b\:c", WhyNot("https://example.org/a", section=r"b\:c")),
        ("政策：退款.md:退款", WhyNot("政策：退款.md", section="退款")),
        ("מדיניות.md:החזרים", WhyNot("מדיניות.md", section="החזרים")),
        (f"{ID}@1780315200000000[0:40]", WhyNot(span=Span(ID, 1780315200000000, 0, 40))),
        (f"{ID} @1780315200000000 [0:40]", WhyNot(span=Span(ID, 1780315200000000, 0, 40))),
        (f" {ID} @1 [0:40]\n", WhyNot(span=Span(ID, 1, 0, 40))),
        (f"{ID.upper()}@1[0:40]", WhyNot(f"{ID.upper()}@1[0", section="40]")),
    ],
)
def test_a_subject_is_read_as_documented(text: str, subject: WhyNot) -> None:
    """A3: a source, a section of it, or a span as answers show it; a colon in a name can be said."""
    assert subjects.parse(text) == subject


@pytest.mark.parametrize(
    ("text", "rule"),
    [("", "must begin with a source"), (":Refunds", "must begin with a source"), ("a.md:", "no section behind")],
)
def test_half_a_subject_is_refused(text: str, rule: str) -> None:
    """A3: exit code 2, with the rule."""
    with pytest.raises(UsageInvalid, match=rule):
        subjects.parse(text)


@given(NAMES, st.none() | NAMES)
def test_every_name_and_section_can_be_said(name: str, section: str | None) -> None:
    """A3: whatever a source is called."""
    subject = WhyNot(name, section=section)
    written = subjects.written(subject)
    if subjects.parse(written) != subject:
        assert subjects.parse(written).span is not None  # named like a span; its id names it too


def test_a_span_is_written_as_it_is_read() -> None:
    """A3: from one answer into the next question."""
    subject = WhyNot(span=Span(ID, 7, 0, 40))
    assert subjects.parse(subjects.written(subject)) == subject
    assert subjects.read(None) is None
    assert subjects.read(["a", "b:c"]) == [WhyNot("a"), WhyNot("b", section="c")]
