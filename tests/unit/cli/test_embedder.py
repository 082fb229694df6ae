"""Which embedder `telha up` chooses, and how long it holds."""

from pathlib import Path

import pytest
from telha_cli import embedder
from telha_cli.embedder import Choice
from telha_cli.problems import Problem, UsageInvalid


@pytest.fixture(params=[True, False], ids=["installed", "absent"])
def installed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(embedder, "find_spec", lambda _: object() if request.param else None)
    return bool(request.param)


def settled(data: Path, asked: str | None = None, tree: dict | None = None, environ: dict | None = None) -> tuple:
    told: list[str] = []
    choice = Choice(tree or {}, environ or {}, asked)
    provider = choice.settle(data, told.append)
    choice.keep(data, provider)
    return provider, told


def test_a_new_folder_takes_the_embedder_that_is_installed_and_keeps_it(tmp_path: Path, installed: bool) -> None:
    """A3: said in one line at the first start; the next start agrees without another word."""
    provider, told = settled(tmp_path)
    assert provider == ("use" if installed else "none")
    assert len(told) == installed
    (tmp_path / "memory.db").touch()
    assert settled(tmp_path) == (provider, [])


def test_a_folder_from_before_there_were_embedders_goes_on_without(tmp_path: Path, installed: bool) -> None:
    """A3: what memory holds has no vectors, so nothing changes until somebody asks for it."""
    (tmp_path / "memory.db").touch()
    assert settled(tmp_path) == ("none", [])


def test_the_flag_changes_the_choice_for_good(tmp_path: Path, installed: bool) -> None:
    """A3: and only once the system has started with it."""
    settled(tmp_path)
    choice = Choice({}, {}, "minilm")
    assert choice.settle(tmp_path, pytest.fail) == "minilm"
    assert settled(tmp_path)[0] != "minilm"
    choice.keep(tmp_path, "minilm")
    assert settled(tmp_path) == ("minilm", [])


@pytest.mark.parametrize(
    ("before", "asked", "words"),
    [
        (
            "use",
            "minilm",
            ["the embedder is now minilm, before use: memory is searched by words alone until `telha re"],
        ),
        (None, "use", ["the embedder is now use, before none: "]),
        ("use", "none", ["the embedder is now none, before use: memory is searched by words alone from now on"]),
        ("magic", "use", ["the embedder is now use, before none: "]),
        ("use", "use", []),
        (None, "none", []),
    ],
)
def test_a_change_over_a_memory_says_what_it_costs(
    tmp_path: Path, before: str | None, asked: str, words: list[str]
) -> None:
    """A3: what is there has no vectors of another model, and who changes it is told what to do; no change, no word."""
    (tmp_path / "memory.db").touch()
    if before is not None:
        (tmp_path / "embedder").write_text(f"{before}\n")
    provider, told = settled(tmp_path, asked)
    assert provider == asked
    assert [sentence[: len(start)] for sentence, start in zip(told, words, strict=True)] == words


@pytest.mark.parametrize(
    ("tree", "environ"),
    [({"embedding": {"provider": "http"}}, {}), ({}, {"TELHA_EMBEDDING__PROVIDER": "e5"})],
)
def test_what_the_configuration_says_holds(tmp_path: Path, tree: dict, environ: dict) -> None:
    """G1: it is neither overruled nor noted; the flag beside it is refused."""
    assert settled(tmp_path, None, tree, environ) == (None, [])
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UsageInvalid, match="--embedder must not be given where"):
        settled(tmp_path, "use", tree, environ)


def test_a_note_that_names_no_embedder_is_refused(tmp_path: Path) -> None:
    """G1: nothing is guessed."""
    (tmp_path / "embedder").write_text("magic\n")
    with pytest.raises(Problem, match="names no embedder"):
        settled(tmp_path)
