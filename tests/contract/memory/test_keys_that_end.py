"""A write looks at its API key inside its own transaction: none commits after the key has ended."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from artifact_builders import an_artifact
from memory_builders import DAY, JUNE, a_document, a_tenant, a_writer, rows_of, uid
from telha_planner.core.errors import NotFound, Unauthenticated
from telha_planner.core.model import SpanRef
from telha_planner.memory import keys
from telha_planner.memory.embedded import TextVector
from telha_planner.memory.records import ClarificationRecord, EdgeRecord, NodeRecord
from telha_planner.memory.reembedding import Lacking
from telha_planner.memory.store import Store
from telha_planner.memory.writes import Writer
from telha_planner.models.embedders.seam import Model

MODEL = Model(name="m", dimensions=2, baseline=0.1)
Write = Callable[[Writer, int], Any]

WRITES: dict[str, Write] = {
    "write_documents": lambda writer, tenant: writer.write_documents(tenant, [a_document("new", ["words 秘密"])]),
    "put_artifacts": lambda writer, tenant: writer.put_artifacts(
        tenant, [an_artifact("digest", "told", [uid("main/old")])]
    ),
    "put_nodes": lambda writer, tenant: writer.put_nodes(tenant, [NodeRecord(uid("n"), "main", "fact", "{}")]),
    "put_edges": lambda writer, tenant: writer.put_edges(tenant, [EdgeRecord(uid("e"), uid("a"), uid("a"), "t")]),
    "put_clarifications": lambda writer, tenant: writer.put_clarifications(
        tenant, [ClarificationRecord(uid("c"), uid("a"), "pending", "is it?")]
    ),
    "erase_source": lambda writer, tenant: writer.erase_source(tenant, uid("main/old")),
    "erase_space": lambda writer, tenant: writer.erase_space(tenant, "main"),
    "delete_tenant": lambda writer, tenant: writer.delete_tenant(tenant, uid("receipt")),
    "add_vectors": lambda writer, tenant: writer.add_vectors(tenant, MODEL, *_lacking(writer, tenant)),
    "complete_model": lambda writer, tenant: writer.complete_model(tenant, MODEL),
}
READS = {"replay", "on_behalf_of"}


def _lacking(writer: Writer, tenant: int) -> tuple[list[Lacking], dict[int, TextVector]]:
    (version_no,) = (row[0] for row in rows_of(writer.store, tenant)["node_version"][:1])
    return [Lacking(version_no, 1, JUNE, "x")], {version_no: TextVector(bytes(16), bytes(8))}


def _filled(store: Store) -> tuple[int, str, Writer]:
    """A tenant with a source and a node, a key's id, and a writer on behalf of that key."""
    tenant, key = a_tenant(store)
    writer, clock = a_writer(store)
    done = writer.write_documents(tenant, [a_document("old", ["remembered"])])
    resting = SpanRef(uid("main/old"), done.tx, 0, 3)
    writer.put_nodes(tenant, [NodeRecord(uid("a"), "main", "fact", "{}", provenance=(resting,))])
    clock.time += 1
    key_id = key.split("_")[1]
    return tenant, key_id, writer.on_behalf_of(key_id)


def test_every_way_to_write_is_tried() -> None:
    """A6: a method that is added to the writer is added here."""
    public = {name for name, _ in inspect.getmembers(Writer, inspect.isfunction) if not name.startswith("_")}
    assert WRITES.keys() | READS == public


@pytest.mark.parametrize("name", WRITES)
def test_a_key_that_stands_writes(store: Store, name: str) -> None:
    """A6: the refusals below are of the key and of nothing else."""
    tenant, _, writer = _filled(store)
    before = rows_of(store, tenant)
    WRITES[name](writer, tenant)
    # Not everything of the model's move can be done here: what lacks a vector keeps it from being completed.
    assert rows_of(store, tenant) != before or name == "complete_model"


@pytest.mark.parametrize("ending", ["revoked", "expired", "deleted"])
@pytest.mark.parametrize("name", WRITES)
def test_no_write_commits_for_a_key_that_has_ended(store: Store, name: str, ending: str) -> None:
    """A6: revoked, past its instant, or gone with its tenant since the call was let in; nothing is written."""
    tenant, key_id, writer = _filled(store)
    if ending == "revoked":
        keys.revoke(store, key_id, now=lambda: JUNE)
    elif ending == "expired":
        with store.writing() as connection:
            connection.exec_driver_sql(f"UPDATE api_key SET expires_us = {JUNE + DAY}")
        writer = Writer(store, lambda: JUNE + DAY, key_id=key_id)
    else:
        act = WRITES[name]
        lacking = _lacking(writer, tenant) if name == "add_vectors" else None
        a_writer(store)[0].delete_tenant(tenant, uid("first"))
        with pytest.raises(Unauthenticated):
            writer.add_vectors(tenant, MODEL, *lacking) if lacking else act(writer, tenant)
        return
    before = rows_of(store, tenant)
    with pytest.raises(Unauthenticated):
        WRITES[name](writer, tenant)
    assert rows_of(store, tenant) == before


def test_whoever_acts_on_the_store_itself_needs_no_key(store: Store) -> None:
    """A6: the commands on the store; a tenant that is not there is then told as such."""
    tenant, key_id, writer = _filled(store)
    keys.revoke(store, key_id, now=lambda: JUNE)
    plain = writer.on_behalf_of(None)
    plain.erase_space(tenant, "main")
    plain.delete_tenant(tenant, uid("receipt"))
    with pytest.raises(NotFound):
        plain.erase_space(tenant, "main")
