"""Interface design: complete files that the domain service accepts, as a pull request."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from cogworks.domain_services.answers import NotOffered
from cogworks.domain_services.messages import Diagnostic
from cogworks.forge.effects import CommitFiles, FileText, OpenPullRequest
from cogworks.nodes.contract import Failed, Succeeded, Workspace
from cogworks.nodes.interface_design import run
from cogworks.nodes.replies import Interfaces, ProposedFile
from cogworks.nodes.task import Learnt
from cogworks.pipeline.visits import AskedChange
from cogworks.vocabulary import BranchName, CommitOid, Severity
from tests.fakes import FakePorts
from tests.nodes.examples import FILES, INPUTS, INTERFACES, KEY, SPECIFICATION, output, ports, task


def refuses_broken_files(workspace: Workspace, paths: Sequence[str]) -> list[Diagnostic]:
    return [
        Diagnostic(
            artifact=path,
            line=1,
            severity=Severity.BLOCKING,
            category="syntax_error",
            message="invalid syntax",
        )
        for path in paths
        if "broken" in (workspace.read(path) or "")
    ]


def as_put_out(reply: Interfaces) -> dict[str, object]:
    """Whole files, in whichever form they were given."""
    return reply.model_dump(mode="json", exclude={"edits", "unified_diff"})


def proposing(**changes: object) -> Interfaces:
    file = ProposedFile.model_validate({**output(INTERFACES.files[0]), **changes})
    return INTERFACES.model_copy(update={"files": (file,)})


def test_the_interfaces_are_committed_and_put_to_people() -> None:
    world = ports(INTERFACES)

    outcome = run(task("interface_design", branch="cogworks/7/interfaces"), world)

    assert isinstance(outcome, Succeeded)
    assert outcome.output == as_put_out(INTERFACES)
    commit, pull_request = outcome.effects
    assert commit == CommitFiles(
        branch=BranchName("cogworks/7/interfaces"),
        base=BranchName("main"),
        files=(FileText(path="src/adder/contracts.py", text="class Adds: ...\n"),),
        headline="Declare the interfaces of #7",
        visit_key=KEY,
    )
    assert isinstance(pull_request, OpenPullRequest)
    assert pull_request.slug == "interfaces"
    assert pull_request.body.startswith("Part of #7. Follows the specification in #11.")
    assert world.copy.tree == FILES


def test_interfaces_of_a_specification_that_is_not_merged_say_what_they_build_on() -> None:
    outcome = run(
        task("interface_design", branch="cogworks/7/interfaces", base_branch="cogworks/7/spec"),
        ports(INTERFACES),
    )

    assert isinstance(outcome, Succeeded)
    commit, pull_request = outcome.effects
    assert isinstance(commit, CommitFiles)
    assert isinstance(pull_request, OpenPullRequest)
    assert (commit.base, pull_request.base) == ("cogworks/7/spec", "cogworks/7/spec")
    assert "> Builds on #11: merge that first" in pull_request.body


def test_a_check_that_a_missing_service_did_not_make_is_told() -> None:
    world = ports(INTERFACES)
    world.service.warnings = ("validate of service 'x' was left out",)

    outcome = run(task("interface_design", branch="cogworks/7/interfaces"), world)

    assert isinstance(outcome, Succeeded)
    assert outcome.output == {
        **as_put_out(INTERFACES),
        "left_out": ["validate of service 'x' was left out"],
    }
    assert isinstance(outcome.effects[1], OpenPullRequest)
    assert "- `validate of service 'x' was left out`" in outcome.effects[1].body


def test_a_file_the_service_refuses_goes_back_with_its_diagnostics() -> None:
    world = ports(proposing(content="broken\n"), INTERFACES, check=refuses_broken_files)

    outcome = run(task("interface_design"), world)

    assert isinstance(outcome, Succeeded)
    assert "src/adder/contracts.py:1: invalid syntax" in world.model.asked[1]
    assert world.copy.tree == FILES


def test_a_file_that_git_ignores_goes_back_with_the_rule() -> None:
    rule = "src/adder/contracts.py is ignored by .gitignore:1 `contracts.py`"
    elsewhere = ProposedFile(path="src/adder/api.py", action="create", content="class Adds: ...\n")
    names = tuple(each.model_copy(update={"path": elsewhere.path}) for each in INTERFACES.interfaces)
    world = ports(INTERFACES, INTERFACES.model_copy(update={"files": (elsewhere,), "interfaces": names}))
    world.copy.rules = {"src/adder/contracts.py": rule}
    world.service.offered = NotOffered(service="fake", method="extract_interfaces", offered=())

    assert isinstance(run(task("interface_design"), world), Succeeded)
    assert rule in world.model.asked[1]


def test_an_old_fault_in_a_changed_file_does_not_send_it_back() -> None:
    changed = ProposedFile(path="src/adder/adding.py", action="modify", content="class Adds: ...\n")
    reply = INTERFACES.model_copy(update={"files": (*INTERFACES.files, changed)})
    old = Diagnostic(
        artifact="src/adder/adding.py",
        line=1,
        severity=Severity.BLOCKING,
        category="type_error",
        message="old",
    )
    world = ports(reply, check=lambda _, paths: [old] if "src/adder/adding.py" in paths else [])

    assert isinstance(run(task("interface_design"), world), Succeeded)
    assert world.copy.tree == FILES


def test_a_merged_specification_counts_as_it_was_merged() -> None:
    world = ports(INTERFACES, files={**FILES, "docs/specs/7.md": "# As a person changed it\n"})

    run(task("interface_design"), world)

    assert "# As a person changed it" in world.model.asked[0]
    assert "**R1** add(2, 2) is 4." not in world.model.asked[0]


def test_an_existing_file_cannot_be_created_again() -> None:
    world = ports(
        proposing(path="src/adder/adding.py").model_copy(
            update={
                "interfaces": (INTERFACES.interfaces[0].model_copy(update={"path": "src/adder/adding.py"}),)
            }
        ),
        INTERFACES,
    )

    assert isinstance(run(task("interface_design"), world), Succeeded)
    assert "exists already; use the action 'modify'" in world.model.asked[1]


def changing(search: str) -> Interfaces:
    edit = {"path": "./src/adder/adding.py", "search": search, "replace": "def add(a: int, b: int) -> int:"}
    name = {"name": "add", "path": "src/adder/adding.py", "purpose": "Adds two numbers."}
    return Interfaces.model_validate({"files": (), "edits": (edit,), "interfaces": (name,)})


def test_a_declaration_in_a_file_that_is_there_is_changed_by_an_edit() -> None:
    world = ports(changing("def add(a, b):"))

    outcome = run(task("interface_design"), world)

    assert isinstance(outcome, Succeeded)
    [commit, _] = outcome.effects
    text = "def add(a: int, b: int) -> int:\n    return a - b\n"
    assert isinstance(commit, CommitFiles)
    assert commit.files == (FileText(path="src/adder/adding.py", text=text),)
    assert outcome.output["files"] == [{"path": "src/adder/adding.py", "action": "modify", "content": text}]
    assert world.copy.tree == FILES


def test_an_edit_that_stands_nowhere_goes_back() -> None:
    world = ports(changing("def add(one, two):"), changing("def add(a, b):"))

    assert isinstance(run(task("interface_design"), world), Succeeded)
    assert "the text to replace stands 0 times" in world.model.asked[1]


def test_an_edit_of_a_protected_path_ends_the_node_without_asking_again() -> None:
    reply = changing("def add(a, b):")
    edits = (reply.edits[0].model_copy(update={"path": ".github/workflows/ci.yml"}),)
    world = ports(reply.model_copy(update={"edits": edits}))

    outcome = run(task("interface_design"), world)

    assert isinstance(outcome, Failed)
    assert outcome.category == "refused_change"
    assert len(world.model.asked) == 1


def test_a_name_without_its_file_goes_back() -> None:
    lost = INTERFACES.interfaces[0].model_copy(update={"path": "src/adder/other.py"})
    world = ports(INTERFACES.model_copy(update={"interfaces": (lost,)}), INTERFACES)

    assert isinstance(run(task("interface_design"), world), Succeeded)
    assert "which the answer neither creates nor changes" in world.model.asked[1]


def test_a_protected_path_ends_the_node_without_asking_again() -> None:
    world = ports(
        proposing(path=".github/workflows/ci.yml").model_copy(update={"interfaces": INTERFACES.interfaces})
    )

    outcome = run(task("interface_design"), world)

    assert isinstance(outcome, Failed)
    assert outcome.category == "refused_change"
    assert outcome.reason.startswith("PROTECTED_PATH_VIOLATION: ")
    assert ".github/workflows/ci.yml" in outcome.reason
    assert world.model.purposes == ["interface_design-1"]


def test_a_missing_capability_is_put_to_people() -> None:
    world = ports(INTERFACES.model_copy(update={"missing_capability": "It needs the network."}))

    outcome = run(task("interface_design"), world)

    assert isinstance(outcome, Failed)
    assert outcome.category == "escalated"
    assert outcome.reason.startswith("SCOPE_UNDERSPECIFIED: ")
    assert "It needs the network." in outcome.reason


NOTHING = Interfaces(files=(), interfaces=(), notes="Only the result of add() changes.")


def test_where_no_public_interface_changes_nothing_is_put_to_people() -> None:
    world = ports(NOTHING)

    outcome = run(task("interface_design", branch="cogworks/7/interfaces"), world)

    assert outcome == Succeeded(
        output=as_put_out(NOTHING),
        summary="no public interface changes: Only the result of add() changes.",
        is_empty=True,
    )
    assert world.copy.tree == FILES


def test_nothing_to_design_needs_a_reason_and_leaves_the_files_alone() -> None:
    silent = NOTHING.model_copy(update={"notes": " "})
    busy = INTERFACES.model_copy(update={"interfaces": (), "notes": "Nothing."})
    world = ports(silent, busy, NOTHING)

    outcome = run(task("interface_design", branch="cogworks/7/interfaces"), world)

    assert isinstance(outcome, Succeeded)
    assert outcome.is_empty
    assert "say in `notes` why no public name or signature changes" in world.model.asked[1]
    assert "src/adder/contracts.py is changed, and `interfaces` names nothing" in world.model.asked[2]


APPROVED = CommitOid("a" * 40)
SPEC = "docs/specs/7.md"
WRITTEN = SPECIFICATION.markdown
NO_NAME = {**INPUTS["specification"], "public_names": []}
SHOWN = {**NO_NAME, "is_shown_only": True}
SILENT = {name: value for name, value in INPUTS["specification"].items() if name != "public_names"}
REJECTED = AskedChange(by="ann", text="Declare what adds.")


def approved(text: str | None) -> FakePorts:
    """A shell in whose repository people approved this text of the specification, in its pull request and in the base alike."""
    files = {} if text is None else {SPEC: text}
    world = ports(NOTHING, files={**FILES, **files})
    world.copy.approve(APPROVED, files)
    return world


@pytest.mark.parametrize("specification", [NO_NAME, SHOWN], ids=["merged", "only shown"])
def test_where_the_approved_specification_changes_no_public_name_nobody_is_asked(
    specification: Mapping[str, Any],
) -> None:
    world = approved(f"{WRITTEN.rstrip()}\n")
    asked = task(
        "interface_design", inputs={"specification": specification}, approved={"specification": APPROVED}
    )

    outcome = run(asked, world)

    settled = Interfaces(files=(), interfaces=(), notes="The specification says that no public name changes.")
    assert world.model.asked == []
    assert outcome == Succeeded(
        output=as_put_out(settled),
        summary="no public interface changes: The specification says that no public name changes.",
        is_empty=True,
    )
    assert world.copy.tree == {**FILES, SPEC: f"{WRITTEN.rstrip()}\n"}


@pytest.mark.parametrize(
    ("specification", "text", "changes"),
    [
        (INPUTS["specification"], WRITTEN, {}),
        (SILENT, WRITTEN, {}),
        ({**NO_NAME, "public_names": ""}, WRITTEN, {}),
        ({**NO_NAME, "public_names": None}, WRITTEN, {}),
        (NO_NAME, f"{WRITTEN}\n- **R2** add() takes `carry`.\n", {}),
        (NO_NAME, WRITTEN.replace("\n", "\r\n"), {}),
        (NO_NAME, None, {}),
        (SHOWN, f"{WRITTEN}\n- **R2** add() takes `carry`.\n", {}),
        (SHOWN, None, {}),
        (SHOWN, WRITTEN, {"approved": {}}),
        (NO_NAME, WRITTEN, {"ordinal": 2}),
        (
            NO_NAME,
            WRITTEN,
            {"ordinal": 2, "earlier_failure": "ann rejected it", "asked_changes": (REJECTED,)},
        ),
        (NO_NAME, WRITTEN, {"ordinal": 2, "earlier": {"interfaces": output(INTERFACES)}}),
        (NO_NAME, WRITTEN, {"learnt": Learnt(why="it alters `adder.add`")}),
    ],
    ids=[
        "it changes some",
        "of an older ledger or of a node of one's own",
        "of another form",
        "of none",
        "edited before it was merged",
        "edited in its line ends alone",
        "gone",
        "edited before it was approved",
        "gone from its pull request",
        "approved nobody knows where",
        "done again",
        "rejected",
        "designed before",
        "moved up",
    ],
)
def test_in_doubt_the_model_is_asked(
    specification: Mapping[str, Any], text: str | None, changes: dict[str, Any]
) -> None:
    world = approved(text)
    known = {"approved": {"specification": APPROVED}, **changes}

    outcome = run(task("interface_design", inputs={"specification": specification}, **known), world)

    assert isinstance(outcome, Succeeded)
    assert len(world.model.asked) == 1
    assert outcome.output == as_put_out(NOTHING)
