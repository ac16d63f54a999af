"""The `cogworks` command: a table of contents that imports a command only when it is used."""

import importlib
import json
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

import click

from cogworks import __version__
from cogworks.errors import CogworksError, ConfigurationError, Interrupted
from cogworks.masking import masked

COMMANDS = {
    "process": "process",
    "run": "run",
    "poll": "poll",
    "status": "status",
    "explain": "explain",
    "log": "log",
    "cost": "cost",
    "replay": "replay",
    "fsck": "fsck",
    "gc": "gc",
    "graph": "graph",
    "fix": "fix",
    "evaluate": "evaluate",
    "tools": "tools",
    "policy": "policy",
    "doctor": "doctor",
    "health": "health",
    "demo": "demo",
    "hub": "hub",
    "cassette": "cassette",
    "service": "service",
    "action": "action",
}
"""Command -> module of `cogworks.commands` that holds it under the same name; in the order of the help."""


class LazyGroup(click.Group):
    """A group whose commands are imported when somebody names them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        found = getattr(importlib.import_module(f"cogworks.commands.{module}"), cmd_name)
        return found if isinstance(found, click.Command) else None


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: cogworks run https://github.com/octo-org/hello/issues/42",
)
@click.version_option(__version__, prog_name="cogworks", message="%(prog)s %(version)s")
def cli() -> None:
    """Turn a GitHub issue into reviewed pull requests, one safe step at a time."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit; the only place where an unexpected failure is caught."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in words
    try:
        code = cli.main(args=words, prog_name="cogworks", standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        _complain(Interrupted("interrupted; run the same command again to go on."), as_json)
        sys.exit(Interrupted.exit_code)
    except click.ClickException as error:
        if as_json:
            click.echo(json.dumps({"outcome": "usage_error", "message": error.format_message()}))
        error.show()
        sys.exit(error.exit_code)
    except CogworksError as error:
        _complain(error, as_json)
        sys.exit(error.exit_code)
    except Exception as error:
        click.echo(masked(traceback.format_exc()), err=True, nl=False)
        _complain(
            CogworksError(
                f"unexpected failure: {type(error).__name__}: {error}. This is a defect of cogworks {__version__}; a work "
                "item stays resumable: run the same command again. Please report the lines above."
            ),
            as_json,
        )
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def _complain(error: CogworksError, as_json: bool) -> None:
    message = masked(str(error))
    if as_json:
        told: dict[str, object] = {"outcome": error.outcome, "message": message}
        if isinstance(error, ConfigurationError):
            told.update(file=error.source, problems=[masked(problem) for problem in error.problems])
        click.echo(json.dumps(told))
    click.echo(f"cogworks: {message}", err=True)
