"""Every scenario of the demonstration, played on the hub from its issue to its end with the recorded replies."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from cogworks.demo.facts import FULL_NAME
from cogworks.demo.scenarios import SCENARIOS, Scenario, keep_to, scenario_named
from cogworks.demo.showing import judge
from cogworks.errors import UsageError
from tests.demo.playing import Played, playing
from tests.end_to_end.scene import HOST_ENVIRONMENT

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")


class Expected(NamedTuple):
    """What is to be seen of a scenario."""

    visits: str
    """Nodes in their order; what `inputs` did is no visit."""
    pulls: str
    """The end of the branch of every pull request with its state."""
    gates: int = 0
    """Pull requests that the person merged."""
    told: tuple[str, ...] = ()
    """What the comments on the issue say, among other things."""
    checks: tuple[str, ...] = ()
    """What the repository's checks found, one after the other."""
    below: str = ""
    """How the one comment below the last pull request begins."""


_HEAD = "intake architecture interface_design planning"
_A, _B = "code_generation@A review@A", "code_generation@B review@B"
_FEATURE = f"{_HEAD} {_A} integration@A {_B} {_B} integration@B"
_ROUND = "code_generation review"
EXPECTED = {
    "small-bug": Expected(f"intake {_ROUND} integration", "change open"),
    "feature": Expected(_FEATURE, "spec closed, interfaces merged, swi-1 open, swi-2 open", gates=2),
    "thin-issue": Expected(
        "intake",
        "",
        told=("\n  - Which text is read wrong,", "\n  - Which version", "\n  Answer in the issue's body"),
    ),
    "duplicate": Expected(
        "intake",
        "",
        told=(
            "- **intake:** #1 asks for the same as #2 (issue, open): Both say that the digits",
            "comment `/cogworks retry`: then it is worked on",
        ),
    ),
    "escalation": Expected(
        f"intake code_generation architecture interface_design planning {_A} integration@A",
        "spec closed, swi-1 open",
        gates=1,
        told=(
            "moved up from `small`: the change alters public interfaces, which `small` leaves as they are: `",
        ),
    ),
    "safety-critical": Expected(
        _FEATURE, "spec closed, interfaces merged, swi-1 merged, swi-2 merged", gates=4
    ),
    "spec-revised": Expected(
        f"intake architecture architecture interface_design planning {_A} integration@A",
        "spec closed, swi-1 open",
        gates=1,
        told=("no public interface changes: The specification says that no public name changes.",),
    ),
    "review-remediation": Expected(f"intake {_ROUND} {_ROUND} {_ROUND} integration", "change open"),
    "review-suggestion": Expected(f"intake {_ROUND} {_ROUND} integration", "change open"),
    "ci-failure": Expected(
        f"intake {_ROUND} integration {_ROUND} integration",
        "change open",
        checks=("fails: 1 line(s) too long", "passes"),
        below="Checks of this pull request had failed: `lint`.",
    ),
    "merge-conflict": Expected(
        f"intake {_ROUND} integration {_ROUND} integration",
        "change open",
        below="GitHub could not merge this pull request.",
    ),
    "rejected": Expected(
        f"{_FEATURE} {_A} integration@A {_B} integration@B",
        "spec closed, interfaces merged, swi-1 open, swi-2 open",
        gates=2,
    ),
    "large": Expected(
        "intake division division parts start",
        "",
        told=(
            "### Proposal: #1 as 2 issues",
            "### Proposal: #1 as 4 issues",
            "| C | The command writes ISO 8601 | A, B | 6–8, 12–13 |",
            "- #4: The command writes ISO 8601 (after #2, #3)",
            "### cogworks · done: divided into #2, #3, #4, #5; this issue is closed with the last of them",
        ),
    ),
}


def test_every_scenario_has_an_expectation_and_a_line_in_the_readme() -> None:
    assert list(EXPECTED) == list(SCENARIOS)
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", README, re.MULTILINE)
    told = {name: shows for name, shows in rows if name in SCENARIOS}
    assert told == {
        name: "the run described above" if name == "feature" else each.shows
        for name, each in SCENARIOS.items()
    }


