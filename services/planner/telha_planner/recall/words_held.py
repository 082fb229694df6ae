"""How many words of the question the text of a node version holds, also where nothing is visible of it."""

import numpy as np

from telha_planner.columns.projected import TenantColumns
from telha_planner.core.model import Int32, Int64
from telha_planner.models.stop_words import telling_terms
from telha_planner.models.word_forms import forms_of


def words_held(columns: TenantColumns, question: str, versions: Int32 | Int64) -> Int64:
    """
    Of each of *versions* (rows), how many distinct words of *question* its text holds, in any of their forms.

    Those that say what the question is about count (`telling_terms`). It is a function of the texts alone, and of each
    by itself: no statistics of what is visible enter it.
    """
    held = np.zeros(len(versions), np.int64)
    if not len(versions):
        return held
    spaces = np.unique(columns.versions.space[versions]).tolist()
    forms, holds = forms_of(question), np.zeros(len(columns.versions), bool)
    for term in sorted(telling_terms(question)):
        ids = np.array((term, *forms.get(term, ())), np.uint64)
        known = ids[columns.postings.knows(ids)].tolist()
        holders = [columns.postings.occurrences(form, spaces)[0] for form in known]
        # The columns may grow meanwhile; rows that were appended since are none of *versions*.
        holders = [some[some < len(holds)] for some in holders]
        for some in holders:
            holds[some] = True
        held += holds[versions]
        for some in holders:
            holds[some] = False
    return held
