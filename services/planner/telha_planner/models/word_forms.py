"""
Other forms of the words that a question asks for: "paintings" finds painting, paints and painted.

Nothing is stored for it. A question is read as one language (as for `stop_words`), and a word that ends as that
language's inflected words do is looked up with the other endings too. What is made so need not be a word: what no text
holds is not found. Words in scripts without cases or endings of their own have no other forms.

Rule 1: inflection alone (number, gender, person, tense), no derivation: a painter is no form of "paint". Rule 2: equal
words give equal forms for ever; a change of a list changes scores: it raises `score_model`.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from .analysis import term_id, terms
from .stop_words import language_of

_ENDINGS = {
    "en": ("s es ed d ing ings e y ies ied",),
    "pt": (
        "s es a o as os",
        "ão ões ãos",
        "l is",
        "m ns",
        """
        ar er ir a e o ou ei eu iu am em ava avam ia iam aram eram iram ado ada ados adas ido ida idos idas ando endo
        indo
        """,
    ),
    "es": (
        "s es a o as os",
        "ión iones",
        "z ces",
        """
        ar er ir a e o ó é ió an en aba aban ía ían aron ieron ado ada ados adas ido ida idos idas ando iendo
        """,
    ),
    "fr": ("s x e es", "al aux", "er ez ent ons a ai ait aient ant é ée és ées ir it is i e es"),
    "de": ("e en er es em n s t te ten et st est ern in innen",),
}
"""By language, endings that take each other's place; a word belongs where its longest one is, of equals first."""

_WORD = re.compile("[a-z\u00df-\u024f]{4,32}")
_SHORTEST_STEM = 3
_CACHED = 1 << 14
_VOWELS = frozenset("aeiou")
_DOUBLED = ("ed", "ing")
_NEVER_DOUBLED = frozenset("wxy") | _VOWELS

_BY_LANGUAGE = {language: tuple(tuple(group.split()) for group in groups) for language, groups in _ENDINGS.items()}


def forms_of(question: str) -> Mapping[int, tuple[int, ...]]:
    """
    The other forms of the words of *question*.

    Returns:
        Term id → ids of its forms, ascending, without itself; only of terms that have any.
    """
    words = set(filter(_WORD.fullmatch, terms(question)))
    if not words:
        return {}
    language = language_of(question)
    return {term_id(word): _form_ids(word, language) for word in words}


@lru_cache(_CACHED)
def _form_ids(word: str, language: str) -> tuple[int, ...]:
    return tuple(sorted(map(term_id, forms(word, language))))


def forms(word: str, language: str) -> frozenset[str]:
    """Every form of *word* (folded, four letters or more) that the endings of *language* make, without itself."""
    groups = _BY_LANGUAGE[language]
    found = [(len(ending), -number) for number, group in enumerate(groups) for ending in group if _ends(word, ending)]
    length, number = max(found, default=(0, 0))
    endings = groups[-number]
    stems = {word, word[: len(word) - length]}
    if language == "en":
        stems |= {stem[:-1] for stem in stems if len(stem) > _SHORTEST_STEM and _is_doubled(stem)}
    made = stems | {stem + ending for stem in stems for ending in endings} | {word + ending for ending in groups[0]}
    if language == "en":
        made |= {stem + stem[-1] + ending for stem in stems if _doubles(stem) for ending in _DOUBLED}
    return frozenset(made - {word})


def _ends(word: str, ending: str) -> bool:
    return word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM


def _is_doubled(stem: str) -> bool:
    return stem[-1] == stem[-2] and stem[-1] not in _VOWELS


def _doubles(stem: str) -> bool:
    """Whether the last letter is written twice before an ending: plan, planning."""
    return stem[-1] not in _NEVER_DOUBLED and stem[-2] in _VOWELS and stem[-3] not in _VOWELS
