"""The person's part: what is done when, once, also where an earlier demonstration did some of it."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from cogworks.demo.play import play
from cogworks.demo.scenarios import Act, Scenario
from cogworks.errors import CogworksError

ACTS = (Act(after="spec", says="/cogworks reject spec no"), Act(after="failed", says="/cogworks retry"))


def scenario(*acts: Act) -> Scenario:
    return Scenario(
        name="s", shows="", issue="bug.md", replies=("",), labels=("cogworks:lane:small",), acts=acts
    )


class Somebody:
    """A person who notes what was done."""

    def __init__(self, *said: str) -> None:
        self.done: list[str] = []
        self.looks = 0
        self._said = said

    def write_issue(self, name: str) -> str:
        return f"http://hub/{name}"

    def write_beside(self, name: str) -> str | None:
        self.done.append(f"another issue {name}")
        return f"http://hub/{name}"

    def set_trigger(self, *further: str) -> bool:
        self.done.append(f"label {' '.join(further)}")
        return True

    def move_base(self, folder: str) -> bool:
        is_new = f"move the base to {folder}" not in self.done
        self.done += [f"move the base to {folder}"] if is_new else []
        return is_new

    def sees_conflict(self) -> bool:
        """As long as nobody took a step since."""
        self.looks += 1
        return self.looks == 1

    def waiting_parts(self) -> Sequence[str]:
        return ("http://hub/4",)

    def merge(self, number: int) -> str:
        self.done.append(f"merge {number}")
        return "title"

    def approve(self, number: int) -> str:
        self.done.append(f"approve {number}")
        return "title"

    def say(self, text: str) -> None:
        self.done.append(text)

    def said(self) -> Sequence[str]:
        return self._said


class Nobody:
    """An audience that is not there."""

    def line(self, text: str) -> None: ...

    def person(self, text: str) -> None: ...

    def step(self, report: Mapping[str, Any]) -> None: ...


def told(outcome: str, node: str = "", *waits: Mapping[str, Any]) -> dict[str, Any]:
    return {"outcome": outcome, "node": node or None, "waiting_for": list(waits), "message": "why"}


def played(person: Somebody, acts: Sequence[Act], *reports: Mapping[str, Any]) -> list[str]:
    left = list(reports)
    play(person, Nobody(), scenario(*acts), lambda _: left.pop(0), lambda: ())
    assert left == []
    return person.done


MERGE = {"kind": "merge", "number": 2}
REVIEW = {"kind": "review", "number": 3, "paste": "/cogworks approve spec abc1234"}
APPROVAL = {"kind": "approval", "paste": "/cogworks approve code abc1234"}


def test_each_act_follows_the_step_it_waits_for_and_the_act_before_it() -> None:
    done = played(
        Somebody(),
        ACTS,
        told("succeeded", "intake"),
        told("succeeded", "spec"),
        told("failed"),
        told("succeeded", "spec"),
        told("waiting", "", MERGE, REVIEW, APPROVAL),
        told("done"),
    )

    assert done == [
        "label cogworks:lane:small",
        *(act.says for act in ACTS),
        "merge 2",
        "approve 3",
        APPROVAL["paste"],
    ]


def test_what_was_said_in_an_earlier_demonstration_is_not_said_again() -> None:
    done = played(Somebody(ACTS[0].says), ACTS, told("failed"), told("done"))

    assert done == ["label cogworks:lane:small", "/cogworks retry"]


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (told("failed"), "the step ended with 'failed': why"),
        (told("waiting", "", {"kind": "resume"}), "the step waits for something nobody does here: why"),
    ],
    ids=["a failure", "a wait"],
)
def test_what_the_scenario_does_not_have_ends_it(report: Mapping[str, Any], words: str) -> None:
    with pytest.raises(CogworksError, match=words):
        played(Somebody(), (), report)


def test_checks_look_when_the_work_has_ended_until_they_find_nothing_new() -> None:
    left = [told("succeeded", "code"), told("done"), told("succeeded", "code"), told("done"), told("done")]
    found = [("fails",), ("passes",), ()]
    checked = scenario().model_copy(update={"has_checks": True})

    _, last = play(Somebody(), Nobody(), checked, lambda _: left.pop(0), lambda: found.pop(0))

    assert (left, found, last) == ([], [], told("done"))


def test_what_waits_for_other_issues_is_looked_at_once_the_work_has_ended() -> None:
    asked: list[Sequence[str]] = []
    left = [told("done"), told("waiting")]

    def step(arguments: Sequence[str]) -> Mapping[str, Any]:
        asked.append(arguments)
        return left.pop(0)

    looking = scenario().model_copy(update={"looks_at_parts": True})
    url, last = play(Somebody(), Nobody(), looking, step, lambda: ())

    assert asked == [[url, "--take-over"], ["http://hub/4"]]
    assert last == told("done")


def test_a_base_that_moves_is_followed_until_the_pull_request_can_be_merged() -> None:
    left = [told("done"), told("succeeded", "code"), told("done")]
    person = Somebody()
    moving = scenario().model_copy(update={"base_becomes": "moved"})

    play(person, Nobody(), moving, lambda _: left.pop(0), lambda: ())

    assert left == []
    assert person.done == ["label cogworks:lane:small", "move the base to moved"]
