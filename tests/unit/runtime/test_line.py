"""The line before whatever is scarce: nobody keeps others out, and time is shared, whatever a turn costs."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from telha_runtime.line import FairLine, Holder

A, B, C = (Holder(tenant, "key") for tenant in "abc")


def filled(*pushes, most=4):
    """A line after *pushes* of (holder, item), and what was refused or pushed out."""
    line, gone = FairLine(), []
    for holder, item in pushes:
        lost = line.push(holder, item, most)
        if lost is not None:
            gone.append(lost)
    return line, gone


def drained(line, cost=lambda _: 1.0):
    """Whose turns came, in order."""
    order = []
    while (found := line.pop()) is not None:
        order.append(found)
        line.served(found[0], cost(found[0]))
    return order


def test_one_holder_may_have_the_whole_line_and_is_served_in_order():
    """A1: a lone caller loses nothing by fairness; the one beyond the line is refused itself."""
    line, gone = filled(*((A, number) for number in range(6)))
    assert gone == [4, 5]
    assert [item for _, item in drained(line)] == [0, 1, 2, 3]


def test_who_holds_most_makes_room_with_the_newest():
    """A1: one tenant that asks without end cannot keep another out."""
    line, gone = filled(*((A, f"a{number}") for number in range(4)), (B, "b0"), (B, "b1"), (B, "b2"))
    assert gone == ["a3", "a2", "b2"]
    assert Counter(holder for holder, _ in drained(line)) == {A: 2, B: 2}


def test_keys_of_one_tenant_share_its_places():
    """A1: neither can one key keep out the others of its tenant, nor do many keys make a larger share."""
    keys = [Holder("a", key) for key in ("one", "two")]
    line, gone = filled(*((keys[0], number) for number in range(4)), (keys[1], "late"), (B, "b0"), (B, "b1"), (B, "b2"))
    assert gone == [3, 2, 1, "b2"]
    assert Counter(holder for holder, _ in drained(line)) == {keys[0]: 1, keys[1]: 1, B: 2}


def test_time_is_shared_and_not_turns():
    """A1: a tenant whose work takes ten times as long has a tenth of the turns."""
    line = FairLine()
    for number in range(40):
        line.push(A, number, 100)
        line.push(B, number, 100)
    order = drained(line, lambda holder: 10.0 if holder == A else 1.0)
    first = Counter(holder for holder, _ in order[:22])
    assert first[A] <= 3
    assert first[B] >= 19


def test_a_pause_earns_no_credit():
    """A1: who was away takes turns with those who stayed; it does not make up for what it never asked."""
    line = FairLine()
    for number in range(50):
        line.push(A, number, 100)
    for _ in range(30):
        holder, _ = line.pop()
        line.served(holder, 1.0)
    for number in range(10):
        line.push(B, number, 100)
    order = [holder for holder, _ in drained(line)][:10]
    assert Counter(order) == {A: 5, B: 5}


def test_what_is_taken_out_is_gone_and_gives_its_place_back():
    """A1: a caller that has left holds nothing."""
    line, _ = filled((A, "x"), (B, "y"), most=2)
    assert line.remove(A, "x")
    assert not line.remove(A, "x")
    assert line.push(C, "z", 2) is None
    assert {item for _, item in drained(line)} == {"y", "z"}
    assert len(line) == line.bounded == 0


def test_what_does_not_count_is_never_pushed_out():
    """A1: work of the planner's own takes nobody's place and keeps its own."""
    line = FairLine()
    line.push(A, "slice", None)
    assert line.push(A, "plan", 1) is None
    assert line.push(B, "other", 1) == "other"
    assert line.push(A, "more", 1) == "more"
    assert {item for _, item in drained(line)} == {"slice", "plan"}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.booleans()), max_size=60), st.integers(1, 6))
def test_the_line_is_bounded_and_shared_whatever_comes(steps, most):
    """A1: no more than may wait do; who was just let in holds no more than one place above any that lost one for it."""
    line, held = FairLine(), Counter()
    for number, (tenant, key, takes) in enumerate(steps):
        holder = Holder(tenant, key)
        gone = line.push(holder, (tenant, number), most)
        held[tenant] += 1
        if gone is not None:
            held[gone[0]] -= 1
            assert held[gone[0]] >= held[tenant] - 1
            assert held[tenant] <= max(held.values())
        if takes:
            found = line.pop()
            held[found[0].tenant] -= 1
            line.served(found[0], 0.5)
        assert line.bounded == len(line) == sum(held.values()) <= most
