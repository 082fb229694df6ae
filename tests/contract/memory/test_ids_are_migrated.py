"""A store of before ids meant things of one space keeps its rows, and its constraints are the new ones."""

from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from telha_planner.memory import migrations
from telha_planner.memory.store import Store

SOURCE = {"tenant": 1, "source_no": 4, "source_id": b"s" * 16, "space_no": 2, "span_class": 1}
NODE = {"tenant": 1, "node_no": 5, "node_id": b"n" * 16, "space_no": 2, "source_no": None}


def test_rows_stay_and_another_space_may_have_the_id(tmp_path: Path) -> None:
    """M6, M7: schema 0003 to 0004 on SQLite, where the tables are written anew."""
    path = tmp_path / "memory.db"
    engine = sa.create_engine(f"sqlite:///{path}")
    configuration = migrations._configuration()
    with engine.begin() as connection:
        configuration.attributes["connection"] = connection
        command.upgrade(configuration, "0003")
        for table, row in (("source", SOURCE), ("node", NODE)):
            names = ", ".join(row)
            connection.execute(sa.text(f"INSERT INTO {table} ({names}) VALUES (:{', :'.join(row)})"), row)
    Store.open(f"sqlite:///{path}", busy_timeout_ms=1000).close()
    for table, row in (("source", SOURCE), ("node", NODE)):
        names, number = ", ".join(row), f"{table}_no"
        insert = sa.text(f"INSERT INTO {table} ({names}) VALUES (:{', :'.join(row)})")
        with engine.begin() as connection:
            found = connection.execute(sa.text(f"SELECT {names} FROM {table}")).mappings().all()
            assert [dict(each) for each in found] == [row]
            connection.execute(insert, row | {number: 9, "space_no": 3})
        with pytest.raises(sa.exc.IntegrityError), engine.begin() as connection:
            connection.execute(insert, row | {number: 10})
    indexes = {index["name"] for index in sa.inspect(engine).get_indexes("node")}
    assert "node_of_source" in indexes
    engine.dispose()
