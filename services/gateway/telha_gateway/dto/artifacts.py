"""The JSON shapes of derived artifacts, and of the move to another embedding model."""

from typing import Annotated

from msgspec import Meta
from telha.memory.v1 import memory_pb2

from telha_gateway.dto.ingest import OUTCOMES, Outcome
from telha_gateway.dto.shape import (
    NAME_PATTERN,
    PROSE_PATTERN,
    Given,
    Instant,
    Micros,
    Replayed,
    Sent,
    Space,
    Tally,
    Uuid,
    told,
)
from telha_gateway.instants import instant


class Artifact(Sent, kw_only=True):
    """A text that was made from sources, such as a summary. Writing an existing one closes what it said before."""

    artifact_id: Annotated[Uuid, Meta(description="Also its id as a source; it must not be a document's.")]
    space: Space | None = None
    name: Annotated[str, told("Display name, 1 to 1024 bytes.", minLength=1, maxLength=1024, pattern=NAME_PATTERN)]
    text: Annotated[
        str, told("The text, at most 65,536 bytes; not blank.", minLength=1, maxLength=65_536, pattern=PROSE_PATTERN)
    ]
    derived_from: Annotated[
        list[Uuid],
        told(
            "Sources of the same space that it was made from, 1 to 256. Erasing one erases the artifact.",
            minItems=1,
            maxItems=256,
            uniqueItems=True,
        ),
    ]
    valid_from: Annotated[Instant, Meta(description="Since when it is true. Default: the commit.")] | None = None


class PutArtifactsRequest(Sent):
    """Asks to write 1 to 1000 artifacts in one transaction; no id twice."""

    artifacts: Annotated[list[Artifact], Meta(extra_json_schema={"minItems": 1, "maxItems": 1000})]


class WrittenArtifact(Given):
    """What became of one artifact."""

    artifact_id: Uuid
    source_version_tx: Micros
    outcome: Outcome


class WrittenArtifacts(Given):
    """What became of the artifacts, in the order of the request."""

    artifacts: list[WrittenArtifact]
    tx_time: Annotated[Micros, Meta(description="The commit; the last one if nothing was written.")]
    replayed: Replayed | None = None


class ReembedRequest(Sent):
    """Asks for the next batch of a move to the configured embedding model."""

    cursor: (
        Annotated[str, Meta(description="`nextCursor` of the call before. Default: begin, or go on after a stop.")]
        | None
    ) = None


class Reembedded(Given, kw_only=True):
    """How far the move has come; without `nextCursor` the model is active."""

    model: Annotated[str, Meta(description="The model that the tenant is moved to.")]
    embedded: Annotated[Tally, Meta(description="Nodes that this call gave a vector.")]
    left: Annotated[Tally, Meta(description="Nodes that lacked a vector; only in answer to a call without cursor.")] | (
        None
    ) = None
    next_cursor: str | None = None
    finished: Annotated[bool, Meta(description="Whether the model is active and no node lacks a vector of it.")]
    tx_time: Annotated[Micros, Meta(description="If finished: plans as of then use the model.")] | None = None


def artifacts_message(body: PutArtifactsRequest, idempotency_key: str) -> memory_pb2.PutArtifactsRequest:
    """*body* on the wire."""
    return memory_pb2.PutArtifactsRequest(
        artifacts=[
            memory_pb2.Artifact(
                artifact_id=artifact.artifact_id,
                space=artifact.space or "",
                name=artifact.name,
                text=artifact.text,
                derived_from=artifact.derived_from,
                valid_from_us=(
                    None
                    if artifact.valid_from is None
                    else instant(artifact.valid_from, f"/artifacts/{index}/validFrom")
                ),
            )
            for index, artifact in enumerate(body.artifacts)
        ],
        idempotency_key=idempotency_key,
    )


def artifacts_answer(message: memory_pb2.PutArtifactsResponse) -> WrittenArtifacts:
    """The JSON shape of what was written."""
    return WrittenArtifacts(
        artifacts=[
            WrittenArtifact(
                artifact_id=artifact.artifact_id,
                source_version_tx=artifact.source_version_tx,
                outcome=OUTCOMES.get(artifact.outcome, "unknown"),
            )
            for artifact in message.artifacts
        ],
        tx_time=message.tx_us,
        replayed=message.replayed or None,
    )


def reembed_answer(message: memory_pb2.ReembedResponse) -> Reembedded:
    """The JSON shape of a step."""
    return Reembedded(
        model=message.model,
        embedded=message.embedded,
        left=message.left if message.HasField("left") else None,
        next_cursor=message.next_cursor or None,
        finished=message.finished,
        tx_time=message.tx_us if message.HasField("tx_us") else None,
    )
