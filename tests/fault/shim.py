"""The preloaded shim (shim.c): compiled with the machine's compiler, and the page by which it is told what to do."""

import mmap
import platform
import shutil
import struct
import subprocess
from pathlib import Path

_SOURCE = Path(__file__).with_name("shim.c")
_PAGE = 4096
_FIELDS = {"clock_offset_s": 0, "sync_delay_us": 8, "disk_full": 16}


class ShimMissing(Exception):
    """There is no shim on this machine; the message says why."""


def compiled(folder: Path) -> Path:
    """
    The shim as a library in *folder*.

    Raises:
        ShimMissing: No compiler, or a system whose loader preloads otherwise.
    """
    if platform.system() != "Linux":
        raise ShimMissing(f"preloading is not known on {platform.system()}")
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise ShimMissing("there is no C compiler")
    library = folder / "shim.so"
    done = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O2", "-o", library, _SOURCE, "-ldl"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ShimMissing(f"the C compiler fails: {done.stderr.strip()[:200]}")
    return library


class Control:
    """The page that tells the processes of one part what to do."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.write_bytes(bytes(_PAGE))
        with path.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), _PAGE)

    def set(self, **values: int) -> None:
        """Set *clock_offset_s*, *sync_delay_us* or *disk_full*, at once and for children too."""
        for name, value in values.items():
            struct.pack_into("=q", self._page, _FIELDS[name], value)

    def close(self) -> None:
        """Let go of the page."""
        self._page.close()
