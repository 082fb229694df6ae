"""
A derived artifact at the door, and its record: one span from end to end, one node, class `cache`.

Its span is of kind `body`, since it has no structure that we know of. The canonical text is made as of plain text. The
node is of type `artifact` and says what it was made from.
"""

import json
import uuid
from dataclasses import dataclass

from telha_planner.core.errors import RequestInvalid
from telha_planner.core.model import SpanClass
from telha_planner.core.request import INT64_MIN, OPEN_END
from telha_planner.core.value import check_name, check_range, check_text
from telha_planner.memory.records import ArtifactRecord, DocumentRecord, PassageNode, SpanRecord, Terms
from telha_planner.models.analysis import ANALYSIS_VERSION, term_counts
from telha_planner.models.tokenizers import token_counts

from . import identity
from .document import MAX_DOCUMENT_NAME_BYTES, PLAIN, WHITE_SPACE, canonical_text

MAX_ARTIFACT_BYTES = 65_536
"""An artifact is one span, packed whole or not at all."""
MAX_ORIGINS = 256
"""Most sources that one artifact derives from."""
KIND = "body"
NODE_TYPE = "artifact"

ARTIFACT_VERSION = 1
"""Raised when the same artifact would give another record."""


@dataclass(frozen=True, slots=True)
class ArtifactInput:
    """
    A derived artifact to write; checked when made.

    Attributes:
        artifact_id: 16 bytes; its id as a source.
        space: The space it belongs to.
        name: Display name, 1..1024 bytes.
        text: 1..65,536 bytes of UTF-8, not blank, without U+0000.
        derived_from: Ids of the sources it was made from, 1..256, 16 bytes each, none twice.
        valid_from: Since when it is true, µs since 1970 UTC; None is the commit.

    Raises:
        RequestInvalid: A rule is broken.
    """

    artifact_id: bytes
    space: str
    name: str
    text: str
    derived_from: tuple[bytes, ...]
    valid_from: int | None

    def __post_init__(self) -> None:
        check_name("space", self.space)
        check_name("name", self.name, MAX_DOCUMENT_NAME_BYTES)
        check_text("text", self.text)
        if not self.text.strip(WHITE_SPACE + "\ufeff"):
            raise RequestInvalid(field="text", rule="must not be blank")
        if len(self.text.encode()) > MAX_ARTIFACT_BYTES:
            raise RequestInvalid(field="text", rule=f"must be at most {MAX_ARTIFACT_BYTES:,} bytes")
        if not 1 <= len(self.derived_from) <= MAX_ORIGINS:
            raise RequestInvalid(field="derived_from", rule=f"must name 1 to {MAX_ORIGINS} sources")
        for index, origin in enumerate(self.derived_from):
            if origin in self.derived_from[:index]:
                raise RequestInvalid(field=f"derived_from[{index}]", rule="must not stand twice")
        check_range("valid_from_us", self.valid_from, INT64_MIN, OPEN_END - 1)


def record(artifact: ArtifactInput) -> ArtifactRecord:
    """The record of *artifact*; equal artifacts give equal records, in whatever order they name their sources."""
    text = canonical_text(artifact.text.encode())
    encoded = text.encode()
    origins = sorted(artifact.derived_from)
    properties = {"name": artifact.name, "derivedFrom": [str(uuid.UUID(bytes=origin)) for origin in origins]}
    node = PassageNode(
        node_id=identity.uuid5(artifact.artifact_id, (NODE_TYPE,)),
        type=NODE_TYPE,
        spans=(0,),
        properties=json.dumps(properties, ensure_ascii=False, sort_keys=True, separators=(",", ":")),
        terms=Terms.of(term_counts(f"{artifact.name}\n{text}")),
        preface=artifact.name,
    )
    versions = f"{ARTIFACT_VERSION}.{ANALYSIS_VERSION}"
    inputs: list[str | bytes] = [NODE_TYPE, versions, artifact.name, artifact.space, encoded, *origins]
    document = DocumentRecord(
        source_id=artifact.artifact_id,
        space=artifact.space,
        name=artifact.name,
        uri=None,
        media_type=PLAIN,
        text=encoded,
        content_hash=identity.content_hash(encoded),
        input_hash=identity.content_hash(identity.delimited(inputs)),
        valid_from=artifact.valid_from,
        spans=(SpanRecord(0, len(encoded), KIND, token_counts(text)),),
        nodes=(node,),
        edges=(),
        span_class=SpanClass.CACHE,
    )
    return ArtifactRecord(document, artifact.derived_from)
