"""What recall does with what was given before: the pool refills, and what was found stays an entrance."""

from known_facts import Facts
from planner_parts import parts_over, texts_of
from store_corpus import HARBOUR
from telha_planner.core.predicate import read_where
from telha_planner.core.request import Leg, Window
from telha_planner.recall.semantic import RESCORED


def given_by(answer):
    return tuple(planned.span for planned in answer.plan.spans)


def until_nothing_is_new(parts, **asked) -> list[list[str]]:
    """The texts of each plan, each without what those before it gave."""
    rounds, before, window = [], (), None
    while True:
        answer = parts.plan(**asked, exclusions=before, window=window)
        window = Window(answer.window.valid_time, answer.window.tx_time)
        if not answer.plan.spans:
            return rounds
        rounds.append(texts_of(answer.plan.spans))
        before += given_by(answer)


def test_the_semantic_leg_looks_behind_what_it_rescores(parts):
    """C11, R1: beyond the vectors whose cosine is computed first there are more, and they are found in their turn."""
    count = RESCORED + 70
    facts = Facts(parts, "".join(f"Fact number {number}.\n" for number in range(count)))
    for number, span in enumerate(facts.sentence):
        facts.know(number, span, vector=[1.0, number / count])
    asked = {"vector": (1.0, 0.0), "legs": frozenset({Leg.SEMANTIC}), "expand_depth": 0, "max_frac_per_source": 1.0}
    rounds = until_nothing_is_new(parts, **asked, min_similarity=0.0, max_tokens=100_000)
    told = [text for texts in rounds for text in texts]
    assert sorted(told) == sorted(f"Fact number {number}." for number in range(count))
    assert len(rounds[0]) == 64 == len(rounds[1])
    # The nearest come first, round by round.
    nearest = [max(int(text.split()[2].rstrip(".")) for text in texts) for texts in rounds]
    assert nearest == sorted(nearest)


def test_a_query_is_read_on(parts):
    """C11, R1: what satisfies the conditions and was given takes no place of the limit."""
    facts = Facts(parts, "".join(f"Line {number}.\n" for number in range(30)))
    for number, span in enumerate(facts.sentence):
        facts.know(number, span, kind="line" if number % 3 else "other")
    asked = {"find": "line", "find_limit": 4, "expand_depth": 0, "max_frac_per_source": 1.0}
    plain = until_nothing_is_new(parts, **asked)
    assert [len(texts) for texts in plain] == [4, 4, 4, 4, 4]
    where = read_where("query.where", {"colour": {"exists": False}})
    assert until_nothing_is_new(parts, **asked, where=where) == plain


def test_what_was_given_is_still_an_entrance(parts):
    """C11: what lies next to it is found from there, with the score that it had."""
    facts = Facts(parts, "The root.\nThe neighbour.\nFar away.\n")
    root = facts.know("root", facts.sentence[0], kind="root")
    facts.join(root, facts.know("next", facts.sentence[1], kind="end"))
    asked = {"find": "root", "expand_depth": 1, "max_frac_per_source": 1.0}
    first = parts.plan(**asked)
    window = Window(first.window.valid_time, first.window.tx_time)
    again = parts.plan(**asked, window=window, exclusions=(facts.sentence[0],))
    weights = {planned.text: planned.weight for planned in first.plan.spans}
    assert [(planned.text, planned.weight) for planned in again.plan.spans] == [
        ("The neighbour.", weights["The neighbour."])
    ]
    assert again.plan.stats.recall.legs == first.plan.stats.recall.legs
    assert again.plan.stats.recall.excluded == 1


def test_of_a_node_with_several_spans_the_new_ones_stay(parts):
    """C11, R4: spans are left out, not nodes."""
    facts = Facts(parts, "One.\nTwo.\nThree.\n")
    facts.know("all", *facts.sentence)
    asked = {"find": "fact", "expand_depth": 0, "max_frac_per_source": 1.0}
    plan = parts.plan(**asked, exclusions=(facts.sentence[1],)).plan
    assert texts_of(plan.spans) == ["One.", "Three."]
    assert (plan.stats.recall.excluded, plan.stats.recall.nodes) == (1, 1)
    nothing = parts.plan(**asked, exclusions=tuple(facts.sentence)).plan
    assert (nothing.spans, nothing.stats.recall.excluded, nothing.stats.recall.nodes) == ((), 3, 0)
    assert nothing.stats.recall.nodes_without_spans == 0


def test_both_stores_leave_out_the_same(tmp_path, postgres_url):
    """C11, M6: with an injected clock, plan after plan, to the hash."""
    told = []
    for url in (f"sqlite:///{tmp_path / 'memory.db'}", postgres_url):
        parts = parts_over(url)
        parts.remember("harbour.md", HARBOUR)
        asked = {"question": "tram harbour bakery 面包店", "max_tokens": 30, "max_frac_per_source": 1.0}
        before, hashes, window = (), [], Window(parts.clock.now, parts.clock.now)
        for _ in range(8):
            answer = parts.plan(**asked, exclusions=before, window=window)
            hashes.append((answer.plan.plan_hash, answer.plan.stats))
            before += given_by(answer)
        told.append(hashes)
        parts.close()
    assert told[0] == told[1]
    assert len({plan_hash for plan_hash, _ in told[0]}) > 3
