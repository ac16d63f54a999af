"""`cogworks context`: what the next question of a work item would show of the repository, without asking it."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cogworks.cli.progress import progress_line
from cogworks.cli.reporting import Tally
from cogworks.cli.tables import Column, show_line, show_table
from cogworks.errors import TryAgainLater
from cogworks.forge.addresses import IssueAddress, parse_issue_url

if TYPE_CHECKING:
    from cogworks.packs.choosing import FrozenPacks


@click.command("context")
@click.argument("issue_url")
@click.option(
    "--node",
    default="",
    metavar="ID[@SUB]",
    help="Show the prompt of this node instead of the next one, if it is ready.",
)
@click.option("--prompt", "with_prompt", is_flag=True, help="Print the full text of the prompt as well.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout; everything else on stderr.")
@click.option("-q", "--quiet", is_flag=True, help="No progress lines.")
def context(issue_url: str, node: str, with_prompt: bool, as_json: bool, quiet: bool) -> int:
    """Show what the next prompt of a work item would contain.

    Lists each file with its level, tokens, score and the reason it is there, then the context packs of the run. Asks no
    model and writes nothing.

    \b
    Examples:
      cogworks context https://github.com/octo-org/hello/issues/42
      cogworks context https://github.com/octo-org/hello/issues/42 --node code_generation@A --json | jq '.shown[].path'
      cogworks context https://github.com/octo-org/hello/issues/42 --prompt | less
    """
    address = parse_issue_url(issue_url)
    question = _next_question(address, node, quiet=quiet)
    if as_json:
        if not with_prompt:
            question.pop("prompt", None)
        click.echo(json.dumps(question))
        return 0
    _show(question, with_prompt=with_prompt)
    return 0


def _next_question(address: IssueAddress, node: str, *, quiet: bool) -> dict[str, Any]:
    from cogworks.cli.rehearsing import rehearsed
    from cogworks.cli.unasked import Listener
    from cogworks.engine.consider import Wanted
    from cogworks.engine.ports import Session, SessionOrder
    from cogworks.engine.step import take_step
    from cogworks.github.staging import StagedItem
    from cogworks.llm.provider import Provider
    from cogworks.nodes.task import NodeTask
    from cogworks.settings.config import read_environment
    from cogworks.stopping import ended_by_signal
    from cogworks.wiring.readiness import refuse_unready
    from cogworks.wiring.step import open_ports

    environment = read_environment()
    apart = environment.model_copy(update={"work_dir": str(Path(environment.work_dir) / "staged")})
    listener = Listener()

    @contextmanager
    def open_model(*_: object, **__: object) -> Iterator[Provider]:
        yield listener

    say = progress_line(quiet=quiet)
    with (
        ended_by_signal(),
        open_ports(apart, address, meter=Tally().meter, say=say, open_model=open_model) as opened,
    ):
        ports = replace(
            rehearsed(opened, StagedItem(opened.tracker)),
            check=lambda config, repository: refuse_unready(
                config, repository.config_files, repository.contents, environment, is_asked=False
            ),
        )
        # Nobody is asked, so the base need not be fit for it.
        unjudged = replace(ports.visit, check_base=lambda *_: None)
        tasks: list[NodeTask] = []

        def opening(order: SessionOrder) -> AbstractContextManager[Session]:
            tasks.append(order.task)
            return ports.visit.session(order)

        outcome = message = ""
        try:
            report = take_step(
                replace(ports, visit=replace(unjudged, session=opening)), address, Wanted(node=node)
            )
            outcome, message = report.outcome, report.message
        except TryAgainLater:
            if listener.request is None:
                raise
    request = listener.request
    if request is None:
        return {"asks": False, "outcome": outcome, "message": message, "shown": [], "context_packs": None}
    [*_, task] = tasks
    texts = [request.system, *(each.text for each in request.messages), json.dumps(request.output_schema)]
    return {
        "asks": True,
        "purpose": request.purpose,
        "model": request.model,
        "tokens": sum(_tokens(text) for text in texts),
        "shown": list(request.shown),
        "context_packs": _of_packs(task.packs),
        "prompt": "\n\n".join([request.system, *(each.text for each in request.messages)]),
    }


def _of_packs(packs: "FrozenPacks | None") -> dict[str, Any] | None:
    """The context packs of the run and the room of what they show; None: there are none, or nothing is chosen yet."""
    from cogworks.packs.telling import for_people, knowledge

    if packs is None or packs.is_empty:
        return None
    text = knowledge(packs)
    return {"tokens": _tokens(text) if text else 0, "lines": list(for_people(packs))}


def _show(question: dict[str, Any], *, with_prompt: bool) -> None:
    if not question["asks"]:
        show_line(f"The next step asks no model: {question['outcome']}: {question['message']}")
        return
    show_line(f"{question['purpose']} would send about {question['tokens']} tokens to {question['model']}.\n")
    rows = [
        [each["level"], str(each["tokens"]), f"{each['score']:.2f}", each["path"], ", ".join(each["reasons"])]
        for each in question["shown"]
        if each["level"] != "named"
    ]
    show_table(
        [Column("level"), Column("tokens", True), Column("score", True), Column("file"), Column("why")], rows
    )
    named = [each["path"] for each in question["shown"] if each["level"] == "named"]
    show_line(f"\nOnly named ({len(named)}), the likeliest first: {', '.join(named) or 'none'}")
    if packs := question["context_packs"]:
        show_line(f"\nContext packs, about {packs['tokens']} tokens of the system text:")
        for line in packs["lines"]:
            show_line(f"  {line}")
    if with_prompt:
        show_line(f"\n{question['prompt']}")


def _tokens(text: str) -> int:
    from cogworks.sight.stretches import tokens_of

    return tokens_of(text)
