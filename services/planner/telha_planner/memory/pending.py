"""
The rows that one commit will insert and close, gathered first and written table by table.

A refusal while gathering leaves nothing behind, and thousands of rows go down in one statement per table.
"""

from typing import Any

import sqlalchemy as sa

from telha_planner.core.request import OPEN_END

from .bulk import bulk_close, bulk_insert
from .clock import Commit
from .store import chunks
from .tables import edge, node_span, node_version


class Pending:
    """What *commit* has yet to write."""

    def __init__(self, commit: Commit) -> None:
        self.commit = commit
        self._rows: dict[sa.Table, list[tuple[Any, ...]]] = {}
        self._closed: dict[sa.Table, list[int]] = {}
        self._bounded_nodes: dict[int, int] = {}
        self._bounded_edges: dict[int, int] = {}

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write."""
        return not (any(self._rows.values()) or any(self._closed.values()))

    def rows(self, table: sa.Table) -> list[tuple[Any, ...]]:
        """The rows to insert into *table*, one value per column in the table's order; append to it."""
        return self._rows.setdefault(table, [])

    def close(self, table: sa.Table, number: int) -> None:
        """End the row *number* of *table* at the commit's instant."""
        self._closed.setdefault(table, []).append(number)

    def supersede_node(self, version_no: int, valid_to: int | None) -> None:
        """
        End a node version; if *valid_to* is given, what it said stays true until then.

        What stays is a copy with that end, resting on the same spans.
        """
        self.close(node_version, version_no)
        if valid_to is not None:
            self._bounded_nodes[version_no] = valid_to

    def supersede_edge(self, edge_no: int, valid_to: int | None) -> None:
        """End an edge; if *valid_to* is given, it stays true until then."""
        self.close(edge, edge_no)
        if valid_to is not None:
            self._bounded_edges[edge_no] = valid_to

    def flush(self) -> None:
        """Write everything."""
        self._copy_nodes()
        self._copy_edges()
        connection, tenant, tx = self.commit.connection, self.commit.tenant, self.commit.tx
        for table, numbers in self._closed.items():
            bulk_close(connection, table, tenant, numbers, tx)
        for table, rows in self._rows.items():
            bulk_insert(connection, table, rows)

    def _copy_nodes(self) -> None:
        commit = self.commit
        copies: dict[int, int] = {}
        for chunk in chunks(self._bounded_nodes):
            of_tenant = node_version.c.tenant == commit.tenant
            for row in commit.connection.execute(
                sa.select(node_version).where(of_tenant, node_version.c.version_no.in_(chunk))
            ):
                copies[row.version_no] = commit.number()
                changed = {
                    "version_no": copies[row.version_no],
                    "tx_from": commit.tx,
                    "tx_to": OPEN_END,
                    "valid_to": self._bounded_nodes[row.version_no],
                }
                self.rows(node_version).append(_replaced(node_version, row, changed))
            links = (
                sa.select(node_span)
                .where(node_span.c.tenant == commit.tenant, node_span.c.version_no.in_(chunk))
                .where(commit.stands(node_span))
            )
            for row in sorted(commit.connection.execute(links), key=lambda link: int(link.link_no)):
                changed = {"link_no": commit.number(), "version_no": copies[row.version_no], "tx_from": commit.tx}
                self.rows(node_span).append(_replaced(node_span, row, changed))

    def _copy_edges(self) -> None:
        commit = self.commit
        for chunk in chunks(self._bounded_edges):
            for row in commit.connection.execute(
                sa.select(edge).where(edge.c.tenant == commit.tenant, edge.c.edge_no.in_(chunk))
            ):
                changed = {
                    "edge_no": commit.number(),
                    "tx_from": commit.tx,
                    "tx_to": OPEN_END,
                    "valid_to": self._bounded_edges[row.edge_no],
                }
                self.rows(edge).append(_replaced(edge, row, changed))


def _replaced(table: sa.Table, row: sa.Row[Any], changed: dict[str, int]) -> tuple[Any, ...]:
    values = row._mapping  # noqa: SLF001 - the public name that SQLAlchemy gives it
    return tuple(changed.get(column.name, values[column]) for column in table.columns)
