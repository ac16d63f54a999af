"""Review: three passes over the diff, aggregated by one rule."""

from collections.abc import Sequence

import pytest

from cogworks.domain_services.messages import Diagnostic
from cogworks.llm.prompts import shipped_prompts
from cogworks.nodes.contract import Failed, Succeeded, Workspace
from cogworks.nodes.review import MAX_RULE_FINDINGS, run
from cogworks.nodes.task import Conventions
from cogworks.repair.proof import Summary, Tree
from cogworks.vocabulary import CommitOid, Severity
from tests.cycle.test_handoff import handoff
from tests.nodes.examples import (
    CODE,
    FILES,
    FIXED,
    INPUTS,
    INTERFACES,
    change,
    finding,
    output,
    ports,
    task,
    verdict,
)
from tests.packs.declared import frozen, pack

CHANGED = {**FILES, **{file.path: file.content for file in change().files}}


def test_a_change_without_findings_passes_after_three_passes_in_their_order() -> None:
    world = ports(verdict(), verdict(), verdict(), files=CHANGED, base=FILES)

    outcome = run(task("review", sub_item="A"), world)

    criteria = [{"name": "correctness", "passed": True}]
    assert outcome == Succeeded(
        output={
            "sub_item": "A",
            "passed": True,
            "passes": [
                {"name": "scope", "passed": True, "criteria": []},
                {"name": "quality", "passed": True, "criteria": criteria},
                {"name": "architecture", "passed": True, "criteria": criteria},
                {"name": "security", "passed": True, "criteria": criteria},
            ],
            "findings": [],
        },
        effects=(),
        summary="A: passed with 0 remark(s)",
    )
    assert world.model.purposes == ["review_quality-A-1", "review_architecture-A-1", "review_security-A-1"]
    assert world.copy.tree == CHANGED


def test_a_combined_review_asks_one_question_about_all_sides() -> None:
    world = ports(verdict(finding(Severity.WARNING)), files=CHANGED, base=FILES)

    outcome = run(task("review", sub_item="A", conventions=Conventions(combined_review=True)), world)

    assert isinstance(outcome, Succeeded)
    assert [each["name"] for each in outcome.output["passes"]] == ["scope", "combined"]
    assert [found["pass"] for found in outcome.output["findings"]] == ["combined"]
    assert world.model.purposes == ["review_combined-A-1"]
    [asked] = world.model.asked
    for criterion in ("correctness", "tests", "compatibility", "design", "security", "dependencies"):
        assert f"- `{criterion}`: " in asked
    assert "You are the only reader before people see the change, so you judge all of it." in asked


def test_without_a_specification_only_whoever_can_say_what_is_missing_is_asked_to() -> None:
    wanted = {"item": {"number": 7, "title": "t", "body": "b", "repository": "o/r"}, "specification": ""}
    says = "say so in `missing_capability`"
    reviewer = ports(verdict(), files=CHANGED, base=FILES)
    alone = task("review").model_copy(
        update={
            "inputs": {"classification": INPUTS["classification"], "code": CODE},
            "conventions": Conventions(combined_review=True),
        }
    )

    assert isinstance(run(alone, reviewer), Succeeded)
    assert "No specification and no plan were written for this issue" in reviewer.model.asked[0]
    assert says not in reviewer.model.asked[0]
    assert says in shipped_prompts().render_part("_specification", {**wanted, "says_what_is_missing": True})


def test_each_pass_sees_the_diff_and_the_numbered_files() -> None:
    world = ports(verdict(), verdict(), verdict(), files=CHANGED, base=FILES)

    run(task("review", sub_item="A"), world)

    for prompt in world.model.asked:
        assert "     -    return a - b\n   2 +    return a + b\n" in prompt
        assert "2|     return a + b" in prompt
        assert "\nindex " not in prompt


def test_each_pass_reads_what_the_author_adds_as_data_and_nothing_where_there_is_nothing() -> None:
    said, silent = ({**INPUTS, "code": {**CODE, "notes": notes}} for notes in ("Tests stand in test.js.", ""))

    for inputs, is_said in ((said, True), (silent, False)):
        world = ports(verdict(), verdict(), verdict(), files=CHANGED, base=FILES)
        run(task("review", sub_item="A").model_copy(update={"inputs": inputs}), world)
        for prompt in world.model.asked:
            assert ('of="notes of the author">\nTests stand in test.js.\n</data-' in prompt) is is_said
            assert ("Its author adds (judge the code, not this)" in prompt) is is_said


