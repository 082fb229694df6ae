"""Other forms of the words of a question."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_planner.models.analysis import term_id
from telha_planner.models.stop_words import language_of
from telha_planner.models.word_forms import forms, forms_of


@pytest.mark.parametrize(
    ("language", "word", "others"),
    [
        ("en", "paintings", "painting paint paints painted"),
        ("en", "hobbies", "hobby"),
        ("en", "family", "families"),
        ("en", "planned", "plan plans planning"),
        ("en", "baking", "bake bakes baked"),
        ("pt", "cartões", "cartão"),
        ("pt", "animais", "animal"),
        ("pt", "jardim", "jardins"),
        ("pt", "mulher", "mulheres"),
        ("pt", "reservou", "reservar reservaram reservado"),
        ("es", "camiones", "camión"),
        ("es", "lápices", "lápiz"),
        ("es", "trabajaron", "trabajar trabajó trabajado"),
        ("fr", "journaux", "journal"),
        ("fr", "arrivée", "arriver arrivait arrivé"),
        ("de", "häusern", "häuser"),
        ("de", "wohnte", "wohnen wohnt"),
    ],
)
def test_a_word_has_the_forms_of_its_language(language, word, others):
    """R2: number, gender, person and tense."""
    assert set(others.split()) <= forms(word, language)
    assert word not in forms(word, language)


def test_a_form_of_a_form_is_the_word_again():
    """R2: the plural finds the singular as the singular finds the plural."""
    for one, two in (
        ("hobby", "hobbies"),
        ("family", "families"),
        ("plan", "planning"),
        ("camp", "camping"),
        ("dance", "danced"),
    ):
        assert two in forms(one, "en")
        assert one in forms(two, "en")


@pytest.mark.parametrize(
    ("question", "language", "word", "form"),
    [
        ("What did the painters do about their hobbies?", "en", "hobbies", "hobby"),
        ("Quem é que reservou a sala para os animais?", "pt", "animais", "animal"),
        ("¿Quién es el dueño de los camiones?", "es", "camiones", "camión"),
        ("Où est le journal de la ville ?", "fr", "journal", "journaux"),
        ("Wo wohnt der Bruder von Anna?", "de", "wohnt", "wohnen"),
        ("hiking hobbies", "en", "hobbies", "hobby"),
    ],
)
def test_a_question_is_read_in_its_language(question, language, word, form):
    """R2: the one whose stop words it holds."""
    assert language_of(question) == language
    assert term_id(form) in forms_of(question)[term_id(word)]


@pytest.mark.parametrize(
    "question", ["", "a cat", "鱼食放在什么地方？", "どこに行きましたか", "x9 2024 ab_3", "b" * 33]
)
def test_what_is_not_inflected_has_no_forms(question):
    """R2: short words, scripts without endings, numbers, and what is longer than words are."""
    assert forms_of(question) == {}


@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet=st.sampled_from(list("aeisndgyzr ãõéßאあ-_9\u0301")), max_size=60))
def test_forms_are_sorted_distinct_and_never_the_word(text):
    """R2, S7: for any question."""
    for term, found in forms_of(text).items():
        assert list(found) == sorted(set(found))
        assert term not in found
        assert len(found) < 150
