"""A plan at an instant against everything that may be written after it, and against the order of one batch."""

import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from known_facts import Facts
from planner_parts import START, Parts, parts_over
from replays import recorded, replayed
from telha.context.v1 import context_pb2
from telha.planner.v1 import plan_pb2, planner_pb2
from telha_planner.core.difference import in_words
from telha_planner.core.request import Window
from telha_planner.ingest.document import DocumentInput
from telha_planner.ingest.parse import parse
from telha_planner.trace.recorded import read_record

WORDS = (
    "tram",
    "bridge",
    "closed",
    "電車",
    "夜間",
    "桥梁",
    "الترام",
    "👩\u200d👩\u200d👧",
    "depot",
    "swan",
    "manutenção",
)
QUESTION = "tram 電車 桥梁 الترام closed"
HOUR = 3_600_000_000
LIMITS = {"max_tokens": 300, "max_frac_per_source": 0.9, "span_overhead_tokens": 1}
SLOW = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


class Writing:
    """Writes at random: documents, facts with vectors, edges, doubts, in any space."""

    def __init__(self, parts: Parts, dice: random.Random) -> None:
        self.parts = parts
        self.dice = dice
        self.facts = {space: Facts(parts, self.lines(6), space=space) for space in ("main", "side")}
        self.known: dict[str, list[bytes]] = {"main": [], "side": []}

    def lines(self, number: int) -> str:
        return "".join(" ".join(self.dice.choices(WORDS, k=6)) + "\n" for _ in range(number))

    def write(self, number: int, spaces: tuple[str, ...] = ("main", "side")) -> None:
        for _ in range(number):
            space = self.dice.choice(spaces)
            self.dice.choice([self.document, self.fact, self.fact, self.edge, self.doubt])(space)

    def document(self, space: str) -> None:
        name = f"note {self.dice.randint(0, 3)}"
        self.parts.remember(name, self.lines(3), space=space)

    def fact(self, space: str) -> None:
        dice, facts = self.dice, self.facts[space]
        begin = dice.choice([None, START - HOUR, -HOUR, START + HOUR])
        node = facts.know(
            dice.randint(0, 9),
            *dice.sample(facts.sentence, dice.randint(0, 2)),
            kind=dice.choice(["fact", "person"]),
            valid=(begin, dice.choice([None, START + 2 * HOUR])),
            vector=dice.choice([None, [dice.gauss(0, 1) for _ in range(4)]]),
        )
        self.known[space].append(node)

    def edge(self, space: str) -> None:
        if self.known[space]:
            one, other = (self.dice.choice(self.known[space]) for _ in range(2))
            if one != other:
                self.facts[space].join(one, other, self.dice.choice([0.3, 1.0]), self.dice.randint(0, 1))

    def doubt(self, space: str) -> None:
        if self.known[space]:
            state = self.dice.choice(["pending", "conflicted", "resolved"])
            self.facts[space].doubt(f"{space} {self.dice.randint(0, 3)}", self.dice.choice(self.known[space]), state)


def asked(parts: Parts, dice: random.Random, window: Window):
    """Answers to questions of each kind at one instant."""
    vector = tuple(dice.gauss(0, 1) for _ in range(4))
    ways = ({"question": QUESTION}, {"vector": vector}, {"find": "fact"}, {"question": QUESTION, "vector": vector})
    answers = []
    for number, way in enumerate(ways):
        answer = parts.context(**way, window=window, expand_depth=number % 3, **LIMITS)
        answers.append((answer.plan, answer.items, answer.open_questions, answer.window))
    return answers


@SLOW
@given(seed=st.integers(0, 2**32), valid=st.sampled_from((None, -1, START, START + HOUR)))
def test_whatever_is_written_later_the_past_keeps_its_plan(new_store_url, seed, valid):
    """R3, S7, C5, M8: documents, facts, vectors (a tenant's first too), edges, doubts, and erasures elsewhere."""
    parts = parts_over(new_store_url())
    writing = Writing(parts, random.Random(seed))
    instants = []
    for _ in range(3):
        writing.write(4)
        now = parts.plan(QUESTION).window
        window = Window(now.valid_time if valid is None else valid, now.tx_time)
        instants.append((window, asked(parts, random.Random(seed), window)))
    writing.write(6)
    parts.writer.erase_source(writing.facts["side"].tenant, writing.facts["side"].source_id)
    again = parts.restarted()
    for window, told in instants:
        assert asked(parts, random.Random(seed), window) == told
        assert asked(again, random.Random(seed), window) == told
    assert valid is not None or any(plan.spans for _, told in instants for plan, *_ in told)
    again.close()
    parts.close()