def test_each_pass_is_told_which_tests_no_runner_ran() -> None:
    code = {**CODE, "unrun": ["tests/js/sum.spec.js"]}
    world = ports(verdict(), verdict(), verdict(), files=CHANGED, base=FILES)

    run(task("review", sub_item="A").model_copy(update={"inputs": {**INPUTS, "code": code}}), world)

    for prompt in world.model.asked:
        assert 'of="files whose tests were not run">\ntests/js/sum.spec.js\n</data-' in prompt


@pytest.mark.parametrize("warnings", [(), ("No test notices a mistake at src/adder/adding.py:2.",)])
def test_each_pass_is_told_what_the_proof_leaves_open(warnings: tuple[str, ...]) -> None:
    tree = Tree(commit=CommitOid("a" * 40), tree="b" * 40)
    proof = Summary(base=tree, head=tree, counts={}, tests=(), warnings=warnings, is_proven=True)
    code = {**CODE, "proof": proof.model_dump(mode="json")}
    world = ports(verdict(), verdict(), verdict(), files=CHANGED, base=FILES)

    run(task("review", sub_item="A").model_copy(update={"inputs": {**INPUTS, "code": code}}), world)

    for prompt in world.model.asked:
        assert ("notices a mistake at src/adder/adding.py:2.\n</data-" in prompt) is bool(warnings)
        assert ('of="what the proof leaves open"' in prompt) is bool(warnings)


APPROVED = CommitOid("a" * 40)
INTERFACE = "src/adder/contracts.py"


def reviewed_interfaces(now: dict[str, str], approved: dict[str, str]) -> list[str]:
    """The part about the approved interfaces in each prompt of a review."""
    world = ports(verdict(), verdict(), verdict(), files={**CHANGED, **now}, base=FILES)
    world.copy.approve(APPROVED, approved)
    run(task("review", sub_item="A", approved={"interfaces": APPROVED}), world)
    return [
        prompt.partition("## The approved interfaces")[2].partition("## The sub-work-item")[0]
        for prompt in world.model.asked
    ]


def test_approved_is_what_people_approved_and_not_what_the_implementer_made_of_it() -> None:
    theirs, ours = "class Adds:  # by a person\n", "class Adds:  # by a model\n"

    for shown in reviewed_interfaces({INTERFACE: ours}, {INTERFACE: theirs}):
        approved, note, change = shown.partition("This is what was changed since.")
        assert (theirs in approved, ours in approved, bool(note)) == (True, False, True)
        assert f"-{theirs}+{ours}" in change

    for shown in reviewed_interfaces({INTERFACE: theirs}, {INTERFACE: theirs}):
        assert (theirs in shown, "Since then" in shown) == (True, False)


def test_an_approved_interface_that_the_implementer_removed_is_shown_and_one_that_people_removed_is_not() -> (
    None
):
    for shown in reviewed_interfaces({}, {INTERFACE: "class Adds: ..."}):
        assert "-class Adds: ...\n\\ No newline at end of file\n" in shown
    for shown in reviewed_interfaces({INTERFACE: "class Adds: ...\n"}, {}):
        assert "class Adds" not in shown


def test_one_blocking_finding_fails_the_review_and_warnings_survive() -> None:
    warning, blocking = finding(Severity.WARNING), finding(Severity.BLOCKING)
    world = ports(verdict(warning), verdict(), verdict(blocking), files=CHANGED, base=FILES)

    outcome = run(task("review", sub_item="A"), world)

    assert isinstance(outcome, Succeeded)
    assert outcome.output["passed"] is False
    assert outcome.output["findings"] == [
        {"pass": name, **{field: value for field, value in output(each).items() if field != "suggestion"}}
        for name, each in (("quality", warning), ("security", blocking))
    ]
    assert outcome.summary == "A: 1 blocking finding(s), 1 other(s)"


def test_a_suggestion_that_nobody_can_try_is_left_out_and_its_finding_stays() -> None:
    suggestion = {"first_line": 1, "last_line": 1, "replacement": "def add(b, a):"}
    world = ports(verdict(finding(Severity.WARNING, suggestion=suggestion)), files=CHANGED, base=FILES)

    outcome = run(task("review", sub_item="A", conventions=Conventions(combined_review=True)), world)

    assert isinstance(outcome, Succeeded)
    assert ["suggestion" in each for each in outcome.output["findings"]] == [False]
    assert len(world.model.asked) == 1
    assert any("about lines that the change does not touch, so it is left out" in line for line in world.said)


