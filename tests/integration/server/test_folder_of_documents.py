"""`telha ingest FOLDER` over real gRPC: large files are streamed, refusals are said, a second run changes nothing."""

import uuid
from collections import Counter
from pathlib import Path

import pytest
from planner_server import RealPlanner
from telha_cli import documents, remember
from telha_cli.calls import Service
from telha_cli.tables import ingested
from telha_planner.config import PlannerConfig, ServerSettings


@pytest.fixture(scope="module")
def planner(tmp_path_factory):
    limits = ServerSettings(max_document_bytes=5_500_000)
    with RealPlanner(tmp_path_factory.mktemp("folder"), PlannerConfig(server=limits)) as planner:
        yield planner


@pytest.fixture
def client(planner):
    with planner.client(f"tenant-{uuid.uuid4()}") as client:
        yield client


def a_folder(folder: Path) -> Path:
    paragraph = "The first tram leaves the depot at 05:12. " * 30 + "\n\n"
    files = {
        "small.md": "# Trams\n\nFirst at 05:12.\n",
        "chat.jsonl": '{"speaker": "Ana", "text": "שלום"}\n',
        "large.md": paragraph * (5_000_000 // len(paragraph)),
        "too-large.txt": paragraph * (6_000_000 // len(paragraph)),
        "broken.txt": None,
        "style.css": "p {}",
        "blank.md": "\n",
    }
    for name, content in files.items():
        path = folder / name
        if content is None:
            path.write_bytes(b"word " * 300_000 + b"\xff")
        else:
            path.write_text(content, "utf-8")
    return folder


def test_a_folder_goes_in_and_says_what_did_not(client, tmp_path):
    """A3, M8: above the limit of a message files are streamed; each one left out has its reason; twice is once."""
    folder = a_folder(tmp_path)
    outcomes = []
    for _ in range(2):
        report = remember.ingest(
            Service(client), documents.gather([folder]), "notes", None, remember.Keys(None), quiet=True
        )
        outcomes.append(Counter(document["outcome"] for document in report["documents"]))
        refused = {each["path"].rpartition("/")[2]: each["reason"] for each in report["refused"]}
        assert set(refused) == {"broken.txt", "too-large.txt"}
        assert "must be UTF-8; byte 1,500,000 is not" in refused["broken.txt"]
        assert "max_document_bytes" in refused["too-large.txt"]
        assert [each["path"].rpartition("/")[2] for each in report["skipped"]] == ["blank.md", "style.css"]
        assert ingested(report) is not None
    assert outcomes == [Counter(created=3), Counter(unchanged=3)]
    stored = {source.name.rpartition("/")[2]: source for source in client.memory.sources(["notes"]).items}
    assert set(stored) == {"small.md", "chat.jsonl", "large.md"}
    found = client.memory.source(stored["large.md"].source_id, include_text=True)
    assert found.text == (folder / "large.md").read_text("utf-8")
