"""Integration: the pull request of a reviewed change, with everything a person needs to judge it."""

from typing import Any, Literal

import pytest

from cogworks.codebase.treefacts import PastCommit
from cogworks.errors import NodeFailed
from cogworks.forge.effects import OpenPullRequest, PostReview, ReportCheck
from cogworks.nodes.contract import Failed, Succeeded
from cogworks.nodes.integration import run
from cogworks.nodes.task import Conventions, SubItemRef
from cogworks.packs.choosing import choose
from cogworks.packs.declared import Trigger
from cogworks.repair.proof import ProvenTest, Summary, Tree, markdown
from cogworks.repair.unloaded import Unloaded
from cogworks.vocabulary import CommitOid, IssueNumber, Severity, SubItemKey
from tests.nodes.examples import (
    CODE,
    FILES,
    FIXED,
    KEY,
    REVIEW,
    SHOWN_ONLY,
    finding,
    output,
    planned,
    ports,
    pull,
    task,
)
from tests.packs.declared import COMMIT, PYTHON, pack

INPUTS = {"code": CODE, "review": REVIEW}


def opened(outcome: object) -> OpenPullRequest:
    assert isinstance(outcome, Succeeded)
    (effect,) = outcome.effects
    assert isinstance(effect, OpenPullRequest)
    return effect


def test_the_pull_request_goes_from_the_branch_into_its_base() -> None:
    effect = opened(run(task("integration", sub_item="A", inputs=INPUTS), ports()))

    assert (effect.slug, effect.head, effect.base, effect.title) == (
        "swi-1",
        "cogworks/7/swi-1",
        "main",
        "Item A",
    )


def test_the_body_refers_to_the_sub_issue_the_issue_and_the_approved_documents() -> None:
    body = opened(run(task("integration", sub_item="A", inputs=INPUTS), ports())).body

    assert body.startswith(
        "Closes #21. Part of #7. Follows the specification in #11 and the interfaces in #12."
    )
    assert "- `src/adder/adding.py` (changed)" in body
    assert "2 tests pass, 1 of them new." in body
    assert "Passed (quality), without remarks." in body
    assert "Builds on" not in body


def test_the_body_refers_to_no_document_that_nobody_put_to_people() -> None:
    alone = task("integration", sub_item="A", inputs=INPUTS).model_copy(update={"pull_requests": ()})

    body = opened(run(alone, ports())).body

    assert body.startswith("Closes #21. Part of #7.\n\n")


def test_the_body_folds_a_table_of_twelve_tests_and_links_the_others() -> None:
    tree = Tree(commit=CommitOid("a" * 40), tree="b" * 40)
    tests = tuple(
        ProvenTest(id=f"t::{number:02}", base="failed", head="passed", verdict="fail_to_pass")
        for number in range(50)
    )
    proof = Summary(base=tree, head=tree, counts={"fail_to_pass": 50}, tests=tests, is_proven=True)
    code = {**CODE, "proof": proof.model_dump(mode="json")}

    outcome = run(task("integration", sub_item="A", inputs={**INPUTS, "code": code}), ports())

    assert isinstance(outcome, Succeeded)
    (body,) = (effect.body for effect in outcome.effects if isinstance(effect, OpenPullRequest))
    assert body.count("| fail to pass |") == 12
    assert "**Proven**: `t::00`, `t::01`, `t::02` and 47 more failed before this change and pass now." in body
    assert (
        "Every test is in `proof.json` on branch [`cogworks/ledger/7`](/octo-org/adder/tree/cogworks/ledger/7/visits)."
        in body
    )
    assert "<details><summary>Tests that changed: 12 of 50</summary>" in body


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ({"passed": 1, "added": ["t::a"]}, "1 test passes, 1 of them new."),
        ({"passed": 9, "added": []}, "9 tests pass, none of them new."),
        ({"passed": 9, "added": ["t::a[1]", "t::a[2]"], "moved": 1}, "9 tests pass, 1 of them new."),
        (
            {"passed": 9, "added": [], "changed": ["t::a", "t::b"]},
            "9 tests pass, among them 2 changed tests, which failed before.",
        ),
        (
            {"passed": 9, "added": ["t::c"], "changed": ["t::a"], "failed_before": 1},
            "9 tests pass, 1 of them new; 1 changed test, which failed before. 1 test failed before this change as well.",
        ),
    ],
    ids=["new", "none", "moved", "changed", "both"],
)
def test_assertions_that_were_added_to_tests_count_as_much_as_new_tests(
    figures: dict[str, Any], said: str
) -> None:
    code = {**CODE, "tests": {"failed_before": 0, **figures}}

    assert (
        said in opened(run(task("integration", sub_item="A", inputs={**INPUTS, "code": code}), ports())).body
    )


