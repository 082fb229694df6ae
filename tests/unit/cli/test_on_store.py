"""Which store the administration commands act on."""

from pathlib import Path

import pytest
from telha_cli.on_store import Place, named
from telha_cli.problems import Problem, UsageInvalid


def test_naming_nothing_means_a_server() -> None:
    """A3: as for every other command."""
    assert named(None, None, None, None, None) is None
    assert named(None, None, None, "127.0.0.1:1", "k") is None


def test_a_store_is_named_in_one_of_three_ways(tmp_path: Path) -> None:
    """A3: by folder, address or settings file, and by one of them."""
    (tmp_path / "memory.db").touch()
    assert named(tmp_path, None, None, None, None) == Place(data=tmp_path)
    assert named(None, "postgresql://h/d", None, None, None) == Place(url="postgresql://h/d")
    assert named(None, None, tmp_path / "t.toml", None, None) == Place(config=tmp_path / "t.toml")
    for two in (
        (tmp_path, "sqlite:///x", None, None, None),
        (None, "sqlite:///x", tmp_path, None, None),
        (tmp_path, None, None, "127.0.0.1:1", None),
        (None, "sqlite:///x", None, None, "k"),
    ):
        with pytest.raises(UsageInvalid):
            named(*two)


def test_a_misspelt_folder_does_not_become_a_store(tmp_path: Path) -> None:
    """A3: told, with what to do."""
    with pytest.raises(Problem, match="holds no memory"):
        named(tmp_path / "nothing", None, None, None, None)
    assert not (tmp_path / "nothing").exists()