def test_a_file_outside_the_plan_is_a_warning() -> None:
    files = {**CHANGED, "src/adder/extra.py": "x = 1\n"}
    world = ports(verdict(), verdict(), verdict(), files=files, base=FILES)

    outcome = run(task("review", sub_item="A"), world)

    assert isinstance(outcome, Succeeded)
    assert outcome.output["passed"] is True
    assert [(each["pass"], each["file"], each["severity"]) for each in outcome.output["findings"]] == [
        ("scope", "src/adder/extra.py", "warning")
    ]


def test_tests_that_were_handed_over_are_no_surprise_wherever_they_are() -> None:
    elsewhere = {**FILES, "src/adder/adding.py": FIXED, "checks/sums.py": "x\n"}
    stored = handoff(test_path="checks/sums.py", extra_paths=(), extra_sha256=()).as_json()
    at = task("review", sub_item="A", inputs={"code": {**CODE, "test_handoff": stored}})

    outcome = run(at, ports(verdict(), verdict(), verdict(), files=elsewhere, base=FILES))

    assert isinstance(outcome, Succeeded)
    assert outcome.output["findings"] == []


def test_without_designed_interfaces_only_planned_files_are_expected() -> None:
    before = task("review", sub_item="A")
    kept = {slot: value for slot, value in before.inputs.items() if slot != "interfaces"}
    world = ports(verdict(), verdict(), verdict(), files=CHANGED, base=FILES)

    outcome = run(before.model_copy(update={"inputs": kept}), world)

    assert isinstance(outcome, Succeeded)
    assert (outcome.output["passed"], outcome.output["findings"]) == (True, [])


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (verdict(finding(Severity.WARNING, file="README.md")), "which this change does not touch"),
        (
            verdict(finding(Severity.WARNING, line=99)),
            "src/adder/adding.py line 99, and the file has 2 lines",
        ),
        (
            verdict(finding(Severity.BLOCKING)).model_copy(update={"passed": True}),
            "`passed` is true, but 1 finding(s) are blocking",
        ),
        (verdict().model_copy(update={"passed": False}), "`passed` is false, but no finding is blocking"),
    ],
    ids=["other-file", "no-such-line", "passed-though-blocking", "failed-without-reason"],
)
def test_a_verdict_that_cannot_be_is_corrected_by_the_reviewer(answer: object, problem: str) -> None:
    world = ports(answer, verdict(), verdict(), verdict(), files=CHANGED, base=FILES)  # type: ignore[arg-type]  # a model each

    assert isinstance(run(task("review", sub_item="A"), world), Succeeded)
    assert world.model.purposes[:2] == ["review_quality-A-1", "review_quality-A-2"]
    assert problem in world.model.asked[1]


def test_a_second_review_has_purposes_of_its_own() -> None:
    world = ports(verdict(), verdict(), verdict(), files=CHANGED, base=FILES)

    run(task("review", sub_item="A", ordinal=2), world)

    assert world.model.purposes[0] == "review_quality-A-v2-1"


def test_a_change_too_large_to_review_is_escalated_before_the_model_is_asked() -> None:
    world = ports(files={**FILES, "src/big.py": "x = 1\n" * 40_000}, base=FILES)

    outcome = run(task("review", sub_item="A"), world)

    assert isinstance(outcome, Failed)
    assert outcome.category == "escalated"
    assert world.model.purposes == []


def rule(severity: Severity, line: int | None = 2) -> Diagnostic:
    return Diagnostic(
        artifact="src/adder/adding.py",
        line=line,
        severity=severity,
        category="safety_concern",
        message="S307: eval",
    )


def test_what_rules_found_is_shown_to_the_security_pass_alone() -> None:
    asked: list[str] = []

    def rules(_: Workspace, paths: Sequence[str]) -> list[Diagnostic]:
        asked.extend(paths)
        return [rule(Severity.WARNING)]

    world = ports(
        verdict(),
        verdict(),
        verdict(),
        files=CHANGED,
        base=FILES,
        rules=rules,
    )

    outcome = run(task("review", sub_item="A"), world)

    assert asked == ["src/adder/adding.py", "tests/test_adding.py"]
    quality, architecture, security = world.model.asked
    assert "src/adder/adding.py:2: S307: eval (warning)\n</data-" in security
    assert "S307" not in quality + architecture
    assert isinstance(outcome, Succeeded)
    assert (outcome.output["passed"], outcome.output["findings"]) == (True, [])