@SLOW
@given(seed=st.integers(0, 2**32))
def test_whatever_is_written_later_a_replay_is_identical(new_store_url, seed):
    """X5, R3, S7: of traces of every surface, question, vector and query, after a restart too; no input is another."""
    parts, dice = parts_over(new_store_url()), random.Random(seed)
    writing, traces = Writing(parts, dice), []
    for tokens in (300, 20, 60):
        writing.write(4)
        vector = plan_pb2.QueryVector(values=[dice.gauss(0, 1) for _ in range(4)])
        budget = plan_pb2.Budget(max_tokens=tokens, max_spans=dice.choice([0, 3]))
        more = {
            "budget": budget,
            "max_frac_per_source": 0.9,
            "expand_depth": dice.randint(0, 2),
            "spaces": dice.choice([[], ["*"]]),
        }
        messages = (
            planner_pb2.PlanRequest(question=QUESTION, allow_ungrounded=True, **more),
            planner_pb2.PlanRequest(vector=vector, allow_ungrounded=True, **more),
            context_pb2.BuildRequest(question=QUESTION, vector=vector, span_overhead_tokens=1, **more),
            context_pb2.BuildRequest(query=plan_pb2.NodeQuery(find="fact"), **more),
        )
        traces += [recorded(parts, message) for message in messages]
    writing.write(6, spaces=("main", "side"))
    again = parts.restarted()
    for record in traces:
        for now in (parts, again):
            found = replayed(now, record)
            assert found.difference.identical, in_words(found.difference)
            assert found.difference.changes == ()
            assert found.difference.unchanged == len(read_record(record).held)
    assert any(read_record(record).held for record in traces)
    again.close()
    parts.close()


@SLOW
@given(seed=st.integers(0, 2**32), texts=st.lists(st.sampled_from(WORDS), min_size=2, max_size=8))
def test_the_order_of_one_batch_does_not_matter(new_store_url, seed, texts):
    """S7, M2: one batch is one commit; documents written in another order are the same memory."""
    dice = random.Random(seed)
    documents = [
        DocumentInput(
            None, f"note {number}.md", None, "main", None, f"# {word}\n\n{word} tram\n\n{word}".encode(), None
        )
        for number, word in enumerate(texts)
    ]
    plans = []
    for order in (documents, dice.sample(documents, len(documents))):
        parts = parts_over(new_store_url())
        tenant = parts.planning.caller(parts.key()).tenant
        parts.writer.write_documents(tenant, [parse(document, "acme") for document in order])
        answers = [parts.plan(f"tram {texts[0]}", max_tokens=budget, expand_depth=2) for budget in (15, 40, 6000)]
        plans.append([(answer.plan, answer.window) for answer in answers])
        parts.close()
    assert plans[0] == plans[1]
    assert plans[0][2][0].spans


def test_the_erasure_of_an_unrelated_source_in_the_same_space_may_count(new_store_url):
    """M5: what is erased no longer counts in the corpus, at any instant; the spans of others stay what they were."""
    parts = parts_over(new_store_url())
    kept = Facts(parts, "tram bridge\n", name="kept.txt")
    gone = Facts(parts, "tram tram depot\n", name="gone.txt")
    before = parts.plan("tram bridge", max_frac_per_source=1.0)
    parts.writer.erase_source(gone.tenant, gone.source_id)
    after = parts.plan("tram bridge", window=before.window, max_frac_per_source=1.0).plan
    assert {span.span.source_id for span in before.plan.spans} == {kept.source_id, gone.source_id}
    assert {span.span.source_id for span in after.spans} == {kept.source_id}
    parts.close()
