"""A store of the first schema, opened by this version."""

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from telha_planner.core.request import OPEN_END
from telha_planner.memory import migrations, tables
from telha_planner.memory.store import Store

TENANT = 1


def _first_store(path: Path) -> None:
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        configuration = migrations._configuration()
        configuration.attributes["connection"] = connection
        command.upgrade(configuration, "0001")
        for number, (model, tx_from) in enumerate((("first", 7), ("waits", OPEN_END)), start=3):
            connection.execute(
                sa.text("INSERT INTO vector_model VALUES (:tenant, :number, :model, 2, 0.25, :tx_from)"),
                {"tenant": TENANT, "number": number, "model": model, "tx_from": tx_from},
            )
        connection.execute(
            sa.text("INSERT INTO vector VALUES (1, 9, 5, 'first', -3, :values, 8, :open_end)"),
            {"values": b"\0\0\x80?\0\0\0@", "open_end": OPEN_END},
        )
    engine.dispose()


def test_the_active_model_and_the_vectors_of_the_first_schema_are_kept(tmp_path: Path) -> None:
    """M6, M8: what was active since an instant is so still; a model that waits goes on waiting."""
    path = tmp_path / "memory.db"
    _first_store(path)
    store = Store.open(f"sqlite:///{path}", busy_timeout_ms=10_000)
    try:
        with store.reading(TENANT) as connection:
            assert connection.execute(sa.select(tables.active_model)).all() == [(TENANT, 3, "first", 7)]
            models = connection.execute(sa.select(tables.vector_model).order_by(tables.vector_model.c.row_no)).all()
            assert models == [(TENANT, 3, "first", 2, 0.25), (TENANT, 4, "waits", 2, 0.25)]
            (vector,) = connection.execute(sa.select(tables.vector)).all()
    finally:
        store.close()
    assert (vector.node_no, vector.model, vector.valid_from, vector.text_hash) == (5, "first", -3, None)
    assert bytes(vector[5]) == b"\0\0\x80?\0\0\0@"