def test_without_findings_of_rules_the_security_pass_is_asked_as_ever() -> None:
    world = ports(verdict(), verdict(), verdict(), files=CHANGED, base=FILES)

    run(task("review", sub_item="A"), world)

    quality, _, security = world.model.asked
    shared = quality.partition("## Your task")[0]
    assert security.startswith(shared)
    assert "What rules found" not in security


def test_an_old_finding_on_a_line_that_the_change_does_not_touch_is_no_business_of_the_review() -> None:
    old, new = rule(Severity.BLOCKING, 1), rule(Severity.WARNING, 2)
    world = ports(verdict(), verdict(), verdict(), files=CHANGED, base=FILES, rules=lambda *_: [old, new])

    outcome = run(task("review", sub_item="A"), world)

    assert isinstance(outcome, Succeeded)
    assert (outcome.output["passed"], outcome.output["findings"]) == (True, [])
    assert "src/adder/adding.py:2: S307: eval (warning)" in world.model.asked[2]
    assert "src/adder/adding.py:1:" not in world.model.asked[2]


def test_a_finding_in_a_file_that_the_change_does_not_touch_is_no_business_of_the_review() -> None:
    elsewhere = rule(Severity.BLOCKING, 2).model_copy(update={"artifact": "src/adder/other.py"})
    world = ports(verdict(), verdict(), verdict(), files=CHANGED, base=FILES, rules=lambda *_: [elsewhere])

    outcome = run(task("review", sub_item="A"), world)

    assert isinstance(outcome, Succeeded)
    assert (outcome.output["passed"], outcome.output["findings"]) == (True, [])


def test_what_was_proposed_without_a_pull_request_is_shown_and_never_what_the_implementer_made_of_it() -> (
    None
):
    proposed, ours = INTERFACES.files[0].content, "class Adds:  # by a model\n"
    world = ports(
        verdict(), verdict(), verdict(), files={**CHANGED, INTERFACE: ours}, base={**FILES, INTERFACE: ours}
    )

    run(task("review", sub_item="A"), world)

    shown = (
        world.model.asked[0].partition("## The approved interfaces")[2].partition("## The sub-work-item")[0]
    )
    approved, _, change = shown.partition("This is what was changed since.")
    assert (proposed.strip() in approved, ours in approved, f"+{ours}" in change) == (True, False, True)


def test_only_so_many_findings_of_rules_are_shown() -> None:
    many = [rule(Severity.WARNING, 2)] * (MAX_RULE_FINDINGS + 1)
    world = ports(verdict(), verdict(), verdict(), files=CHANGED, base=FILES, rules=lambda *_: many)

    run(task("review", sub_item="A"), world)

    assert world.model.asked[2].count("S307") == MAX_RULE_FINDINGS


def test_a_rule_that_blocks_fails_the_review() -> None:
    found = rule(Severity.BLOCKING, None)
    world = ports(verdict(), verdict(), verdict(), files=CHANGED, base=FILES, rules=lambda *_: [found])

    outcome = run(task("review", sub_item="A"), world)

    assert isinstance(outcome, Succeeded)
    assert outcome.output["passed"] is False
    assert outcome.output["findings"] == [
        {
            "pass": "rules",
            "file": "src/adder/adding.py",
            "line": 0,
            "severity": "blocking",
            "criterion": "safety_concern",
            "explanation": "S307: eval",
        }
    ]


def test_rules_that_nobody_offers_are_named_in_the_output() -> None:
    world = ports(verdict(), verdict(), verdict(), files=CHANGED, base=FILES)
    world.service.warnings = ("review_rules was left out",)

    outcome = run(task("review", sub_item="A"), world)

    assert isinstance(outcome, Succeeded)
    assert outcome.output["left_out"] == ["review_rules was left out"]


def test_a_deleted_file_is_not_asked_about() -> None:
    asked: list[str] = []
    files = {path: text for path, text in CHANGED.items() if path != "README.md"}

    def rules(_: Workspace, paths: Sequence[str]) -> list[Diagnostic]:
        asked.extend(paths)
        return []

    world = ports(
        verdict(),
        verdict(),
        verdict(),
        files=files,
        base=FILES,
        rules=rules,
    )

    run(task("review", sub_item="A"), world)

    assert "README.md" not in asked


