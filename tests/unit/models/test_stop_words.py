"""Which words of a question are searched for."""

import pytest
from telha_planner.models.analysis import term_counts, term_id
from telha_planner.models.stop_words import question_terms, telling_terms


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("When does the ferry to Almada leave?", "ferry almada leave"),
        ("Quanto custa a cereja na praça?", "custa cereja praça"),
        ("¿Cuánto cuesta el billete de ida?", "cuesta billete ida"),
        ("Où est la clé de la cave ?", "clé cave"),
        ("Wann fährt die Fähre nach Kiel?", "fährt fähre kiel"),
        ("鱼食放在什么地方？", "鱼食放在什么地方"),
        ("Harbour opening hours", "harbour opening hours"),
    ],
)
def test_stop_words_leave_a_question(question, searched):
    """R1: each language by its own list; scripts without one keep all."""
    assert question_terms(question) == tuple(sorted(term_counts(searched)))


@pytest.mark.parametrize("question", ["Who are you?", "O que é?", "the", "to be or not to be"])
def test_a_question_of_nothing_else_keeps_them(question):
    """R1: a question always searches for something."""
    assert question_terms(question) == tuple(sorted(term_counts(question)))


def test_a_word_is_no_stop_word_in_a_question_of_another_language():
    """R1: "die" and "son" tell something in English."""
    assert set(term_counts("dog die")) == set(question_terms("When did the dog die?"))
    assert set(term_counts("son")) <= set(question_terms("What is the name of her son?"))


def test_no_terms_is_no_terms():
    """R1: nothing is made up."""
    assert question_terms("?!") == ()


@pytest.mark.parametrize(
    ("question", "silent"),
    [
        ("太鼓の練習はいつですか？", "の は い つ で す か はい いつ つで です すか"),
        ("父のめがねはどこですか", "の め が ね は ど こ で す か めが はど どこ こで です すか"),
        ("か\u3099くせいは学生", "が く せ い は がく いは"),
        ("Bread はどこ", "は ど こ はど どこ"),
    ],
)
def test_japanese_endings_are_searched_for_and_are_no_evidence(question, silent):
    """R1: particles and endings tell nothing; pairs of a word in Hiragana, or of a word and an ending, do."""
    searched = frozenset(question_terms(question))
    assert searched - telling_terms(question) == set(map(term_id, silent.split())) <= searched


@pytest.mark.parametrize(
    "question", ["どこですか", "the ferry to Almada", "Où est la clé ?", "鱼食放在什么地方？", "?!"]
)
def test_where_nothing_tells_more_all_terms_tell(question):
    """R1: a question of Hiragana alone is told by it, and other scripts by every word searched for."""
    assert telling_terms(question) == frozenset(question_terms(question))
