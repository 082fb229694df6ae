"""
Values on PostgreSQL's wire, in its binary form: what psycopg needs to know of vectors, and whole columns as arrays.

Row-level security forbids COPY, and a statement per row costs three times the insert itself. So rows go down column by
column, as one array each, and `unnest` makes rows of them again; NumPy packs the numbers.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import psycopg
import sqlalchemy as sa
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo

from .float_vector import FloatVector, WireVector, from_wire, to_wire


class Column:
    """A whole column on its way to PostgreSQL; its type stands in the statement, as a cast."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


class _WireDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Any) -> Buffer | None:  # noqa: ANN401 - the signature is psycopg's
        data: bytes = obj.data
        return data


class _VectorLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        return from_wire(data)


def register(connection: "psycopg.Connection[Any]") -> None:
    """Teach *connection* vectors, if its database has them, and columns."""
    connection.adapters.register_dumper(Column, _WireDumper)
    found = TypeInfo.fetch(connection, "vector")
    if found is not None:
        found.register(connection)
        dumper = type("_VectorDumper", (_WireDumper,), {"oid": found.oid})
        connection.adapters.register_dumper(WireVector, dumper)
        connection.adapters.register_loader(found.oid, _VectorLoader)


def type_name(column: sa.Column[Any]) -> str:
    """PostgreSQL's name for the type of *column*."""
    for known, name, _ in _TYPES:
        if isinstance(column.type, known):
            return name
    raise TypeError(f"no PostgreSQL type is known for column {column}")


def packed(connection: "psycopg.Connection[Any]", column: sa.Column[Any], values: Sequence[Any]) -> Column:
    """*values* of *column*, None included, as one array."""
    name = type_name(column)
    pack = next(pack for _, known, pack in _TYPES if known == name)
    return Column(_array(_element_oid(connection, name), values, pack))


def packed_numbers(values: Sequence[int]) -> Column:
    """*values* as an array of int8."""
    return Column(_array(_INT8, values, _numbers(">i8")))


_INT8 = psycopg.adapters.types["int8"].oid

_Pack = Callable[[Sequence[Any]], bytes]


def _numbers(kind: str) -> _Pack:
    dtype = np.dtype([("length", ">i4"), ("value", kind)])

    def pack(values: Sequence[Any]) -> bytes:
        if None in values:
            return _lengths_and(dtype["value"], values)
        cells = np.empty(len(values), dtype)
        cells["length"] = dtype["value"].itemsize
        cells["value"] = values
        return cells.tobytes()

    return pack


def _lengths_and(dtype: np.dtype[Any], values: Sequence[Any]) -> bytes:
    return _cells([None if value is None else np.array(value, dtype).tobytes() for value in values])


def _texts(values: Sequence[str | None]) -> bytes:
    return _cells([None if value is None else value.encode() for value in values])


def _vectors(values: Sequence[bytes | None]) -> bytes:
    return _cells([None if value is None else to_wire(value) for value in values])


def _cells(values: Sequence[bytes | None]) -> bytes:
    parts: list[bytes] = []
    for value in values:
        if value is None:
            parts.append(_NULL)
        else:
            parts.append(len(value).to_bytes(4, "big"))
            parts.append(value)
    return b"".join(parts)


_NULL = b"\xff\xff\xff\xff"

# The first that fits wins, and a BigInteger is an Integer.
_TYPES: tuple[tuple[type[sa.types.TypeEngine[Any]], str, _Pack], ...] = (
    (FloatVector, "vector", _vectors),
    (sa.BigInteger, "int8", _numbers(">i8")),
    (sa.SmallInteger, "int2", _numbers(">i2")),
    (sa.Integer, "int4", _numbers(">i4")),
    (sa.Double, "float8", _numbers(">f8")),
    (sa.Text, "text", _texts),
    (sa.LargeBinary, "bytea", _cells),
)


def _element_oid(connection: "psycopg.Connection[Any]", name: str) -> int:
    return connection.adapters.types[name].oid


def _array(oid: int, values: Sequence[Any], pack: _Pack) -> bytes:
    has_null = int(None in values)
    header = (1, has_null, oid, len(values), 1)  # dimensions, nulls, element type, length, first index
    return b"".join([*(number.to_bytes(4, "big") for number in header), pack(values)])
