"""Documents at the door."""

import re
import uuid

import pytest
from ingest_builders import a_document, record_of, spans_of
from telha_planner.core.errors import RequestInvalid
from telha_planner.core.request import INT64_MAX


@pytest.mark.parametrize(
    ("fields", "field", "rule"),
    [
        ({"content": b""}, "content", "must not be blank"),
        ({"content": b" \n\t\xc2\xa0\xe3\x80\x80"}, "content", "must not be blank"),
        ({"content": b"\xef\xbb\xbf\n"}, "content", "must not be blank"),
        ({"content": b"tram \xff"}, "content", "must be UTF-8; byte 5 is not"),
        ({"content": b"\xed\xa0\x80"}, "content", "must be UTF-8; byte 0 is not"),
        ({"content": b"\xc0\x80"}, "content", "must be UTF-8; byte 0 is not"),
        ({"content": b"a\0b"}, "content", "must not contain U+0000"),
        ({"name": ""}, "name", "must not be blank"),
        ({"name": "电" * 342}, "name", "must be at most 1,024 bytes"),
        ({"name": "a\nb"}, "name", "must not contain control characters"),
        ({"name": "\ud800"}, "name", "must not contain lone surrogates"),
        ({"uri": " "}, "uri", "must not be blank"),
        ({"uri": "u" * 2049}, "uri", "must be at most 2,048 bytes"),
        ({"space": ""}, "space", "must not be blank"),
        ({"media_type": "application/pdf"}, "media_type", "must be one of text/plain, text/markdown, text/html, "),
        ({"source_id": b"short"}, "source_id", "must be 16 bytes"),
        ({"valid_from": INT64_MAX}, "valid_from_us", "must be between"),
    ],
)
def test_what_is_refused(fields: dict[str, object], field: str, rule: str) -> None:
    """M1, M2: each broken rule names its field."""
    given: dict[str, object] = {"text": "tram", "name": "notes.md"} | fields
    text = given.pop("content", given.pop("text"))
    given.pop("text", None)
    with pytest.raises(RequestInvalid, match=re.escape(rule)) as caught:
        a_document(text, **given)  # type: ignore[arg-type]  # wrong on purpose
    assert caught.value.field == field


def test_canonical_text() -> None:
    """M1: without byte order mark and with LF; offsets count in it, not in the file as sent."""
    record = record_of(b"\xef\xbb\xbfone\r\n\r\ntw\xc3\xb3\rthree", "notes.txt")
    assert record.text == "one\n\ntwó\nthree".encode()
    assert spans_of(record)[:2] == [("paragraph", "one"), ("paragraph", "twó\nthree")]


def test_media_type_by_name() -> None:
    """M2: the ending decides where no type is stated; a stated one wins."""
    assert record_of("# x", "a.MD").media_type == "text/markdown"
    assert record_of("# x", "a.markdown").media_type == "text/markdown"
    assert record_of("# x", "a.rst").media_type == "text/plain"
    assert record_of("# x", "md").media_type == "text/plain"
    assert record_of("<p>x", "a.b/c.HTML").media_type == record_of("<p>x", ".htm").media_type == "text/html"
    turn = '{"speaker": "a", "text": "b"}'
    assert record_of(f'{{"turns": [{turn}]}}', "a.json").media_type == "application/json"
    assert {record_of(turn, f"a.{end}").media_type for end in ("jsonl", "ndjson")} == {"application/x-ndjson"}
    assert record_of("# x", "a.md", media_type="text/plain").nodes[-1].type == "passage"


def test_source_ids() -> None:
    """M2, M7: the caller's id, else one of tenant, space and URI or name, which no other place shares."""
    assert record_of("x", source_id=b"0123456789abcdef").source_id == b"0123456789abcdef"
    ids = {
        record_of("x", "a", space="b").source_id,
        record_of("x", "b", space="a").source_id,
        record_of("x", "ab", space="a").source_id,
        record_of("x", "a", uri="b", space="a").source_id,
        record_of("x", "b", uri="a", space="a").source_id,
    }
    assert len(ids) == 5
    assert record_of("x", "a", uri="u").source_id == record_of("y", "b", uri="u", valid_from=5).source_id
    delimited = "".join(f"\0\0\0{chr(len(part))}{part}" for part in ("acme", "main", "name", "a"))
    namespace = uuid.UUID("6f0c1b5e-8e0a-4c0f-9d5b-1a7c53e2d941")
    assert record_of("x", "a").source_id == uuid.uuid5(namespace, delimited).bytes


def test_input_hash() -> None:
    """M2: text, name, URI, media type and space make the hash; equal inputs, equal hash."""
    base = record_of("tram", "a.md")
    others = [
        record_of("tram.", "a.md"),
        record_of("tram", "b.md"),
        record_of("tram", "a.md", uri="u"),
        record_of("tram", "a.md", media_type="text/plain"),
        record_of("tram", "a.md", space="s"),
    ]
    assert record_of(b"\xef\xbb\xbftram", "a.md").input_hash == base.input_hash
    assert len({record.input_hash for record in [base, *others]}) == 6
    assert len(base.content_hash) == len(base.input_hash) == 32
