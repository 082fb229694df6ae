import pytest
from telha_gateway.field_paths import camel, in_rest_words, pointer_of
from telha_gateway.routes.planning import _RENAMES


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        ("question", "/question"),
        ("budget.max_tokens", "/budget/maxTokens"),
        ("pool[3].score", "/pool/3/score"),
        ("pool[3].span.source_version_tx", "/pool/3/span/sourceVersionTx"),
        ("pool[0].span_class", "/pool/0/class"),
        ("window.valid_time_us", "/window/validTime"),
        ("max_frac_per_source", "/maxFracPerSource"),
        ("query.find", "/find"),
        ("query.limit", "/limit"),
        ("query", "/find"),
        ("query_text", "/queryText"),
        ("vector.values[17]", "/vector/values/17"),
        ("nodes[2].valid_from_us", "/nodes/2/validFrom"),
        ("nodes[2].properties.max_size.a_us", "/nodes/2/properties/max_size/a_us"),
        ("query.where", "/where"),
        ("query.where.and[1].price", "/where/and/1/price"),
        ('query.where.and[1]["unit price"].gte', "/where/and/1/unit price/gte"),
        ('query.where["a.b[0]"].max_size_us', "/where/a.b[0]/max_size_us"),
        ('where["a/b~\\"]"].eq', '/where/a~1b~0"]/eq'),
        ('nodes[2].properties["a.b"][0].c_d', "/nodes/2/properties/a.b/0/c_d"),
        ("why_not[3].source.section", "/whyNot/3/section"),
        ("why_not[3].source.source", "/whyNot/3/source"),
        ("why_not[12].source", "/whyNot/12"),
        ("why_not[0].span.source_id", "/whyNot/0/span/sourceId"),
        ("why_not", "/whyNot"),
        ("", ""),
    ],
)
def test_a_wire_path_is_a_json_pointer(path, pointer):
    """A2: a wire path is a JSON pointer."""
    assert pointer_of(path, _RENAMES) == pointer


def test_rules_name_fields_as_rest_spells_them():
    """A2: rules name fields as REST spells them."""
    assert in_rest_words("must be after valid_from_us") == "must be after validFrom"
    assert in_rest_words("or query or vector is required") == "or find or vector is required"
    assert in_rest_words("must be between 0 and 2") == "must be between 0 and 2"


def test_units_of_time_are_dropped_from_names():
    """A2: units of time are dropped from names."""
    assert camel("recorded_us") == "recorded"
    assert camel("tx_time_us") == "txTime"
    assert camel("source_version_tx") == "sourceVersionTx"