def test_what_the_diff_of_the_work_says_of_an_interface_is_not_shown_twice() -> None:
    theirs, ours = "class Adds:\n    one = 1\n", "class Adds:\n    one = 2\n"
    world = ports(
        verdict(), verdict(), verdict(), files={**CHANGED, INTERFACE: ours}, base={**FILES, INTERFACE: theirs}
    )
    world.copy.approve(APPROVED, {INTERFACE: theirs})

    run(task("review", sub_item="A", approved={"interfaces": APPROVED}), world)

    prompt = world.model.asked[0]
    shown = prompt.partition("## The approved interfaces")[2].partition("## The sub-work-item")[0]
    assert (theirs in shown, "The diff of the change shows what differs" in shown) == (True, True)
    assert prompt.count("+    one = 2") == 1


def test_of_a_long_file_only_the_declarations_that_were_approved_are_shown() -> None:
    around = "".join(f"def other{number}():\n    return {number}\n\n\n" for number in range(100))
    text = f"{around}class Adds:\n    total = 0\n\n\n{around.replace('other', 'more')}"
    world = ports(verdict(), verdict(), verdict(), files={**CHANGED, INTERFACE: text}, base=FILES)
    world.copy.approve(APPROVED, {INTERFACE: text})

    run(task("review", sub_item="A", approved={"interfaces": APPROVED}), world)

    shown = (
        world.model.asked[0].partition("## The approved interfaces")[2].partition("## The sub-work-item")[0]
    )
    assert "  401| class Adds:\n  402|     total = 0\n" in shown
    assert "other7" not in shown


def test_a_change_that_lacks_what_a_context_pack_requires_is_sent_back_without_asking_anybody() -> None:
    wanted = pack(
        "careful",
        {"name": "Note", "type": "file", "path_pattern": "notes/*.md"},
        {"name": "Reason", "type": "annotation", "code_pattern": r"a \+ b", "annotation_pattern": "because"},
    )
    world = ports(files=CHANGED, base=FILES)

    outcome = run(task("review", sub_item="A", packs=frozen(wanted)), world)

    assert isinstance(outcome, Succeeded)
    assert outcome.output["passed"] is False
    assert [each["name"] for each in outcome.output["passes"]] == ["scope", "artefacts"]
    blocking = [each for each in outcome.output["findings"] if each["severity"] == "blocking"]
    assert [(each["pass"], each["file"], each["line"]) for each in blocking] == [
        ("artefacts", "notes/*.md", 0),
        ("artefacts", "src/adder/adding.py", 2),
    ]
    assert "`careful` requires the artefact *Note*, and it is missing" in blocking[0]["explanation"]
    assert world.model.asked == []
    assert "A: 2 required artefact(s) of context packs are missing; nobody is asked" in world.said


def test_a_change_that_holds_what_a_context_pack_requires_is_reviewed_as_ever() -> None:
    document = {"name": "Read me", "type": "file", "path_pattern": "README.md", "where": "repository"}
    test = {"name": "Test", "type": "file", "path_pattern": "tests/*.py"}
    world = ports(verdict(), verdict(), verdict(), files=CHANGED, base=FILES)

    outcome = run(task("review", sub_item="A", packs=frozen(pack("p", document, test))), world)

    assert isinstance(outcome, Succeeded)
    assert outcome.output["passed"] is True
    assert len(world.model.asked) == 3


def test_code_around_a_change_is_shown_and_of_a_document_the_diff_tells_enough() -> None:
    words = "".join(f"Adding number {number} is described here at length.\n" for number in range(900))
    code = "".join(f"def step_{number}(a):\n    return a + {number}\n\n\n" for number in range(900))
    before = {
        **FILES,
        "docs/adding.md": words,
        "docs/usage.md": words,
        "src/adder/adding.py": f"{FILES['src/adder/adding.py']}\n\n{code}",
    }
    after = {
        path: text.replace("return a - b", "return a + b").replace("number 450 is", "number 450 was")
        for path, text in before.items()
    }
    world = ports(verdict(), verdict(), verdict(), files=after, base=before)

    run(task("review", sub_item="A"), world)

    shown = world.model.asked[0].partition("## The repository")[2]
    assert 'of="file src/adder/adding.py, parts with line numbers"' in shown
    assert 'of="file docs/adding.md' not in shown
    assert "    2|     return a + b" in shown
