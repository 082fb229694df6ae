"""BM25 for Select's pool, and the constants of the lexical part."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_planner.core.fusion import fuse_one
from telha_planner.models.analysis import term_counts
from telha_planner.models.stop_words import question_terms
from telha_planner.recall.lexical import inverse_document_frequency, score_texts
from telha_planner.recall.ports import Scoring

TEXTS = st.lists(
    st.lists(
        st.sampled_from(["harbour", "opens", "the", "面包", "烤箱四点", "متى", "👩‍👩‍👧", "größe"]), max_size=8
    ).map(" ".join),
    max_size=9,
)


def by_the_book(question: str, texts: list[str], scoring: Scoring) -> list[float]:
    """docs/scoring.md section 8, literally."""
    corpus = [term_counts(text) for text in texts]
    lengths = [sum(counts.values()) for counts in corpus]
    documents = sum(1 for length in lengths if length)
    scores = [0.0] * len(texts)
    for term in question_terms(question):
        holders = [index for index, counts in enumerate(corpus) if term in counts]
        if not holders:
            continue
        logarithm = math.log(1.0 + ((documents - len(holders)) + 0.5) / (len(holders) + 0.5))
        idf = max(2.0**-30, round(logarithm * 2**30) / 2**30)
        for index in holders:
            mean = sum(lengths) / documents
            norm = scoring.bm25_k1 * ((1.0 - scoring.bm25_b) + scoring.bm25_b * (lengths[index] / mean))
            tf = corpus[index][term]
            scores[index] += idf * ((tf * (scoring.bm25_k1 + 1.0)) / (tf + norm))
    scores = [0.0 if score < scoring.min_bm25 else score for score in scores]
    greatest = max(scores, default=0.0)
    told = []
    for score in scores:
        similarity = score / greatest if greatest else 0.0
        for _ in range(int(math.log2(scoring.sharpening))):
            similarity *= similarity
        told.append(fuse_one(similarity, 1.0, scoring.alpha) if similarity else 0.0)
    return told


@settings(max_examples=80, deadline=None)
@given(
    question=st.sampled_from(["harbour opens", "the 面包 烤箱", "متى 👩‍👩‍👧", "nothing"]),
    texts=TEXTS,
    alpha=st.sampled_from([0.5, 1.0, 0.3]),
    floor=st.sampled_from([0.0, 0.6]),
)
def test_a_pool_is_scored_by_its_own_statistics_to_the_bit(question, texts, alpha, floor):
    """S11: N, document frequencies and mean length are the pool's; λ = 0, no neighbours."""
    scoring = Scoring(alpha=alpha, sharpening=8, min_bm25=floor)
    assert score_texts(question, texts, scoring).tolist() == by_the_book(question, texts, scoring)


def test_the_best_text_scores_one_and_what_does_not_match_scores_zero():
    """S11: scores are in [0, 1]."""
    scores = score_texts("harbour opens", ["the harbour opens", "the harbour", "bread"], Scoring())
    assert scores[0] == 1.0
    assert 0.0 < scores[1] < 1.0
    assert scores[2] == 0.0
    assert score_texts("harbour", [], Scoring()).shape == (0,)


def test_scores_of_a_pool_do_not_depend_on_its_order():
    """S7: the pool's order changes no bit."""
    texts = [f"the harbour {'opens ' * (index % 4)} w{index}" for index in range(60)]
    scores = score_texts("when the harbour opens w7", texts, Scoring())
    order = np.random.default_rng(1).permutation(60)
    assert score_texts("when the harbour opens w7", [texts[index] for index in order], Scoring()).tolist() == (
        scores[order].tolist()
    )


@pytest.mark.parametrize(("documents", "holding"), [(1, 1), (10, 10), (10**6, 10**6), (10**12, 10**12), (10**6, 1)])
def test_a_term_that_every_text_holds_still_counts(documents, holding):
    """R1: idf is positive, and a multiple of 2⁻³⁰."""
    idf = inverse_document_frequency(documents, holding)
    assert idf > 0
    assert (idf * 2**30).is_integer()
