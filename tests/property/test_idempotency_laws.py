"""M8: however often writes are sent under their keys, and whenever they are broken off, they happen once."""

from collections.abc import Callable
from contextlib import suppress
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from artifact_builders import an_artifact
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_builders import DAY, JUNE, HandClock, a_document, a_tenant, rows_of, uid
from telha_planner.core.errors import NotFound, RequestInvalid
from telha_planner.memory.idempotency import Outcomes, key_of
from telha_planner.memory.records import ClarificationRecord, EdgeRecord, IdempotencyKey, NodeRecord
from telha_planner.memory.store import Store
from telha_planner.memory.writes import Writer

NAMES = st.sampled_from("abc")
TEXTS = st.lists(
    st.sampled_from(["alpha 1", "beta 2", "你好 3", "🧑‍🚀 4", "שלום 5"]), min_size=1, max_size=3, unique=True
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("document"), NAMES, TEXTS),
        st.tuples(st.just("artifact"), NAMES, TEXTS),
        st.tuples(st.just("node"), NAMES, TEXTS),
        st.tuples(st.just("edge"), NAMES, NAMES),
        st.tuples(st.just("question"), NAMES, TEXTS),
        st.tuples(st.just("erase"), NAMES, TEXTS),
    ),
    min_size=1,
    max_size=7,
)
FATES = st.lists(st.sampled_from(["killed before the commit", "answer lost"]), max_size=3)


class Killed(Exception):
    """The process ends here."""


def _write(writer: Writer, tenant: int, step: tuple[Any, ...], key: IdempotencyKey) -> Any:
    kind, name, more = step
    carry_out: dict[str, Callable[[], Any]] = {
        "document": lambda: writer.write_documents(tenant, [a_document(name, more)], key=key),
        "artifact": lambda: writer.put_artifacts(
            tenant, [an_artifact(f"of {name}", more[0], [a_document(name, more).source_id])], key=key
        ),
        "node": lambda: writer.put_nodes(tenant, [NodeRecord(uid(name), "main", more[0], "{}")], key=key),
        "edge": lambda: writer.put_edges(tenant, [EdgeRecord(uid("e"), uid(name), uid(more), "near")], key=key),
        "question": lambda: writer.put_clarifications(
            tenant, [ClarificationRecord(uid("c"), uid(name), "pending", more[0])], key=key
        ),
        "erase": lambda: writer.erase_source(tenant, a_document(name, more).source_id, key=key),
    }
    try:
        return carry_out[kind]()
    except (RequestInvalid, NotFound) as refusal:
        return str(refusal)


def _killed(*_: object) -> None:
    raise Killed


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, fates=st.lists(FATES, min_size=7, max_size=7), order=st.randoms(use_true_random=False))
def test_writes_that_are_sent_again_and_again_happen_once(new_store_url, steps, fates, order):
    """M8: the rows of either engine, and every answer, are those of the calls sent once to a file, undisturbed."""
    with TemporaryDirectory() as folder:
        once, often = _Memory(f"sqlite:///{folder}/memory.db"), _Memory(new_store_url())
        expected = [once.write(number, step) for number, step in enumerate(steps)]
        for number, step in enumerate(steps):
            for fate in fates[number]:
                often.interrupted(number, step, fate)
            assert _told(often.write(number, step)) == _told(expected[number])
        again = [*enumerate(steps)]
        order.shuffle(again)
        for number, step in again:
            # What was refused is no answer that is kept: it may come out otherwise later.
            if not isinstance(expected[number], str):
                answer = often.write(number, step)
                assert answer.replayed
                assert _told(answer) == _told(expected[number])
        assert often.rows() == once.rows()
        once.store.close()
        often.store.close()


class _Memory:
    def __init__(self, url: str) -> None:
        self.store = Store.open(url, busy_timeout_ms=10_000)
        self.tenant, _ = a_tenant(self.store)
        self._clock = HandClock()
        self._writer = Writer(self.store, self._clock, keep_us=1000 * DAY)

    def write(self, number: int, step: tuple[Any, ...]) -> Any:
        self._clock.time = JUNE + number * 1000
        return _write(self._writer, self.tenant, step, key_of(f"key-{number}", None, step[0], repr(step).encode()))

    def interrupted(self, number: int, step: tuple[Any, ...], fate: str) -> None:
        if fate == "answer lost":
            self.write(number, step)
            return
        with pytest.MonkeyPatch.context() as patch, suppress(Killed):
            patch.setattr(Outcomes, "store", _killed)
            self.write(number, step)

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        return rows_of(self.store, self.tenant)


def _told(answer: Any) -> Any:
    if isinstance(answer, str):
        return answer
    fields = {name: getattr(answer, name) for name in answer.__slots__}
    return {**fields, "replayed": None}
