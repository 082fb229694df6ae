"""The contract's reasons, docs/errors.md and the classes of core/errors.py say the same."""

import json
import re
from pathlib import Path

import pytest
from google.rpc import error_details_pb2, status_pb2
from telha_planner.core import errors
from telha_planner.core.errors import RequestInvalid, TelhaError
from telha_planner.server.context import ContextSurface
from telha_planner.server.status import CODES, code_of, details_of, message_of

ROOT = Path(__file__).parents[2]
PROTO = (ROOT / "proto/telha/error/v1/error_reason.proto").read_text()
DOCUMENT = (ROOT / "docs/errors.md").read_text()
HTTP = {
    "INVALID_ARGUMENT": "400",
    "UNAUTHENTICATED": "401",
    "PERMISSION_DENIED": "403",
    "NOT_FOUND": "404",
    "FAILED_PRECONDITION": "422",
    "RESOURCE_EXHAUSTED": "429",
    "UNAVAILABLE": "503",
    "DEADLINE_EXCEEDED": "504",
    "INTERNAL": "500",
}
HTTP_BY_REASON = {"MESSAGE_TOO_LARGE": "413", "DOCUMENT_TOO_LARGE": "413", "CONTEXT_DISABLED": "404"}


def _classes() -> dict[str, type[TelhaError]]:
    found = [
        c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, TelhaError) and c is not TelhaError
    ]
    by_reason = {error.reason: error for error in found}
    assert len(by_reason) == len(found), "two classes share a reason"
    return {**by_reason, ContextSurface.INVALID_REASON: RequestInvalid}


def _proto() -> dict[str, dict[str, object]]:
    pattern = r"// Code: (\w+)(, with RetryInfo)?\. Example metadata: (\{.*\})\n\s+ERROR_REASON_(\w+) = "
    return {
        reason: {"code": code, "retry": bool(retry), "metadata": json.loads(metadata)}
        for code, retry, metadata, reason in re.findall(pattern, PROTO)
    }


def _document() -> dict[str, dict[str, object]]:
    sections = re.split(r"\n## ", DOCUMENT)[1:]
    pattern = (
        r"(\w+)\n\n- \*\*Code:\*\* (\w+) · \*\*HTTP:\*\* (\d+) · \*\*Details:\*\* ([\w, ]+)\n"
        r"- \*\*Cause:\*\* .+\n- \*\*Advice:\*\* .+\n- \*\*Message:\*\* `(.+)`\n- \*\*Metadata:\*\* `(.+)`"
    )
    found = {}
    for section in sections:
        match = re.match(pattern, section)
        assert match, section
        reason, code, http, details, message, metadata = match.groups()
        found[reason] = {
            "code": code,
            "http": http,
            "details": details.split(", "),
            "message": message,
            "metadata": json.loads(metadata),
        }
    return found


def test_every_reason_stands_in_contract_document_and_code():
    """A1: one list of reasons, three places."""
    in_proto = set(re.findall(r"ERROR_REASON_(\w+) = ", PROTO)) - {"UNSPECIFIED"}
    assert in_proto == set(_proto()) == set(_document()) == set(_classes())


def test_every_kind_has_one_code():
    """A1: every kind has one code."""
    assert set(CODES) == set(errors.Kind)
    assert len(set(CODES.values())) == len(CODES)


@pytest.mark.parametrize("reason", sorted(_classes()))
def test_a_reason_is_sent_as_documented(reason):
    """A1: code, details, message and metadata of every failure are the documented ones."""
    documented, contract, error_class = _document()[reason], _proto()[reason], _classes()[reason]
    metadata = dict(documented["metadata"])
    if "limit" in metadata:
        metadata["limit"] = int(metadata["limit"])
    if reason == "RATE_LIMITED":
        metadata["retry_after_ms"] = 7
    error = error_class(**metadata)
    assert code_of(error).name == documented["code"] == contract["code"]
    assert message_of(error) == documented["message"]
    status = status_pb2.Status.FromString(details_of(error, reason))
    assert status.code == code_of(error).value[0]
    assert [detail.TypeName().rpartition(".")[2] for detail in status.details] == documented["details"]
    info = error_details_pb2.ErrorInfo.FromString(status.details[0].value)
    assert (info.domain, info.reason, dict(info.metadata)) == ("telha.dev", reason, documented["metadata"])
    assert ("RetryInfo" in documented["details"]) == contract["retry"] == (error.retry_after_ms is not None)
    assert contract["metadata"] == documented["metadata"]
    assert documented["http"] == HTTP_BY_REASON.get(reason, HTTP.get(documented["code"]))
    row = rf"\| \[{reason}\]\(#{reason}\) \| {documented['code']} \| {documented['http']} \| (.+) \|"
    (repeat,) = re.findall(row, DOCUMENT)
    assert (repeat == "after the delay") == contract["retry"]
