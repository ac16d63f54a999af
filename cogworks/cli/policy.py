"""`cogworks policy check`: what may the profiles of a directory do, and what is wrong with its policies?"""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cogworks.cli.tables import show_line
from cogworks.errors import ConfigurationError

if TYPE_CHECKING:
    from cogworks.tools.policy import Policy
    from cogworks.wiring.tools import Checked


@click.group("policy")
def policy() -> None:
    """Check the policies that say what tools may do.

    Example: cogworks policy check
    """


@policy.command("check")
@click.argument(
    "directory", type=click.Path(path_type=Path, file_okay=False, exists=True), default=Path(), required=False
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def check(directory: Path, as_json: bool) -> int:
    """Check .cogworks/policies/*.toml of DIRECTORY [default: here].

    Reports every problem of every file, and every rule that would allow more than cogworks does. Exits with 0 when there
    is no problem, else with 2.

    \b
    Examples:
      cogworks policy check
      cogworks policy check ../hello --json
    """
    from cogworks.wiring.tools import check_policies

    checked = check_policies(directory)
    if as_json:
        click.echo(json.dumps(_as_object(checked)))
    else:
        for each in checked.policies:
            show_line(_line(each))
        for problem in checked.problems:
            show_line(str(problem), err=True)
    return ConfigurationError.exit_code if checked.problems else 0


def _as_object(checked: "Checked") -> dict[str, object]:
    return {
        "outcome": "configuration_error" if checked.problems else "ok",
        "policies": [each.model_dump(mode="json") for each in checked.policies],
        "problems": [{"file": each.source, "problems": each.problems} for each in checked.problems],
    }


def _line(policy: "Policy") -> str:
    tools = ", ".join(sorted(policy.tools)) or "no tool"
    effects = ", ".join(policy.effects) or "no effect"
    limits = f"at most {policy.max_steps} steps, cost {policy.max_cost:g}"
    person = f"; a person before {', '.join(policy.approval_for)}" if policy.approval_for else ""
    summary = f" {' '.join(policy.summary.split())}" if policy.summary else ""
    return f"{policy.profile}:{summary} {tools} ({effects}; {limits}{person})"
