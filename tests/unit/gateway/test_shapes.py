import pytest
from telha_gateway.dto.graph import PutNodesRequest
from telha_gateway.dto.planning import PlanRequest, SelectRequest
from telha_gateway.faults import RequestFault
from telha_gateway.shapes import fault_of, shaped

SPAN = {"sourceId": "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10", "sourceVersionTx": 1, "start": 0, "end": 5}


@pytest.mark.parametrize(
    ("shape", "value", "pointer", "rule"),
    [
        (PlanRequest, [], "", "must be an object"),
        (PlanRequest, 3, "", "must be an object"),
        (PlanRequest, None, "", "must be an object"),
        (PlanRequest, {"where": []}, "/where", "must be an object"),
        (PlanRequest, {"filter": {}}, "/filter", "is not a known field"),
        (PlanRequest, {"tenant": "x"}, "/tenant", "is not a known field"),
        (PlanRequest, {"max_frac_per_source": 1}, "/max_frac_per_source", "is not a known field"),
        (PlanRequest, {"a/b~c": 1}, "/a~1b~0c", "is not a known field"),
        (PlanRequest, {"b` - at `$.question": 1}, None, "is not a known field"),
        (PlanRequest, {"budget": {"maxTokens": 1, "x": 2}}, "/budget/x", "is not a known field"),
        (PlanRequest, {"question": 5}, "/question", "must be a string"),
        (PlanRequest, {"budget": {"maxTokens": "5"}}, "/budget/maxTokens", "must be an integer"),
        (PlanRequest, {"budget": {"maxTokens": 5.5}}, "/budget/maxTokens", "must be an integer"),
        (PlanRequest, {"budget": {"maxTokens": True}}, "/budget/maxTokens", "must be an integer"),
        (
            PlanRequest,
            {"budget": {"maxTokens": 2**63}},
            "/budget/maxTokens",
            "must be at most 9,223,372,036,854,775,807",
        ),
        (PlanRequest, {"budget": {"maxTokens": 2**100}}, "/budget/maxTokens", "must"),
        (PlanRequest, {"budget": []}, "/budget", "must be an object"),
        (PlanRequest, {"expandDepth": -1}, "/expandDepth", "must be at least 0"),
        (PlanRequest, {"legs": ["graph"]}, "/legs/0", "must name structured, semantic or lexical"),
        (PlanRequest, {"legs": "lexical"}, "/legs", "must be an array"),
        (PlanRequest, {"vector": {}}, "/vector/values", "is required"),
        (PlanRequest, {"vector": {"values": [0.1, "x"]}}, "/vector/values/1", "must be a number"),
        (PlanRequest, {"vector": {"values": [0.1, None]}}, "/vector/values/1", "must be a number"),
        (PlanRequest, {"window": {"txTime": 1.5}}, "/window/txTime", "must be an RFC 3339 time"),
        (PlanRequest, {"allowUngrounded": 1}, "/allowUngrounded", "must be true or false"),
        (SelectRequest, {}, "/pool", "is required"),
        (
            SelectRequest,
            {"pool": [{"span": SPAN}, {"span": {**SPAN, "start": -1}}]},
            "/pool/1/span/start",
            "at least 0",
        ),
        (SelectRequest, {"pool": [{"span": SPAN, "class": "maybe"}]}, "/pool/0/class", "must be truth or cache"),
        (SelectRequest, {"pool": [{"span": {"sourceId": "x"}}]}, "/pool/0/span/sourceVersionTx", "is required"),
        (SelectRequest, {"pool": [{"span": SPAN, "score": 10**400}]}, "/pool/0/score", "must fit a 64-bit number"),
        (PutNodesRequest, {"nodes": [{"nodeId": "x", "type": "t", "properties": []}]}, "/nodes/0/properties", "object"),
    ],
)
def test_a_mismatch_is_named_with_place_and_rule(shape, value, pointer, rule):
    """C3, C7: unknown fields and wrong shapes are refused with a JSON pointer."""
    with pytest.raises(RequestFault) as refused:
        shaped(value, shape)
    assert rule in refused.value.rule
    if pointer is not None:
        assert refused.value.pointer == pointer


def test_null_means_left_out():
    """A2: null means left out."""
    assert shaped({"question": "q", "budget": None, "spaces": None}, PlanRequest) == PlanRequest(question="q")


def test_an_unforeseen_message_still_gives_the_place():
    """A2: an unforeseen message still gives the place."""
    fault = fault_of("Something new - at `$.pool[7].text`")
    assert (fault.pointer, fault.rule) == ("/pool/7/text", "is not valid")
