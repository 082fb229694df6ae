"""What operators and their tools hand in: settings, records, labelled sets, answers of an embedding endpoint."""

import gzip
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fuzz.target import Target, law
from pydantic import BaseModel
from telha_cli import records
from telha_cli.problems import Problem, UsageInvalid
from telha_gateway import config as of_gateway
from telha_planner import config as of_planner
from telha_planner.evaluation import dataset
from telha_planner.evaluation.dataset import DatasetInvalid
from telha_planner.models.embedders import http
from telha_planner.models.embedders.seam import EmbedderFailed
from telha_runtime import settings
from telha_trace_writer import config as of_writer

_SERVICES: list[tuple[type[BaseModel], frozenset[str]]] = [
    (of_planner.PlannerConfig, of_planner.FOREIGN_SECTIONS),
    (of_gateway.GatewayConfig, of_gateway.FOREIGN_SECTIONS),
    (of_writer.WriterConfig, of_writer.FOREIGN_SECTIONS),
]
_SECRET = "hunter2-hunter2-hunter2"
_DIMENSIONS = 4
_MOST = 1 << 20


def _tables() -> Iterator[bytes]:
    yield b"""[planner]
default_budget = 900
max_frac_per_source = 0.5
[planner.kind_priors]
paragraph = 0.9
[planner.scoring]
sharpening = 16
[context]
enabled = true
[tokens.models."some-model"]
encoding = "cl100k_base"
context_window = 8000
[server]
host = "::1"
port = 0
[trace]
internal_token = "hunter2-hunter2-hunter2"
[gateway]
port = 7380
"""
    yield b"[server]\nport = 70000\ntls_key = 5\n#TELHA_GATEWAY__PORT=80\n#TELHA_PLANNER__KIND_PRIORS__CODE=nan\n"
    yield b"[store]\nurl = 'sqlite:///x'\n[writer]\nbatch_entries = 5\n#TELHA_TRACE__INTERNAL_TOKEN=[1]\n"


def _settings(data: bytes) -> bool:
    environ = {}
    for line in data.decode("utf-8", "surrogateescape").split("\n"):
        name, equals, value = line.removeprefix("#").partition("=")
        if line.startswith("#") and equals and name and "\0" not in line:
            environ[name] = value
    accepted = False
    with tempfile.NamedTemporaryFile(prefix="fuzz-", suffix=".toml") as file:
        file.write(data)
        file.flush()
        for model, foreign in _SERVICES:
            try:
                found = settings.load(model, Path(file.name), environ, foreign_sections=foreign)
            except settings.SettingsInvalid as refused:
                law(refused.faults and all(refused.faults), "a refusal says nothing")
                law(f"= {_SECRET}" not in str(refused) and f'= "{_SECRET}' not in str(refused), "a secret is shown")
                continue
            accepted = True
            json.dumps(found.model_dump(mode="json"), allow_nan=False)
    return accepted


_NODE = """{"nodes": [{"nodeId": "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10", "type": "service", "properties": {"tier": 1},
"validFrom": "2026-06-30T12:00:00Z", "provenance": [{"sourceId": "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10",
"sourceVersionTx": 1, "start": 0, "end": 2}], "vector": {"model": "m", "values": [0.5, 1]}}]}"""


def _records() -> Iterator[bytes]:
    yield _NODE.replace("\n", " ").encode()
    yield b'{"edges": [{"edgeId": "a", "fromNodeId": "b", "toNodeId": "c", "type": "t", "validTo": 5}]}'
    yield b'{"clarifications": [{"clarificationId": "a", "nodeId": "b", "state": "pending", "question": "?"}]}'
    yield b'{"artifacts": [{"artifactId": "a", "name": "n", "text": "t", "derivedFrom": ["x"]}]}'
    yield b'{"artifactId": "a", "name": "n", "text": "t", "derivedFrom": [], "validFrom": "2026-06-30T12:00:00.5Z"}'


