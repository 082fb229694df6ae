"""The question before something goes for good."""

import typer

from .problems import Problem


def confirm(verb: str, what: str, *, yes: bool) -> None:
    """
    Ask whether to *verb* *what*, unless *yes* says so already.

    Raises:
        Problem: Anything but a yes.
    """
    if yes:
        return
    from .render import safe

    try:
        agreed = typer.confirm(f"{verb} {safe(what)} for good?", err=True)
    except typer.Abort:
        agreed = False
    if not agreed:
        raise Problem("CANCELLED", f"nothing {verb.lower().removesuffix('e')}ed")
