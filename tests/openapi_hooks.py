"""
What schemathesis loads beside our document: the rules that no JSON Schema can say, and checks of our own.

A request that the document allows must be accepted, unless the answer names one of these rules. A rule that is not here
and that the document does not say is a defect of the document.
"""

import json
import os
import re
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

import schemathesis
from schemathesis.core.failures import Failure

KEPT = set(os.environ.get("FUZZING_KEEPS", "").split())
"""Tenant and key that the round itself needs."""
_RULES = (
    # two fields together
    "must be (?:after validFrom.*|greater than start|absent beside (?:text|a question))",
    "or (?:contentBase64|tokens|find or vector) is required",
    "is required (?:beside|without) a question",
    "must not be given without find",
    "must not name (?:spaces beside \\*|the (?:structured|lexical) leg without a \\w+)",
    "must (?:equal the text given before for the same coordinate|name one space)",
    "must have a source or a span, and not both",
    "belongs to a source, not to a span",
    "must be at least minUsedShare",
    "must not stand twice (?:in one batch|on one node)",
    # what memory holds
    "must be a (?:node that exists|node of the same space as fromNodeId)",
    "must be a span of a source that exists in the node's space",
    "must be at most \\d+, the length of the (?:source|text)",
    "must be (?:the|a) token of (?:the|a) previous page.*",
    "must be a trace that this key may read",
    "must be a model that this memory has vectors of",
    "must hold \\d+ values.*",
    "must not name a node that ingestion made",
    "must not fall inside a character",
    # bytes, white space and numbers as the planner counts them
    "must be at most [\\d,]+ bytes(?: as JSON)?",
    "must not be (?:blank|the zero vector|nested (?:so deep|deeper than \\d+ levels))",
    "must be within ±\\(2\\^53 - 1\\), or a string",
    # what is inside a text
    "must be (?:an instant that exists|UTF-8; .*|base64 with padding)",
    "must not be finer than a microsecond",
    "must (?:show some text|hold a turn|hold a word to look for)",
    'must be (?:JSON|\\{"turns").*|line \\d+.*|turns?.*|messages?.*',
    # names of fields in `where`
    "is not known; beside properties there are .*",
    "must not (?:end in a backslash that nothing follows|have an empty name)",
    "is one condition more than the \\d+ allowed",
    # keys, artifacts, cursors
    "must lie ahead|must be between 0 and 9,223,372,036,854,775,806",
    "is the name of a deleted tenant.*",
    "must be absent beside the right operator",
    "must name spaces, or be absent for every space",
    "holds [\\d,]+ keys that have not ended, and may hold no more",
    "must be a source that exists in the artifact's space",
    "must not (?:be the artifact itself|name a (?:document|derived artifact).*)",
    "must be the nextCursor of the call before",
)
RULES_ACROSS_FIELDS = re.compile("|".join(_RULES))
IN_PATH_AND_HEADER = {"id", "other", "name", "space", "Idempotency-Key"}
UNANSWERABLE = {"INSUFFICIENT_EVIDENCE", "VECTOR_LEG_UNAVAILABLE", "IDEMPOTENCY_KEY_REUSED"}
"""Codes of well-formed requests that cannot be answered (422)."""


@schemathesis.hook
def before_load_schema(_, raw_schema):
    """
    Nest conditions once only, and in a query alone.

    They have one grammar wherever they stand, and a shape without end costs the coverage phase minutes.
    """
    schemas = raw_schema["components"]["schemas"]
    schemas["Conditions"] = {
        "type": "object",
        "minProperties": 1,
        "propertyNames": schemas["Where"]["propertyNames"],
        "additionalProperties": {"$ref": "#/components/schemas/Condition"},
    }
    nested = {"$ref": "#/components/schemas/Conditions"}
    groups = schemas["Where"]["properties"]
    groups["not"] = nested
    for name in ("and", "or"):
        groups[name] = {**groups[name], "items": nested}
    for name in ("PlanRequest", "ContextRequest"):
        schemas[name]["properties"]["where"] = {"anyOf": [nested, {"type": "null"}]}


@schemathesis.hook
def before_call(_, case, __):
    """Let the round not end itself, and give every write an idempotency key of its own."""
    for name in ("name", "id"):
        if case.path_parameters.get(name) in KEPT:
            case.path_parameters[name] = "another"
    key = case.headers.get("Idempotency-Key")
    if isinstance(key, str) and re.fullmatch("[!-~]{1,255}", key):
        case.headers["Idempotency-Key"] = f"{key}{uuid4().hex}"[-255:]


@schemathesis.hook
def filter_failure(_, failure, __, response):
    """Accept that a rule across fields, or an empty memory, refuses what the schema of each field allows."""
    if type(failure).__name__ == "MissingHeaderNotRejected":
        # The command line's own header is put back where a case leaves it out; then nothing was missing.
        return "authorization" not in {name.lower() for name in response.request.headers}
    if type(failure).__name__ == "EnsureResourceAvailability":
        # `before_call` has put this name in the place of what the round itself needs.
        return not urlsplit(response.request.url).path.endswith("/another")
    if type(failure).__name__ == "AcceptedNegativeData":
        # A document that is sent as it is comes as bytes: what was no string before it was written is one then.
        return not urlsplit(response.request.url).path.endswith("/documents") or "in body" not in failure.message
    if type(failure).__name__ != "RejectedPositiveData":
        return True
    problem = json.loads(response.content)
    if problem["status"] == 422:
        return problem["code"] not in UNANSWERABLE
    pointer = problem.get("pointer") or ""
    _, _, rule = problem["detail"].partition(f"{pointer or 'the body'} ")
    if rule == "must not contain U+0000":
        # Of documents as they are, and of names of properties, no schema says it; of every other text ours does.
        return bool(pointer) and "/properties" not in pointer
    return RULES_ACROSS_FIELDS.fullmatch(rule) is None


@schemathesis.check
def problems_are_whole(_, response, __):
    """Every refusal is a problem document that agrees with its own head and tells nothing of our inside."""
    if response.status_code < 400 or not response.content:
        return
    problem = json.loads(response.content)
    heads = {name.lower(): values[0] for name, values in response.headers.items()}
    faults = [
        words
        for words, holds in (
            ("status", problem["status"] == response.status_code),
            ("requestId", problem["requestId"] == heads.get("x-request-id")),
            ("type", problem["type"] == f"https://telha.dev/errors#{problem['code']}"),
            ("retry-after", ("retryAfterMs" in problem) == ("retry-after" in heads)),
            ("inside", b"Traceback (most recent" not in response.content),
        )
        if not holds
    ]
    if faults:
        raise Failure(operation="", title="Problem disagrees with itself", message=", ".join(faults))


@schemathesis.check
def pointers_lead_to_the_fault(_, response, __):
    """A pointer leads to a place in what was sent, or to the one that is missing there."""
    if response.status_code != 400:
        return
    pointer = json.loads(response.content).get("pointer")
    if not pointer or pointer.endswith("…"):
        return
    *steps, last = (step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
    request = response.request
    named = {name for name, _ in parse_qsl(urlsplit(request.url).query, keep_blank_values=True)} | IN_PATH_AND_HEADER
    if [*steps, last][0] in named:
        return
    try:
        place = json.loads(request.body or b"null")
    except ValueError:
        return
    try:
        for step in steps:
            place = place[int(step)] if isinstance(place, list) else place[step]
        found = isinstance(place, dict) or (isinstance(place, list) and int(last) < len(place))
    except (KeyError, IndexError, ValueError, TypeError):
        found = False
    if not found:
        raise Failure(operation="", title="Pointer leads nowhere", message=pointer)
