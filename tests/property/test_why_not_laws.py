"""Laws of why-not over random histories: candidates are the pool, intervals say when, nothing leaks."""

import random
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from recall_histories import SPACES, History, queries
from recall_memory import Memory, a_query
from telha_planner.columns.tenant import Columns
from telha_planner.config import PlannerConfig
from telha_planner.core.explained import ExplainedNode, ExplainedSubject, TimeAxis, Verdict
from telha_planner.core.model import Outcome, SpanRef
from telha_planner.core.request import INT64_MIN, OPEN_END, PlanRequest
from telha_planner.core.subject import MAX_SUBJECTS, SourceSubject, Subject
from telha_planner.explaining import Recollection, reckoned
from telha_planner.packing import Packed, pack, weighed
from telha_planner.recall.detail import RecallDetail
from telha_planner.recall.ports import RecallQuery
from telha_planner.recall.recall import recall_in_detail
from telha_planner.recall.verdicts import SMALLEST
from telha_planner.resolution import Limits, plan_surface
from telha_planner.why_not import MOST_TOLD, Reader, explained_for

CONFIG = PlannerConfig()
SEEDS = st.integers(0, 2**32 - 1)


class Resting(NamedTuple):
    """By SQL: a node version that rests on a span, and when."""

    node_id: bytes
    space: str
    source_id: bytes
    version: int
    start: int
    end: int
    known_from: int
    known_to: int
    valid_from: int
    valid_to: int
    name: str

    def is_visible(self, query: RecallQuery, valid_t: int, tx_t: int) -> bool:
        within = query.spaces is None or self.space in query.spaces
        return within and self.valid_from <= valid_t < self.valid_to and self.known_from <= tx_t < self.known_to


RESTING = sa.text(
    'SELECT o.node_id, p.name, s.source_id, d.version_tx, d.start, d."end", n.tx_from, n.tx_to, l.tx_from, l.tx_to, '
    "n.valid_from, n.valid_to, t.name, t.length FROM node_span l "
    "JOIN node_version n ON n.version_no = l.version_no JOIN node o ON o.node_no = n.node_no "
    "JOIN space p ON p.space_no = o.space_no JOIN span d ON d.span_no = l.span_no "
    "JOIN source s ON s.source_no = d.source_no "
    "JOIN source_version t ON t.source_no = d.source_no AND t.version_tx = d.version_tx"
)


def resting(memory: Memory) -> list[Resting]:
    found = []
    with memory.store.reading(memory.tenant) as connection:
        for *where, start, end, one, two, link, linked, begin, until, name, length in connection.execute(RESTING):
            known = max(one, link), min(two, linked)
            # Bytes behind the end of a text do not exist.
            if known[0] < known[1] and start < length:
                found.append(Resting(*where, start, min(end, length), *known, begin, until, name))
    return found


@dataclass
class Asked:
    """One query of one history, with everything asked about it."""

    query: RecallQuery
    packed: Packed
    detail: RecallDetail
    told: list[ExplainedSubject]
    rows: list[Resting]

    def meant(self, subject: Subject) -> list[Resting]:
        """What a subject means, by the letter."""
        if isinstance(subject, SpanRef):
            version = subject[:2]
            return [
                row
                for row in self.rows
                if (row.source_id, row.version) == version and row.start < subject.end and subject.start < row.end
            ]
        named = {row.source_id for row in self.rows if subject.source in (str_id(row.source_id), row.name)}
        return [row for row in self.rows if row.source_id in named]


def str_id(source_id: bytes) -> str:
    digits = source_id.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def subjects_of(rows: list[Resting], dice: random.Random) -> list[Subject]:
    """Coordinates that exist, some a little beside them, every source by id and by name, and what nobody knows."""
    subjects: list[Subject] = []
    for row in dice.sample(rows, min(len(rows), 40)):
        start = max(0, row.start + dice.randint(-3, 3))
        subjects.append(SpanRef(row.source_id, row.version, row.start, row.end))
        subjects.append(
            SpanRef(row.source_id, row.version + dice.choice([0, 0, 1]), start, start + dice.randint(1, 30))
        )
    named = {str_id(row.source_id) for row in rows} | {row.name for row in rows}
    return [*subjects, *(SourceSubject(name) for name in sorted(named)), SourceSubject("nobody.md")]


