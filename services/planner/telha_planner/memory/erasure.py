"""
Erasure of a source: the one way in which the past is changed.

What goes: the source, its versions and texts, its span ledger, the nodes and edges derived from it, and every node
written by API that rests on nothing else, each with its edges, vectors and clarifications. A node that rests on other
sources too stays, without the erased spans; its terms are counted anew from what is left, and its vectors go, because
they may tell what the erased text said.
Derived artifacts that were made from the source, or from such an artifact, are erased in the same way: their texts may
tell what its text said.
What stays is one row `(tenant, tx, source_id, space)` for each, by which replicas drop what they hold and replays can
say "erased".
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass, field

import sqlalchemy as sa

from telha_planner.core.errors import NotFound

from .clock import Commit
from .provenance import Slice
from .records import ErasureReceipt
from .store import chunks
from .tables import (
    clarification,
    derivation,
    edge,
    erasure,
    node,
    node_span,
    node_version,
    source,
    source_version,
    space,
    span,
    vector,
)
from .writes_nodes import node_preface, node_terms


@dataclass(slots=True)
class _Resting:
    """A node written by API that rests, or rested, on what is erased: versions → links into it, and others."""

    erased: dict[int, list[int]] = field(default_factory=dict)
    others: int = 0


def erase(commit: Commit, source_id: bytes, spaces: tuple[str, ...] | None = None) -> ErasureReceipt:
    """
    Erase a source, in *spaces* if any are named; in each that has one of this id.

    Raises:
        NotFound: There is no such source.
    """
    of_tenant = source.c.tenant == commit.tenant
    statement = sa.select(source.c.source_no).where(of_tenant, source.c.source_id == source_id)
    if spaces is not None:
        within = sa.select(space.c.space_no).where(space.c.tenant == commit.tenant, space.c.name.in_(spaces))
        statement = statement.where(source.c.space_no.in_(within))
    found = {int(source_no) for source_no in commit.connection.execute(statement).scalars()}
    if not found:
        raise NotFound(resource="source")
    sources = _with_artifacts(commit, found)
    places = _spaces_of(commit, sources)
    resting = _resting(commit, sources.keys())
    mixed = {node_no: one for node_no, one in resting.items() if one.others}
    doomed = _numbers(commit, node.c.node_no, node.c.source_no, sources)
    doomed |= {node_no for node_no, one in resting.items() if not one.others}
    edges = _edges_of(commit, sources.keys(), doomed)
    versions = _numbers(commit, node_version.c.version_no, node_version.c.node_no, doomed)

    _delete(commit, node_span.c.version_no, versions)
    torn = {version_no: links for one in mixed.values() for version_no, links in one.erased.items()}
    _delete(commit, node_span.c.link_no, {link for links in torn.values() for link in links})
    _recount(commit, torn)
    vectors = _delete(commit, vector.c.node_no, doomed | set(mixed))
    _delete(commit, clarification.c.row_no, _clarifications_on(commit, doomed))
    _delete(commit, edge.c.edge_no, edges)
    _delete(commit, node_version.c.version_no, versions)
    _delete(commit, node.c.node_no, doomed)
    spans = _delete(commit, span.c.source_no, sources)
    texts = _delete(commit, source_version.c.source_no, sources)
    _delete(commit, derivation.c.artifact_no, sources)
    _delete(commit, source.c.source_no, sources)
    commit.connection.execute(
        sa.insert(erasure),
        [
            {"tenant": commit.tenant, "tx": commit.tx, "source_id": erased, "space": name}
            for erased, name in sorted(places.items())
        ],
    )
    return ErasureReceipt(
        source_id=source_id,
        tx=commit.tx,
        versions=texts,
        spans=spans,
        nodes=len(doomed),
        edges=len(edges),
        vectors=vectors,
        artifacts=len(sources) - len(found),
    )


def _with_artifacts(commit: Commit, source_nos: set[int]) -> dict[int, bytes]:
    """The sources and all artifacts that derive from them, through whatever artifacts: ids by number."""
    doomed: set[int] = set()
    found = source_nos
    while found:
        doomed |= found
        found = _numbers(commit, derivation.c.artifact_no, derivation.c.source_no, found) - doomed
    ids: dict[int, bytes] = {}
    for chunk in chunks(sorted(doomed)):
        statement = sa.select(source.c.source_no, source.c.source_id).where(
            source.c.tenant == commit.tenant, source.c.source_no.in_(chunk)
        )
        ids.update((row.source_no, row.source_id) for row in commit.connection.execute(statement))
    return ids


def _spaces_of(commit: Commit, sources: Iterable[int]) -> dict[bytes, str | None]:
    """By source id the name of its space; None where the id stands in several."""
    names: dict[bytes, str | None] = {}
    for chunk in chunks(sorted(sources)):
        statement = (
            sa.select(source.c.source_id, space.c.name)
            .join(space, sa.and_(space.c.tenant == source.c.tenant, space.c.space_no == source.c.space_no))
            .where(source.c.tenant == commit.tenant, source.c.source_no.in_(chunk))
        )
        for source_id, name in commit.connection.execute(statement):
            names[source_id] = name if names.get(source_id, name) == name else None
    return names


def _resting(commit: Commit, sources: Container[int]) -> dict[int, _Resting]:
    # From the nodes written by API, which have an index; links have none by span.
    statement = (
        sa.select(node.c.node_no, node_span.c.version_no, node_span.c.link_no, span.c.source_no)
        .join(node_version, sa.and_(node_version.c.tenant == node.c.tenant, node_version.c.node_no == node.c.node_no))
        .join(
            node_span,
            sa.and_(node_span.c.tenant == node.c.tenant, node_span.c.version_no == node_version.c.version_no),
        )
        .join(span, sa.and_(span.c.tenant == node.c.tenant, span.c.span_no == node_span.c.span_no))
        .where(node.c.tenant == commit.tenant, node.c.source_no.is_(None))
    )
    found: dict[int, _Resting] = {}
    for node_no, version_no, link_no, rests_on in commit.connection.execute(statement):
        one = found.setdefault(node_no, _Resting())
        if rests_on in sources:
            one.erased.setdefault(version_no, []).append(link_no)
        else:
            one.others += 1
    return {node_no: one for node_no, one in found.items() if one.erased}


def _recount(commit: Commit, version_nos: Iterable[int]) -> None:
    for version_no in sorted(version_nos):
        statement = (
            sa.select(span.c.span_no, source_version.c.text, span.c.start, span.c.end, source_version.c.name)
            .join(node_span, sa.and_(node_span.c.tenant == span.c.tenant, node_span.c.span_no == span.c.span_no))
            .join(
                source_version,
                sa.and_(
                    source_version.c.tenant == span.c.tenant,
                    source_version.c.source_no == span.c.source_no,
                    source_version.c.version_tx == span.c.version_tx,
                ),
            )
            .where(node_span.c.tenant == commit.tenant, node_span.c.version_no == version_no)
        )
        slices = [
            Slice(span_no, text[start:end].decode(), name)
            for span_no, text, start, end, name in commit.connection.execute(statement)
        ]
        terms = node_terms(slices)
        commit.connection.execute(
            sa.update(node_version)
            .where(node_version.c.tenant == commit.tenant, node_version.c.version_no == version_no)
            .values(
                term_ids=terms.ids,
                term_counts=terms.counts,
                term_total=terms.total,
                preface=node_preface(slices),
            )
        )


def _edges_of(commit: Commit, sources: Iterable[int], doomed: set[int]) -> set[int]:
    edges = _numbers(commit, edge.c.edge_no, edge.c.source_no, sources)
    written = sa.select(edge.c.edge_no, edge.c.from_node_no, edge.c.to_node_no).where(
        edge.c.tenant == commit.tenant, edge.c.source_no.is_(None)
    )
    for edge_no, one, other in commit.connection.execute(written):
        if one in doomed or other in doomed:
            edges.add(edge_no)
    return edges


def _clarifications_on(commit: Commit, doomed: set[int]) -> set[int]:
    statement = sa.select(clarification.c.row_no, clarification.c.node_no).where(
        clarification.c.tenant == commit.tenant
    )
    return {row_no for row_no, node_no in commit.connection.execute(statement) if node_no in doomed}


def _numbers(commit: Commit, number: sa.Column[int], key: sa.Column[int | None], values: Iterable[int]) -> set[int]:
    found: set[int] = set()
    for chunk in chunks(values):
        statement = sa.select(number).where(number.table.c.tenant == commit.tenant, key.in_(chunk))
        found.update(commit.connection.execute(statement).scalars())
    return found


def _delete(commit: Commit, key: sa.Column[int], numbers: Iterable[int]) -> int:
    removed = 0
    for chunk in chunks(sorted(numbers)):
        statement = sa.delete(key.table).where(key.table.c.tenant == commit.tenant, key.in_(chunk))
        removed += commit.connection.execute(statement).rowcount
    return removed
