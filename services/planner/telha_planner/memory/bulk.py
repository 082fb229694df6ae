"""Many rows at once, past the statement compiler, which would cost more than the insert itself."""

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

ROWS_AT_ONCE = 5_000
BYTES_AT_ONCE = 8 << 20
"""What one statement carries to PostgreSQL; both sides hold it in memory whole."""


def bulk_insert(connection: sa.Connection, table: sa.Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert *rows*, each with one value per column of *table*, in the order of its columns."""
    if not rows:
        return
    into = f"INSERT INTO {_quoted(connection, table.name)} ({_names(connection, table)})"
    if connection.dialect.name == "postgresql":
        _insert_columns(connection, table, into, rows)
    else:
        marks = ", ".join("?" * len(table.columns))
        connection.exec_driver_sql(f"{into} VALUES ({marks})", list(rows))


def bulk_close(connection: sa.Connection, table: sa.Table, tenant: int, numbers: Sequence[int], tx: int) -> None:
    """End the rows *numbers* of *table*, whose key is (tenant, number), at the instant *tx*."""
    if not numbers:
        return
    tenant_column, key = (_quoted(connection, column.name) for column in table.primary_key)
    name = _quoted(connection, table.name)
    if connection.dialect.name == "postgresql":
        from .postgres_values import packed_numbers  # noqa: PLC0415 - the driver is an extra

        statement = f"UPDATE {name} SET tx_to = %s WHERE {tenant_column} = %s AND {key} = ANY(%s::int8[])"  # noqa: S608 - our names
        connection.exec_driver_sql(statement, (tx, tenant, packed_numbers(numbers)))
    else:
        statement = f"UPDATE {name} SET tx_to = ? WHERE {tenant_column} = ? AND {key} = ?"  # noqa: S608 - our names
        connection.exec_driver_sql(statement, [(tx, tenant, number) for number in numbers])


def _insert_columns(connection: sa.Connection, table: sa.Table, into: str, rows: Sequence[tuple[Any, ...]]) -> None:
    from .postgres_values import packed, type_name  # noqa: PLC0415 - the driver is an extra

    driver: Any = connection.connection.dbapi_connection
    arrays = ", ".join(f"%s::{type_name(column)}[]" for column in table.columns)
    statement = f"{into} SELECT * FROM unnest({arrays})"  # noqa: S608 - our names
    for some in _portions(rows):
        columns = zip(table.columns, zip(*some, strict=True), strict=True)
        connection.exec_driver_sql(statement, tuple(packed(driver, column, values) for column, values in columns))


def _portions(rows: Sequence[tuple[Any, ...]]) -> Iterator[Sequence[tuple[Any, ...]]]:
    first, size = 0, 0
    for position, row in enumerate(rows):
        if position - first == ROWS_AT_ONCE or size > BYTES_AT_ONCE:
            yield rows[first:position]
            first, size = position, 0
        size += sum(len(value) for value in row if isinstance(value, (bytes, str)))
    yield rows[first:]


def _names(connection: sa.Connection, table: sa.Table) -> str:
    return ", ".join(_quoted(connection, column.name) for column in table.columns)


def _quoted(connection: sa.Connection, name: str) -> str:
    return connection.dialect.identifier_preparer.quote(name)
