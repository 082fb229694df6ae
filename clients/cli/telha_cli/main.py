"""
`telha`: the command line.

Every command is thin: read arguments, call through `telha_client` (or start processes), print. Heavy imports happen
inside the commands, so that `--help` answers at once.
"""

import sys
from typing import Annotated

import typer
from typer.exceptions import TyperException

from . import administering, ask, showing, stored, system, why
from .problems import FAILED, INTERRUPTED, USAGE, Problem, tell


def _tell_version(wanted: bool) -> None:
    if wanted:
        system.version()
        raise typer.Exit


app = typer.Typer(
    name="telha",
    help="The memory planner: which verbatim spans an answer may use, under a hard token budget, exactly repeatable.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
system.register(app)
ask.register(app)
why.register(app)
stored.register(app)
administering.register(app)
showing.register()


@app.callback()
def _telha(
    told: Annotated[
        bool, typer.Option("--version", help="Show the version and end.", callback=_tell_version, is_eager=True)
    ] = False,
) -> None:
    del told  # what it does is done by then


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    as_json = "--json" in words
    try:
        code = app(args=words, standalone_mode=False)
    except Problem as problem:
        tell(problem, as_json=as_json)
        code = problem.exit_code
    except TyperException as wrong:
        _tell_usage(wrong, as_json=as_json)
        code = USAGE
    except typer.Abort:
        code = INTERRUPTED
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader has left (`telha … | head`); there is nobody to tell.
        sys.stderr.close()
        code = FAILED
    sys.exit(code if isinstance(code, int) else 0)


def _tell_usage(wrong: TyperException, *, as_json: bool) -> None:
    format_message = getattr(wrong, "format_message", None)
    message = str(format_message() if format_message is not None else wrong)
    if message.startswith("Usage:"):  # a group of commands without a command
        print(message, file=sys.stderr)
        return
    context = getattr(wrong, "ctx", None)
    hint = f"see `{context.command_path} --help`" if context is not None else None
    tell(Problem("USAGE", " ".join(message.split()).rstrip("."), hint=hint), as_json=as_json)


if __name__ == "__main__":
    main()
