"""
`telha demo`: the whole system in one run, checked as it goes.

    start on free ports ──► ingest the examples ──► ask the corpus's questions ──► prove each answer ──► stop, tidy up

Rule: nothing is staged. Every number shown comes from the running system, and whatever is not as promised ends the demo
with exit code 1.
"""

import http.client
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text
from telha_client import Clarification, Client, Document, TelhaError, as_json, verify_hash

from . import calls, corpus, instants, render, up
from .corpus import Corpus, Question
from .folder import Connection
from .problems import Problem

Json = Mapping[str, Any]

_DEFAULT_TOKENS = 300
"""Budget of a question that names none: small enough that the packing has something to decide."""
_SPAN_LIMIT = 4
"""Items of an answer: a reader of the demo wants the best ones."""


def run(examples: Path, environ: Mapping[str, str]) -> None:
    """
    Show the system on the corpus in *examples*.

    Raises:
        Problem: Something is not as promised.
    """
    console = render.console()
    began = time.monotonic()
    shown = corpus.load(examples)
    stop = up.stop_at_signals()
    home = Path(tempfile.mkdtemp(prefix="telha-demo-"))
    try:
        _step(console, "Start", "The whole system, on free ports, in a folder of its own.")

        def tell(sentence: str) -> None:
            console.print(Text(sentence, style="dim"))

        with up.started(up.Options(home / "data", 0, 0), environ, stop, tell) as stack:
            try:
                _tour(console, stack.connection, examples, shown, stop.is_set)
            except TelhaError as error:
                raise calls.problem_of(error, stack.connection.grpc) from None
            _step(console, "Stop", "Drained, in reverse order; the folder is removed.")
    finally:
        shutil.rmtree(home, ignore_errors=True)
    _farewell(console, len(shown.questions), time.monotonic() - began)


def _tour(console: Console, at: Connection, examples: Path, shown: Corpus, interrupted: Callable[[], bool]) -> None:
    with Client(at.grpc, at.key) as client:
        _unless(interrupted)
        _step(console, "Remember", f"{shown.about}.")
        known_before = _remember(console, client, examples, shown)
        for number, question in enumerate(shown.questions, start=1):
            _unless(interrupted)
            _step(console, f"Ask {number} of {len(shown.questions)}", f"{question.about}.")
            _ask(console, client, at, question, known_before)


def _remember(console: Console, client: Client, examples: Path, shown: Corpus) -> dict[str, int]:
    """Ingest in order; returns for each file the instant just before memory knew it."""
    known_before: dict[str, int] = {}
    spans, last_tx, began = 0, 0, time.monotonic()
    for given in shown.documents:
        document = Document(
            name=given.name,
            content=(examples / given.file).read_bytes(),
            space=given.space,
            source_id=given.source_id,
            valid_from=None if given.valid_from is None else instants.parse("valid_from", given.valid_from),
        )
        answer = client.memory.ingest([document])
        known_before[given.file] = last_tx
        last_tx, (ingested,) = answer.tx, answer.documents
        spans += ingested.spans
        if ingested.outcome == "updated":
            told = f"{given.name} changed: {ingested.nodes_kept} nodes kept, {ingested.nodes_closed} closed"
            console.print(Text(f"{told}, {ingested.nodes_opened} opened; what it said before stays readable."))
    client.memory.put_clarifications(
        Clarification(clarification_id=c.clarification_id, node_id=c.node_id, state=c.state, question=c.question)
        for c in shown.clarifications
    )
    files, took = len(shown.documents), time.monotonic() - began
    told = f"{files} documents, {spans} spans, {len(shown.clarifications)} open question in {took:.1f} s."
    console.print(Text(told, style="dim"))
    return known_before


def _ask(console: Console, client: Client, at: Connection, question: Question, known_before: Mapping[str, int]) -> None:
    valid = None if question.valid_time is None else instants.parse("valid_time", question.valid_time)
    tx = None if question.known_before is None else known_before[question.known_before]
    limits = calls.given(
        max_tokens=question.max_tokens or _DEFAULT_TOKENS,
        max_spans=_SPAN_LIMIT,
        max_frac_per_source=question.max_frac_per_source,
        spaces=None if question.space is None else [question.space],
    )
    console.print(Text(f"“{question.question}”", style="bold"))
    if question.surface == "rest":
        body = _body(question.question, limits, calls.given(validTime=valid, txTime=tx))
        console.print(Text(f"POST {at.http}/v1/memory/context\n{json.dumps(body)}", style="dim"))
        answer = _by_rest(at, body)
    else:
        console.print(Text(_command(question.question, limits, valid, tx), style="dim"))
        answer = as_json(client.memory.context(question.question, valid_time=valid, tx_time=tx, **limits))
    console.print(Padding(render.context(answer), (1, 0)))
    skipped = answer["stats"].get("vectorLegSkipped") if question.by_meaning else None
    _prove(client, question if skipped is None else replace(question, expect=None), answer, limits)
    if skipped is not None:
        console.print(Text(f"Not searched by meaning: {skipped}; telha[embed] brings an embedder.", style="yellow"))
    elif question.expect is not None:
        console.print(Text(f"✓ contains “{question.expect}”", style="green"))
        if question.by_meaning:
            _prove_words_do_not_find(client, question.question, question.expect, limits)
            console.print(Text("✓ found by meaning: words alone do not lead there", style="green"))
    console.print(Text("✓ within budget; same hash again, from Plan too; trace found", style="green"))


