"""Vectors come back from either engine with the bits that went in."""

import itertools
import struct

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_builders import JUNE, a_tenant
from telha_planner.core.request import OPEN_END
from telha_planner.memory import tables
from telha_planner.memory.bulk import bulk_insert
from telha_planner.memory.float_vector import from_wire, to_wire
from telha_planner.memory.store import Store

FLOATS = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1e-45, -1e-45, 1.1754943508222875e-38, 3.4028234663852886e38, -3.4028234663852886e38]),
)
VECTORS = st.lists(FLOATS, min_size=1, max_size=24).map(lambda values: struct.pack(f"<{len(values)}f", *values))

_names = itertools.count()


@given(VECTORS)
def test_the_wire_form_is_its_own_inverse(values: bytes) -> None:
    """M6: dimensions, two zero bytes, then the same floats the other way round."""
    wire = to_wire(values)
    assert wire[:4] == struct.pack(">HH", len(values) // 4, 0)
    assert struct.unpack(f">{len(values) // 4}f", wire[4:]) == struct.unpack(f"<{len(values) // 4}f", values)
    assert from_wire(memoryview(wire)) == values


@pytest.mark.parametrize("values", [b"", bytes(3), bytes(5), bytes(4 * 16_001)])
def test_what_no_engine_stores_alike_is_refused(values: bytes) -> None:
    """M6: a vector has 1 to 16,000 whole values."""
    with pytest.raises(ValueError, match="cannot be stored"):
        to_wire(values)


@settings(max_examples=20, deadline=None)
@given(st.lists(VECTORS, min_size=1, max_size=8))
def test_the_bits_come_back(lasting_store: Store, vectors: list[bytes]) -> None:
    """M6, R8: through the bulk path, through a single statement, and as the columns read them."""
    tenant, _ = a_tenant(lasting_store, f"tenant {next(_names)}")
    with lasting_store.writing(tenant) as connection:
        rows = [(tenant, no, no, "m", JUNE, values, JUNE, OPEN_END, None) for no, values in enumerate(vectors)]
        bulk_insert(connection, tables.vector, rows)
        again = [(tenant, no + 100, *rest) for (_, no, *rest) in rows]
        for row in again:
            connection.execute(sa.insert(tables.vector).values(row))
    with lasting_store.reading(tenant) as connection:
        column = tables.vector.c
        wanted = sa.select(column["values"]).where(column.tenant == tenant).order_by(column.row_no)
        assert list(connection.execute(wanted).scalars()) == vectors * 2
        # The columns take the driver's own tuples.
        cursor = connection.execute(wanted).cursor
        assert cursor is not None
        assert [values for (values,) in cursor.fetchall()] == vectors * 2
