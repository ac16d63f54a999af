"""What an answer with tests may not do: hold code, drop what nobody disputes, break other tests.

Which of its files are run, and which are there.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from cogworks.codebase.changes import normalised
from cogworks.codegen.disputing import Dispute
from cogworks.codegen.handoff import TestHandoff, holds_tests, is_test_path
from cogworks.codegen.restating import stated_otherwise
from cogworks.codegen.suite import Scope
from cogworks.codegen.testgate import Claim, FirstRun, GateProblem
from cogworks.codegen.trial import setback_of, without_own
from cogworks.cycle.feedback import Setback, Trial
from cogworks.cycle.results import TraceEntry
from cogworks.domain_services.messages import TestReport, hides_any, is_hidden
from cogworks.nodes.contract import Workspace
from cogworks.nodes.replies import PlannedItem, WrittenTests
from cogworks.repair.transact.measure import file_of, measured, restated, worse
from cogworks.sight.kinds import Kind, kind_of

_UNDERSCORED = frozenset({".py", ".go", ".rb", ".c", ".cc", ".cpp"})
_DATA_FOLDERS = frozenset({"testdata", "test_data", "fixtures", "__fixtures__", "__snapshots__", "snapshots"})


def beyond_tests(reply: WrittenTests, claim: Claim, item: PlannedItem, workspace: Workspace) -> Iterator[str]:
    """What of an answer is no test."""
    there = frozenset(workspace.files())
    place = _own_place(claim, (*there, *item.files))
    for file in reply.files:
        path = normalised(file.path)
        if file.action == "delete":
            yield f"{file.path} is deleted; the writer of tests deletes nothing"
        elif path not in claim.paths:
            yield f"{file.path} is written and named neither in `test_path` nor in `extra_paths`; name it, or leave it out"
        elif path in (there | frozenset(item.files)) and not is_test_path(path):
            yield (
                f"{file.path} is code and not for the writer of tests; leave it out. A file of tests lies in a folder of "
                f"tests, or is named as one, like {_named_as_a_test(path)}"
            )
        elif not _is_of_tests(path, claim, place):
            yield (
                f"{file.path} lies outside of the tests, and only the plan's code comes there; put it beside the tests, into "
                "their folder for data, or leave it out"
            )


def _named_as_a_test(path: str) -> str:
    at = PurePosixPath(path)
    if at.suffix == ".rs":
        # Beside the code a file is compiled only where another one declares it.
        package = at.parts[: at.parts.index("src")] if "src" in at.parts else at.parts[:-1]
        return str(PurePosixPath(*package, "tests", at.name))
    return str(
        at.with_name(
            f"{at.stem}_test{at.suffix}" if at.suffix in _UNDERSCORED else f"{at.stem}.test{at.suffix}"
        )
    )


def _own_place(claim: Claim, others: Iterable[str]) -> str:
    """The folder of the test file, where nothing but tests lies in it; else empty."""
    folder = str(PurePosixPath(claim.place.path).parent)
    has_code = any(
        PurePosixPath(path).is_relative_to(folder) and kind_of(path) is Kind.SOURCE and not is_test_path(path)
        for path in others
        if path != claim.place.path
    )
    return "" if folder == "." or has_code else folder


def _is_of_tests(path: str, claim: Claim, own_place: str) -> bool:
    at = PurePosixPath(path)
    if path == claim.place.path or is_test_path(path) or not _DATA_FOLDERS.isdisjoint(at.parts[:-1]):
        return True
    return bool(own_place) and at.is_relative_to(own_place)


def alters(reply: WrittenTests, workspace: Workspace) -> bool:
    """Whether an answer changes any file as it stands."""
    return any(
        file.action == "delete" or workspace.read(normalised(file.path)) != file.content
        for file in reply.files
    )


def undisputed_lost(handoff: TestHandoff, report: TestReport, dispute: Dispute) -> Trial:
    """A refusal that names handed-over tests that are gone although nobody disputed them; kept when there are none."""
    there = {case.id for case in report.cases}
    others = restated(handoff.test_ids, there, handoff.paths)
    lost = [
        test
        for test in handoff.test_ids
        if test not in there
        and test not in others
        and dispute.test_id not in test
        and not is_hidden(test, report.collection_errors)
    ]
    problems = tuple(f"{test} was handed over and nobody disputes it; keep it as it was" for test in lost)
    return Trial(category="refused_change", problems=problems) if problems else Trial()


def harm(paths: Sequence[str], run: FirstRun, own: Collection[str]) -> Setback:
    """What the new tests do to all others; that they fail themselves is what they are for."""
    before, after = without_own(measured(run.before), own), measured(run.report)
    # A file that cannot be loaded yet says nothing about the tests in it, and lets none of the others off.
    ran = before.passing | before.failing
    hidden = frozenset(test for test in ran if is_hidden(test, after.uncollected))
    # Nor does a folder of theirs, in which nothing else ran.
    folders = frozenset(
        place for place in after.uncollected if hides_any(place, paths) and not hides_any(place, ran)
    )
    known = before.model_copy(
        update={
            "passing": before.passing - hidden,
            "failing": before.failing - hidden,
            "uncollected": before.uncollected | (after.uncollected & frozenset(paths)) | folders,
        }
    )
    setback = setback_of(worse(known, after), after, [run.report])
    others = restated_by(paths, run)
    return setback.model_copy(
        update={
            "broken": tuple(case for case in setback.broken if file_of(case.id) not in paths),
            "vanished": tuple(test for test in setback.vanished if test not in others),
        }
    )


def restated_by(paths: Sequence[str], run: FirstRun) -> frozenset[str]:
    """Existing tests, and cases of them, that the new tests state in another way, by their old ids."""
    before, after = ({case.id for case in report.cases} for report in (run.before, run.report))
    return stated_otherwise(before, after, run.rewritten, paths)


def with_new(scope: Scope, claim: Claim) -> Scope:
    """The suite with the new tests in it."""
    if scope is None:
        return None
    return tuple(dict.fromkeys((*scope, claim.place.path, *filter(holds_tests, claim.extra_paths))))


def existing(paths: Sequence[str], workspace: Workspace) -> list[str]:
    """Those of the paths under which there is a file, each once, in order."""
    return sorted(path for path in set(paths) if workspace.read(path) is not None)


def trial_for(problem: GateProblem) -> Trial:
    """The refusal that one problem of the gate is."""
    return Trial(category=problem.code, problems=(problem.message,))


def entry_of(code: str, claim: Claim) -> TraceEntry:
    """A problem of the gate as an event."""
    data = {
        "feature_id": claim.convention.feature_id,
        "issue_number": claim.convention.sub_work_item,
        "expected_path": claim.place.path,
    }
    return TraceEntry(kind=code.lower(), data=data)
