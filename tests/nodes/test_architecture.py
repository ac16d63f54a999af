"""Architecture: a specification as a pull request, and what sends it back to the model."""

from collections.abc import Mapping

import pytest
from pydantic import ValidationError

from cogworks.forge.effects import CommitFiles, FileText, OpenPullRequest
from cogworks.nodes.architecture import of_use, problems_of, run
from cogworks.nodes.contract import Failed, Succeeded
from cogworks.nodes.replies import AffectedModule, DependencyChange, Requirement, Specification
from cogworks.nodes.task import Conventions, Learnt
from cogworks.pipeline.visits import AskedChange
from cogworks.vocabulary import BranchName
from tests.nodes.examples import FILES, KEY, SPECIFICATION, output, ports, task

MERGED = Conventions(specs=("docs/specs",), merges_specs=True)


def test_the_specification_is_committed_and_put_to_people() -> None:
    outcome = run(task("architecture"), ports(SPECIFICATION))

    assert isinstance(outcome, Succeeded)
    assert outcome.output == {**output(SPECIFICATION), "path": "docs/specs/7.md", "is_shown_only": True}
    commit, pull_request = outcome.effects
    assert commit == CommitFiles(
        branch=BranchName("cogworks/7/spec"),
        base=BranchName("main"),
        files=(FileText(path="docs/specs/7.md", text=SPECIFICATION.markdown),),
        headline="Add the specification of #7",
        visit_key=KEY,
    )
    assert isinstance(pull_request, OpenPullRequest)
    assert (pull_request.slug, pull_request.head, pull_request.base, pull_request.title) == (
        "spec",
        "cogworks/7/spec",
        "main",
        "Specification: Let add() add",
    )


def test_a_specification_goes_where_git_does_not_ignore_it() -> None:
    asked = task("architecture")
    folders = ("docs/specs", "specifications")
    asked = asked.model_copy(update={"conventions": asked.conventions.model_copy(update={"specs": folders})})
    place = ports(SPECIFICATION)
    place.copy.rules = {"docs/specs/7.md": "docs/specs/7.md is ignored by .gitignore:3 `docs/`"}

    outcome = run(asked, place)

    assert isinstance(outcome, Succeeded)
    assert outcome.output["path"] == "specifications/7.md"
    assert outcome.effects[0].files[0].path == "specifications/7.md"  # type: ignore[union-attr]  # the first effect commits the file


def test_a_place_that_git_ignores_is_told_before_a_specification_is_paid_for() -> None:
    place = ports()
    place.copy.rules = {"docs/specs/7.md": "docs/specs/7.md is ignored by .gitignore:3 `docs/`"}

    outcome = run(task("architecture"), place)

    assert isinstance(outcome, Failed)
    assert "docs/specs/7.md is ignored by .gitignore:3 `docs/`" in outcome.reason
    assert "`specs` under `[paths]`" in outcome.reason
    assert place.model.purposes == []


def test_one_that_becomes_a_file_says_what_it_is_part_of_and_how_to_accept_it() -> None:
    outcome = run(task("architecture", conventions=MERGED), ports(SPECIFICATION))

    assert isinstance(outcome, Succeeded)
    assert "is_shown_only" not in outcome.output
    opened = outcome.effects[1]
    assert isinstance(opened, OpenPullRequest)
    assert not opened.is_shown_only
    body = opened.body
    assert body.startswith("Part of #7.")
    assert "It adds one file, `docs/specs/7.md`, and no code." in body
    assert "| R1 | add(2, 2) is 4. |" in body
    assert "**To accept**, merge this pull request" in body


def test_one_that_is_not_to_be_merged_is_shown_and_says_how_to_approve_it() -> None:
    outcome = run(task("architecture"), ports(SPECIFICATION))

    assert isinstance(outcome, Succeeded)
    assert outcome.output["is_shown_only"] is True
    shown = outcome.effects[1]
    assert isinstance(shown, OpenPullRequest)
    assert shown.is_shown_only
    assert "It is here to be read, in `docs/specs/7.md`, and is not merged" in shown.body
    assert "**To accept**, approve this pull request" in shown.body
    assert "merge this pull request" not in shown.body


CHANGED: Mapping[str, object] = {
    "title": "Let add() add numbers",
    "markdown": "# Let add() add\n\n- **R1** add(2, 2) is 4, always.\n",
    "affected_modules": (AffectedModule(name="src/adder/other.py", new=True),),
    "public_names": ("adder.adding.add(carry=)",),
    "dependency_changes": (
        DependencyChange(source="adder.adding", target="operator", change="add", reason="It adds."),
    ),
    "required_adrs": ("Why numbers are added",),
    "risks": ("Somebody relies on the subtraction.",),
    "requirements": (Requirement(id="R1", text="add(2, 2) is 4.", section="Adding"),),
}


@pytest.mark.parametrize("field", Specification.model_fields)
def test_everything_that_a_specification_says_is_shown_to_people(field: str) -> None:
    changed = SPECIFICATION.model_copy(update={field: CHANGED[field]})

    before, after = (run(task("architecture"), ports(each)) for each in (SPECIFICATION, changed))

    assert isinstance(before, Succeeded)
    assert isinstance(after, Succeeded)
    assert after.effects != before.effects


def test_a_dependency_that_comes_or_goes_is_said_in_the_pull_request() -> None:
    changed = SPECIFICATION.model_copy(update={"dependency_changes": CHANGED["dependency_changes"]})

    outcome = run(task("architecture"), ports(changed))

    assert isinstance(outcome, Succeeded)
    body = outcome.effects[1].body  # type: ignore[union-attr]  # the second effect opens the pull request
    assert (
        "### Dependencies that change\n\n- `adder.adding` comes to depend on `operator`: It adds.\n" in body
    )


