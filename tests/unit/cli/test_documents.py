"""What `telha ingest` reads, skips and refuses."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_cli import documents
from telha_cli.documents import Document
from telha_cli.problems import UsageInvalid
from telha_planner.ingest.document import DocumentInput


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, content in {
        "docs/b.md": b"# B\n",
        "docs/a.txt": "café 家\n".encode(),
        "docs/deep/c.markdown": b"c\n",
        "docs/.hidden.md": b"no\n",
        "docs/.git/config.txt": b"no\n",
        "docs/image.md": b"\x89PNG\0\0",
        "docs/latin.txt": b"caf\xe9\n",
        "docs/empty.md": b" \n",
        "docs/style.css": b"p {}",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path


def test_every_path_is_accounted_for(tree: Path) -> None:
    """A3: what is not ingested is said, with its reason."""
    gathered = documents.gather([Path("docs")])
    assert [document.name for document in gathered.documents] == ["docs/a.txt", "docs/b.md", "docs/deep/c.markdown"]
    assert [document.media_type for document in gathered.documents] == ["text/plain", "text/markdown", "text/markdown"]
    assert sorted(gathered.skipped) == [
        ("docs/.git", "hidden"),
        ("docs/.hidden.md", "hidden"),
        ("docs/empty.md", "empty"),
        ("docs/image.md", "binary"),
        ("docs/style.css", "not one of .md, .markdown, .mdown, .mkd, .txt, .html, .htm, .json, .jsonl, .ndjson"),
    ]
    assert gathered.refused == [("docs/latin.txt", "must be UTF-8; byte 3 is not")]


def test_what_is_no_regular_file_or_has_an_odd_name_is_said(tree: Path) -> None:
    """A3: a pipe does not hang, a linked folder is not lost in silence, and any name can be told."""
    os.mkfifo("docs/pipe.md")
    Path("docs/link").symlink_to(tree / "docs" / "deep")
    Path("docs/gone.md").symlink_to("nowhere")
    Path(os.fsdecode(b"docs/caf\xe9.md")).write_bytes(b"text\n")
    gathered = documents.gather([Path("docs")])
    assert "docs/caf\\xe9.md" in [document.name for document in gathered.documents]
    assert {("docs/pipe.md", "not a regular file"), ("docs/link", "a link to a folder")} <= set(gathered.skipped)
    assert ("docs/gone.md", "cannot be read: No such file or directory") in gathered.refused
    with pytest.raises(UsageInvalid, match="must be a file or folder that exists"):
        documents.gather([Path("docs/pipe.md")])


def test_a_named_file_that_is_no_document_is_refused(tree: Path) -> None:
    """A3: what the user asked for by name and did not get is a failure; what a folder holds besides is not."""
    gathered = documents.gather([Path("docs/style.css"), Path("docs/image.md"), Path("docs/empty.md"), Path("docs")])
    assert [name for name, _ in gathered.refused] == [
        "docs/style.css",
        "docs/image.md",
        "docs/empty.md",
        "docs/latin.txt",
    ]
    assert [name for name, _ in gathered.skipped] == ["docs/.git", "docs/.hidden.md"]
    after = documents.gather([Path("docs"), Path("docs/style.css")])
    assert (
        "docs/style.css",
        "not one of .md, .markdown, .mdown, .mkd, .txt, .html, .htm, .json, .jsonl, .ndjson",
    ) in after.refused


def test_a_name_does_not_depend_on_the_spelling(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """M2: from the working folder where it is inside, else from the folder given; never `./` nor absolute."""

    def names(*paths: str) -> list[str]:
        return [document.name for document in documents.gather([Path(path) for path in paths]).documents]

    for spelling in ("docs/deep", "./docs/deep/", str(tree / "docs" / "deep"), "docs/../docs/deep"):
        assert names(spelling) == ["docs/deep/c.markdown"]
    monkeypatch.chdir(tree / "docs" / "deep")
    for spelling in (".", "./", str(tree / "docs" / "deep"), "../deep", "c.markdown", "./c.markdown"):
        assert names(spelling) == ["c.markdown"]
    assert names("..") == ["docs/a.txt", "docs/b.md", "docs/deep/c.markdown"]
    assert names("../b.md") == names(str(tree / "docs" / "b.md")) == ["docs/b.md"]
    (tree / "link").symlink_to(tree / "docs" / "deep")
    assert names(str(tree / "link")) == ["c.markdown"]


def test_a_file_named_twice_is_read_once(tree: Path) -> None:
    """M1: no source comes twice in one batch."""
    gathered = documents.gather([Path("docs/b.md"), Path("docs"), tree / "docs" / "b.md"])
    assert [document.name for document in gathered.documents].count("docs/b.md") == 1
    assert len({document.uri for document in gathered.documents}) == len(gathered.documents) == 3


def test_pages_and_conversations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """M2, A3: the ending says what a file is; JSON without turns is passed over in a folder, refused where named."""
    monkeypatch.chdir(tmp_path)
    for name, content in {
        "a.html": "<p>Page",
        "b.HTM": "<p>Page",
        "c.json": '{"turns": [{"speaker": "Ana", "text": "x"}]}',
        "d.jsonl": '{"speaker": "Ana", "text": "x"}',
        "e.ndjson": '{"speaker": "Ana", "text": "x"}',
        "settings.json": "{}",
        "events.jsonl": '{"at": 1}',
    }.items():
        Path(name).write_text(content, "utf-8")
    gathered = documents.gather([Path()])
    assert [(document.name, document.media_type) for document in gathered.documents] == [
        ("a.html", "text/html"),
        ("b.HTM", "text/html"),
        ("c.json", "application/json"),
        ("d.jsonl", "application/x-ndjson"),
        ("e.ndjson", "application/x-ndjson"),
    ]
    unlike = [("events.jsonl", "not a conversation"), ("settings.json", "not a conversation")]
    assert (gathered.skipped, gathered.refused) == (unlike, [])
    assert documents.gather([Path("settings.json")]).refused == unlike[1:]


def test_a_missing_path_is_refused(tree: Path) -> None:
    """A3: before anything is read."""
    with pytest.raises(UsageInvalid, match=r"^nowhere must be a file or folder that exists"):
        documents.gather([Path("docs"), Path("nowhere")])


@given(st.lists(st.integers(min_value=0, max_value=documents.BATCH_BYTES * 2), max_size=40))
@settings(max_examples=60, deadline=None)
def test_batches_keep_order_and_stay_under_their_limit(sizes: list[int]) -> None:
    """A1: nothing is sent that the message limit would refuse only because of its neighbours."""
    sent = [Document(str(index), "", "", bytes(size), size) for index, size in enumerate(sizes)]
    cut = list(documents.batches(sent))
    assert [document for batch in cut for document in batch] == sent
    for batch in cut:
        assert len(batch) == 1 or sum(document.size for document in batch) <= documents.BATCH_BYTES
        assert 1 <= len(batch) <= documents.BATCH_DOCUMENTS


def test_an_ending_means_what_it_means_to_the_server() -> None:
    """A3: a file that the server would take for Markdown is not passed over here."""
    for ending, media_type in documents.MEDIA_TYPES.items():
        assert DocumentInput(None, f"x{ending}", None, "main", None, b"x", None).resolved_media_type == media_type
    page = (Path(__file__).parents[3] / "docs/ingestion.md").read_text(encoding="utf-8")
    table = page[page.index("| media type |") : page.index("The ending decides")]
    assert {*re.findall(r"`(\.\w+)`", table), ".txt"} == set(documents.MEDIA_TYPES)
