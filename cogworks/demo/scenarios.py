"""The scenarios that `cogworks demo` can play: the issue, what the person does, and which replies were recorded for it."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from importlib.resources import as_file
from pathlib import Path
from typing import Literal

from cogworks.demo.facts import ACCEPTANCE_TEST, FEATURE, ISSUE, cassette_folder
from cogworks.errors import UsageError
from cogworks.unfit import writing
from cogworks.vocabulary import Value


class Act(Value):
    """What the person does once, besides merging what is waited for."""

    after: str
    """The node whose step it follows, e.g. `review@A`, or the outcome of that step, e.g. `rejected`."""
    says: str
    """A comment on the issue, which also tells a later demonstration that it is done."""


class Scenario(Value):
    """One recorded item."""

    name: str
    shows: str
    """What there is to see, in one line for people."""
    issue: str
    """The file of the sample with title and body."""
    beside: str = ""
    """The file of the sample with another issue, which is there when the work begins; empty: there is none."""
    acceptance: str = ""
    """The file of the sample with the test that fails before the work and passes after it; empty: nothing is changed."""
    labels: tuple[str, ...] = ()
    """What the person sets besides the trigger label."""
    acts: tuple[Act, ...] = ()
    """In their order: each waits until the one before it is done."""
    base_becomes: str = ""
    """The folder of the sample with files that a person puts on the default branch once the work has ended; empty: nobody does."""
    has_checks: bool = False
    """Checks look at the pull requests once the work has ended; those that fail are waited for to be repaired."""
    looks_at_parts: bool = False
    """Once the work has ended, a step is taken for each issue that it created and that waits for another one."""
    replies: tuple[str, ...]
    """Folders below that of the recorded replies, those of the scenario itself first."""
    ends: Literal["done", "failed"] = "done"
    """The outcome of its last step."""


_BUG_TEST = "bug_acceptance_test.py"
_SCENARIOS = (
    Scenario(
        name="small-bug",
        shows="a small bug: tests, fix and review without a gate; one pull request closes the issue",
        labels=("cogworks:lane:small",),
        replies=("small-bug",),
        issue="bug.md",
        acceptance=_BUG_TEST,
    ),
    Scenario(
        name=FEATURE,
        shows="a feature the whole way: specification, interfaces, plan, two sub-issues, one rework",
        replies=("",),
        issue=ISSUE,
        acceptance=ACCEPTANCE_TEST,
    ),
    Scenario(
        name="thin-issue",
        shows="an issue that says too little: cogworks asks its questions once and starts nothing",
        issue="thin.md",
        replies=("thin-issue",),
        ends="failed",
    ),
    Scenario(
        name="duplicate",
        shows="an issue that repeats another one: cogworks names the other one once and starts nothing",
        issue="bug.md",
        beside="known.md",
        replies=("duplicate",),
        ends="failed",
    ),
    Scenario(
        name="escalation",
        shows="a small bug whose fix changes a public function: it moves up to `default` and keeps what was learnt",
        labels=("cogworks:lane:small",),
        replies=("escalation",),
        issue="bug.md",
        acceptance=_BUG_TEST,
    ),
    Scenario(
        name="safety-critical",
        shows="the same feature where safety is at stake: a person decides at the gate of every node that writes code",
        labels=("cogworks:safety-critical",),
        replies=("",),
        issue=ISSUE,
        acceptance=ACCEPTANCE_TEST,
    ),
    Scenario(
        name="spec-revised",
        shows="a person rejects the specification with a comment; it is written again and then built",
        acts=(
            Act(
                after="architecture",
                says="/cogworks reject architecture The README lists what `parse` reads; it has to tell of decimals as well.",
            ),
            Act(after="failed", says="/cogworks retry"),
        ),
        replies=("spec-revised",),
        issue="bug.md",
        acceptance=_BUG_TEST,
    ),
    Scenario(
        name="review-remediation",
        shows="the review blocks twice, first on the tests and then on the code, and passes in the third round",
        labels=("cogworks:lane:small",),
        replies=("review-remediation",),
        issue="bug.md",
        acceptance=_BUG_TEST,
    ),
    Scenario(
        name="review-suggestion",
        shows="the review passes with an exact fix: cogworks applies and tests it without asking a model again",
        labels=("cogworks:lane:small",),
        replies=("review-suggestion",),
        issue="bug.md",
        acceptance=_BUG_TEST,
    ),
    Scenario(
        name="ci-failure",
        shows="a check fails on the pull request: its annotation and its log start a repair, and the check passes",
        labels=("cogworks:lane:small",),
        replies=("ci-failure", "small-bug"),
        issue="bug.md",
        acceptance=_BUG_TEST,
        has_checks=True,
    ),
    Scenario(
        name="merge-conflict",
        shows="the base branch moves under a finished pull request: cogworks merges it in and keeps both sides of the conflict",
        labels=("cogworks:lane:small",),
        replies=("merge-conflict", "small-bug"),
        issue="bug.md",
        acceptance=_BUG_TEST,
        base_becomes="moved",
    ),
    Scenario(
        name="rejected",
        shows="a person rejects the code of a sub-issue: cogworks makes it again, and everything built on it",
        acts=(
            Act(
                after="done",
                says="/cogworks reject code_generation@A `parse` reads `1h and` as an hour. What comes after `and` is missing: refuse it.",
            ),
            Act(after="failed", says="/cogworks retry"),
        ),
        replies=("rejected", ""),
        issue=ISSUE,
        acceptance=ACCEPTANCE_TEST,
    ),
    Scenario(
        name="large",
        shows="an issue that is too large: a person rejects the first proposal to divide it and approves the second; the parts start",
        labels=("cogworks:lane:large",),
        acts=(
            Act(
                after="division",
                says="/cogworks reject division Operations can begin without the scheduler: make the command a part of its own.",
            ),
        ),
        replies=("large",),
        issue="large.md",
        looks_at_parts=True,
    ),
)
SCENARIOS: Mapping[str, Scenario] = {each.name: each for each in _SCENARIOS}
"""By name, in the order in which people are told of them."""


def scenario_named(name: str) -> Scenario:
    """The scenario of that name.

    Raises:
        UsageError: there is none; it says which there are.
    """
    if name in SCENARIOS:
        return SCENARIOS[name]
    near = get_close_matches(name, SCENARIOS, n=1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    raise UsageError(f"there is no scenario {name!r}; {meant}There are {', '.join(SCENARIOS)}.")


def keep_to(scenario: Scenario, directory: Path) -> None:
    """Note what is played in a directory.

    Raises:
        UsageError: another scenario was begun there.
    """
    note = directory / "scenario"
    if note.exists() and (begun := note.read_text(encoding="utf-8").strip()) != scenario.name:
        raise UsageError(
            f"{directory} holds the scenario {begun!r}, and {scenario.name!r} is wanted. Name another directory, or go on "
            f"with: cogworks demo --scenario {begun} --dir {directory}"
        )
    with writing(directory):
        note.write_text(f"{scenario.name}\n", encoding="utf-8")


@contextmanager
def recorded_replies(scenario: Scenario) -> Iterator[str]:
    """The folders with the scenario's replies, as `COGWORKS_CASSETTE_DIR` wants them."""
    with as_file(cassette_folder()) as folder:
        yield os.pathsep.join(str(folder / name) for name in scenario.replies)
