"""`cogworks tools`: the tools of a directory, plans over them, runs, and replays of what was run."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cogworks.cli.given_files import text_of
from cogworks.cli.tables import show_line
from cogworks.cli.tool_options import DIRECTORY, JSON, OUTPUT, Wish, show, wishing
from cogworks.cli.tools_run import run
from cogworks.errors import UsageError

if TYPE_CHECKING:
    from cogworks.tools.controller import Planned
    from cogworks.tools.plans import Considered
    from cogworks.tools.policy import Denial


@click.command("plan")
@wishing
@DIRECTORY
@OUTPUT
@JSON
def plan(wish: Wish, directory: Path, output: Path | None, as_json: bool) -> int:
    """Plan for GOAL over the tools of a directory and run nothing. Ends with 1 where there is no plan, and says why.

    \b
    Examples:
      cogworks tools plan "count the words" --input '{"path": "README.md"}'
      cogworks tools plan check --need lint --need types --optimise latency --json
    """
    from cogworks.tools.policy import Denial
    from cogworks.tools.records import kept_nowhere
    from cogworks.wiring.tools import open_controller, open_workshop

    controller = open_controller(open_workshop(directory), seed="plan", keep=kept_nowhere)
    planned = controller.plan(wish.goal, wish.profile, metadata=wish.metadata, preferences=wish.preferences)
    denial = planned if isinstance(planned, Denial) else planned.plan.denial
    report = {
        "outcome": "refused" if denial else "planned",
        "plan": None if isinstance(planned, Denial) else planned.plan.model_dump(mode="json"),
        "denial": denial.model_dump(mode="json") if denial else None,
    }
    show(report, lines=_lines(planned), output=output, as_json=as_json)
    return 1 if denial else 0


def _lines(planned: "Planned | Denial") -> list[str]:
    from cogworks.tools.policy import Denial

    if isinstance(planned, Denial):
        return [f"no plan: {planned.message}"]
    plan = planned.plan
    lines = [
        f"{step.name} ({step.profile}): serves {', '.join(step.serves) or 'a later step'}"
        for step in plan.steps
    ]
    lines += [_considered(each) for each in plan.considered]
    return [*lines, f"no plan: {plan.denial.message}"] if plan.denial else lines


def _considered(each: "Considered") -> str:
    return f"    {each.tool}: score {each.score:.2f}" + (f"; {each.excluded}" if each.excluded else "")


if TYPE_CHECKING:
    from cogworks.tools.registry import Tool
    from cogworks.wiring.tools import Workshop


@click.group("tools")
def tools() -> None:
    """List, plan and run the tools that a repository declares.

    Tools are declared in .cogworks/tools. The policies in .cogworks/policies say what they may do.

    Example: cogworks tools list
    """


tools.add_command(plan)
tools.add_command(run)


@tools.command("list")
@DIRECTORY
@click.option("--profile", help="Only the tools of this profile.")
@OUTPUT
@JSON
def listed(directory: Path, profile: str | None, output: Path | None, as_json: bool) -> int:
    """List the tools of a directory, whether their policy allows them, and the files that declare none.

    \b
    Examples:
      cogworks tools list
      cogworks tools list --directory ../hello --profile local --json
    """
    from cogworks.wiring.tools import open_workshop

    workshop = open_workshop(directory)
    profiles = workshop.registry.profiles
    if profile and profile not in profiles:
        raise UsageError(
            f"`--profile {profile}`: no tool of {directory} is in it; there are {', '.join(profiles) or 'none'}."
        )
    profiles = (profile,) if profile else profiles
    listed_tools = [tool for name in profiles for tool in workshop.registry.sandbox(name)]
    report = {
        "outcome": "ok",
        "tools": [_as_object(tool, workshop) for tool in listed_tools],
        "refused": [each.model_dump() for each in workshop.loaded.refused],
    }
    lines = [_line(tool, workshop) for tool in listed_tools] or [_none(workshop)]
    show(report, lines=lines, output=output, as_json=as_json)
    for each in workshop.loaded.refused:
        show_line(f"{each.file} was left out: {each.reason}", err=True)
    return 0


@tools.command("replay")
@click.argument("audit", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@DIRECTORY
@JSON
def replay(audit: Path, directory: Path, as_json: bool) -> int:
    """Check the AUDIT of a run, then replay the run from it.

    Calls no tool: recorded results stand in for them. Exits with 0 when everything matches the audit, else with 1, and
    shows the first line that differs.

    \b
    Examples:
      cogworks tools replay ../lint.ndjson
    """
    from cogworks.tools.records import read_records
    from cogworks.tools.replay import replay as replayed
    from cogworks.wiring.tools import open_workshop

    records = read_records(text_of(audit))
    workshop = open_workshop(directory)
    every = [tool for name in workshop.registry.profiles for tool in workshop.registry.sandbox(name)]
    replay_of_audit = replayed(records, every, workshop.enforcer)
    if as_json:
        click.echo(json.dumps(replay_of_audit.model_dump(mode="json")))
    else:
        end = "" if replay_of_audit.is_complete else "; not to the end"
        show_line(f"{audit}: {replay_of_audit.outcome} ({replay_of_audit.records} records{end})")
        if replay_of_audit.problem:
            show_line(f"    line {replay_of_audit.line}: {replay_of_audit.problem}")
    return 0 if replay_of_audit.outcome == "identical" else 1


def _as_object(tool: "Tool", workshop: "Workshop") -> dict[str, object]:
    denial = workshop.enforcer.tool_denial(tool)
    return {
        **tool.model_dump(mode="json"),
        "denied": denial.model_dump(mode="json") if denial else None,
        "needs_approval": denial is None and workshop.enforcer.needs_approval(tool),
    }


def _none(workshop: "Workshop") -> str:
    from cogworks.tools.local import TOOL_FOLDER
    from cogworks.tools.policy import POLICY_FOLDER

    where = workshop.directory / TOOL_FOLDER
    if workshop.loaded.refused:
        return (
            f"no tool: none of the {len(workshop.loaded.refused)} files in {where} declares one. Fix the "
            "problem listed for each file."
        )
    return (
        f"no tool: there is no file in {where}. Write {TOOL_FOLDER}/<name>.toml and allow the tool in "
        f"{POLICY_FOLDER}/<profile>.toml. docs/tools.md begins with an example."
    )


def _line(tool: "Tool", workshop: "Workshop") -> str:
    denial = workshop.enforcer.tool_denial(tool)
    person = denial is None and workshop.enforcer.needs_approval(tool)
    note = f"denied: {denial.code}" if denial else "needs approval" if person else "allowed"
    return f"{tool.profile}/{tool.name} ({tool.effects}, {note}): {tool.description}"
