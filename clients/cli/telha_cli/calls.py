"""
Calls of the planner as the commands need them: client in, the JSON of REST out, failures as problems.

Rule: what a command prints with `--json` has the shape that the gateway answers, so that a script may change from one
to the other.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from telha_client import (
    Client,
    Document,
    Fragment,
    InsufficientEvidence,
    InvalidRequest,
    NotFound,
    PermissionDenied,
    TelhaError,
    Trace,
    Unauthenticated,
    as_json,
    trace_hash,
)

from . import documents, instants, target
from .problems import Problem, UsageInvalid

Json = dict[str, Any]
LARGEST_PAGE = 1000
"""Most entries that a list of the server gives at once."""
_INGEST_S = 3600.0
"""With an embedder a batch can take a minute; the one who waits has a bar, and Ctrl-C."""
_REEMBED_S = 600.0
"""A batch is a second of work, unless a remote embedder asks to wait."""
_OF_ONE_DOCUMENT = ("name", "uri", "content", "content_bytes", "source_id")
"""Fields whose fault leaves the other documents of a batch in order; space and time are the same for all."""


class DocumentRefused(Exception):
    """
    The server refuses one document of a batch, and with it the batch.

    Attributes:
        index: Which.
        reason: The rule it breaks.
    """

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(reason)
        self.index, self.reason = index, reason


@contextmanager
def opened(address: str | None, key: str | None, data: Path | None, environ: Mapping[str, str]) -> Iterator["Service"]:
    """
    The server that the arguments and the environment name, for the length of a block.

    Raises:
        Problem: None is found, or a call in the block fails.
    """
    with connected(target.find(address, key, data, environ)) as client:
        yield Service(client)


@contextmanager
def connected(found: target.Target) -> Iterator[Client]:
    """As `opened`, the client itself, of a server that was found."""
    try:
        with Client(found.address, found.key) as client:
            yield client
    except TelhaError as error:
        problem = problem_of(error, found.address)
        if isinstance(error, Unauthenticated):
            problem.hint = f"asked {found.address}; {found.origin}"
        raise problem from None
    except ValueError as wrong:
        raise Problem("UNAUTHENTICATED", str(wrong), hint=f"for {found.address}; {found.origin}") from None


def reading(valid_at: str | None, tx_at: str | None, spaces: Sequence[str] | None, **options: Any) -> Json:  # noqa: ANN401  # passed on
    """
    Arguments of a command as keyword arguments of the client; what was not given is left out.

    Raises:
        UsageInvalid: An instant is none, or nothing is asked.
    """
    if options.get("question") is None and options.get("find") is None:
        raise UsageInvalid("QUESTION", "is required, or --find TYPE, or both")
    return given(**options, spaces=spaces or None, **window(valid_at, tx_at))


def window(valid_at: str | None, tx_at: str | None) -> Json:
    """The two instants, read; what was not given is left out."""
    return {
        name: instants.parse(flag, text)
        for name, flag, text in (("valid_time", "--valid-at", valid_at), ("tx_time", "--tx-at", tx_at))
        if text is not None
    }


def conditions(text: str | None) -> Json | None:
    """
    The `where` that *text* is.

    Raises:
        UsageInvalid: It is not a JSON object.
    """
    if text is None:
        return None
    try:
        read = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as fault:
        raise UsageInvalid("--where", f"must be a JSON object: {fault}") from None
    if not isinstance(read, dict):
        raise UsageInvalid("--where", "must be a JSON object")
    return read


def listed(text: str | None) -> list[str] | None:
    """The words of a list with commas."""
    return None if text is None else [word.strip() for word in text.split(",")]


def given(**options: Any) -> Json:  # noqa: ANN401  # passed on
    """Only the options that say something."""
    return {name: value for name, value in options.items() if value is not None}


class Service:
    """The planner, answering JSON."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def context(self, options: Json) -> Json:
        """Items by score."""
        return _json(self._client.memory.context(**options))

    def plan(self, options: Json) -> Json:
        """Spans in canonical order."""
        return _json(self._client.plan(**options))

    def select(self, fragments: Sequence[Fragment], options: Json) -> Json:
        """A selection from the caller's own pool."""
        return _json(self._client.select(fragments, **options))

    def ingest(
        self, batch: Sequence[documents.Document], space: str | None, valid_from: int | None, once: str | None
    ) -> list[Json]:
        """
        Write a batch, streamed if it is one large document, and say what became of each.

        Args:
            once: An idempotency key.

        Raises:
            DocumentRefused: One of them breaks a rule; nothing was written.
            MessageTooLarge: Together they are more than the server accepts; nothing was written.
        """
        sent = [
            Document(
                name=document.name,
                content=document.content,
                uri=document.uri,
                space=space,
                media_type=document.media_type,
                valid_from=valid_from,
            )
            for document in batch
        ]
        try:
            answer = self._client.memory.ingest(sent, idempotency_key=once, timeout=_INGEST_S)
        except InvalidRequest as fault:
            index, inner = _document_of(fault.field or "")
            if index is None or inner not in _OF_ONE_DOCUMENT:
                raise
            raise DocumentRefused(index, f"{inner} {fault.rule}") from None
        again = {"replayed": True} if answer.replayed else {}
        return [{**_json(document), **again} for document in answer.documents]

    def put(self, kind: str, records: Sequence[Any], once: str | None) -> int:
        """
        Write *records* of a kind (`nodes`, `edges`, `clarifications`, `artifacts`); the commit's transaction time.

        Args:
            once: An idempotency key.
        """
        memory = self._client.memory
        write: dict[str, Callable[..., Any]] = {
            "artifacts": memory.put_artifacts,
            "nodes": memory.put_nodes,
            "edges": memory.put_edges,
            "clarifications": memory.put_clarifications,
        }
        return int(write[kind](records, idempotency_key=once).tx)

    def trace(self, trace_id: str) -> Json:
        """One trace."""
        return trace_json(self._client.trace(trace_id))

    def replayed(self, trace_id: str, *, explain: bool) -> Json:
        """A trace's plan made anew beside what was recorded."""
        return _json(self._client.replay(trace_id, explain=explain))

    def differing(self, trace_id: str, other_trace_id: str) -> Json:
        """How the plan of one trace differs from that of another."""
        return _json(self._client.diff(trace_id, other_trace_id))

    def delete_trace(self, trace_id: str) -> Json:
        """What was listed of a trace that is erased now."""
        answer: Json = _json(self._client.delete_trace(trace_id))
        return answer

    def verified(self, trace_id: str) -> Json:
        """
        Whether the plan hash of one trace is that of its record.

        Raises:
            Problem: The record does not hold what the hash covers.
        """
        trace = self._client.trace(trace_id)
        try:
            computed = trace_hash(trace)
        except ValueError as fault:
            raise Problem("TRACE_UNVERIFIABLE", f"{fault}") from None
        recorded = trace.summary.plan_hash
        return {"traceId": trace_id, "planHash": recorded, "recomputed": computed, "verified": computed == recorded}

    def traces(self, limit: int, token: str = "", **filters: Any) -> Json:  # noqa: ANN401  # passed on
        """At most *limit* traces, newest first, behind the list that ended with *token*; a token if there are more."""
        found: list[Json] = []
        while len(found) < limit:
            page = self._client.traces(**filters, page_size=min(LARGEST_PAGE, limit - len(found)), page_token=token)
            found += [_json(summary) for summary in page.items]
            token = page.next_page_token
            if not token:
                break
        return {"traces": found, **({"nextPageToken": token} if token else {})}

    def sources(self, spaces: Sequence[str], limit: int, token: str = "") -> Json:
        """At most *limit* sources by id, behind the list that ended with *token*; a token if there are more."""
        found: list[Json] = []
        while len(found) < limit:
            page = self._client.memory.sources(
                spaces, page_size=min(LARGEST_PAGE, limit - len(found)), page_token=token
            )
            found += [_json(source) for source in page.items]
            token = page.next_page_token
            if not token:
                break
        return {"sources": found, **({"nextPageToken": token} if token else {})}

    def source(self, source_id: str, *, include_text: bool, **instants_read: int) -> Json:
        """One source."""
        answer = _json(self._client.memory.source(source_id, include_text=include_text, **instants_read))
        return {**answer["source"], **({"text": answer["text"]} if "text" in answer else {})}

    def name_of(self, source_id: str) -> str | None:
        """The name of a source; None where the key may not read it, or where it is not true now."""
        return name_of(self._client, source_id)

    def query(self, find: str, limit: int, options: Json, token: str = "") -> Json:
        """At most *limit* nodes by id, behind the list that ended with *token*; a token if there are more."""
        found: list[Json] = []
        answer: Json = {}
        while len(found) < limit and (token or not answer):
            size = min(LARGEST_PAGE, limit - len(found))
            answer = _json(self._client.memory.query(find, page_size=size, page_token=token, **options))
            found += answer["nodes"]
            token = answer.get("nextPageToken", "")
        nodes = [{**node, "properties": _in_order(node["properties"])} for node in found]
        return {**answer, "nodes": nodes}

    def reembed(self, cursor: str) -> Json:
        """One batch of a move to the configured model."""
        return _json(self._client.memory.reembed(cursor, timeout=_REEMBED_S))

    def erase(self, source_id: str, once: str | None) -> Json:
        """
        The receipt of an erasure.

        Args:
            once: An idempotency key.
        """
        answer = _json(self._client.memory.erase_source(source_id, idempotency_key=once))
        return {("txTime" if name == "tx" else name): value for name, value in answer.items()}


