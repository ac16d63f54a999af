"""`cogworks cassette`: look at recorded model replies, and keep them after a deliberate change of a prompt."""

import json
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cogworks.cli.tables import show_line

if TYPE_CHECKING:
    from cogworks.llm.providers.cassette import Rekeying

_DIRECTORY = click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    help="Directory of recordings [default: those of the demo].",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object on standard output.")


@click.group("cassette")
def cassette() -> None:
    """List recorded model replies, or re-key them.

    Re-key them after you changed a prompt on purpose.

    Example: cogworks cassette rekey --dir cassettes --misses misses
    """


@cassette.command("list")
@_DIRECTORY
@_JSON
def list_recordings(directory: Path | None, as_json: bool) -> None:
    """List what is recorded, one purpose a line.

    Example: cogworks cassette list --dir cassettes
    """
    from cogworks.llm.providers.cassette import Cassette

    recordings = Cassette(directory or _demo_cassettes()).recordings()
    if as_json:
        rows = [
            {
                "purpose": each.purpose,
                "key": each.key,
                "model": each.reply.model,
                "stop_reason": each.reply.stop_reason,
                "tokens": {"input": each.reply.usage.total_input, "output": each.reply.usage.output_tokens},
            }
            for each in recordings
        ]
        click.echo(json.dumps({"outcome": "done", "recordings": rows}))
        return
    for each in recordings:
        usage = each.reply.usage
        tokens = f"{usage.total_input:>7} in {usage.output_tokens:>7} out"
        show_line(f"{each.purpose:<40} {each.key[:12]} {tokens}  {each.reply.model}")


@cassette.command("rekey")
@_DIRECTORY
@click.option(
    "--misses",
    type=click.Path(path_type=Path, file_okay=False),
    help="Directory of the requests that found no recording [default: `misses` in the directory of recordings].",
)
@click.option("--yes", is_flag=True, help="Re-key every reply that still fits, without asking.")
@_JSON
@click.pass_context
def rekey_recordings(
    context: click.Context, directory: Path | None, misses: Path | None, yes: bool, as_json: bool
) -> None:
    """Show how prompts changed since their replies were recorded, and re-key the replies that still answer them.

    With --json it asks no question, and only reports unless --yes is given. Exits with 1 when a reply no longer fits.

    Example: cogworks cassette rekey --dir cassettes --misses misses
    """
    from cogworks.llm.providers.cassette import Cassette, Misses, proposed_rekeyings, rekey

    recorded = Cassette(directory or _demo_cassettes())
    missed = Misses(misses or recorded.directory / "misses")
    done, open_, refused = [], [], []
    proposals = proposed_rekeyings(recorded, missed)
    for proposal in proposals:
        _show(proposal, err=as_json)
        if proposal.refusal is not None:
            refused.append(proposal)
        elif yes or (not as_json and click.confirm(f"Re-key {proposal.request.purpose}?")):
            rekey(recorded, missed, proposal)
            done.append(proposal)
        else:
            open_.append(proposal)
    if as_json:
        click.echo(json.dumps(_report(done, open_, refused)))
    else:
        show_line(f"{len(done)} re-keyed, {len(open_)} left as they are, {len(refused)} refused.")
    context.exit(1 if refused else 0)


def _report(done: "list[Rekeying]", open_: "list[Rekeying]", refused: "list[Rekeying]") -> dict[str, object]:
    return {
        "outcome": "failed" if refused else "done",
        "rekeyed": [each.request.purpose for each in done],
        "open": [{"purpose": each.request.purpose, "diff": each.diff} for each in open_],
        "refused": [{"purpose": each.request.purpose, "reason": each.refusal} for each in refused],
    }


def _show(proposal: "Rekeying", *, err: bool) -> None:
    show_line(f"{proposal.request.purpose}:", err=err)
    show_line(
        proposal.diff or "(both prompts read the same; the schema or the way keys are made changed)", err=err
    )
    if proposal.refusal is not None:
        show_line(f"refused: {proposal.refusal}", err=err)


def _demo_cassettes() -> Path:
    # Recordings are only ever edited in a checkout, where package data are plain files.
    with as_file(files("cogworks") / "demo" / "cassettes") as directory:
        return directory
