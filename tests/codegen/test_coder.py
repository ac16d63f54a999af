"""The coder answers with whole files, edits or a diff; what has no exact place comes back to it with the reason."""

from collections.abc import Sequence
from typing import Any

import pytest

from cogworks.cycle.eventlog import read_events
from cogworks.cycle.events import Committed
from cogworks.cycle.replay import verify
from cogworks.domain_services.messages import Diagnostic
from cogworks.nodes.code_generation import run
from cogworks.nodes.contract import Failed, Succeeded, Workspace
from cogworks.nodes.replies import Implementation
from cogworks.nodes.task import Conventions
from cogworks.vocabulary import CommitOid, Severity
from tests.codegen.test_test_writing import CUSTOM, WRONG, implemented, world, written
from tests.fakes import FakePorts
from tests.nodes.examples import FILES, FIXED, INPUTS, change, ports, task

PATH = "src/adder/adding.py"
EDIT = {"path": PATH, "search": "a - b", "replace": "a + b"}
DIFF = f"--- a/{PATH}\n+++ b/{PATH}\n@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a - b\n+    return a + b\n"
APPROVED, INTERFACE = CommitOid("a" * 40), "src/adder/contracts.py"
LOST = {"path": PATH, "search": "a minus b", "replace": "a + b"}


def answer(**given: Any) -> Implementation:
    return Implementation.model_validate({"summary": "Let add() add", "files": (), **given})


def visited(place: FakePorts, **changes: Any) -> Succeeded | Failed:
    return run(task("code_generation", sub_item="A", **changes), place)


def actions(place: FakePorts) -> list[str]:
    log = read_events(place.kept["events-1.ndjson"])
    return [event.body.action.value for event in log if isinstance(event.body, Committed)]


def test_a_change_in_any_form_becomes_the_same_commit() -> None:
    places = [
        world(written(), reply) for reply in (implemented(), answer(edits=[EDIT]), answer(unified_diff=DIFF))
    ]

    outcomes = [visited(place) for place in places]

    assert all(isinstance(outcome, Succeeded) for outcome in outcomes)
    first, *others = [place.copy.commits for place in places]
    assert [commits == first for commits in others] == [True, True]
    (_, tests), (_, tree) = first
    assert tree == {**tests, PATH: FIXED}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (answer(edits=[LOST]), "the text to replace stands 0 times in the file"),
        (answer(unified_diff=DIFF.replace("a - b", "a minus b")), "fits nowhere"),
    ],
    ids=["edits", "diff"],
)
def test_what_cannot_be_placed_goes_back_with_the_reason_and_is_never_tested(
    reply: Implementation, reason: str
) -> None:
    place, straight = world(written(), reply, answer(edits=[EDIT])), world(written(), answer(edits=[EDIT]))

    assert isinstance(outcome := visited(place), Succeeded)
    visited(straight)

    assert outcome.output["attempts"] == 2
    assert reason in place.model.asked[2]
    assert "a minus b" in place.model.asked[2]
    assert "the repository is as it was before it" in place.model.asked[2]
    assert place.service.runs == straight.service.runs
    assert place.copy.tree == straight.copy.tree
    assert verify(read_events(place.kept["events-1.ndjson"])).divergence is None


def test_the_same_answer_that_cannot_be_placed_is_given_up_at_once() -> None:
    outcome = visited(world(written(), answer(edits=[LOST]), answer(edits=[LOST])))

    assert isinstance(outcome, Failed)
    assert outcome.category == "retry_exhausted"
    assert "the model gave the same change twice" in outcome.reason
    assert "stands 0 times in the file" in outcome.reason


def test_the_same_change_in_another_form_is_the_same_change() -> None:
    wrong = {**EDIT, "replace": "a * b"}

    outcome = visited(world(written(), implemented(WRONG), answer(edits=[wrong])))

    assert isinstance(outcome, Failed)
    assert "the model gave the same change twice" in outcome.reason


def test_an_edit_of_a_handed_over_test_is_refused_like_a_whole_file() -> None:
    weaker = {"path": CUSTOM, "search": "test_sum", "replace": "test_nothing"}
    place = world(written(), answer(edits=[EDIT, weaker]), answer(edits=[EDIT]))

    assert isinstance(visited(place), Succeeded)
    assert f"{CUSTOM} was handed over with the tests" in place.model.asked[2]


