"""`cogworks gc`: ledgers of items that are long closed leave the list of branches."""

import json
from typing import TYPE_CHECKING

import click

from cogworks.cli.admission import admitted
from cogworks.cli.looking import Look
from cogworks.cli.tables import Column, show_line, show_table
from cogworks.errors import UsageError
from cogworks.forge.addresses import RepositoryAddress, parse_issue_url, parse_repository

if TYPE_CHECKING:
    from cogworks.settings.config import Environment
    from cogworks.upkeep.archiving import Collected
    from cogworks.vocabulary import IssueNumber

GITHUB = "https://github.com"


@click.command("gc")
@click.argument("where", metavar="REPOSITORY|ISSUE_URL")
@click.option(
    "--keep-days",
    type=click.IntRange(min=0),
    help="Keep a ledger this many days after its issue was closed [default: the repository's `[ledger] keep_days`, 30].",
)
@click.option("--dry-run", is_flag=True, help="Print what would be done. Write and remove nothing.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def gc(where: str, keep_days: int | None, dry_run: bool, as_json: bool) -> int:
    """Archive the ledgers of issues that were closed long ago.

    Moves each ledger to `refs/cogworks/archive/<issue>`, which clones and branch lists do not show. Also removes what
    the runs left in this machine's work directory.

    To bring a ledger back, run `git fetch origin refs/cogworks/archive/<issue>` and
    `git push origin FETCH_HEAD:refs/heads/cogworks/ledger/<issue>`.

    \b
    Examples:
      cogworks gc octo-org/hello --dry-run
      cogworks gc https://github.com/octo-org/hello/issues/42 --keep-days 0
    """
    from cogworks.settings.config import read_environment

    look = Look()
    environment = read_environment()
    address, only = _parsed(where, environment)
    admitted(address.full_name)
    from cogworks.upkeep.archiving import collect
    from cogworks.wiring.upkeep import open_archive

    with open_archive(environment, address, meter=look.meter) as ports:
        collected = collect(ports, only=only, keep_days=keep_days, dry_run=dry_run)
    if as_json:
        click.echo(json.dumps({**collected.model_dump(mode="json"), "dry_run": dry_run, **look.used()}))
        return 0
    _print(collected, dry_run=dry_run)
    return 0


def _parsed(where: str, environment: "Environment") -> "tuple[RepositoryAddress, IssueNumber | None]":
    """The repository, and the issue where one is named.

    Raises:
        UsageError: neither.
    """
    if "/issues/" in where:
        issue = parse_issue_url(where)
        return RepositoryAddress(issue.server_url, issue.owner, issue.name), issue.number
    if "/pull/" in where:
        raise UsageError(
            f"{where!r} is a pull request; give a repository (owner/name or its URL) or an issue."
        )
    return parse_repository(where, server_url=environment.github_server_url or GITHUB), None


def _print(collected: "Collected", *, dry_run: bool) -> None:
    word = "would be put away" if dry_run else "put away"
    rows = [
        (f"#{one.issue}", word, f"closed {one.closed_at:%Y-%m-%d}{f', now {one.ref}' if one.ref else ''}")
        for one in collected.archived
    ]
    rows += [(f"#{one.issue}", "stays", one.reason) for one in collected.kept]
    if rows:
        show_table([Column("ledger"), Column("what"), Column("why")], rows)
    verb = "would be removed" if dry_run else "removed"
    for run in collected.removed_runs:
        show_line(f"work directory of run {run} {verb}")
    for warning in collected.warnings:
        show_line(f"warning: {warning}", err=True)
    show_line(
        f"{collected.repository}: {len(collected.archived)} of {len(collected.archived) + len(collected.kept)} ledgers {word}"
    )
