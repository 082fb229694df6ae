"""
Derived artifacts: texts that were made from sources, such as stored summaries.

An artifact is written as a document of class `cache`: versions, validity and "unchanged" are those of documents
(`writes_documents`). Besides, memory keeps what it was made from, of all its versions together, so that erasing any of
those sources erases the artifact too: also an old version may tell what the erased text said.

Rule 1: what an artifact derives from lies in its own space and stands before the call. It may be an artifact itself.
Rule 2: a new version of such a source leaves the artifact as it is; whether it is still right only its maker can say.
"""

from collections.abc import Sequence

import sqlalchemy as sa

from telha_planner.core.errors import RequestInvalid

from . import writes_documents
from .bulk import bulk_insert
from .clock import Commit
from .embedded import Embedded
from .records import ArtifactRecord, DocumentRecord, IngestedSource
from .spaces import Spaces, numbers
from .store import chunks
from .tables import derivation, source
from .writes_documents import Words

ARTIFACTS = Words("artifacts", "artifact_id", "a document")


def write(
    commit: Commit, artifacts: Sequence[ArtifactRecord], embedded: Embedded | None = None
) -> tuple[bool, tuple[IngestedSource, ...]]:
    """
    Write *artifacts*, with the vectors of their texts where there are any.

    Returns:
        Whether anything was written, and what became of each artifact.

    Raises:
        RequestInvalid: An item breaks a rule; the field begins with `artifacts[i]`.
        Unprepared: An artifact says something new that *embedded* has passed over.
    """
    origins = _origins(commit, artifacts)
    documents = [artifact.document for artifact in artifacts]
    written, outcomes = writes_documents.write(commit, documents, embedded, ARTIFACTS)
    # What says the same derives from the same, since that is part of what makes two artifacts equal.
    changed = [
        (artifact.document, numbers)
        for artifact, numbers, outcome in zip(artifacts, origins, outcomes, strict=True)
        if outcome.outcome != "unchanged"
    ]
    _derive(commit, changed)
    return written, outcomes


def _origins(commit: Commit, artifacts: Sequence[ArtifactRecord]) -> list[list[int]]:
    known = _sources(commit, {origin for artifact in artifacts for origin in artifact.derived_from})
    spaces = Spaces(commit, (artifact.document.space for artifact in artifacts))
    origins = []
    for index, artifact in enumerate(artifacts):
        numbers = []
        for position, origin in enumerate(artifact.derived_from):
            place = f"artifacts[{index}].derived_from[{position}]"
            if origin == artifact.document.source_id:
                raise RequestInvalid(field=place, rule="must not be the artifact itself")
            space_no = spaces.known(artifact.document.space)
            found = None if space_no is None else known.get((origin, space_no))
            if found is None:
                raise RequestInvalid(field=place, rule="must be a source that exists in the artifact's space")
            numbers.append(found)
        origins.append(numbers)
    return origins


def _sources(commit: Commit, source_ids: set[bytes]) -> dict[tuple[bytes, int], int]:
    """The numbers of those that exist, by id and space."""
    found: dict[tuple[bytes, int], int] = {}
    for chunk in chunks(sorted(source_ids)):
        statement = sa.select(source.c.source_id, source.c.source_no, source.c.space_no).where(
            source.c.tenant == commit.tenant, source.c.source_id.in_(chunk)
        )
        for source_id, source_no, space_no in commit.connection.execute(statement):
            found[source_id, space_no] = source_no
    return found


def _derive(commit: Commit, changed: Sequence[tuple[DocumentRecord, list[int]]]) -> None:
    known = _sources(commit, {document.source_id for document, _ in changed})
    space_nos = numbers(commit.connection, commit.tenant, {document.space for document, _ in changed})
    wanted = {
        (known[document.source_id, space_nos[document.space]], origin)
        for document, origins in changed
        for origin in origins
    }
    derived: set[tuple[int, int]] = set()
    for chunk in chunks(sorted({artifact_no for artifact_no, _ in wanted})):
        statement = sa.select(derivation.c.artifact_no, derivation.c.source_no).where(
            derivation.c.tenant == commit.tenant, derivation.c.artifact_no.in_(chunk)
        )
        derived.update((row.artifact_no, row.source_no) for row in commit.connection.execute(statement))
    bulk_insert(commit.connection, derivation, [(commit.tenant, *pair) for pair in sorted(wanted - derived)])
