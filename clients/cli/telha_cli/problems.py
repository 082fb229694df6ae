"""
What the command line says when something is wrong, and with which exit code it ends.

    0  done
    1  refused or failed: by the server, the network or the machine
    2  the command itself is wrong: a missing or malformed argument
  130  interrupted by Ctrl-C

Rule 1: one or two lines on standard error, with field and rule where there are any; never a traceback.
Rule 2: with `--json` the same facts as one problem object (RFC 9457), also on standard error.
"""

import json
import sys
from collections.abc import Mapping

from .escapes import escaped

FAILED = 1
USAGE = 2
INTERRUPTED = 130


class Problem(Exception):
    """
    A failure told in the user's words.

    Attributes:
        code: The machine's word for it, as on the wire.
        detail: One sentence.
        extra: Further members of the problem object, such as `field` and `rule`.
        hint: A second line: what to do now.
    """

    exit_code = FAILED

    def __init__(
        self, code: str, detail: str, *, hint: str | None = None, extra: Mapping[str, str | int] | None = None
    ) -> None:
        super().__init__(detail)
        self.code, self.detail, self.hint, self.extra = code, detail, hint, dict(extra or {})


class UsageInvalid(Problem):
    """An argument breaks a rule that the command line itself checks."""

    exit_code = USAGE

    def __init__(self, field: str, rule: str) -> None:
        super().__init__("INVALID_REQUEST", f"{field} {rule}", extra={"field": field, "rule": rule})


def tell(problem: Problem, *, as_json: bool) -> None:
    """Write *problem* to standard error."""
    if as_json:
        told: dict[str, str | int] = {"code": problem.code, "detail": problem.detail, **problem.extra}
        if problem.hint:
            told["hint"] = problem.hint
        print(escaped(json.dumps(told, ensure_ascii=False)), file=sys.stderr)
        return
    print(f"telha: {escaped(problem.detail)}", file=sys.stderr)
    if problem.hint:
        print(f"       {escaped(problem.hint)}", file=sys.stderr)


def note(sentence: str) -> None:
    """Say *sentence* on standard error, of a command that did what it was asked."""
    print(f"telha: {escaped(sentence)}", file=sys.stderr)
