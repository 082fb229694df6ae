"""
The column type of a vector: float32 values, little-endian bytes in Python on every engine.

SQLite stores these bytes as they are; PostgreSQL stores pgvector's `vector`, so that other tools can read it. Either
gives back the bits that went in: -0.0, subnormal numbers and the extremes included.
"""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql.base import ischema_names

_HEADER = 4
_MAX_DIMENSIONS = 16_000  # pgvector's own


class PgVector(sa.types.UserDefinedType[bytes]):
    """pgvector's type, of any number of dimensions."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:  # noqa: ANN401 - the signature is SQLAlchemy's
        """How a column is declared."""
        return "vector"


# So that a schema read from a database knows the type by its name.
ischema_names["vector"] = PgVector


class WireVector:
    """A vector on its way to PostgreSQL, in the form of `vector_recv`: dimensions, zero, big-endian floats."""

    __slots__ = ("data",)

    def __init__(self, values: bytes) -> None:
        self.data = to_wire(values)


class FloatVector(sa.types.TypeDecorator[bytes]):
    """float32 values as little-endian bytes."""

    impl = sa.LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        """What the engine at hand stores."""
        stored: sa.types.TypeEngine[Any] = PgVector() if dialect.name == "postgresql" else sa.LargeBinary()
        return dialect.type_descriptor(stored)

    def process_bind_param(self, value: bytes | None, dialect: sa.Dialect) -> Any:  # noqa: ANN401 - bytes or WireVector
        """From bytes to what the driver takes."""
        return WireVector(value) if value is not None and dialect.name == "postgresql" else value


def to_wire(values: bytes) -> bytes:
    """
    PostgreSQL's binary form of a vector.

    Raises:
        ValueError: It has no dimension, or more than pgvector stores.
    """
    count, rest = divmod(len(values), 4)
    if rest or not 1 <= count <= _MAX_DIMENSIONS:
        raise ValueError(f"a vector of {len(values)} bytes cannot be stored")
    return count.to_bytes(2, "big") + b"\0\0" + _swapped(values)


def from_wire(data: "bytes | bytearray | memoryview") -> bytes:
    """The values of a vector that PostgreSQL sent."""
    return _swapped(bytes(data[_HEADER:]))


def _swapped(values: bytes) -> bytes:
    """The bytes of every float32 in reverse."""
    turned = bytearray(len(values))
    for position in range(4):
        turned[position::4] = values[3 - position :: 4]
    return bytes(turned)
