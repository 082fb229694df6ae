"""A PostgreSQL that is away, restarting, full or read-only: callers are told to try again, and then it works."""

import signal
import threading
import time
from collections.abc import Iterator

import psycopg
import pytest
import sqlalchemy as sa
from fixtures.postgres import OwnPostgres, PostgresServer
from memory_builders import a_document, a_tenant, a_writer
from telha_planner.core.errors import Unavailable
from telha_planner.memory import clock, tables
from telha_planner.memory.store import Store, StoreUnusable

COUNT = sa.select(sa.func.count()).select_from(tables.source)


class Place:
    """A store on a server of its own, with one tenant."""

    def __init__(self, server: OwnPostgres) -> None:
        self.server = server
        self.databases = PostgresServer(server.admin)
        self.url = self.databases.url(self.databases.create())
        self.store = Store.open(self.url, busy_timeout_ms=2000)
        self.tenant, _ = a_tenant(self.store)
        self.writer, self.now = a_writer(self.store)

    def write(self, name: str) -> int:
        return self.writer.write_documents(self.tenant, [a_document(name, [f"alpha {name}"])]).tx

    def sources(self) -> int:
        with self.store.reading(self.tenant) as connection:
            return int(connection.execute(COUNT).scalar_one())


@pytest.fixture
def place(own_postgres: OwnPostgres) -> Iterator[Place]:
    made = Place(own_postgres)
    yield made
    made.store.close()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
def test_a_restart_is_not_noticed_by_the_next_call(place: Place, how: signal.Signals) -> None:
    """M6: the connections of the pool are dead, and replaced where a transaction begins, in reads and in writes."""
    place.write("a")
    with place.store.reading(place.tenant), place.store.reading(place.tenant), place.store.reading(place.tenant):
        pass  # several connections in the pool
    place.server.stop(how)
    place.server.start()
    assert place.sources() == 1
    place.server.stop(how)
    place.server.start()
    assert place.write("b") > 0
    assert place.sources() == 2


def test_while_it_is_away_callers_are_told_to_try_again(place: Place) -> None:
    """M6: no error but `Unavailable`, and nothing to restart afterwards."""
    place.write("a")
    place.server.stop()
    for _ in range(2):
        with pytest.raises(Unavailable, match="the memory store is not available"):
            place.sources()
        with pytest.raises(Unavailable, match="the memory store is not available"):
            place.write("b")
    with pytest.raises(StoreUnusable, match=r"cannot be opened: .*No such file or directory"):
        Store.open(place.url, busy_timeout_ms=1000)
    place.server.start()
    place.write("b")
    assert place.sources() == 2


def test_a_server_that_dies_in_the_middle_of_a_write_keeps_nothing_of_it(place: Place) -> None:
    """M6: what was not committed is gone, what was is there."""
    tx = place.write("a")
    with pytest.raises(Unavailable), place.store.writing(place.tenant) as connection:  # noqa: PT012 - one transaction
        commit = clock.begin(connection, place.tenant, place.now)
        connection.execute(sa.update(tables.source).values(span_class=1))
        commit.seal()
        place.server.stop(signal.SIGQUIT)
    place.server.start()
    with place.store.reading(place.tenant) as connection:
        assert clock.last_tx(connection, place.tenant) == tx
        assert connection.execute(sa.select(tables.source.c.span_class)).scalars().all() == [0]


def test_a_server_without_room_for_more_connections(place: Place) -> None:
    """M6: `too many clients already` is a reason to try again."""
    place.store.close()
    with psycopg.connect(place.server.admin, autocommit=True) as admin:
        admin.execute("ALTER ROLE telha_test CONNECTION LIMIT 0")
        with pytest.raises(Unavailable):
            place.sources()
        admin.execute("ALTER ROLE telha_test CONNECTION LIMIT -1")
    assert place.sources() == 0


def test_a_server_that_takes_no_writes(place: Place) -> None:
    """M6: a standby answers reads; a write is told to try again, and goes through once it is the primary."""
    place.write("a")
    database = sa.make_url(place.url).database
    with psycopg.connect(place.databases.admin, autocommit=True) as admin:
        admin.execute(f"ALTER DATABASE {database} SET default_transaction_read_only = on")
        place.store.close()
        assert place.sources() == 1
        with pytest.raises(Unavailable):
            place.write("b")
        admin.execute(f"ALTER DATABASE {database} SET default_transaction_read_only = off")
        place.store.close()
    place.write("b")
    assert place.sources() == 2


def test_two_transactions_that_wait_for_each_other(place: Place) -> None:
    """M6: the one that the server sacrifices is told to try again."""
    other, _ = a_tenant(place.store, "beta")
    both = threading.Barrier(2)
    outcomes: list[str] = []

    def lock(first: int, second: int) -> None:
        row = sa.select(tables.clock.c.tenant).with_for_update()
        try:
            with place.store.writing(first) as connection:
                connection.execute(row.where(tables.clock.c.tenant == first))
                both.wait()
                connection.execute(row.where(tables.clock.c.tenant == second))
            outcomes.append("done")
        except Unavailable:
            outcomes.append("told")

    threads = [threading.Thread(target=lock, args=pair) for pair in ((place.tenant, other), (other, place.tenant))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["done", "told"]


def test_a_frozen_writer_lets_go(place: Place) -> None:
    """M6: a transaction that stands still is ended by the server, so that the tenant can be written again."""
    frozen = Store.open(place.url, busy_timeout_ms=50)
    with pytest.raises(Unavailable), frozen.writing(place.tenant) as connection:  # noqa: PT012 - one transaction
        clock.begin(connection, place.tenant, place.now)
        time.sleep(0.5)
        place.write("a")
        connection.execute(COUNT)
    frozen.close()
    assert place.sources() == 1


def test_an_erasure_stands_though_its_room_is_not_freed(place: Place) -> None:
    """M5: the rows are gone with the commit; a server that is away afterwards does not make that a failure."""
    place.write("a")
    assert place.store.scrub()
    with place.store.reading(place.tenant) as connection:
        connection.execute(COUNT)
        assert not place.store.scrub()
    place.server.stop()
    assert not place.store.scrub()
    place.server.start()
    assert place.store.scrub()