def test_tests_that_no_runner_knows_are_no_tests_that_pass() -> None:
    code = {**CODE, "unrun": ["tests/js/sum.spec.js"]}

    body = opened(run(task("integration", sub_item="A", inputs={**INPUTS, "code": code}), ports())).body

    assert " No runner here ran the tests in `tests/js/sum.spec.js`." in body


def test_title_and_body_follow_what_the_repository_does() -> None:
    shell = ports(
        files={
            **FILES,
            ".github/PULL_REQUEST_TEMPLATE.md": "## Why\n<!-- say it -->\n\n## Checklist\n- [ ] Docs\n",
        }
    )
    shell.copy.history = [PastCommit(f"fix: mend {number}\n", ()) for number in range(6)]

    effect = opened(run(task("integration", sub_item="A", inputs=INPUTS, kind="new_feature"), shell))

    assert effect.title == "feat: item A"
    first, _, rest = effect.body.partition("\n\n")
    assert first.startswith("Closes #21. Part of #7.")
    assert rest.startswith("## Why\n\nLet add() add.\n\n<details><summary>What was asked for</summary>")
    assert (
        "## Checklist\n\n- [ ] Docs\n\nBoxes of the template are left for a person to tick.\n\n### Changes"
        in rest
    )
    assert "say it" not in effect.body


def test_checks_that_were_left_out_are_listed_in_words_that_address_nobody() -> None:
    code = {**CODE, "left_out": ["validate of service 'x' was left out: `@octo`\nsaid *no*"]}

    body = opened(run(task("integration", sub_item="A", inputs={**INPUTS, "code": code}), ports())).body

    assert (
        "### Checks that were left out\n\n- `validate of service 'x' was left out: '@octo' said *no*`" in body
    )


def test_checks_that_the_review_left_out_are_listed_once() -> None:
    inputs = {
        **INPUTS,
        "code": {**CODE, "left_out": ["normalise was left out"]},
        "review": {**REVIEW, "left_out": ["normalise was left out", "review_rules was left out"]},
    }

    body = opened(run(task("integration", sub_item="A", inputs=inputs), ports())).body

    assert (
        "### Checks that were left out\n\n- `normalise was left out`\n- `review_rules was left out`\n" in body
    )


def test_remarks_are_listed_in_a_table_that_their_text_cannot_break() -> None:
    remark = {"pass": "quality", **output(finding(Severity.WARNING, explanation="a | b\nand c"))}
    review = {**REVIEW, "findings": [remark]}

    body = opened(run(task("integration", sub_item="A", inputs={**INPUTS, "review": review}), ports())).body

    assert "| warning | `src/adder/adding.py` line 2 | a \\| b and c |" in body