def body_of(specification: Specification, learnt: Learnt | None = None) -> str:
    outcome = run(task("architecture", learnt=learnt), ports(specification))
    assert isinstance(outcome, Succeeded)
    [opened] = [each for each in outcome.effects if isinstance(each, OpenPullRequest)]
    return opened.body


NO_NAME = SPECIFICATION.model_copy(update={"public_names": ()})
NEXT = "Next comes the design of the interfaces."


def test_people_approve_which_public_names_change() -> None:
    names = ("adder.add(carry=)", "adder --`carry`")

    body = body_of(SPECIFICATION.model_copy(update={"public_names": names}))

    assert "### Public names that change\n\n- `adder.add(carry=)`\n- `adder --'carry'`\n\n### " in body
    assert NEXT in body


def test_people_approve_that_no_interfaces_are_designed_where_no_public_name_changes() -> None:
    body = body_of(NO_NAME)

    assert (
        "None, so no interfaces are designed, unless somebody edits the file or asks for interfaces." in body
    )
    assert NEXT not in body


def test_nobody_is_told_that_no_interfaces_are_designed_where_a_shorter_way_did_not_do() -> None:
    body = body_of(NO_NAME, learnt=Learnt(why="it alters `adder.add`"))

    assert "### Public names that change\n\nNone.\n" in body
    assert NEXT in body


def test_a_specification_that_is_silent_about_public_names_is_none() -> None:
    silent = output(SPECIFICATION)
    del silent["public_names"]

    with pytest.raises(ValidationError, match="public_names"):
        Specification.model_validate(silent)


@pytest.mark.parametrize(
    ("update", "problem"),
    [
        (
            {"affected_modules": (AffectedModule(name="src/adder/subtracting.py", new=False),)},
            "module 'src/adder/subtracting.py' is not in the repository",
        ),
        (
            {"affected_modules": (AffectedModule(name="src/adder/adding.py", new=True),)},
            "is marked new, but the repository has it",
        ),
        ({"markdown": "# Title\n\nNothing numbered."}, "requirement R1 does not appear in the Markdown"),
        ({"markdown": "R1 without a heading"}, "must begin with a first-level heading"),
        ({"requirements": SPECIFICATION.requirements * 2}, "requirement R1 is listed twice"),
    ],
    ids=["unknown-module", "not-new", "unsaid", "no-heading", "twice"],
)
def test_what_is_wrong_with_a_specification_is_named(update: dict[str, object], problem: str) -> None:
    reply = SPECIFICATION.model_copy(update=update)

    assert problem in "\n".join(problems_of(reply, sorted(FILES)))


def test_a_wrong_specification_is_corrected_by_the_model() -> None:
    wrong = SPECIFICATION.model_copy(update={"markdown": "# Title"})
    world = ports(wrong, SPECIFICATION)

    outcome = run(task("architecture"), world)

    assert isinstance(outcome, Succeeded)
    assert "requirement R1 does not appear" in world.model.asked[1]
    assert (
        Specification.model_validate(
            {k: v for k, v in outcome.output.items() if k not in ("path", "is_shown_only")}
        )
        == SPECIFICATION
    )


def test_a_secret_in_the_specification_is_refused_with_its_line() -> None:
    leaking = SPECIFICATION.model_copy(
        update={"markdown": f"{SPECIFICATION.markdown}\nUse `{'ghp_' + 'a1' * 18}`.\n"}
    )

    problems = problems_of(leaking, tuple(FILES))

    assert problems == ["line 5 of the Markdown looks like a GitHub token; use a placeholder"]


def test_what_a_review_of_the_specification_asks_for_is_told_with_its_place() -> None:
    place = ports(SPECIFICATION)
    asked = (
        AskedChange(by="ann", text="Say what happens to text."),
        AskedChange(by="ann", file="docs/specs/7.md", line=3, text="Always?"),
    )
    again = task("architecture").model_copy(
        update={
            "earlier_failure": "ann asked for changes in a review of #12",
            "asked_changes": asked,
        }
    )

    run(again, place)

    told = "\n".join(place.model.asked)
    assert "ann asked for changes in a review of #12" in told
    assert "- Say what happens to text.\n- docs/specs/7.md:3: Always?" in told


def test_the_model_writes_requirements_once_and_the_text_has_them() -> None:
    requirements = (
        Requirement(id="R1", text="add(2, 2) is 4.", section="Requirements"),
        Requirement(
            id="R2", text="Text is refused:\n\n```python\nadd('a', 1)\n```\n", section="Requirements"
        ),
    )
    text = "# Let add() add\n\n## Requirements\n\n  {requirements}\n\n## Design\n\nUse `{requirements}` elsewhere.\n"
    reply = SPECIFICATION.model_copy(update={"markdown": text, "requirements": requirements})

    outcome = run(task("architecture"), ports(reply))

    assert isinstance(outcome, Succeeded)
    written = (
        "# Let add() add\n\n## Requirements\n\n- **R1** add(2, 2) is 4.\n- **R2** Text is refused:\n\n"
        "  ```python\n  add('a', 1)\n  ```\n\n## Design\n\nUse `{requirements}` elsewhere.\n"
    )
    assert outcome.output["markdown"] == written
    assert outcome.effects[0].files[0].text == written  # type: ignore[union-attr]  # the first effect commits the file


def test_the_architect_is_told_of_the_classification_what_is_of_use() -> None:
    classification = {
        "type": "bug_fix",
        "says_what_is_right": "add(2, 2) is 4.",
        "is_wrong_about": "There is no option.",
        "known_because": "",
        "duplicate_of": 0,
        "pipeline": "default",
    }

    assert of_use(classification) == {"type": "bug_fix", "is_wrong_about": "There is no option."}
