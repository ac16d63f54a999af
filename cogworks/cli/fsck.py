"""`cogworks fsck`: is everything about one work item as it must be?"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from cogworks.cli.admission import admitted
from cogworks.cli.looking import Look
from cogworks.cli.tables import show_line
from cogworks.forge.addresses import parse_issue_url

if TYPE_CHECKING:
    from cogworks.ledger.invariants import Finding
    from cogworks.upkeep.checking import Checked


@click.command("fsck")
@click.argument("issue_url")
@click.option(
    "--repair",
    is_flag=True,
    help="Repair labels, the status comment, sub-issues and dependency links. Never rewrites the ledger's history.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def fsck(issue_url: str, repair: bool, as_json: bool) -> int:
    """Check a work item's ledger, issues, pull requests and labels.

    Checks the state, the ledger's history and files, sub-issues, links, pull requests, the status comment and labels.
    Exits with 0 when nothing is wrong and with 1 when a problem is left. Writes nothing without --repair.

    \b
    Examples:
      cogworks fsck https://github.com/octo-org/hello/issues/42
      cogworks fsck https://github.com/octo-org/hello/issues/42 --repair
    """
    look = Look()
    address = parse_issue_url(issue_url)
    environment = admitted(address.repository)
    from cogworks.upkeep.checking import check
    from cogworks.wiring.upkeep import open_check

    with open_check(environment, address, meter=look.meter) as ports:
        checked = check(ports, repair=repair)
    if as_json:
        report = {
            "outcome": "findings" if checked.findings else "clean",
            "issue": address.url,
            "commits": checked.commits,
            "visits": checked.visits,
            "findings": _as_objects(checked.findings),
            "repaired": _as_objects(checked.repaired),
            "notes": list(checked.notes),
        }
        click.echo(json.dumps({**report, **look.used()}))
    else:
        _print(address.url, checked, repair=repair)
    return 1 if checked.findings else 0


def _as_objects(findings: "Sequence[Finding]") -> list[dict[str, object]]:
    return [
        {**finding.model_dump(mode="json"), "can_be_repaired": finding.can_be_repaired}
        for finding in findings
    ]


def _print(url: str, checked: "Checked", *, repair: bool) -> None:
    for finding in checked.repaired:
        show_line(f"repaired: {finding.object} {finding.problem}")
    for finding in checked.findings:
        show_line(
            f"{finding.kind} ({finding.rule}): {finding.object} {finding.problem}\n    {finding.remedy}"
        )
    for note in checked.notes:
        show_line(f"note: {note}", err=True)
    count = len(checked.findings)
    size = f"{checked.commits} commits, {checked.visits} visits" if checked.commits else "no ledger"
    show_line(f"{url}: {f'{count} finding(s)' if count else 'clean'} ({size})")
    if not repair and any(finding.can_be_repaired for finding in checked.findings):
        show_line(f"put views and links right with: cogworks fsck --repair {url}")
