"""The `cogworks` command: a table of contents that imports a command only when it is used."""

import atexit
import gc
import importlib
import json
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NoReturn

import click

from cogworks import __version__
from cogworks.errors import CogworksError, ConfigurationError, Interrupted
from cogworks.leaving import in_log_of_actions, masked, on_terminal

COMMANDS: Mapping[str, str] = {
    "process": "Take one step on an issue: run the next node, record the result.",
    "run": "Work on an issue until it waits for a person, fails or is done.",
    "poll": "Take one step for every open work item that can move.",
    "status": "Show where a work item stands and what `process` would do next.",
    "explain": "Explain what `process` would do next, and why.",
    "context": "Show what the next prompt of a work item would contain.",
    "log": "Show the history of a work item, newest first.",
    "cost": "Show what a work item has cost and what is left of its budget.",
    "replay": "Replay recorded coding visits from their event logs.",
    "fsck": "Check a work item's ledger, issues, pull requests and labels.",
    "gc": "Archive the ledgers of issues that were closed long ago.",
    "graph": "Print a pipeline or a work item as Mermaid, DOT or JSON.",
    "fix": "Make failing tests of a local repository pass.",
    "evaluate": "Repair many instances and report success, size, cost and time.",
    "tools": "List, plan and run the tools that a repository declares.",
    "policy": "Check the policies that say what tools may do.",
    "doctor": "Find what would stop cogworks here, by trying it as a run would.",
    "health": "Check that the configured domain services answer.",
    "demo": "Work on a sample issue, on a GitHub that runs on this machine.",
    "hub": "Run an embedded GitHub: REST, GraphQL, git and web pages.",
    "prompts": "List, show and check the prompts that a model gets.",
    "cassette": "List recorded model replies, or re-key them.",
    "service": "Run or examine a domain service, which knows a language.",
    "action": "Do one step for the event of a workflow run, or list the jobs of a sweep.",
}
"""Command -> the first sentence of its help, in the order of the help. `cogworks.cli` has a module of each name with the
command in it, which is imported when somebody names it: the list alone must not cost what all of them import."""
_COLLECTED_FROM = 200_000
"""So many new objects make it worth to look for those that nobody needs any more; Python's own 700 fit small programs."""
HIDDEN = frozenset({"action"})
"""Called by programs, and left out of the list."""

NOT_ON_WINDOWS = (
    "Windows is not supported; use the Windows Subsystem for Linux. Run `wsl --install`, open its shell, and install and run "
    "cogworks there, on files below your Linux home directory."
)


class LazyGroup(click.Group):
    """A group whose commands are imported when somebody names them; until then a signpost stands for each."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.commands:
            return None
        command = getattr(importlib.import_module(f"cogworks.cli.{cmd_name}"), cmd_name)
        return command if isinstance(command, click.Command) else None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        shown = {name: signpost for name, signpost in self.commands.items() if not signpost.hidden}
        limit = formatter.width - 6 - max(map(len, shown))
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, signpost.get_short_help_str(limit)) for name, signpost in shown.items()]
            )


@click.group(
    cls=LazyGroup,
    commands=[click.Command(name, help=text, hidden=name in HIDDEN) for name, text in COMMANDS.items()],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: cogworks run https://github.com/octo-org/hello/issues/42",
)
@click.version_option(__version__, prog_name="cogworks", message="%(prog)s %(version)s")
def cli() -> None:
    """Turn a GitHub issue into reviewed pull requests, one safe step at a time."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit; the only place where an unexpected failure is caught."""
    if sys.platform == "win32":
        # Before any import of what Windows does not have.
        click.echo(f"cogworks: {NOT_ON_WINDOWS}", err=True)
        sys.exit(2)
    # What a command loads stays; looking through it again and again while it is loaded takes a seventh of the time and finds nothing.
    gc.set_threshold(_COLLECTED_FROM)
    # `httpx` brings a command line of its own, which loads as much again; None is Python's word for what is not to be had.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # which the types of `sys` do not know
    # pydantic would look through every installed package for plugins, of which none is ours.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Nor does the end of the process look for what the system takes back anyway.
    atexit.register(gc.freeze)
    words = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in words
    try:
        code = cli.main(args=words, prog_name="cogworks", standalone_mode=False)
        sys.stdout.flush()
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
        from cogworks.unfit import drop_what_cannot_be_printed, of_this_machine

        if (unfit := of_this_machine(error)) is not None:
            _complain(unfit, as_json)
            drop_what_cannot_be_printed()
            sys.exit(unfit.exit_code)
        click.echo(in_log_of_actions(masked(traceback.format_exc())), err=True, nl=False)
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
    message = on_terminal(masked(str(error)))
    if as_json:
        report: dict[str, object] = {"outcome": error.outcome, "message": message}
        if isinstance(error, ConfigurationError):
            report.update(file=error.source, problems=[masked(problem) for problem in error.problems])
        # Standard output may be the very thing that fails.
        with suppress(OSError):
            click.echo(json.dumps(report))
    click.echo(f"cogworks: {in_log_of_actions(message)}", err=True)
