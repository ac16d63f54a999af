"""`cogworks demo`: the main job on an embedded GitHub, with recorded model replies or a real model."""

import json
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cogworks.cli.tables import console_for_people, show_line
from cogworks.demo.facts import FEATURE, FULL_NAME
from cogworks.errors import CogworksError, Interrupted, PermissionRefused
from cogworks.removal import remove_tree
from cogworks.stopping import ended_by_signal
from cogworks.unfit import writing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from cogworks.demo.person import PullSeen
    from cogworks.demo.play import Cue
    from cogworks.demo.scenarios import Scenario
    from cogworks.demo.showing import Verdict
    from cogworks.demo.stage import Stage

RECORDED = (
    "The model's replies are recorded: they are read from files that ship with cogworks (provider `cassette`), "
    "keyed by the exact prompt. Everything else is real: HTTP, GraphQL, REST, git, pytest. "
    "With ANTHROPIC_API_KEY set, `cogworks demo --provider anthropic` asks the real model."
)
LIVE = "The model is asked for real (provider `anthropic`): this costs money and the replies differ from run to run."


@click.command("demo")
@click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep everything here. Name the same directory again to resume.",
)
@click.option(
    "--provider",
    type=click.Choice(["cassette", "anthropic"]),
    default="cassette",
    show_default=True,
    help="Who answers for the model.",
)
@click.option(
    "--scenario", "name", default=FEATURE, show_default=True, metavar="NAME", help="The scenario to play."
)
@click.option("--list", "is_listing", is_flag=True, help="List the scenarios and what each shows, then exit.")
@click.option("--keep", is_flag=True, help="Leave the hub running afterwards and print its address.")
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object on stdout at the end; everything else on stderr."
)
def demo(
    directory: Path | None, provider: str, name: str, is_listing: bool, keep: bool, as_json: bool
) -> int:
    """Work on a sample issue, on a GitHub that runs on this machine.

    Turns the issue into reviewed pull requests. Exits with 0 only if the issue's acceptance test fails before the work
    and passes on the last pull request.

    \b
    Examples:
      cogworks demo
      cogworks demo --list
      cogworks demo --scenario small-bug
      cogworks demo --dir ~/cogworks-demo --keep
      cogworks demo --provider anthropic
    """
    from cogworks.demo.scenarios import keep_to, scenario_named
    from cogworks.llm.opening import opening_of
    from cogworks.settings.config import read_environment

    if is_listing:
        show_line(listed(as_json=as_json))
        return 0
    scenario = scenario_named(name)
    console = console_for_people(stderr=as_json)
    environment = read_environment()
    if provider != "cassette" and opening_of(provider).readiness(environment).remedy:
        raise PermissionRefused(
            "`--provider anthropic` needs a key: set `ANTHROPIC_API_KEY`, or leave the option out to replay the recorded replies."
        )
    _say(console, RECORDED if provider == "cassette" else LIVE)
    started_s = time.monotonic()
    home = _home(directory)
    keep_to(scenario, home)
    again = f"cogworks demo {'' if name == FEATURE else f'--scenario {name} '}--dir {home}"
    try:
        with ended_by_signal():
            report = _shown(console, home, scenario, provider, keep=keep)
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; nothing is lost. Go on with: {again}") from None
    except CogworksError:
        _say(console, f"Everything is in {home}; go on with: {again}")
        raise
    if directory is None and not keep:
        remove_tree(home, ignore_errors=True)
    report["duration_s"] = round(time.monotonic() - started_s, 3)
    if as_json:
        click.echo(json.dumps(report))
    return 0 if report["outcome"] == "done" else 1


def listed(*, as_json: bool) -> str:
    """Every scenario with what it shows."""
    from cogworks.demo.scenarios import SCENARIOS

    if as_json:
        return json.dumps([{"name": each.name, "shows": each.shows} for each in SCENARIOS.values()])
    width = max(map(len, SCENARIOS))
    return "\n".join(f"{each.name:<{width}}  {each.shows}" for each in SCENARIOS.values())


def _home(directory: Path | None) -> Path:
    if directory is None:
        return Path(tempfile.mkdtemp(prefix="cogworks-demo-"))
    with writing(directory):
        directory.mkdir(parents=True, exist_ok=True)
    return directory.resolve()