def test_a_dependent_says_what_it_builds_on() -> None:
    first = SubItemRef(key=SubItemKey("A"), ordinal=1, number=IssueNumber(21), depends_on=())
    second = SubItemRef(key=SubItemKey("B"), ordinal=2, number=IssueNumber(22), depends_on=(SubItemKey("A"),))
    plan = {"sub_work_items": [output(planned("A")), output(planned("B", depends_on=("A",)))]}
    dependent = task(
        "integration",
        sub_item="B",
        inputs={**INPUTS, "plan": plan},
        base_branch="cogworks/7/swi-1",
    ).model_copy(
        update={"sub_item": second, "sub_items": (first, second), "pull_requests": (pull("swi-1", 13),)}
    )

    effect = opened(run(dependent, ports()))

    assert (effect.slug, effect.base) == ("swi-2", "cogworks/7/swi-1")
    assert "Builds on #13: merge that first" in effect.body


def test_a_change_that_did_not_pass_is_never_opened() -> None:
    review = {**REVIEW, "passed": False}

    outcome = run(task("integration", sub_item="A", inputs={**INPUTS, "review": review}), ports())

    assert isinstance(outcome, Failed)
    assert outcome.category == "escalated"


def test_a_missing_input_is_named_with_those_that_were_given() -> None:
    with pytest.raises(NodeFailed, match="integration needs the output 'code' and was handed classification"):
        run(task("integration", sub_item="A"), ports())


@pytest.mark.parametrize(("is_proven", "conclusion"), [(True, "success"), (False, "neutral")])
def test_the_proof_is_shown_beside_the_commit_it_is_about(
    is_proven: bool, conclusion: Literal["success", "neutral"]
) -> None:
    tree = Tree(commit=CommitOid("a" * 40), tree="1" * 40)
    proof = Summary(base=tree, head=tree, counts={"fail_to_pass": 2}, tests=(), is_proven=is_proven)
    code = {**CODE, "proof": proof.model_dump(mode="json")}

    outcome = run(task("integration", sub_item="A", inputs={**INPUTS, "code": code}), ports())

    assert isinstance(outcome, Succeeded)
    assert outcome.effects[1] == ReportCheck(
        name="cogworks: tests before and after",
        head=CommitOid(CODE["head"]),
        conclusion=conclusion,
        title="2 test(s) fail before and pass after, 0 new one(s) pass",
        summary=markdown(proof),
        visit_key=KEY,
    )


def test_a_check_whose_proof_is_not_about_the_whole_suite_says_so_in_its_title() -> None:
    tree = Tree(commit=CommitOid("a" * 40), tree="1" * 40)
    left = Unloaded(place="tests/x.py", reason="no y")
    proof = Summary(
        base=tree, head=tree, counts={"fail_to_pass": 1}, tests=(), unloaded=(left,), is_proven=False
    )
    code = {**CODE, "proof": proof.model_dump(mode="json")}

    outcome = run(task("integration", sub_item="A", inputs={**INPUTS, "code": code}), ports())

    assert isinstance(outcome, Succeeded)
    check = outcome.effects[1]
    assert isinstance(check, ReportCheck)
    assert check.title.startswith("not every test could be run; 1 test(s) fail before")
    assert check.summary.startswith("Not proven for `tests/x.py`, which could not be loaded: `no y`.")
    assert outcome.caution == "Not proven for `tests/x.py`, which could not be loaded: `no y`."


def test_the_body_names_every_pack_that_was_looked_at_and_why_it_applies_or_not() -> None:
    looked_at = [pack("careful"), pack("firmware", trigger=Trigger(languages=("rust",)))]
    packs = choose(looked_at, PYTHON, commit=COMMIT, max_tokens=9)

    body = opened(run(task("integration", sub_item="A", inputs=INPUTS, packs=packs), ports())).body

    listed = body.partition("### Context packs\n\n")[2].partition("\n\n###")[0]

    assert listed == (
        "- `careful` (of this repository): applies, language python\n"
        "- `firmware` (of this repository): does not apply, language is python, wanted rust\n\n"
        "Read at cccccccccccc, when the issue was classified; what changes later acts on later runs."
    )
    without = opened(run(task("integration", sub_item="A", inputs=INPUTS), ports())).body
    assert "Context packs" not in without