@pytest.mark.parametrize(
    "given",
    [
        {"edits": [{"path": ".github/workflows/ci.yml", "search": "a", "replace": "b"}]},
        {"unified_diff": DIFF.replace(PATH, ".cogworks/config.toml")},
    ],
    ids=["edits", "diff"],
)
def test_a_protected_path_is_for_a_person_in_any_form(given: dict[str, Any]) -> None:
    place = world(written(), answer(**given))

    outcome = visited(place)

    assert isinstance(outcome, Failed)
    assert outcome.category == "refused_change"
    assert len(place.copy.commits) == 1


VERSION = "src/adder/_version.py"


@pytest.mark.parametrize(
    "given",
    [
        {"files": [{"path": VERSION, "action": "create", "content": "v = 1\n"}]},
        {"edits": [{"path": VERSION, "search": "", "replace": "v = 1\n"}]},
        {"unified_diff": f"--- /dev/null\n+++ b/{VERSION}\n@@ -0,0 +1 @@\n+v = 1\n"},
    ],
    ids=["files", "edits", "diff"],
)
def test_a_file_that_git_ignores_is_refused_in_any_form_with_the_rule(given: dict[str, Any]) -> None:
    beyond = [{"path": VERSION, "reason": "It holds the version."}]
    place = world(written(), answer(**given, beyond_plan=beyond), answer(edits=[EDIT]))
    rule = f"{VERSION} is ignored by .gitignore:12 `_version.py`"
    place.copy.rules = {VERSION: rule}

    assert isinstance(visited(place), Succeeded)
    assert rule in place.model.asked[2]
    assert VERSION not in place.copy.tree


def test_after_a_change_that_was_kept_the_coder_is_shown_the_files_as_they_are() -> None:
    # The transaction looks at the files without and with the change; then VALIDATE; the same for the second change.
    verdicts = iter([False, False, True, False, False, False])

    def check(workspace: Workspace, paths: Sequence[str]) -> list[Diagnostic]:
        found = Diagnostic(
            artifact=paths[0], line=1, severity=Severity.BLOCKING, category="type_error", message="no sum"
        )
        return [found] if next(verdicts) else []

    second = {"path": PATH, "search": "return a + b", "replace": "return a + b  # a sum"}
    later = change(files=(), edits=[second])
    place = ports(change(), later, check=check)

    outcome = visited(place, conventions=Conventions(test_writer="none"))

    assert isinstance(outcome, Succeeded), outcome.reason
    assert actions(place).count("APPLY_PATCH") == 2
    assert FILES[PATH] in place.model.asked[0]
    shown = place.model.asked[1].partition("Your last change is in the repository now")[2]
    assert (FIXED in shown, FILES[PATH] in shown) == (True, False)
    assert place.copy.tree[PATH] == FIXED.replace("a + b", "a + b  # a sum")


def test_whoever_writes_the_code_is_shown_what_was_looked_at_when_the_tests_were_written() -> None:
    steps = "".join(
        f"def step_{number}():\n    return {number}\n" + "    # .\n" * 20 for number in range(300)
    )
    place = world(written(), implemented(), files={**FILES, "src/adder/steps.py": steps})
    place.looked_at = {"src/adder/steps.py": [(23 * 22, 23 * 22 + 22)]}

    outcome = visited(place)

    assert isinstance(outcome, Succeeded)
    for_tests, for_code, *_ = place.model.asked
    assert ("return 23" in for_tests, "return 23" in for_code) == (False, True)


def test_of_a_long_file_what_was_declared_stands_once_for_whoever_writes_the_code() -> None:
    around = "".join(f"def other{number}():\n    return {number}\n\n\n" for number in range(100))
    text = f"{around}class Adds:\n    total = 0\n\n\n{around.replace('other', 'more')}"
    place = world(written(), implemented(), files={**FILES, INTERFACE: text})
    place.copy.approve(APPROVED, {INTERFACE: text})
    about = {**INPUTS["specification"], "markdown": "`Adds` adds two numbers."}

    outcome = visited(place, approved={"interfaces": APPROVED}, inputs={"specification": about})

    assert isinstance(outcome, Succeeded)
    for_code = next(asked for asked in place.model.asked if "The rest of each is what the file says" in asked)
    assert ("  401| class Adds:\n" in for_code, for_code.count("    total = 0\n")) == (True, 1)