def _shown(
    console: "Console", home: Path, scenario: "Scenario", provider: str, *, keep: bool
) -> dict[str, Any]:
    from cogworks.demo.play import Cue
    from cogworks.demo.scenarios import recorded_replies
    from cogworks.demo.stage import open_stage, sole_runner
    from cogworks.settings.config import child_environment

    with (
        sole_runner(home, lambda line: _say(console, line)) as held,
        open_stage(home, environment=child_environment(), keep=keep) as stage,
        recorded_replies(scenario) as replies,
    ):
        cue = Cue(child_environment(step_environment(stage, provider, replies)), inherited=(held,))
        report = _run(console, stage, scenario, cue)
        if keep:
            _say(
                console,
                f"The hub keeps running: {stage.repository_url} (process {stage.process_id}, data in {home})\n"
                f"In a browser open this first: {stage.pages_link}",
            )
        return {
            **report,
            "hub": stage.repository_url if keep else None,
            "pages": stage.pages_link if keep else None,
        }


def _run(console: "Console", stage: "Stage", scenario: "Scenario", cue: "Cue") -> dict[str, Any]:
    from cogworks.demo.checks import look_at_heads
    from cogworks.demo.person import Person
    from cogworks.demo.play import play, process
    from cogworks.demo.showing import Programme, show_pull, show_text, steps_table

    _say(console, f"hub: {stage.repository_url}")
    with closing(Person(stage)) as person:
        with Programme(console) as programme:
            issue_url, last = play(
                person,
                programme,
                scenario,
                lambda arguments: process(arguments, cue, programme.line),
                lambda: look_at_heads(stage, person),
            )
        if not console.is_terminal:
            console.print(steps_table(programme.reports))
        pulls = person.pull_requests()
        for pull in pulls:
            show_pull(console, f"#{pull.number} {pull.title} ({pull.state})", pull.url, pull.diff)
        show_text(
            console, "sub-issues", "\n".join(f"#{number} {title}" for number, title in person.sub_issues())
        )
        show_text(console, "the pipeline (from the status comment)", person.mermaid())
    verdict = _verdict(stage, scenario, pulls, search_path=cue.environment.get("PATH", ""))
    if verdict:
        show_text(console, "acceptance test", _verdict_text(verdict))
    else:
        show_text(console, "how it ended", last["message"])
    _say(console, f"issue: {issue_url}")
    return {
        "outcome": "done" if verdict is None or verdict.is_good else "failed",
        "scenario": scenario.name,
        "issue": issue_url,
        "pull_requests": [pull.url for pull in pulls],
        "steps": [dict(report) for report in programme.reports],
        "acceptance": verdict.model_dump(include={"fails_on_base", "passes_on_head"}) if verdict else None,
    }


def _say(console: "Console", line: str) -> None:
    console.print(line, markup=False, soft_wrap=True)


def step_environment(stage: "Stage", provider: str, replies: str) -> dict[str, str]:
    """The variables by which a step finds the stage and the program that answers for the model.

    Args:
        replies: the folders with the recorded replies, as `COGWORKS_CASSETTE_DIR` has them.
    """
    return {
        "COGWORKS_GITHUB_TOKEN": stage.runner_token,
        "COGWORKS_LLM_PROVIDER": provider,
        **({"COGWORKS_CASSETTE_DIR": replies} if provider == "cassette" else {}),
        "COGWORKS_WORK_DIR": str(stage.directory / "work"),
        "GITHUB_SERVER_URL": stage.url,
        "GITHUB_API_URL": stage.api_url,
        "GITHUB_GRAPHQL_URL": f"{stage.url}/api/graphql",
    }


def _verdict(
    stage: "Stage", scenario: "Scenario", pulls: "Sequence[PullSeen]", *, search_path: str
) -> "Verdict | None":
    """None: the scenario changes nothing, so there is nothing to try."""
    from cogworks.demo.showing import judge

    if not scenario.acceptance:
        return None
    with tempfile.TemporaryDirectory(prefix="cogworks-verdict-") as directory:
        return judge(
            f"{stage.url}/{FULL_NAME}.git",
            stage.person_token,
            head=[pull for pull in pulls if pull.state != "closed"][-1].head,
            directory=Path(directory),
            search_path=search_path,
            test=scenario.acceptance,
        )


def _verdict_text(verdict: "Verdict") -> str:
    base = "fails" if verdict.fails_on_base else "DOES NOT FAIL"
    head = "passes" if verdict.passes_on_head else "DOES NOT PASS"
    return f"{base} before the work, {head} on {verdict.head} (checked out afresh)\n{verdict.tail}"