FIXED_AT_LINE_2 = {
    "pass": "quality",
    **output(
        finding(
            Severity.WARNING,
            suggestion={"first_line": 2, "last_line": 2, "replacement": "    return b + a"},
        )
    ),
}
ABOUT_THE_FILE = {"pass": "scope", **output(finding(Severity.WARNING, line=0, explanation="Not planned."))}


def remarked(**changes: Any) -> Succeeded:
    """The pull request of a change whose review left a remark at a line and one about a file."""
    review = {**REVIEW, "findings": [FIXED_AT_LINE_2, ABOUT_THE_FILE]}
    changed = {**FILES, "src/adder/adding.py": FIXED}
    outcome = run(
        task(
            "integration",
            sub_item="A",
            inputs={**INPUTS, "review": review, **changes.pop("inputs", {})},
            **changes,
        ),
        ports(files=changed, base=FILES),
    )
    assert isinstance(outcome, Succeeded)
    return outcome


def test_a_remark_stands_at_its_line_and_only_the_others_in_the_body() -> None:
    opening, review = remarked().effects

    assert isinstance(opening, OpenPullRequest)
    assert (
        "Passed (quality), with remarks that do not block; 1 further remark at the changed lines:"
        in opening.body
    )
    assert "| warning | `src/adder/adding.py` | Not planned. |" in opening.body
    assert "Wrong for negative numbers" not in opening.body
    assert isinstance(review, PostReview)
    assert (review.branch, review.base, review.head, review.visit_key) == (
        "cogworks/7/swi-1",
        "main",
        "0" * 40,
        KEY,
    )
    [remark] = review.remarks
    assert (remark.path, remark.first_line, remark.last_line) == ("src/adder/adding.py", 2, 2)
    assert remark.body.endswith("\n\n```suggestion\n    return b + a\n```")


def test_a_body_without_remarks_of_its_own_says_where_they_are() -> None:
    opening, _ = remarked(inputs={"review": {**REVIEW, "findings": [FIXED_AT_LINE_2]}}).effects

    assert isinstance(opening, OpenPullRequest)
    assert "Passed (quality), with 1 remark at the changed lines." in opening.body


@pytest.mark.parametrize(
    "changes",
    [
        {"conventions": Conventions(remarks_at_lines=False)},
        {"inputs": {"code": {**CODE, "head": "f" * 40}}},
    ],
    ids=["not-wanted", "other-lines-by-now"],
)
def test_all_remarks_stand_in_the_body(changes: dict[str, Any]) -> None:
    (opening,) = remarked(**changes).effects

    assert isinstance(opening, OpenPullRequest)
    assert "| warning | `src/adder/adding.py` line 2 | Wrong for negative numbers. |" in opening.body


@pytest.mark.parametrize(
    ("inputs", "is_last", "text"),
    [
        (SHOWN_ONLY, True, "# As approved\n\n- **R1** one @\u200bann."),
        (SHOWN_ONLY, False, ""),
        ({}, True, ""),
    ],
    ids=["the-last", "not-the-last", "a-file-has-it"],
)
def test_the_last_pull_request_holds_a_specification_that_no_file_has(
    inputs: dict[str, Any], is_last: bool, text: str
) -> None:
    approved = CommitOid("9" * 40)
    at = ports()
    at.copy.approve(approved, {"docs/specs/7.md": "# As approved\n\n- **R1** one @ann.\n"})
    last = task(
        "integration",
        sub_item="A",
        inputs={**INPUTS, **inputs},
        is_last=is_last,
        approved={"specification": approved},
    )

    body = opened(run(last, at)).body

    folded = f"<details><summary>The specification</summary>\n\n{text}\n\n</details>"
    assert (folded in body, "The specification" in body) == (bool(text), bool(text))
