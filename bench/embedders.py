"""
Measure an embedder: its baseline over a labelled set, and how long a text takes.

`python bench/embedders.py PROVIDER DATASET…`, where DATASET is a folder as `telha eval` reads it, docs/evaluation.md.
The baseline is the mean cosine of pairs that have nothing to do with each other: a question, and a passage of a source
of its scope that holds none of its evidence, in the form in which passages are embedded.
"""

import random
import statistics
import sys
import time
from pathlib import Path

import numpy as np
from telha_planner.config import EmbeddingSettings
from telha_planner.evaluation.dataset import load
from telha_planner.ingest.embedding import passages_of
from telha_planner.ingest.parse import parse
from telha_planner.models.embedders.opening import opened
from telha_planner.models.embedders.seam import Embedder, Vector

SAMPLE = 200
"""Questions, and passages, that are drawn of each set."""


def main() -> None:
    """Measure and print."""
    provider, *folders = sys.argv[1:]
    embedder = opened(EmbeddingSettings.model_validate({"provider": provider}))
    if embedder is None:
        raise SystemExit("name a provider other than none")
    began = time.process_time()
    embedder.load()
    print(
        f"{embedder.model.name}, {embedder.model.dimensions} dimensions: loaded in {time.process_time() - began:.2f} s"
    )
    means = []
    for folder in folders:
        mean = _measured(embedder, Path(folder))
        means.append(mean)
    if means:
        print(f"baseline: {statistics.fmean(means):.3f}, the mean of the sets")


def _measured(embedder: Embedder, folder: Path) -> float:
    dice = random.Random(7)
    dataset = load(folder)
    passages: list[tuple[int, str]] = []
    for index, source in enumerate(dataset.sources):
        passages += ((index, text) for _, text in passages_of([parse(source.document("main"), "bench")]))
    passages = dice.sample(passages, min(SAMPLE, len(passages)))
    questions = dice.sample(dataset.questions, min(SAMPLE, len(dataset.questions)))
    texts = [text for _, text in passages]
    began = time.process_time()
    found = np.stack([_unit(vector) for vector in embedder.passages(texts)])
    passage_ms = (time.process_time() - began) / len(texts) * 1000
    times, asked = [], []
    for question in questions:
        began = time.process_time()
        asked.append(_unit(embedder.question(question.text)))
        times.append((time.process_time() - began) * 1000)
    cosines = np.stack(asked) @ found.T
    scopes = [dataset.sources[index].scope for index, _ in passages]
    unrelated = np.zeros(cosines.shape, bool)
    for row, question in enumerate(questions):
        gold = {span.source for span in question.gold}
        for column, (index, _) in enumerate(passages):
            unrelated[row, column] = index not in gold and scopes[column] == question.scope
    values = cosines[unrelated]
    print(
        f"{folder.name}: mean cosine {values.mean():.4f} (sd {values.std():.4f}) over {len(values):,} pairs; "
        f"question p50 {statistics.median(times):.1f} ms of CPU; passage {passage_ms:.1f} ms, "
        f"{statistics.fmean(map(len, texts)):.0f} characters on average"
    )
    return float(values.mean())


def _unit(vector: Vector) -> np.ndarray:
    wide = vector.astype(np.float64)
    return wide / np.sqrt(np.dot(wide, wide))


if __name__ == "__main__":
    main()
