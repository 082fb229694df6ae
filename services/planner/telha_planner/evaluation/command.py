"""
`telha-planner eval FOLDER`: check the set, ingest it, ask it, report.

Rule 1: what was finished is kept in the work folder, by a digest of all that it depends on: the set, the settings and
the planner's own code; an interrupted run goes on, and nothing else ever answers for it.
Rule 2: the report goes to standard output, progress and faults to standard error.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import chain
from typing import Any

from blake3 import blake3
from telha_runtime import settings

from telha_planner.config import FOREIGN_SECTIONS, PlannerConfig
from telha_planner.core.errors import TelhaError
from telha_planner.core.plan import PLAN_MODEL, SCORE_MODEL
from telha_planner.memory.store import StoreUnusable
from telha_planner.models.embedders.opening import opened
from telha_planner.models.embedders.seam import Embedder, EmbedderMissing
from telha_planner.models.tokenizers import Tokenizers, TokenizersInvalid
from telha_planner.server.remote_planner import RemoteRefused

from .dataset import Dataset, DatasetInvalid, Question, load
from .in_process import InProcess
from .kept_vectors import KeptVectors
from .peers import Peers
from .progress import Progress
from .questions import drawn, negatives
from .recounting import recount
from .remote import Remote
from .report import markdown
from .results import Results
from .summary import summary
from .trial import Plan, Result, Trial

EXIT_REFUSED = 1

Report = dict[str, Any]

_INGESTING = ("core", "ingest", "memory", "models")
"""Packages that decide what is in the store."""


def run(options: argparse.Namespace) -> int:
    """Carry out `eval`; returns the exit code."""
    try:
        config = _config(options)
        dataset = load(options.folder)
        report = _evaluated(options, config, dataset)
    except (
        DatasetInvalid,
        settings.SettingsInvalid,
        StoreUnusable,
        TokenizersInvalid,
        EmbedderMissing,
        RemoteRefused,
        TelhaError,
        OSError,
    ) as refusal:
        sys.stderr.write(f"{refusal}\n")
        return EXIT_REFUSED
    as_json = json.dumps(report, ensure_ascii=False, indent=2) + "\n"
    text = markdown(report["run"], report["figures"])
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "report.md").write_text(text, encoding="utf-8")
        (options.output / "report.json").write_text(as_json, encoding="utf-8")
    sys.stdout.write(as_json if options.json else text)
    return 0


def _evaluated(options: argparse.Namespace, config: PlannerConfig, dataset: Dataset) -> Report:
    dataset, own, strange = _chosen(options, dataset)
    questions = (*own, *strange)
    plan = Plan(options.budgets, options.cap, options.repeats)
    count, counted_by = recount(Tokenizers(config.tokens))
    asked = _digest(config.model_dump(mode="json"), repr(plan), options.remote, counted_by, _code(""))
    stored = _digest(
        dataset.digest, [*dataset.scopes], config.embedding.model_dump(mode="json"), *map(_code, _INGESTING)
    )
    folder = options.work.expanduser() / stored
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as open_parts:
        planner: InProcess | Remote
        ingesting = Progress("ingest").told
        if options.remote is None:
            planner = InProcess(dataset, folder, config, _embedder(options, config, open_parts), ingesting)
            trial = Trial(dataset, planner, Peers(planner), plan, count)
        else:
            planner = Remote(dataset, options.remote, _key(options), ingesting)
            trial = Trial(dataset, planner, None, plan, count)
        open_parts.callback(planner.close)
        results = Results(folder / f"{asked}.jsonl")
        open_parts.callback(results.close)
        found = [*_finished(trial, results, questions)]
        if isinstance(planner, Remote) and not options.keep:
            planner.erase()
    facts = {
        "set": dataset.name,
        "digest": dataset.digest[:16],
        "sources": f"{len(dataset.sources):,} in {len(dataset.scopes):,} scopes",
        "questions": f"{len(own):,} of {len(dataset.questions):,}",
        **({"questions of other sets": f"{len(strange):,}"} if strange else {}),
        "asked": "in process" if options.remote is None else f"over gRPC, {options.remote}",
        **(
            {"models and embedder": "as the server is configured"}
            if options.remote
            else {
                "plan model": PLAN_MODEL,
                "score model": SCORE_MODEL,
                "embedder": config.embedding.model or config.embedding.provider,
            }
        ),
        "tokens recounted in": counted_by,
        "settings changed": list(options.set) or "none",
    }
    return {"run": facts, "figures": summary(found)}


def _finished(trial: Trial, results: Results, questions: Sequence[Question]) -> Iterator[Result]:
    progress = Progress("ask")
    for number, question in enumerate(questions, 1):
        result = results.kept.get(question.label)
        if result is None:
            result = trial.result(question)
            results.keep(result)
        yield result
        progress.told(number, len(questions))


def _embedder(options: argparse.Namespace, config: PlannerConfig, open_parts: ExitStack) -> Embedder | None:
    embedder = opened(config.embedding)
    if embedder is None:
        return None
    kept = KeptVectors(embedder, options.work.expanduser() / "vectors")
    open_parts.callback(kept.close)
    return kept


def _key(options: argparse.Namespace) -> str:
    key: str | None = options.key or os.environ.get("TELHA_KEY")
    if not key:
        raise RemoteRefused("--remote needs an API key: give --key, or set TELHA_KEY")
    return key


def _chosen(
    options: argparse.Namespace, dataset: Dataset
) -> tuple[Dataset, tuple[Question, ...], tuple[Question, ...]]:
    """The set, its questions, and those of other sets."""
    if options.limit_scopes is not None:
        scopes = set(dataset.scopes[: options.limit_scopes])
        kept = [index for index, source in enumerate(dataset.sources) if source.scope in scopes]
        dataset = dataset.only(kept)
    own = drawn(dataset.questions, options.sample, options.seed)
    strange = [negatives(dataset, load(folder), options.sample, options.seed) for folder in options.negatives]
    return dataset, own, tuple(chain.from_iterable(strange))


def _config(options: argparse.Namespace) -> PlannerConfig:
    variables = dict(os.environ)
    if options.embedder is not None:
        variables[f"{settings.PREFIX}EMBEDDING{settings.NESTED}PROVIDER"] = options.embedder
    for change in options.set:
        key, _, value = change.partition("=")
        section, dot, _ = key.partition(".")
        # As a variable, each of these would pass unread, and the report would say that it was measured with it.
        if not dot or not value:
            raise settings.SettingsInvalid([f"--set {change}: must be SECTION.KEY=VALUE, as planner.top_k=100"])
        if section.lower() in FOREIGN_SECTIONS:
            raise settings.SettingsInvalid([f"--set {change}: [{section.lower()}] is no section of the planner"])
        variables[settings.PREFIX + key.replace(".", settings.NESTED).upper()] = value
    return settings.load(PlannerConfig, options.config, variables, foreign_sections=FOREIGN_SECTIONS)


def _digest(*parts: object) -> str:
    return blake3(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def _code(package: str) -> str:
    """A digest of the planner's own files under *package*: results of other code must not pass for this one's."""
    seen = blake3()
    for path in _files_below(files("telha_planner") / package):
        seen.update(path.name.encode() + b"\0" + path.read_bytes())
    return seen.hexdigest()


def _files_below(place: Traversable) -> Iterator[Traversable]:
    for entry in sorted(place.iterdir(), key=lambda entry: entry.name):
        if entry.is_file():
            yield entry
        elif entry.name != "__pycache__":
            yield from _files_below(entry)
