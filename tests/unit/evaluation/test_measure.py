"""The measure against its definition, character by character."""

from hypothesis import given, settings
from hypothesis import strategies as st
from telha_planner.evaluation.dataset import GoldSpan
from telha_planner.evaluation.measure import Coverage, Inked, coverage
from telha_planner.ingest.document import WHITE_SPACE

TEXTS = ("tram 5\u3000電車。\n\n次は👩‍🌾 駅\u2028e\u0301nd", " שלום\tworld\u00a0! ", "Olá,\n adeus.")
BOUNDARIES = [sorted({len(text[:position].encode()) for position in range(len(text) + 1)} | {0}) for text in TEXTS]


@st.composite
def spans(draw):
    source = draw(st.integers(0, len(TEXTS) - 1))
    start, end = sorted(draw(st.lists(st.sampled_from(BOUNDARIES[source]), min_size=2, max_size=2, unique=True)))
    return GoldSpan(source, start, end)


def _bytes_by_hand(some):
    found = set()
    for span in some:
        at = 0
        for character in TEXTS[span.source]:
            size = len(character.encode())
            if span.start <= at < span.end and character not in WHITE_SPACE:
                found |= {(span.source, at + offset) for offset in range(size)}
            at += size
    return found


@settings(max_examples=200, deadline=None)
@given(st.lists(spans(), max_size=5), st.lists(spans(), max_size=8))
def test_it_is_what_the_definition_says(gold, returned):
    """E1: a gold span is found if every character of it but white space lies in some returned span of its source."""
    inked = [Inked(text.encode()) for text in TEXTS]
    covered, wanted = _bytes_by_hand(returned), _bytes_by_hand(gold)
    assert coverage(gold, returned, inked) == Coverage(
        found=sum(_bytes_by_hand([one]) <= covered for one in gold),
        gold=len(gold),
        covered_bytes=len(wanted & covered),
        gold_bytes=len(wanted),
        returned_bytes=len(covered),
    )


def test_what_two_spans_share_but_for_white_space_is_found():
    """E1: the blank line between two returned spans is no gap; a word is."""
    text = b"one\n\ntwo three"
    inked = [Inked(text)]
    gold = [GoldSpan(0, 0, 8)]
    assert coverage(gold, [GoldSpan(0, 0, 3), GoldSpan(0, 5, 8)], inked).found == 1
    assert coverage(gold, [GoldSpan(0, 0, 3), GoldSpan(0, 6, 8)], inked).found == 0
    assert coverage(gold, [GoldSpan(0, 0, 14)], inked) == Coverage(1, 1, 6, 6, 11)