def name_of(client: Client, source_id: str, version: int | None = None) -> str | None:
    """The name of a source, or of one version; None where the key may not read it, or where it is not true now."""
    try:
        return client.memory.source(source_id, version=version).source.name
    except (NotFound, PermissionDenied):
        return None


def trace_json(trace: Trace) -> Json:
    """*trace* as REST answers it."""
    answer = _json(trace)
    left_out = {name: answer[name] for name in ("poolLeftOut", "explainedLeftOut", "erasedItems") if answer.get(name)}
    return {**answer["summary"], "record": _in_order(answer["record"]), **left_out}


def problem_of(error: TelhaError, address: str) -> Problem:
    """A failed call in the user's words."""
    if not error.reason and error.code == "UNAVAILABLE":
        return Problem("UNAVAILABLE", f"no telha answers at {address}", hint="is `telha up` running there?")
    extra: dict[str, str | int] = {}
    if error.field is not None and error.rule is not None:
        extra |= {"field": error.field, "rule": error.rule}
    hint: str | None = None
    if isinstance(error, InsufficientEvidence):
        extra["traceId"] = error.trace_id
        if error.below_floor:
            found = (
                "1 node was found and is"
                if error.below_floor == 1
                else f"{error.below_floor:,} nodes were found and are"
            )
            hint = f"{found} below the floor of {error.min_similarity:g}: --min-similarity 0 switches it off"
        if error.excluded:
            before = f"{error.excluded:,} found and given before, by the calls that --exclude names"
            hint = f"{before}; {hint}" if error.below_floor else before
    if error.request_id:
        extra["requestId"] = error.request_id
    if error.retry_after is not None:
        extra["retryAfterMs"] = round(error.retry_after * 1000)
    return Problem(error.reason or error.code, error.message, hint=hint, extra=extra)


def _in_order(value: Any) -> Any:  # noqa: ANN401  # any JSON value
    """*value* with the keys of every object sorted: the wire carries them in no order."""
    if isinstance(value, Mapping):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(inner) for inner in value] if isinstance(value, list) else value


def _once(pairs: list[tuple[str, Any]]) -> Json:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a name is given twice")
    return members


def _json(answer: object) -> Json:
    told: Json = as_json(answer)
    return told


def _document_of(field: str) -> tuple[int | None, str]:
    """The index and inner field of `documents[3].content`; a streamed document is the only one of its call."""
    if field == "chunk":
        return 0, "content"
    if field.startswith("header."):
        return 0, field.removeprefix("header.")
    if not field.startswith("documents["):
        return None, field
    index, _, inner = field.removeprefix("documents[").partition("]")
    return (int(index) if index.isdecimal() else None), inner.lstrip(".")
