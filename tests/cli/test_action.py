"""`cogworks action`: what it hands to a workflow, and the files that call it."""

import json
from pathlib import Path
from typing import Any

import pytest

from cogworks.cli.action import as_file, step_outputs, summary
from cogworks.cli.child_step import ChildSteps
from cogworks.errors import CogworksError
from cogworks.settings.config import child_environment
from cogworks.stopping import noted_signals
from tests.engine.invoking import Ended, cogworks, environment
from tests.engine.open_items import Item, fill
from tests.hub.running import running_hub

WAIT = {"kind": "merge", "number": 2}


def test_outputs_stand_between_lines_that_nobody_could_foresee() -> None:
    outputs = {"outcome": "waiting", "waiting-for": "a\nb"}

    assert as_file(outputs, delimiter="d1") == "outcome<<d1\nwaiting\nd1\nwaiting-for<<d1\na\nb\nd1\n"
    with pytest.raises(CogworksError):
        as_file({"node": "x\nd1\noutcome<<d1"}, delimiter="d1")


def test_the_outputs_of_a_step_are_plain_words_and_one_list() -> None:
    report = {"outcome": "waiting", "node": None, "waiting_for": [WAIT], "cost_usd": 0.25}

    assert step_outputs(7, report) == {
        "issue": "7", "outcome": "waiting", "node": "", "waiting-for": json.dumps([WAIT], separators=(",", ":")),
        "cost-usd": "0.250000",
    }  # fmt: skip
    assert step_outputs(None, {})["outcome"] == "ignored"


def test_the_text_of_others_cannot_leave_its_block_in_the_summary() -> None:
    report = {"outcome": "failed | x", "message": "```\n</details> [link](http://x)\n````"}

    lines = summary("http://h/o/r/issues/1", report).splitlines()

    assert lines.count("`````text") == lines.count("`````") == 1
    assert "| Outcome | failed   x |" in lines


def act(
    directory: Path, url: str, event: str, payload: dict[str, Any], **more: str
) -> tuple[Ended, str, str]:
    """The command as a workflow runs it; what it handed on and its summary."""
    files = {name: directory / name for name in ("event.json", "output", "summary")}
    files["event.json"].write_text(json.dumps(payload))
    settings = {
        "GITHUB_EVENT_NAME": event,
        "GITHUB_EVENT_PATH": str(files["event.json"]),
        "GITHUB_OUTPUT": str(files["output"]),
        "GITHUB_STEP_SUMMARY": str(files["summary"]),
        "GITHUB_REPOSITORY": "octo/demo",
    }
    ended = cogworks("action", env=environment(url, directory / "work", **settings, **more))
    told = [file.read_text() if file.exists() else "" for file in (files["output"], files["summary"])]
    return ended, told[0], told[1]


@pytest.mark.slow
def test_an_event_gets_its_step_and_its_end_is_handed_on(tmp_path: Path) -> None:
    fill(tmp_path / "hub", [Item()])
    with running_hub(tmp_path / "hub") as hub:
        issue = {
            "number": 1,
            "state": "open",
            "html_url": f"{hub.url}/octo/demo/issues/1",
            "labels": [{"name": "cogworks:run"}],
        }
        ended, outputs, shown = act(tmp_path, hub.url, "issues", {"action": "labeled", "issue": issue})
        ignored, nothing, _ = act(tmp_path, hub.url, "push", {"ref": "refs/heads/main"})
        listed, jobs, _ = act(tmp_path, hub.url, "schedule", {}, COGWORKS_ACTION_MODE="matrix")

    assert (ended.exit_code, ended.stdout) == (1, "")
    assert [_output(outputs, name) for name in ("outcome", "node", "issue")] == ["failed", "intake", "1"]
    assert "| Outcome | failed |" in shown
    assert (ignored.exit_code, _output(nothing, "outcome")) == (0, "ignored")
    assert (listed.exit_code, _output(jobs, "jobs"), _output(jobs, "matrix")) == (0, "0", '{"include":[]}')


def _output(text: str, name: str) -> str:
    """The last value of that name, as the runner would read it."""
    lines = text.splitlines()
    place = max(number for number, line in enumerate(lines) if line.startswith(f"{name}<<"))
    end = lines.index(lines[place].partition("<<")[2], place + 1)
    return "\n".join(lines[place + 1 : end])


def test_a_step_takes_no_module_of_the_directory_it_works_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("cogworks.py", "json.py", "click.py"):
        (tmp_path / name).write_text("raise SystemExit('taken')\n")
    monkeypatch.chdir(tmp_path)

    with noted_signals() as stop:
        told = ChildSteps(child_environment(), print, stop).run("no-url")

    assert (told["exit_code"], told["outcome"]) == (2, "usage_error")