@pytest.mark.slow
@pytest.mark.timeout(600)  # seconds on a busy machine; usually a tenth of that
@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=list(SCENARIOS))
def test_a_scenario_goes_as_it_is_told(scenario: Scenario, tmp_path: Path) -> None:
    expected = EXPECTED[scenario.name]
    with playing(scenario, tmp_path / "stage") as played:
        pulls = [(pull.head.rpartition("/")[2], pull.state) for pull in played.on_stage.pull_requests()]
        comments = "\n".join(played.comments())

        assert played.last["outcome"] == scenario.ends
        assert [node for node in played.visited if node != "inputs"] == expected.visits.split()
        assert ", ".join(map(" ".join, pulls)) == expected.pulls
        assert len([act for act in played.acts if act.startswith(("merges", "approves"))]) == expected.gates
        assert [act.says for act in scenario.acts if f"comments: {act.says}" not in played.acts] == []
        assert {words: comments.count(words) for words in expected.told} == dict.fromkeys(expected.told, 1)
        found = [
            act.partition("`lint` ")[2].partition(" on ")[0] for act in played.acts if act.startswith("check")
        ]
        assert tuple(found) == expected.checks
        if expected.below:
            (pull,) = played.on_stage.repository.get_pulls()
            bodies = [comment.body.partition("-->\n")[2] for comment in pull.get_issue_comments()]
            assert [body[: len(expected.below) + 1] for body in bodies] == [f"{expected.below} "]
        if scenario.base_becomes:
            (pull,) = played.on_stage.repository.get_pulls()
            parents = played.on_stage.repository.get_commit(pull.head.sha).parents
            assert (len(parents), parents[1].sha, pull.mergeable) == (2, pull.base.sha, True)
            issue = played.on_stage.repository.get_issue(1).html_url
            checked = played.cogworks("fsck", issue)
            assert checked.code == 0, checked
        if scenario.looks_at_parts:
            look_at_parts(played)
        if scenario.acceptance:
            judge_work(played, scenario, tmp_path)


def look_at_parts(played: Played) -> None:
    """Each is started as an item of its own, and the one that needs two others says that it waits."""
    repository = played.on_stage.repository
    labels = {
        number: [label.name for label in repository.get_issue(number).get_labels()] for number in range(2, 6)
    }
    assert labels == {number: ["cogworks:run"] for number in range(2, 6)}
    assert played.on_stage.waiting_parts() == (repository.get_issue(4).html_url,)
    (comment,) = repository.get_issue(4).get_comments()
    assert "it begins by itself once #2, #3 are closed" in comment.body
    assert repository.get_issue(2).get_comments().totalCount == 0
    assert played.cogworks("fsck", repository.get_issue(1).html_url).code == 0
    close_parts(played)


def close_parts(played: Played) -> None:
    """What waited can begin when both of those are closed, and the issue is closed with the last part."""
    repository = played.on_stage.repository
    for number in (2, 3):
        repository.get_issue(number).edit(state="closed")
    ready = played.cogworks("process", repository.get_issue(4).html_url, "--dry-run")
    assert (ready.code, "intake" in ready.out) == (0, True), ready
    played.process([repository.get_issue(1).html_url])
    assert repository.get_issue(1).state == "open"
    for number in (4, 5):
        repository.get_issue(number).edit(state="closed")
    played.process([repository.get_issue(1).html_url])
    assert repository.get_issue(1).state == "closed"
    assert "done: every part of this issue is closed" in played.comments()[0]


def judge_work(played: Played, scenario: Scenario, folder: Path) -> None:
    verdict = judge(
        f"{played.stage.url}/{FULL_NAME}.git",
        played.stage.person_token,
        head=played.on_stage.pull_requests()[-1].head,
        directory=folder,
        search_path=HOST_ENVIRONMENT["PATH"],
        test=scenario.acceptance,
    )
    assert (verdict.fails_on_base, verdict.passes_on_head) == (True, True), verdict.tail


def test_a_scenario_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(UsageError) as caught:
        scenario_named("smal-bug")

    assert str(caught.value) == (
        "there is no scenario 'smal-bug'; did you mean 'small-bug'? "
        "There are small-bug, feature, thin-issue, duplicate, escalation, safety-critical, spec-revised, review-remediation, review-suggestion, ci-failure, merge-conflict, rejected, large."
    )


def test_a_directory_keeps_to_its_scenario(tmp_path: Path) -> None:
    keep_to(SCENARIOS["small-bug"], tmp_path)
    keep_to(SCENARIOS["small-bug"], tmp_path)

    with pytest.raises(UsageError) as caught:
        keep_to(SCENARIOS["feature"], tmp_path)

    assert str(caught.value) == (
        f"{tmp_path} holds the scenario 'small-bug', and 'feature' is wanted. Name another directory, or go on with: "
        f"cogworks demo --scenario small-bug --dir {tmp_path}"
    )
