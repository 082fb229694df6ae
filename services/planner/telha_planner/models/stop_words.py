"""
Words that every question may hold and that tell nothing of what it is about: they are not searched for.

They leave the question alone, so the index holds every word and a text is found by any of them where nothing else was
asked. A question is read as the one language whose list holds most of its words, so that "die" goes from a German
question and stays in an English one. Those of Japanese, which cannot be told from words with certainty, stay in a
question and are no evidence.
Rule: a change of a list changes scores: it raises `score_model`.
"""

from collections.abc import Sequence
from itertools import pairwise, product

from .analysis import term_counts, term_id, terms
from .characters import is_hiragana

_WORDS = {
    "en": """
        a about after again all also am an and any are as at be because been before being both but by can could d did
        do does doing don for from further had has have having he her here hers herself him himself his how i if in
        into is it its itself just ll m may me might more most my myself no nor not now of off on once only or other
        our ours out over own re s same shall she should so some such t than that the their theirs them themselves
        then there these they this those through to too under until up us ve very was we were what when where which
        while who whom whose why will with would you your yours yourself
        """,
    "pt": """
        a à ao aos aquela aquelas aquele aqueles aquilo as às até com como cujo da das de dela delas dele deles depois
        desde do dos e é ela elas ele eles em entre era eram essa essas esse esses esta está estão estas estava este
        estes eu foi foram há isso isto já lhe lhes mais mas me meu meus minha minhas muito na não nas nem no nos nós
        nossa nosso num numa o onde os ou para pela pelas pelo pelos por porque qual quais quando quanto quanta
        quantos quantas que quê quem se seja sem ser seu seus só sua suas também te tem têm teu tinha tu tua um uma
        umas uns você vocês vos
        """,
    "es": """
        a al algo ante antes aquel aquella aquello así aún como cómo con cuál cuáles cuándo cuando cuánto cuánta
        cuántos cuántas cuyo de del desde donde dónde e el él ella ellas ellos en entre era eran es esa esas ese eso
        esos esta está están estas este esto estos fue fueron ha han hasta hay la las le les lo los más me mi mis mi
        muy nada ni no nos nosotros o otra otro para pero por porque qué que quién quien quiénes se ser si sí sin
        sobre son su sus también te tiene tienen tu tus un una unas uno unos usted ustedes y ya yo
        """,
    "fr": """
        à ai au aux avec c ce ces cet cette combien comme comment d dans de des donc dont du elle elles en est et été
        étaient était eu eux il ils j je l la là le les leur leurs lui m ma mais me mes moi mon même n ne ni nos notre
        nous on ont ou où par pas plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se ses
        si son sont sur t ta te tes toi ton tu un une vos votre vous y
        """,
    "de": """
        aber alle als also am an auch auf aus bei bin bis bist da damit das dass dein deine dem den denn der des
        dessen dich die dies diese diesem diesen dieser dieses dir doch du durch ein eine einem einen einer eines er
        es euch euer für hat hatte hatten habe haben hier ich ihm ihn ihnen ihr ihre im in ist ja kein keine man mein
        meine mich mir mit nach nicht noch nun nur ob oder ohne sein seine sich sie sind so über um und uns unser
        unter vom von vor wann war waren warum was welche welchem welchen welcher welches wem wen wenn wer werden
        weshalb wessen wie wieso wieviel wird wir wo woher wohin zu zum zur
        """,
}
"""By language, in the order in which a draw is decided."""

_JAPANESE = """
    は が を に で と も へ や の か から まで です でした でしょう ます ました ません ましょう する した して
    している ています ある あり ない いる います いた なる なった できる ください たい られ れば どこ いつ だれ なに
    なん どう どの どれ どんな どうやって どうして なぜ いくら いくつ この その これ それ ここ そこ こと ため とき
    よう ので について という いい
    """
"""Particles, endings and words that ask, which follow one another without spaces."""


def _pairs_of(words: Sequence[str]) -> frozenset[str]:
    """The pairs of characters within *words*, and those that meet where one of a single character is beside another."""
    within = {left + right for word in words for left, right in pairwise(word)}
    return frozenset(within | {one[-1] + two[0] for one, two in product(words, repeat=2) if 1 in (len(one), len(two))})


_PAIRS = _pairs_of(_JAPANESE.split())

_IDS = {language: frozenset(map(term_id, words.split())) for language, words in _WORDS.items()}


def question_terms(question: str) -> tuple[int, ...]:
    """The ids of the distinct terms of *question*, ascending; without stop words, if any other is left."""
    found = frozenset(term_counts(question))
    return tuple(sorted(found - _IDS[_language(found)] or found))


def telling_terms(question: str) -> frozenset[int]:
    """
    Those of `question_terms` that say what *question* is about, all if none does more than others.

    Particles and endings of Japanese stand in every text: they are searched for, since they tell texts apart where
    words do, but that a text holds them is no evidence. They are the single characters of Hiragana, and the pairs that
    such words are made of or that meet where a particle stands beside one; other pairs belong to a word.
    """
    searched = frozenset(question_terms(question))
    if question.isascii():
        return searched
    return searched - {term_id(term) for term in terms(question) if _is_particle(term)} or searched


def language_of(question: str) -> str:
    """The language as which *question* is read: `en`, `pt`, `es`, `fr` or `de`; `en` where no list tells."""
    return _language(frozenset(term_counts(question)))


def _language(found: frozenset[int]) -> str:
    return max(_IDS, key=lambda language: len(_IDS[language] & found))


def _is_particle(term: str) -> bool:
    return term in _PAIRS or (len(term) == 1 and is_hiragana(term))
