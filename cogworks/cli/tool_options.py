"""The options that `tools` commands share, and how they show what they found."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cogworks.cli.tables import show_data, show_line
from cogworks.errors import UsageError
from cogworks.unfit import writing

if TYPE_CHECKING:
    from cogworks.tools.plans import Goal, Preferences

DIRECTORY = click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False, exists=True, resolve_path=True),
    default=Path(),
    help="The repository [default: here].",
)
JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
OUTPUT = click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False, resolve_path=True),
    help="Also write the JSON object to this file.",
)
PROFILE = click.option("--profile", default="local", show_default=True, help="Whose tools and policy.")
NEEDS = click.option(
    "--need", "needs", multiple=True, help="A capability (repeatable) [default: those that GOAL names]."
)
INPUT = click.option("--input", "given", metavar="JSON", default="{}", help="What is known, as an object.")
METADATA = click.option(
    "--metadata", metavar="JSON", default="{}", help="What the policy wants to know of a run."
)
ALSO = click.option(
    "--also", multiple=True, metavar="PROFILE", help="Use tools of this profile too (repeatable)."
)
OPTIMISE = click.option(
    "--optimise", type=click.Choice(["balanced", "cost", "latency"]), default="balanced", show_default=True
)
MAX_STEPS = click.option("--max-steps", type=click.IntRange(1, 50), default=50, show_default=True)
MAX_COST = click.option(
    "--max-cost", type=click.FloatRange(0), help="Less than the policy allows [default: as the policy]."
)


@dataclass(frozen=True)
class Wish:
    """What a controller is asked for, as the options of `tools plan` and `tools run` say it."""

    goal: "Goal"
    profile: str
    metadata: dict[str, Any]
    preferences: "Preferences"


def wishing(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the argument GOAL and the options that go with it, as one `wish`.

    Raises:
        UsageError: `--input` or `--metadata` is no JSON object.
    """

    @wraps(command)
    def asked(
        *,
        goal: str,
        profile: str,
        also: Sequence[str],
        needs: Sequence[str],
        given: str,
        metadata: str,
        optimise: Any,
        max_steps: int,
        **others: Any,
    ) -> int:
        from cogworks.tools.plans import Goal, Preferences

        wish = Wish(
            goal=Goal(
                text=goal, needs=tuple(needs), inputs=object_of(given, "--input"), profiles=tuple(also)
            ),
            profile=profile,
            metadata=object_of(metadata, "--metadata"),
            preferences=Preferences(optimise=optimise, max_steps=max_steps),
        )
        return command(wish=wish, **others)

    options = (PROFILE, ALSO, NEEDS, INPUT, METADATA, OPTIMISE, MAX_STEPS)
    described: Callable[..., int] = asked
    for option in reversed(options):
        described = option(described)
    return click.argument("goal")(described)


def object_of(text: str, option: str) -> dict[str, Any]:
    """The JSON object in an option.

    Raises:
        UsageError: there is none.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise UsageError(f'`{option}` is {text[:80]!r}. Write a JSON object, e.g. \'{{"path": "src"}}\'.')
    return value


def show(report: Mapping[str, Any], *, lines: Sequence[str], output: Path | None, as_json: bool) -> None:
    """Print an object or its lines, and write the object to the file if one is wanted.

    Raises:
        MachineUnfit: the file cannot be written.
    """
    text = json.dumps(report)
    if output is not None:
        with writing(output):
            output.write_text(f"{text}\n", encoding="utf-8")
    if as_json:
        show_data(f"{text}\n")
    else:
        show_line("\n".join(lines))