def _lines(data: bytes) -> bool:
    with tempfile.NamedTemporaryFile(prefix="fuzz-", suffix=".jsonl") as file:
        file.write(data)
        file.flush()
        try:
            # A whole artifact on a line is told from a batch by its first member, as the command line tells it by --as.
            found = records.read([Path(file.name)], "main", artifacts=data.startswith(b'{"artifactId"'))
        except (Problem, UsageInvalid) as refused:
            law(str(refused), "a refusal says nothing")
            return False
    return bool(found)


_SOURCES = (
    {
        "source_id": "s1",
        "name": "a.md",
        "text": "Deploys need a sign-off.\n",
        "time": "2026-06-30T12:00:00Z",
        "scope": "x",
    },
    {"source_id": "s2", "name": "chat", "text": "電車 at six", "time": None, "scope": "x"},
)
_QUESTIONS = (
    {
        "id": "q1",
        "question": "who?",
        "kind": "single",
        "scope": "x",
        "time": None,
        "gold": [{"source_id": "s2", "start": 0, "end": 6}],
    },
    {
        "id": "q2",
        "question": "what?",
        "kind": "adversarial",
        "scope": "x",
        "time": "2026-07-30T12:00:00+02:00",
        "gold": [],
    },
)


def _sets() -> Iterator[bytes]:
    yield json.dumps([*_SOURCES, *_QUESTIONS]).encode()


def _set(data: bytes) -> bool:
    # A list is a set, one member a line, so that mutants keep the two files; anything else is both files as it is.
    try:
        rows = json.loads(data)
        lines = [json.dumps(row).encode("utf-8", "surrogatepass") for row in rows]
        cut = sum(isinstance(row, dict) and "text" in row for row in rows)
        sources, questions = b"\n".join(lines[:cut]), b"\n".join(lines[cut:])
    except (ValueError, TypeError, RecursionError):
        sources = questions = data
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        Path(folder, dataset.SOURCES).write_bytes(sources)
        Path(folder, dataset.QUESTIONS).write_bytes(questions)
        try:
            found = dataset.load(Path(folder))
        except DatasetInvalid as refused:
            law(".jsonl" in str(refused), "a refusal names no file")
            return False
    for question in found.questions:
        for span in question.gold:
            law(found.sources[span.source].content[span.start : span.end].decode().strip(), "gold is no text")
    for source in found.sources:
        source.document("main")
    return True


def _answers() -> Iterator[bytes]:
    yield json.dumps(
        {"data": [{"index": 1, "embedding": [0.5, 1, -2, 1e-30]}, {"index": 0, "embedding": [1, 0, 0, 0]}]}
    ).encode()
    yield json.dumps(
        {"data": [{"embedding": [1, 2, 3, 4]}, {"embedding": [0.1, 0.2, 0.3, 0.4]}], "model": "m"}
    ).encode()


def _answer(data: bytes) -> bool:
    for encoding in ("gzip", "br", None):
        try:
            http._unpacked(data, encoding, _MOST)
            law(len(http._unpacked(gzip.compress(data), "gzip", _MOST)) == len(data), "gzip does not read back")
        except EmbedderFailed as refused:
            law(str(refused).isascii(), "a refusal quotes the answer")
    embedder = http.Http.__new__(http.Http)
    embedder._wall = lambda: 0.0
    pause = embedder._pause(data[:64].decode("latin-1"))
    law(pause is None or pause >= 0, "a pause of less than nothing")
    try:
        vectors = http._vectors(data, 2, _DIMENSIONS)
    except EmbedderFailed as refused:
        law(str(refused).isascii() and len(str(refused)) < 200, "a refusal quotes the answer")
        return False
    for vector in vectors:
        law(vector.shape == (_DIMENSIONS,) and vector.any() and abs(vector).max() < float("inf"), "no vector")
    return True


TARGETS = (
    Target("records", "json", _records, _lines, ("nodes", "edges", "validFrom", "provenance", "artifacts")),
    Target(
        "settings",
        "text",
        _tables,
        _settings,
        ("[planner]\n", "=", "nan", "inf", "1e400", '"""', "[[", "]]", "{", "#TELHA_"),
    ),
    Target("labelled-set", "json", _sets, _set, ("source_id", "text", "gold", "start", "end", "time")),
    Target("embedding", "json", _answers, _answer, ("data", "index", "embedding", "Mon, 01 Jan 2024 00:00:00 GMT")),
)
