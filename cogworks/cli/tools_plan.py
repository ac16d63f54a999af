"""`cogworks tools plan`: which tools would serve a goal, and why not the others."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cogworks.cli.tool_options import DIRECTORY, JSON, OUTPUT, Wish, show, wishing

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
    told = {
        "outcome": "refused" if denial else "planned",
        "plan": None if isinstance(planned, Denial) else planned.plan.model_dump(mode="json"),
        "denial": denial.model_dump(mode="json") if denial else None,
    }
    show(told, lines=_lines(planned), output=output, as_json=as_json)
    return 1 if denial else 0


def _lines(planned: "Planned | Denial") -> list[str]:
    from cogworks.tools.policy import Denial

    if isinstance(planned, Denial):
        return [f"no plan: {planned.message}"]
    made = planned.plan
    lines = [
        f"{step.name} ({step.profile}): serves {', '.join(step.serves) or 'a later step'}"
        for step in made.steps
    ]
    lines += [_considered(each) for each in made.considered]
    return [*lines, f"no plan: {made.denial.message}"] if made.denial else lines


def _considered(each: "Considered") -> str:
    return f"    {each.tool}: score {each.score:.2f}" + (f"; {each.excluded}" if each.excluded else "")
