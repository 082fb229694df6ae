"""
Moving a tenant to another model: which nodes lack its vectors, adding them, and making it the active one.

Batch after batch, each a transaction of its own, vectors of the new model are written beside the old ones, while plans
and writes go on. The last transaction finds that no node that stands lacks one, and only then makes the model active:
a plan as of an earlier instant goes on using the old model, to the bit.

Rule 1: a node lacks a vector if its version stands, rests on spans, is no heading, and no vector of the model begins
with it. The caller's own vector of that model counts.
Rule 2: nothing is remembered between batches but what is stored, so a move that was interrupted goes on where it was.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from telha_planner.core.request import OPEN_END
from telha_planner.models.embedders.seam import Model

from .clock import Commit
from .embedded import TextVector, text_to_embed
from .node_vectors import NodeVectors
from .pending import Pending
from .store import chunks
from .tables import node, node_span, node_version, source_version, span, vector
from .vector_models import activate, active

HEADING = "section"
"""Type of the nodes that ingestion makes of headings: found by their words, never embedded."""


class Lacking(NamedTuple):
    """A version of a node without a vector, and the text to make one from."""

    version_no: int
    node_no: int
    valid_from: int
    text: str


def lacking(connection: sa.Connection, tenant: int, model: str, after: int, limit: int) -> list[Lacking]:
    """At most *limit* versions with numbers above *after* that lack a vector of *model*, by number."""
    statement = (
        _lacking(tenant, model)
        .add_columns(node_version.c.node_no, node_version.c.valid_from, node_version.c.preface)
        .add_columns(node_version.c.properties)
        .where(node_version.c.version_no > after)
        .order_by(node_version.c.version_no)
        .limit(limit)
    )
    rows = connection.execute(statement).all()
    pieces = _pieces(connection, tenant, [row.version_no for row in rows])
    found: list[Lacking] = []
    for row in rows:
        own = pieces.get(row.version_no, [])
        preface = row.preface if row.preface is not None else _older_preface(own, row.properties)
        text = text_to_embed(preface, [text for _, text in own])
        found.append(Lacking(row.version_no, row.node_no, row.valid_from, text))
    return found


def count_lacking(connection: sa.Connection, tenant: int, model: str) -> int:
    """How many versions lack a vector of *model*."""
    counted = sa.select(sa.func.count()).select_from(_lacking(tenant, model).subquery())
    return int(connection.execute(counted).scalar_one())


def add(commit: Commit, model: Model, batch: Sequence[Lacking], vectors: Mapping[int, TextVector]) -> bool:
    """
    Store the *vectors* of *batch*, by version number, where they are still wanted.

    Returns:
        Whether anything was written.

    Raises:
        VectorLegUnavailable: The tenant has vectors of that name with other dimensions.
    """
    wanted: set[int] = set()
    for chunk in chunks(one.version_no for one in batch):
        still = _lacking(commit.tenant, model.name).where(node_version.c.version_no.in_(chunk))
        wanted.update(commit.connection.execute(still).scalars())
    pending = Pending(commit)
    kept = [one for one in batch if one.version_no in wanted]
    node_vectors = NodeVectors(pending, {one.node_no for one in kept})
    for one in kept:
        node_vectors.put(one.node_no, node_vectors.made(model, vectors[one.version_no]), one.valid_from)
    if pending.empty:
        return False
    pending.flush()
    return True


def complete(commit: Commit, model: Model) -> bool | None:
    """
    Make *model* the active one, if nothing lacks its vectors.

    Returns:
        Whether it is active now that was not before; None if something lacks a vector.
    """
    left = _lacking(commit.tenant, model.name).limit(1)
    if commit.connection.execute(left).first() is not None:
        return None
    pending = Pending(commit)
    # A tenant that has nothing to embed has to learn of the model too.
    NodeVectors(pending, ()).know(model)
    pending.flush()
    if active(commit.connection, commit.tenant) != model.name:
        activate(commit, model.name)
        return True
    return not pending.empty


def _lacking(tenant: int, model: str) -> sa.Select[Any]:
    version = node_version.c
    stands = vector.c.tx_to + 0 == OPEN_END
    begins = sa.or_(
        vector.c.valid_from == version.valid_from,
        sa.and_(vector.c.text_hash.is_(None), vector.c.valid_from <= version.valid_from),
    )
    has_vector = sa.exists().where(
        vector.c.tenant == tenant, vector.c.node_no == version.node_no, vector.c.model == model, stands, begins
    )
    rests = sa.exists().where(node_span.c.tenant == tenant, node_span.c.version_no == version.version_no)
    return (
        sa.select(version.version_no)
        .join(node, sa.and_(node.c.tenant == version.tenant, node.c.node_no == version.node_no))
        .where(version.tenant == tenant, version.tx_to + 0 == OPEN_END, rests, ~has_vector)
        .where(sa.or_(node.c.source_no.is_(None), version.type != HEADING))
    )


def _pieces(connection: sa.Connection, tenant: int, version_nos: Sequence[int]) -> dict[int, list[tuple[str, str]]]:
    """By version, (source name, text) of each span it rests on, in the order in which it states them."""
    links: list[tuple[int, int, int, int, int, int]] = []
    for chunk in chunks(version_nos):
        statement = (
            sa.select(
                node_span.c.link_no,
                node_span.c.version_no,
                span.c.source_no,
                span.c.version_tx,
                span.c.start,
                span.c.end,
            )
            .join(span, sa.and_(span.c.tenant == node_span.c.tenant, span.c.span_no == node_span.c.span_no))
            .where(
                node_span.c.tenant == tenant,
                node_span.c.version_no.in_(chunk),
                node_span.c.tx_to + 0 == OPEN_END,
            )
        )
        links += (tuple(row) for row in connection.execute(statement))
    texts: dict[tuple[int, int], tuple[str, bytes]] = {}
    pieces: dict[int, list[tuple[str, str]]] = {}
    for _, version_no, source_no, version_tx, start, end in sorted(links):
        key = (source_no, version_tx)
        if key not in texts:
            texts[key] = _source(connection, tenant, *key)
        name, text = texts[key]
        pieces.setdefault(version_no, []).append((name, text[start:end].decode()))
    return pieces


def _source(connection: sa.Connection, tenant: int, source_no: int, version_tx: int) -> tuple[str, bytes]:
    statement = sa.select(source_version.c.name, source_version.c.text).where(
        source_version.c.tenant == tenant,
        source_version.c.source_no == source_no,
        source_version.c.version_tx == version_tx,
    )
    row = connection.execute(statement).one()
    return str(row.name), bytes(row.text)


def _older_preface(pieces: Sequence[tuple[str, str]], properties: str) -> str:
    """Of a version that was written before prefaces were stored: the names of its sources, and its section path."""
    path = json.loads(properties).get("path")
    titles = [title for title in path if isinstance(title, str)] if isinstance(path, list) else []
    return "\n".join([*dict.fromkeys(name for name, _ in pieces), *titles])
