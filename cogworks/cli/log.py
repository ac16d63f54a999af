"""`cogworks log`: the history of a work item's ledger, newest first."""

import json
from typing import TYPE_CHECKING, Any

import click

from cogworks.cli.admission import admitted
from cogworks.cli.looking import AT_HELP, Look, refuse_lost
from cogworks.cli.tables import Column, show_line, show_table
from cogworks.errors import CogworksError, UsageError
from cogworks.forge.addresses import parse_issue_url

if TYPE_CHECKING:
    from cogworks.github.ledger_log import LedgerLog
    from cogworks.ledger.history import LoggedEntry
    from cogworks.pipeline.state import RunState

COLUMNS = [
    Column("time (UTC)"),
    Column("commit"),
    Column("visit", is_number=True),
    Column("node"),
    Column("what"),
    Column("attempt", is_number=True),
    Column("USD", is_number=True),
    Column("holder"),
]


@click.command("log")
@click.argument("issue_url")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=50,
    show_default=True,
    help="Show at most this many commits; 0 shows all. Every hundred take one request.",
)
@click.option("--at", default="", metavar="TIME|OID", help=AT_HELP)
@click.option("--events", is_flag=True, help="Show the decisions inside coding visits instead, oldest first.")
@click.option("--visit", type=click.IntRange(min=1), help="With --events: only this visit.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def log(issue_url: str, limit: int, at: str, events: bool, visit: int | None, as_json: bool) -> int:
    """Show the history of a work item, newest first.

    Prints one line for each commit of the ledger. The line that ends a visit shows its cost. A field stays empty when
    the item's state no longer has it.

    \b
    Examples:
      cogworks log https://github.com/octo-org/hello/issues/42 --limit 20
      cogworks log https://github.com/octo-org/hello/issues/42 --json | jq '.commits[] | select(.verb == "failed")'
      cogworks log https://github.com/octo-org/hello/issues/42 --events --visit 7
    """
    look = Look()
    if events and at:
        raise UsageError("`--events` shows the logs as they are now. Leave `--at` out.")
    if visit is not None and not events:
        raise UsageError("`--visit` goes with `--events`.")
    if events:
        from cogworks.cli.event_lines import show_events

        return show_events(issue_url, visit, look, as_json=as_json)
    address = parse_issue_url(issue_url)
    environment = admitted(address.repository)
    from cogworks.github.ledger_log import read_log
    from cogworks.github.moments import parse_when
    from cogworks.ledger.history import entry, logged_entries
    from cogworks.ledger.record import ledger_branch
    from cogworks.wiring.upkeep import open_client

    when = parse_when(at) if at else None
    with open_client(environment, address, meter=look.meter) as client:
        ledger_log = read_log(client, address, limit=limit, when=when)
    if not ledger_log.commits:
        # Either nobody worked on it, or its ledger is gone: only the issue shows which.
        refuse_lost(address, look.meter)
    state, warning = _state(ledger_log, ledger_branch(address.number))
    entries = [entry(commit.oid, commit.committed_date, commit.message) for commit in ledger_log.commits]
    rows = logged_entries(entries, state)
    if as_json:
        commits = [_as_object(row) for row in rows]
        report = {"issue": address.url, "total": ledger_log.total, "commits": commits, "warning": warning}
        click.echo(json.dumps({**report, **look.used()}))
        return 0
    if warning:
        show_line(f"warning: {warning}", err=True)
    _print(address.url, rows, ledger_log.total)
    return 0


def _state(ledger_log: "LedgerLog", branch: str) -> "tuple[RunState | None, str]":
    """The state, or why the lines have neither visit numbers nor costs."""
    from cogworks.ledger.record import read_state

    if ledger_log.state_text is None:
        return None, ""
    try:
        return read_state(ledger_log.state_text, branch=branch), ""
    except CogworksError as error:
        return None, str(error)


def _as_object(row: "LoggedEntry") -> dict[str, Any]:
    message = row.entry.message
    return {
        "oid": row.entry.oid,
        "time": row.entry.committed_date.isoformat(),
        "subject": row.entry.subject,
        "visit": row.visit,
        "node": message.node if message else None,
        "sub_item": message.sub_item if message else None,
        "verb": message.verb if message else None,
        "visit_key": message.visit_key if message else None,
        "run_id": message.run_id if message else None,
        "holder": message.holder if message else None,
        "attempt": message.attempt if message else None,
        "sequence": message.sequence if message else None,
        "edges": (message.edges or None) if message else None,
        "waits_for": (message.waits_for or None) if message else None,
        "cost_usd": row.spent.cost_usd if row.spent else None,
        "tokens": {"input": row.spent.input_tokens, "output": row.spent.output_tokens} if row.spent else None,
    }


def _print(url: str, rows: "tuple[LoggedEntry, ...]", total: int) -> None:
    if not rows:
        show_line(f"{url}: nothing has happened yet. Run `cogworks process {url}` to take the first step.")
        return
    show_table(COLUMNS, [_cells(row) for row in rows])
    if total > len(rows):
        show_line(f"{total - len(rows)} older commits; `--limit 0` shows all", err=True)


def _cells(row: "LoggedEntry") -> tuple[str, ...]:
    message = row.entry.message
    time = row.entry.committed_date.strftime("%Y-%m-%d %H:%M:%S")
    if message is None:
        return time, row.entry.oid[:10], "", "", row.entry.subject, "", "", ""
    node = f"{message.node}@{message.sub_item}" if message.sub_item else message.node
    # The whole oid is in the JSON; here it would only make the line long.
    rest = message.waits_for.partition("@")[0]
    what = message.verb
    if rest:
        what += ", the item is done" if rest == "done" else f", waits for {rest}"
    if message.edges:
        what += f": {message.edges}"
    return (
        time,
        row.entry.oid[:10],
        str(row.visit or ""),
        node,
        what,
        str(message.attempt),
        f"{row.spent.cost_usd:.4f}" if row.spent else "",
        message.holder,
    )
