"""Derived artifacts as ingestion leaves them."""

from memory_builders import uid
from telha_planner.ingest.artifact import ArtifactInput, record
from telha_planner.memory.records import ArtifactRecord


def an_artifact(
    name: str, text: str, derived_from: list[bytes], *, space: str = "main", valid_from: int | None = None
) -> ArtifactRecord:
    """The record of an artifact whose id comes from its name."""
    return record(ArtifactInput(uid(name), space, name, text, tuple(derived_from), valid_from))