def _prove_words_do_not_find(client: Client, question: str, expect: str, limits: dict[str, Any]) -> None:
    plan = client.plan(question, legs=["lexical"], allow_ungrounded=True, **limits)
    _hold(not any(expect in span.text for span in plan.spans), f"words alone find “{expect}” too")


def _prove(client: Client, question: Question, answer: Json, limits: dict[str, Any]) -> None:
    items, budget, window = answer["items"], answer["stats"]["budget"], answer["window"]
    _hold(budget["used"] <= budget["applied"] <= limits["max_tokens"], "an answer is beyond its budget")
    if question.expect is not None:
        _hold(any(question.expect in item["text"] for item in items), f"no item holds “{question.expect}”")
    if question.empty:
        _hold(not items, "an answer without evidence has items")
    plan = client.plan(
        question.question,
        valid_time=window["validTime"],
        tx_time=window["txTime"],
        allow_ungrounded=True,
        **limits,
    )
    _hold(verify_hash(plan), "a plan's hash is not that of the plan")
    _hold(plan.plan_hash == answer["planHash"], "the same request gave another plan")
    trace = client.trace(answer["traceId"]).summary
    _hold(trace.plan_hash == answer["planHash"] and trace.items == len(items), "a trace is not that of its answer")


def _body(question: str, limits: dict[str, Any], window: dict[str, Any]) -> dict[str, Any]:
    body = {"question": question, "budget": {"maxTokens": limits["max_tokens"], "maxSpans": limits["max_spans"]}}
    return body | calls.given(
        maxFracPerSource=limits.get("max_frac_per_source"), spaces=limits.get("spaces"), window=window or None
    )


def _by_rest(at: Connection, body: dict[str, Any]) -> Json:
    connection = http.client.HTTPConnection(at.http.removeprefix("http://"), timeout=30)
    try:
        headers = {"authorization": f"Bearer {at.key}", "content-type": "application/json"}
        connection.request("POST", "/v1/memory/context", json.dumps(body), headers)
        response = connection.getresponse()
        answer: Json = json.loads(response.read())
    except OSError as fault:
        raise Problem("UNAVAILABLE", f"REST does not answer: {fault}") from None
    finally:
        connection.close()
    if response.status != http.client.OK:
        raise Problem(str(answer.get("code", "FAILED")), f"REST answered {response.status}: {answer.get('detail')}")
    return answer


def _command(question: str, limits: dict[str, Any], valid: int | None, tx: int | None) -> str:
    words = [f'telha memory context "{question}"']
    words += [f"--space {space}" for space in limits.get("spaces", ())]
    words += [f"--{name.replace('_', '-')} {value}" for name, value in limits.items() if name != "spaces"]
    words += [f"--valid-at {instants.show(valid)}"] if valid is not None else []
    words += [f"--tx-at {instants.show(tx)}"] if tx is not None else []
    return " ".join(words)


def _hold(promise: bool, broken: str) -> None:
    if not promise:
        raise Problem("BROKEN_PROMISE", broken)


def _unless(interrupted: Callable[[], bool]) -> None:
    if interrupted():
        raise Problem("CANCELLED", "the demo was interrupted")


def _step(console: Console, title: str, about: str) -> None:
    console.print()
    console.print(Rule(Text(title, style="bold"), align="left", style="dim"))
    console.print(Text(about))


def _farewell(console: Console, answers: int, seconds: float) -> None:
    told = f"Shown in {seconds:.0f} s: {answers} answers, each within its budget, repeatable, its trace found."
    console.print()
    console.print(Text(told, style="bold green"))
    console.print(
        "Next, in this folder: make up, to start it and stay; then, in a second terminal:\n"
        "  .venv/bin/telha ingest docs/ README.md\n"
        '  .venv/bin/telha memory context "how is the plan hash computed?"'
    )
