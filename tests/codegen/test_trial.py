"""A change on trial: formatted as the project does, and blamed only for what it brought in."""

from collections.abc import Mapping, Sequence

from cogworks.codebase.changes import FileChange
from cogworks.codegen.trial import ChangeOnTrial, FilesBefore
from cogworks.domain_services.messages import Diagnostic, TestReport
from cogworks.nodes.contract import Workspace
from cogworks.vocabulary import Severity
from tests.fakes import MemoryWorkspace, ScriptedService

BEFORE = {"tidy.py": "x=1;", "rough.py": "x = 1;", "old.py": "bad;bad;"}


def layout(text: str) -> str:
    """No blanks around signs."""
    return text.replace(" ", "")


def check(workspace: Workspace, paths: Sequence[str]) -> list[Diagnostic]:
    """Each `bad` of a file blocks, at a line of its own."""
    return [
        Diagnostic(
            artifact=path,
            line=line,
            severity=Severity.BLOCKING,
            category="type_error",
            message="bad",
        )
        for path in paths
        for line in range((workspace.read(path) or "").count("bad"))
    ]


class Counting(ScriptedService):
    def __init__(self) -> None:
        super().__init__(lambda _: TestReport(cases=()), check, layout=layout)
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def validate(self, workspace: Workspace, paths: Sequence[str]) -> Sequence[Diagnostic]:
        self.asked.append(("validate", tuple(paths)))
        return super().validate(workspace, paths)

    def normalised(self, workspace: Workspace, paths: Sequence[str]) -> Mapping[str, str]:
        self.asked.append(("normalised", tuple(paths)))
        return super().normalised(workspace, paths)


class World:
    def __init__(self) -> None:
        self.service = Counting()
        self.copy = MemoryWorkspace(BEFORE)
        self.files = FilesBefore(self.service, self.copy)

    def trial(self, **texts: str) -> ChangeOnTrial:
        """The change that gives files these texts, applied to the files as they were."""
        self.copy.roll_back()
        changes = [
            FileChange(
                path=f"{name}.py", action="modify" if f"{name}.py" in BEFORE else "create", content=text
            )
            for name, text in texts.items()
        ]
        assert self.copy.apply(changes) is None
        return ChangeOnTrial(changes, self.files)


def test_files_that_were_tidy_and_new_ones_are_formatted() -> None:
    world = World()

    tidied = world.trial(tidy="x = 2;", rough="x = 2;", new="y = 1;").tidy()

    assert tidied == ("new.py", "tidy.py")
    assert world.copy.tree == {**BEFORE, "tidy.py": "x=2;", "rough.py": "x = 2;", "new.py": "y=1;"}


def test_formatting_alone_is_taken_back() -> None:
    world = World()

    world.trial(tidy="x  =  1;").tidy()

    assert world.copy.diff("HEAD") == ""


def test_a_file_in_order_costs_one_question_and_old_files_are_looked_at_once() -> None:
    world = World()

    world.trial(tidy="x=2;").tidy()
    for _ in range(2):
        world.trial(rough="x = 3;").tidy()

    assert world.service.asked == [
        ("normalised", ("tidy.py",)),
        ("normalised", ("rough.py",)),
        ("normalised", ("rough.py",)),
        ("normalised", ("rough.py",)),
    ]


def test_only_what_a_change_brought_in_is_held_against_it() -> None:
    world = World()

    worse = world.trial(old="\n\nbad;bad;bad;", tidy="bad;").new_findings()

    assert [(each.artifact, each.line) for each in worse] == [("old.py", 2), ("tidy.py", 0)]
    assert world.copy.tree["old.py"] == "\n\nbad;bad;bad;"


def test_old_faults_are_asked_for_only_when_something_blocks_and_only_once() -> None:
    world = World()

    assert world.trial(tidy="x=2;").new_findings() == ()
    for _ in range(2):
        assert world.trial(old="bad;").new_findings() == ()

    assert world.service.asked == [
        ("validate", ("tidy.py",)),
        ("validate", ("old.py",)),
        ("validate", ("old.py",)),
        ("validate", ("old.py",)),
    ]


def test_a_new_file_has_no_old_faults() -> None:
    world = World()

    (found,) = world.trial(new="bad;").new_findings()

    assert found.artifact == "new.py"
    assert world.service.asked == [("validate", ("new.py",))]


def test_a_deletion_is_not_asked_about() -> None:
    world = World()
    change = FileChange(path="tidy.py", action="delete")
    assert world.copy.apply([change]) is None

    trial = ChangeOnTrial([change], world.files)

    assert (trial.tidy(), trial.paths) == ((), [])
