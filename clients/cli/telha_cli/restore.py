"""
`telha restore`: a data folder from a backup.

Rule 1: the backup is checked first, and each file once more after it was copied.
Rule 2: the folder appears whole, under its name, or not at all; one that holds anything is never touched.
Rule 3: the services that own the stores look at them before the folder gets its name, so that one of a newer version is
refused here and not at the start.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import backup, manifest, migrate, snapshot
from .problems import Problem


def run(source: Path, data: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """
    Make the data folder *data* of the backup in *source*.

    Raises:
        Problem: The backup does not hold, *data* holds something, or it cannot be made.
    """
    backup.refuse_filled(data)
    made = manifest.check(source)
    with backup.told(data), snapshot.made_whole(data.absolute()) as draft:
        for file in made.files:
            snapshot.file(source / file.path, draft / file.path)
        if manifest.describe(draft) != tuple(sorted(made.files, key=lambda file: Path(file.path))):
            raise Problem("FAILED", f"the backup {source} changed while it was copied")
        migrate.run(None, draft, environ, check=True)
    return {**backup.answer(source, made), "data": str(data.absolute())}
