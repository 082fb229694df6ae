"""Subjects of an explanation on the wire, in messages that have room and in messages that have none."""

from telha.planner.v1 import explanation_pb2
from telha_planner.core.explained import ExplainedNode, ExplainedSubject, Explanation, TimeAxis, Verdict
from telha_planner.core.model import SpanRef
from telha_planner.core.request import Leg
from telha_planner.core.subject import SourceSubject
from telha_planner.server.translate_explanation import explanation_message

SPAN = SpanRef(bytes(range(16)), -7, 3, 9)


def a_node(verdict: Verdict, **changes) -> ExplainedNode:
    given = {"score": None, "ranks": (), "axis": None, "since": None, "until": None, "instead": None}
    return ExplainedNode(bytes(16), "passage", SPAN, verdict, because="because", **(given | changes))


def an_explanation(*subjects: ExplainedSubject) -> Explanation:
    return Explanation((), 0, 800, 64, None, subjects, is_told=False)


def test_every_verdict_and_axis_has_its_value_on_the_wire():
    """A1: no verdict is sent as unspecified, and none of the contract is left over."""
    names = {name.removeprefix("VERDICT_") for name in explanation_pb2.Verdict.DESCRIPTOR.values_by_name} - {
        "UNSPECIFIED"
    }
    assert {verdict.name for verdict in Verdict} == names
    subject = ExplainedSubject(SPAN, Verdict.NOT_VISIBLE, (), 0, tuple(map(a_node, Verdict)), 5, "why")
    (told,) = explanation_message(an_explanation(subject), 1 << 20).subjects
    assert [explanation_pb2.Verdict.Name(node.verdict) for node in told.nodes] == [
        f"VERDICT_{verdict.name}" for verdict in Verdict
    ]
    axes = [explanation_pb2.TimeAxis.Name(value) for value in explanation_pb2.TimeAxis.values()][1:]
    assert axes == [f"TIME_AXIS_{axis.name}" for axis in TimeAxis]


def test_what_is_absent_stays_absent_and_zero_is_told():
    """A1: an interval without beginning or end, an instant of 1970, ranks, and the span in its place."""
    node = a_node(
        Verdict.NOT_VISIBLE, axis=TimeAxis.TX_TIME, since=0, instead=SPAN, ranks=((Leg.LEXICAL, 65), (Leg.SEMANTIC, 2))
    )
    subject = ExplainedSubject(SourceSubject("ملف 🧑‍🚀.md", "α > β"), Verdict.NOT_VISIBLE, (), 0, (node,), 0, "why")
    (told,) = explanation_message(an_explanation(subject), 1 << 20).subjects
    (sent,) = told.nodes
    assert sent.HasField("since_us")
    assert sent.since_us == 0
    assert not sent.HasField("until_us")
    assert (sent.instead.source_version_tx, sent.instead.start, sent.instead.end) == (-7, 3, 9)
    assert [(rank.leg, rank.rank) for rank in sent.ranks] == [(3, 65), (2, 2)]
    assert (told.subject.source.source, told.subject.source.section) == ("ملف 🧑‍🚀.md", "α > β")


def test_subjects_are_answered_even_where_there_is_little_room():
    """X6: what is told of nodes gives way and is counted; verdicts and sentences stay."""
    nodes = (a_node(Verdict.NOT_FOUND), a_node(Verdict.NOT_FOUND))
    subjects = [ExplainedSubject(SourceSubject(f"{n}.md"), Verdict.NOT_FOUND, (), 3, nodes, 4, "why") for n in range(9)]
    whole = explanation_message(an_explanation(*subjects), 1 << 20)
    assert [(len(one.nodes), one.nodes_left_out) for one in whole.subjects] == [(2, 4)] * 9
    room = whole.ByteSize() - whole.subjects[0].ByteSize()
    short = explanation_message(an_explanation(*subjects), room)
    assert short.ByteSize() <= room
    assert [one.because for one in short.subjects] == ["why"] * 9
    kept = [len(one.nodes) for one in short.subjects]
    assert kept == sorted(kept, reverse=True)
    assert 0 < sum(kept) < 18
    assert all(len(one.nodes) + one.nodes_left_out == 6 for one in short.subjects)
    assert {one.candidates_left_out for one in short.subjects} == {3}