def ask(
    memory: Memory, columns: Columns, query: RecallQuery, subjects: list[Subject], allowed: tuple[str, ...] | None
) -> Asked:
    snapshot = columns.at(memory.tenant, memory.tx)
    recalled, detail = recall_in_detail(snapshot, query)
    limits = Limits(plan_surface(CONFIG), 60, 4, 0.5, 0, "o200k_base", None)
    pool = weighed(recalled, np.where(recalled.tokens < 0, 5, recalled.tokens), CONFIG.planner)
    packed = pack(pool, np.zeros(len(pool), bool), limits, 0.8)
    origin = Recollection(recalled, detail, snapshot)
    reckoning = reckoned(packed, CONFIG.planner, origin)
    told: list[ExplainedSubject] = []
    for first in range(0, len(subjects), MAX_SUBJECTS):
        some = tuple(subjects[first : first + MAX_SUBJECTS])
        reader = Reader(memory.store, memory.tenant, allowed)
        told += explained_for(PlanRequest("q", why_not=some), reckoning, origin, reader).subjects
    rows = [row for row in resting(memory) if allowed is None or row.space in allowed]
    return Asked(query, packed, detail, told, rows)


def asked(seed: int, folder: str) -> list[Asked]:
    """Three queries over the history of *seed*, each about every kind of subject; columns that followed it agree."""
    dice = random.Random(seed)
    memory = Memory(Path(folder))
    try:
        history, tailed = History(memory, seed), Columns(memory.store, 1 << 30)
        times = []
        for commits in (3, 1, 3):
            times += history.run(commits)
            tailed.at(memory.tenant, memory.tx)
        found = []
        for changes in queries(seed, times, 3):
            query = a_query(memory, **changes)
            allowed = dice.choice([None, query.spaces, query.spaces and (*query.spaces, "third")])
            subjects = subjects_of(resting(memory), dice)
            found.append(ask(memory, tailed, query, subjects, allowed))
            fresh = ask(memory, Columns(memory.store, 1 << 30), query, subjects, allowed)
            assert fresh.told == found[-1].told
        return found
    finally:
        memory.close()


@settings(max_examples=8, deadline=None)
@given(SEEDS)
def test_a_subject_is_a_candidate_exactly_if_the_pool_holds_a_byte_of_it(seed):
    """X6: stated by the name; and the candidates that are told are the pool's, packed ones first, then by rank."""
    with TemporaryDirectory() as folder:
        for one in asked(seed, folder):
            pool = one.packed.pool
            spans = [
                SpanRef(hi.to_bytes(8, "big") + lo.to_bytes(8, "big"), *rest)
                for hi, lo, *rest in zip(
                    *(c.tolist() for c in (pool.source_hi, pool.source_lo, pool.version, pool.start, pool.end)),
                    strict=True,
                )
            ]
            for told in one.told:
                meant = {(row.source_id, row.version, row.start, row.end) for row in one.meant(told.subject)}
                inside = {span for span in spans if tuple(span) in meant}
                assert (told.verdict is Verdict.CANDIDATE) == bool(inside)
                assert {each.span for each in told.candidates} <= inside
                assert len(told.candidates) + told.candidates_left_out == len(inside)
                assert len(told.candidates) <= MOST_TOLD
                order = [(each.outcome is not Outcome.PACKED, each.rank or 10**9) for each in told.candidates]
                assert order == sorted(order)
                assert told.because


@settings(max_examples=8, deadline=None)
@given(SEEDS)
def test_every_node_of_a_subject_is_a_candidate_or_told_or_counted(seed):
    """X6: none twice, none that the key may not read, and the nearest first."""
    with TemporaryDirectory() as folder:
        for one in asked(seed, folder):
            for told in one.told:
                nodes = {(row.node_id, row.space) for row in one.meant(told.subject)}
                assert len(told.nodes) + told.nodes_left_out <= len(nodes)
                assert {node.node_id for node in told.nodes} <= {node_id for node_id, _ in nodes}
                if not told.candidates:
                    assert len(told.nodes) + told.nodes_left_out == len(nodes)
                    assert (told.verdict in (Verdict.UNKNOWN, Verdict.ERASED)) == (not nodes)
                    if told.nodes:
                        assert told.verdict is told.nodes[0].verdict
                assert Verdict.CANDIDATE not in {node.verdict for node in told.nodes}
                hidden = [node.verdict in (Verdict.NOT_VISIBLE, Verdict.OTHER_SPACE) for node in told.nodes]
                matches = [node.score is not None and node.score.score >= SMALLEST for node in told.nodes]
                assert not any(matches[hidden.index(True) :] if True in hidden else ())
                assert not any(matches[matches.index(False) :] if False in matches else ()) or any_too_large(told)


