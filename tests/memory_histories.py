"""Random histories of a tenant, and how to run them through the writer."""

from typing import NamedTuple

from hypothesis import strategies as st
from memory_builders import HandClock, a_document, uid
from telha_planner.memory.records import DocumentRecord, NodeRecord
from telha_planner.memory.writes import Writer

LABELS = ["α", "二人", "👩‍👩‍👧", "שלום", "plain"]
START = 1000


class Ingest(NamedTuple):
    """Ingest a document: label → revision of its text, in order."""

    name: str
    paragraphs: tuple[tuple[str, int], ...]
    valid_from: int | None
    step: int


class Put(NamedTuple):
    """State a node by API, for a valid time of *length* or without end."""

    name: str
    value: int
    valid_from: int
    length: int | None
    step: int


_STEP = st.integers(-40, 60)
_STARTS = st.integers(900, 1300)
ingests = st.builds(
    Ingest,
    st.sampled_from(["a", "b"]),
    st.lists(st.tuples(st.sampled_from(LABELS), st.integers(0, 2)), min_size=1, unique_by=lambda pair: pair[0]).map(
        tuple
    ),
    st.none() | _STARTS,
    _STEP,
)
puts = st.builds(Put, st.sampled_from(["n", "m"]), st.integers(0, 2), _STARTS, st.none() | st.integers(1, 200), _STEP)
histories = st.lists(ingests | puts, min_size=1, max_size=9)


def document_of(step: Ingest) -> DocumentRecord:
    """The document that *step* ingests."""
    return a_document(
        step.name,
        [f"{label} revision {revision} of {step.name}" for label, revision in step.paragraphs],
        valid_from=step.valid_from,
    )


def run(writer: Writer, clock: HandClock, tenant: int, step: Ingest | Put) -> int:
    """Run *step*; the transaction time that the writer answers with."""
    clock.time += step.step
    if isinstance(step, Ingest):
        return writer.write_documents(tenant, [document_of(step)]).tx
    end = None if step.length is None else step.valid_from + step.length
    node = NodeRecord(uid(step.name), "main", "fact", f'{{"v":{step.value}}}', step.valid_from, end)
    return writer.put_nodes(tenant, [node]).tx
