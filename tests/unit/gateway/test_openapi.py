import json

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from telha_gateway import app, components, openapi, problems
from telha_gateway.config import GatewaySettings
from telha_gateway.dto.shape import MAX_OFFSET
from telha_gateway.shapes import shaped
from telha_gateway.viewer import site
from telha_planner.core import predicate, request, subject, value
from telha_planner.ingest.document import MEDIA_TYPES

DOCUMENT = json.loads(openapi.document(app.OPERATIONS))


def operations():
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def test_the_document_is_valid_openapi():
    """A2: an OpenAPI 3.1 document that tools accept."""
    assert DOCUMENT["openapi"] == "3.1.0"
    OpenAPIV31SpecValidator(DOCUMENT).validate()


def test_every_route_is_in_the_document_and_nothing_else():
    """A2: what is served is documented, and the other way round; beside it stands the viewer, a public page."""
    served = {
        (path.replace(":str}", "}"), method.lower())
        for route in app.create(GatewaySettings()).routes
        for path in [route.path]
        for method in route.methods
        if method not in {"OPTIONS", "HEAD"}  # of every path, and of every GET
    }
    viewer = {(path, "get") for path in site.PATHS}
    assert served == {(path, method) for path, method, _ in operations()} | viewer


def test_every_operation_can_become_a_client_method():
    """A2: ids are unique names, tags exist, each failure is the one problem shape, keys are asked for."""
    ids = [operation["operationId"] for _, _, operation in operations()]
    assert len(ids) == len(set(ids))
    assert all(name.isidentifier() for name in ids)
    tags = {tag["name"] for tag in DOCUMENT["tags"]}
    for path, _, operation in operations():
        assert set(operation["tags"]) <= tags
        assert operation["summary"]
        assert {"200"} <= set(operation["responses"])
        if path.startswith("/v1/"):
            assert "security" not in operation
            assert {"400", "401", "403", "500", "503", "504"} <= set(operation["responses"])
        else:
            assert operation["security"] == []
    for response in DOCUMENT["components"]["responses"].values():
        schema = response["content"]["application/problem+json"]["schema"]
        assert schema == {"$ref": "#/components/schemas/Problem"}


@pytest.mark.parametrize("operation", [op for op in app.OPERATIONS if op.body], ids=lambda op: op.id)
def test_every_example_is_a_request_that_is_taken(operation):
    """A2: every example is a request that is taken."""
    assert operation.example
    shaped(dict(operation.example), operation.body)


def test_requests_refuse_unknown_fields_and_answers_may_grow():
    """C3: unknown request fields are refused; responses only gain fields."""
    schemas = DOCUMENT["components"]["schemas"]
    assert schemas["PlanRequest"]["additionalProperties"] is False
    assert schemas["Budget"]["additionalProperties"] is False
    assert "additionalProperties" not in schemas["EvidencePlan"]


def test_null_means_left_out_in_requests_and_is_not_in_answers():
    """A2: requests take null for an optional field, and the document says so; answers leave the field out."""
    schemas = DOCUMENT["components"]["schemas"]
    request = schemas["PlanRequest"]
    assert "required" not in request
    assert request["properties"]["question"]["type"] == ["string", "null"]
    assert request["properties"]["window"] == {"anyOf": [{"$ref": "#/components/schemas/Window"}, {"type": "null"}]}
    free = {"Condition", "Where"}
    answers = {
        name: shape for name, shape in schemas.items() if "additionalProperties" not in shape and name not in free
    }
    assert {"EvidencePlan", "Problem", "Trace"} <= set(answers)
    assert '"null"' not in json.dumps(answers)


def test_the_document_tells_the_planners_own_bounds():
    """A2, C7: what the document allows is what the planner takes; schemathesis tries both sides of each bound."""
    schemas = DOCUMENT["components"]["schemas"]
    bounds = schemas["Budget"]["properties"]["maxTokens"]
    assert (bounds["minimum"], bounds["maximum"], bounds["format"]) == (1, MAX_OFFSET, "int64")
    assert schemas["PlanRequest"]["properties"]["limit"]["maximum"] == request.MAX_FIND_LIMIT
    assert schemas["PlanRequest"]["properties"]["question"]["maxLength"] == request.MAX_QUESTION_BYTES
    assert schemas["PlanRequest"]["properties"]["spaces"]["maxItems"] == request.MAX_SPACES
    assert schemas["PlanRequest"]["properties"]["whyNot"]["maxItems"] == subject.MAX_SUBJECTS
    assert schemas["WhyNot"]["properties"]["source"]["maxLength"] == subject.MAX_SUBJECT_BYTES
    assert schemas["WhyNot"]["properties"]["section"]["maxLength"] == subject.MAX_SUBJECT_BYTES
    assert schemas["QueryVector"]["properties"]["values"]["maxItems"] == value.MAX_DIMENSIONS
    assert schemas["SelectRequest"]["properties"]["pool"]["maxItems"] == request.MAX_FRAGMENTS
    assert set(schemas["Document"]["properties"]["mediaType"]["enum"]) == {*MEDIA_TYPES, None}
    assert set(schemas["Condition"]["properties"]) == set(predicate.OPERATORS)
    assert components.MAX_CHOICES == predicate.MAX_CHOICES
    assert components.MAX_FIELD_CHARACTERS == predicate.MAX_FIELD_BYTES
    assert components.MAX_VALUE_CHARACTERS == predicate.MAX_VALUE_BYTES


def test_typed_clients_get_wide_numbers_and_named_choices():
    """A5: generators take 32 bits where no width is named, and `unknown` where no type is."""

    def schemas(value):
        if isinstance(value, dict):
            if not isinstance(value.get("type"), dict):
                yield value
            for member in value.values():
                yield from schemas(member)
        elif isinstance(value, list):
            for member in value:
                yield from schemas(member)

    found = list(schemas(DOCUMENT))
    assert all(
        "format" in schema
        for schema in found
        if schema.get("type") in ("integer", "number", ["integer", "null"], ["number", "null"])
    )
    assert all(
        schema["type"] in ("string", ["string", "null"]) for schema in found if isinstance(schema.get("enum"), list)
    )
    assert any("enum" in schema for schema in found)


def test_every_code_has_a_title():
    """A2: every code has a title."""
    assert set(DOCUMENT["components"]["schemas"]["Problem"]["properties"]["code"]["examples"]) == set(problems.TITLES)