@settings(max_examples=8, deadline=None)
@given(SEEDS)
def test_what_hides_a_node_is_true_and_its_interval_says_when_it_does_not(seed):
    """X6, M1: by the rows of the store: hidden now, and visible from the one instant until before the other."""
    with TemporaryDirectory() as folder:
        for one in asked(seed, folder):
            query = one.query
            for told in one.told:
                rows = one.meant(told.subject)
                for node in told.nodes:
                    own = [row for row in rows if row.node_id == node.node_id]
                    seen = any(row.is_visible(query, query.valid_t, query.tx_t) for row in own)
                    hidden = node.verdict in (Verdict.NOT_VISIBLE, Verdict.OTHER_SPACE)
                    if node.verdict is not Verdict.NO_PROVENANCE:
                        assert seen != hidden
                    if node.verdict is Verdict.NOT_VISIBLE:
                        _check_interval(node, own, query)


def any_too_large(told: ExplainedSubject) -> bool:
    """Windows that recall never looked at have a place by a score that is not told."""
    return any(node.verdict is Verdict.WINDOW_TOO_LARGE for node in told.nodes)


def _check_interval(node: ExplainedNode, own: list[Resting], query: RecallQuery) -> None:
    first = INT64_MIN if node.since is None else node.since
    last = (OPEN_END if node.until is None else node.until) - 1
    for instant in (first, last):
        at = (instant, query.tx_t) if node.axis is TimeAxis.VALID_TIME else (query.valid_t, instant)
        if node.axis is TimeAxis.VALID_TIME and "as known" in node.because:
            # Both axes hide it: the interval alone does not make it visible.
            assert any((row.valid_from, row.valid_to) == (first, last + 1) for row in own)
        else:
            assert any(row.is_visible(query, *at) for row in own)


@settings(max_examples=6, deadline=None)
@given(SEEDS)
def test_what_the_key_may_not_read_changes_no_answer(seed):
    """M7, A6: subjects, verdicts and words are those over a memory in which the other spaces never existed."""
    with TemporaryDirectory() as folder, TemporaryDirectory() as alone:
        answers = []
        for place, written in ((folder, SPACES), (alone, ("main",))):
            memory = Memory(Path(place))
            try:
                _write(memory, seed, written)
                query = a_query(memory, question="the harbour opens", spaces=("main",))
                columns = Columns(memory.store, 1 << 30)
                subjects = [SourceSubject(f"doc {number} of {space}") for space in SPACES for number in range(3)]
                answers.append(ask(memory, columns, query, subjects, ("main",)).told)
            finally:
                memory.close()
        assert answers[0] == answers[1]
        assert {one.verdict for one in answers[0][3:]} == {Verdict.UNKNOWN}


def _write(memory: Memory, seed: int, spaces: tuple[str, ...]) -> None:
    """Documents in three spaces, of which those outside *spaces* are not written; instants are the same."""
    dice = random.Random(seed)
    for _ in range(8):
        space, name = dice.choice(SPACES), dice.randint(0, 2)
        passages = [" ".join(dice.choices(["harbour", "opens", "bread", "船", "سفينة"], k=4)) for _ in range(3)]
        with memory.commit() as commit:
            if space in spaces:
                commit.document(f"doc {name} of {space}", passages, space)


def test_others_are_scored_as_everything_else(tmp_path):
    """X6: what would have been is what is, once a leg has the places for it."""
    memory = Memory(tmp_path)
    with memory.commit() as commit:
        for number in range(9):
            commit.document(f"doc {number}", ["harbour " + "bread " * number])
    few, many = (a_query(memory, question="harbour", top_k=top_k, expand_depth=0) for top_k in (2, 64))
    columns = Columns(memory.store, 1 << 30)
    subjects: list[Subject] = [SourceSubject(f"doc {number}") for number in range(9)]
    told = ask(memory, columns, few, subjects, None).told
    found = ask(memory, columns, many, subjects, None).told
    missed = [index for index, one in enumerate(told) if one.verdict is Verdict.NOT_FOUND]
    assert len(missed) == 7
    for index in missed:
        would, did = told[index].nodes[0].score, found[index].candidates[0].score
        assert would is not None
        assert did is not None
        assert replace(would, legs=()) == replace(did, legs=())
        assert told[index].nodes[0].ranks == did.legs
    memory.close()
