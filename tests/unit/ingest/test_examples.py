"""The example corpus says of itself only what is true."""

import tomllib
from datetime import datetime
from pathlib import Path
from uuid import UUID

from telha_planner.ingest.document import DocumentInput
from telha_planner.ingest.parse import parse
from telha_planner.models.analysis import term_counts

FOLDER = Path(__file__).parents[3] / "examples"
CORPUS = tomllib.loads((FOLDER / "corpus.toml").read_text("utf-8"))


def _parsed(document: dict[str, str], tenant_name: str = "acme"):
    source_id = UUID(document["source_id"]).bytes if "source_id" in document else None
    content = (FOLDER / document["file"]).read_bytes()
    space = document.get("space", "main")
    return parse(DocumentInput(source_id, document["name"], None, space, None, content, None), tenant_name)


def test_every_file_is_listed() -> None:
    """M2: the manifest lists each document once, and each was valid from a stated instant."""
    files = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.*") if path.suffix != ".toml"}
    assert files - {"README.md"} == {document["file"] for document in CORPUS["documents"]}
    stated = [document.get("valid_from") for document in CORPUS["documents"]]
    assert all(datetime.fromisoformat(instant).tzinfo for instant in stated if instant is not None)
    assert stated.count(None) == 1


def test_the_conversation_says_itself_since_when_it_is_true() -> None:
    """M2: its document states no start, so its first turn does."""
    (document,) = (found for found in CORPUS["documents"] if "valid_from" not in found)
    record = _parsed(document)
    turns = [node.valid_from for node in record.nodes if node.type == "turn"]
    assert len(turns) == 5
    assert record.valid_from == min(turns) == datetime.fromisoformat("2026-07-14T05:52:00Z").timestamp() * 1_000_000


def test_the_page_is_remembered_as_it_is_shown() -> None:
    """M2: rows with their head, no script, nothing hidden."""
    (document,) = (found for found in CORPUS["documents"] if found["file"].endswith(".html"))
    text = _parsed(document).text.decode()
    assert "Olive Hill | level | yes, closed on Mondays until noon" in text
    assert "Assistance dogs travel free & need no muzzle." in text
    assert not [word for word in ("Draft", "scripted", "float", "summer", "<") if word in text]


def test_the_changing_document_keeps_what_stayed() -> None:
    """M2: between June and September one passage changes, and the rest of the document is the same nodes."""
    june, september = (_parsed(document) for document in CORPUS["documents"] if document["name"] == "line-2.md")
    assert june.source_id == september.source_id
    before, after = ({node.node_id for node in record.nodes if node.type != "window"} for record in (june, september))
    assert len(before - after) == len(after - before) == 2
    assert len(before & after) >= 15


def test_the_clarification_names_its_passage() -> None:
    """M3: the node id in the manifest is the passage's, in any tenant."""
    (clarification,) = CORPUS["clarifications"]
    (document,) = (found for found in CORPUS["documents"] if found["name"] == clarification["name"])
    record = _parsed(document, "any tenant")
    (node,) = (node for node in record.nodes if node.node_id == UUID(clarification["node_id"]).bytes)
    span = record.spans[node.spans[0]]
    assert record.text[span.start : span.end].decode().startswith(clarification["passage"])
    assert f'"path":["Rider guide","{clarification["heading"]}"]' in node.properties


def test_questions_can_be_answered() -> None:
    """R1: what each question expects stands in the corpus; the one without an answer shares no term with it."""
    assert len(CORPUS["questions"]) == 8
    texts = [_parsed(document, "any tenant").text.decode() for document in CORPUS["documents"]]
    terms = {term for text in texts for term in term_counts(text)}
    for question in CORPUS["questions"]:
        if question.get("empty"):
            assert not terms & set(term_counts(question["question"]))
        else:
            assert any(question["expect"] in text for text in texts)
