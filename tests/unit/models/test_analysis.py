"""Text analysis: the same terms for ever, in every script."""

import subprocess
import sys
import unicodedata
from collections import Counter

import pytest
import unicodedata2
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_planner.models import analysis, characters
from telha_planner.models.analysis import occurrences, term_counts

MIXED = st.text(
    alphabet=st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("aA bB_0 _\n中文かナ한국ไทยที่ß İée\u0301\u200d\u200cשלוםعربי🍞👩\U0001f3fd½"),
    ),
    max_size=80,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The trams, the TRAMS.", ["the", "trams", "the", "trams"]),
        ("Straße ŒUVRE maçã", ["strasse", "œuvre", "maçã"]),
        ("ｆｕｌｌ ﬁne ２０２６", ["full", "fine", "2026"]),
        ("café", ["café"]),
        ("电车六月", ["电", "车", "六", "月", "电车", "车六", "六月"]),
        ("2026年6月", ["2026", "年", "6", "月"]),
        ("カフェ", ["カ", "フ", "ェ", "カフ", "フェ"]),
        ("ที่ดี", ["ที่", "ดี", "ที่ดี"]),
        ("서울에", ["서", "울", "에", "서울", "울에"]),
        ("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"]),
        ("می\u200cخواهم", ["میخواهم"]),
        ("👩‍🌾 bread🍞", ["👩", "🌾", "bread", "🍞"]),
        ("max_frac_per_source", ["max_frac_per_source", "max", "frac", "per", "source"]),
        ("parseHTTPRequest", ["parsehttprequest", "parse", "http", "request"]),
        ("APIs __init__ ___", ["apis", "init"]),
        ("naïveÜbergang", ["naïveübergang", "naïve", "übergang"]),
        ("o200k v2.1", ["o200k", "v2", "1"]),
        ("—, «»…\u0301\n", []),
        ("", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    """R1: NFKC, case folding, words; letters that stand alone and their pairs; identifiers whole and in parts."""
    assert analysis.terms(text) == expected


@settings(deadline=None, max_examples=200)
@given(MIXED)
def test_counts_are_the_terms_counted(text: str) -> None:
    """R1: the counts that are indexed are those of the terms that explain shows."""
    expected = Counter(xxhash.xxh3_64_intdigest(term.encode()) for term in analysis.terms(text))
    assert analysis.term_counts(text) == dict(expected)


@settings(deadline=None, max_examples=200)
@given(MIXED, MIXED)
def test_pieces_that_white_space_separates_add_up(left: str, right: str) -> None:
    """M2: a window's terms are the sum of its passages'."""
    whole = analysis.term_counts(f"{left}\n\n{right}")
    assert whole == dict(Counter(analysis.term_counts(left)) + Counter(analysis.term_counts(right)))


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=200))
def test_ascii_goes_the_same_way_as_other_text(text: str) -> None:
    """R1: the fast path for ASCII finds what the general path finds."""
    assert analysis.terms(f"{text} é")[:-1] == analysis.terms(text)


@settings(deadline=None, max_examples=200)
@given(MIXED)
def test_spellings_of_one_text_are_one(text: str) -> None:
    """R1: composed and decomposed, upper and lower spellings have equal terms."""
    assert analysis.terms(unicodedata2.normalize("NFD", text)) == analysis.terms(unicodedata2.normalize("NFC", text))
    folded = characters.folded(characters.normalized(text))
    assert characters.folded(folded) == folded


def test_tables_are_pinned() -> None:
    """R1: categories, normalisation and folding are those of one Unicode version, whatever the interpreter has."""
    assert unicodedata2.unidata_version == characters.UNICODE_VERSION
    assert characters.folded("\U00016ea0") == "\U00016ebb"  # Beria Erfe, younger than Python 3.11


def test_folding_agrees_with_the_interpreter_where_both_know_a_letter() -> None:
    """R1: folding of assigned letters never changes, so any interpreter's table is an oracle for what it knows."""
    for code in range(0x110000):
        letter = chr(code)
        if unicodedata.category(letter) in ("Lu", "Ll", "Lt", "Nl", "So", "Mn"):
            assert letter.translate(characters._folding()) == letter.casefold(), hex(code)


def test_terms_do_not_depend_on_the_process() -> None:
    """S7: hash seed, locale and time zone change nothing."""
    program = (
        "from telha_planner.models.analysis import term_counts\n"
        "print(sorted(term_counts('Ünïcode 电车 parseHTTP ที่ 🍞 tram tram').items()))"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "LC_ALL": locale, "TZ": "Asia/Kolkata", "PYTHONUTF8": "1"},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed, locale in (("1", "C"), ("2", "tr_TR.UTF-8"))
    }
    assert answers == {f"{sorted(analysis.term_counts('Ünïcode 电车 parseHTTP ที่ 🍞 tram tram').items())}\n"}


def test_hostile_words_stay_out_of_the_caches() -> None:
    """M2: a megabyte without a space is one term, not parted, not kept."""
    word = "aB" * 500_000
    assert analysis.terms(word) == [word.lower()]
    before = analysis._cached_ids.cache_info().currsize
    analysis.term_counts(word)
    assert analysis._cached_ids.cache_info().currsize == before


@settings(deadline=None, max_examples=150)
@given(st.lists(st.text(max_size=40), max_size=5), st.text(max_size=30))
def test_a_pool_is_counted_as_each_text_is(texts: list[str], question: str):
    """S11: scoring a caller's pool sees the same terms as an index would."""
    wanted = sorted(term_counts(question + " ".join(texts[:1])))
    lengths, found = occurrences(texts, wanted)
    counted = [term_counts(text) for text in texts]
    assert lengths == [sum(counts.values()) for counts in counted]
    assert found == [[counts.get(term, 0) for term in wanted] for counts in counted]
