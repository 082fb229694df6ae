import pytest
from memory_builders import DAY, JUNE, SEPTEMBER, a_document, a_tenant, a_writer, uid
from telha_planner.core.errors import NotFound
from telha_planner.core.request import Window
from telha_planner.memory.reads import Sources
from telha_planner.memory.store import Store
from telha_planner.memory.texts import SourceTexts, TextErased


def test_a_source_is_read_as_of_two_instants(store: Store) -> None:
    """M1: the newest version, or the one known or true at an instant, or one by its number."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store, SEPTEMBER)
    first = a_document("a", ["olá 二"], valid_from=JUNE)
    writer.write_documents(tenant, [first])
    clock.time += DAY
    writer.write_documents(tenant, [a_document("a", ["olá 三"], valid_from=SEPTEMBER)])
    sources = Sources(store)

    def text(version_tx: int | None, window: Window) -> str | None:
        found = sources.get(tenant, None, first.source_id, version_tx, window)
        return None if found is None else sources.text(tenant, found)

    assert text(None, Window()) == "olá 三"
    assert text(None, Window(tx_time=SEPTEMBER)) == "olá 二"
    assert text(None, Window(tx_time=SEPTEMBER - 1)) is None
    assert text(None, Window(valid_time=SEPTEMBER - 1)) == "olá 二"
    assert text(None, Window(valid_time=JUNE - 1)) is None
    assert text(SEPTEMBER, Window()) == "olá 二"
    assert text(SEPTEMBER + 1, Window()) is None
    found = sources.get(tenant, None, first.source_id, None, Window())
    assert found is not None
    assert (found.name, found.space, found.version_tx, found.length) == ("a", "main", SEPTEMBER + DAY, 8)


def test_spaces_and_tenants_do_not_see_each_other(store: Store) -> None:
    """M7, A6: what lies outside the spaces asked for is absent."""
    tenant, _ = a_tenant(store)
    beta, _ = a_tenant(store, "beta")
    writer, _ = a_writer(store)
    mine, other = a_document("a", ["one"]), a_document("b", ["two"], space="other")
    writer.write_documents(tenant, [mine, other])
    sources = Sources(store)
    both = sorted([mine.source_id, other.source_id])
    assert [source.source_id for source in sources.page(tenant, None, None, 9)] == both
    assert [source.source_id for source in sources.page(tenant, ("main",), None, 9)] == [mine.source_id]
    assert sources.page(beta, None, None, 9) == []
    assert sources.get(tenant, ("main",), other.source_id, None, Window()) is None
    assert sources.get(beta, None, mine.source_id, None, Window()) is None


def test_pages_hold_every_source_once(store: Store) -> None:
    """A2: listing by id; each source's newest version."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)
    writer.write_documents(tenant, [a_document(f"d{number}", ["one"]) for number in range(7)])
    clock.time += 1
    writer.write_documents(tenant, [a_document("d3", ["one more"])])
    sources = Sources(store)
    seen: list[bytes] = []
    after = None
    while page := sources.page(tenant, None, after, 3):
        assert len(page) <= 3
        seen += [source.source_id for source in page]
        after = (page[-1].source_id, page[-1].source_no)
    assert seen == sorted(uid(f"main/d{number}") for number in range(7))


def test_a_text_erased_meanwhile_is_not_found(store: Store) -> None:
    """M5: neither the store nor what was held of it answers with an erased text."""
    tenant, _ = a_tenant(store)
    writer, _ = a_writer(store)
    document = a_document("a", ["one"])
    writer.write_documents(tenant, [document])
    sources, texts = Sources(store), SourceTexts(store, 1000)
    found = sources.get(tenant, None, document.source_id, None, Window())
    assert found is not None
    assert texts.slices(tenant, 0, [found.source_no], [found.version_tx], [0], [3]) == ["one"]
    receipt = writer.erase_source(tenant, document.source_id)
    with pytest.raises(NotFound):
        sources.text(tenant, found)
    with pytest.raises(TextErased):
        texts.slices(tenant, receipt.tx, [found.source_no], [found.version_tx], [0], [3])
