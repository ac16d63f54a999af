"""The findings about the base of an item, whether anything may be paid for on it, and when it is looked at again: rules only."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from cogworks.codegen.suite import none_passes, nothing_ran, refusal_of
from cogworks.domain_services.answers import Answer
from cogworks.domain_services.checking import Prepared
from cogworks.domain_services.messages import TestReport
from cogworks.domain_services.parts import slowest
from cogworks.engine.workability import asks_services, needs_services
from cogworks.nodes.contract import Failed
from cogworks.pipeline.graph import Instance, Pipeline, PipelineConfiguration
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import KnownBase
from cogworks.repair.transact.measure import file_of
from cogworks.repair.unloaded import unloaded_of
from cogworks.vocabulary import BranchName, CommitOid, Severity, Value

WHO = "baseline"
MOST_LISTED = 50
_MAX_CHARS = 300
_MAX_REMEDY_CHARS = 1_000
_MOST_SAID = 5
DOCUMENT_ENDINGS = (".md", ".rst", ".adoc")
"""Of files that no suite depends on, unless it has tests in them."""
AGAIN = "Then remove the trigger label and set it again. Nothing was paid for: no model was asked."


class BaseEnvironment(Value):
    """What the tests of a base run with, as the services that make environments describe it."""

    key: str = ""
    """Changes with what the tests run with; empty: no service says it."""
    follows_from_files: bool = False
    """Whether the key of every service follows from files of the repository and from the kind of machine."""
    described: str = ""
    choices: tuple[str, ...] = ()
    """What was chosen, each with the file that says so."""
    runner: str = ""
    seconds: float = 0.0
    """What making it took this time."""
    is_reused: bool = False
    notes: tuple[str, ...] = ()


class BaseFindings(Value):
    """`baseline.json`: what a base was found to be; lists hold so many at most as `MOST_LISTED` says."""

    oid: CommitOid
    branch: BranchName
    wanted: str
    """`[tests] baseline`."""
    environment: BaseEnvironment | None = None
    """None: no service makes one, or it could not be made."""
    is_run: bool = False
    """Whether the suite was run."""
    timed_out: bool = False
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    not_loaded: int = 0
    failing: tuple[str, ...] = ()
    """Ids of tests that fail already, and are never blamed on a change."""
    unloaded: tuple[str, ...] = ()
    """Files or folders of tests, each with the reason and its place."""
    commands: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    """Of the failing ones those that passed when they were run again."""
    slowest: tuple[str, ...] = ()
    """Files with the seconds that they took, the slowest first, where the services report them."""
    tests_documents: bool = False
    """Whether tests stand in documents."""
    remedies: tuple[str, ...] = ()
    """What could be done about tests that fail already, in the words of the services."""
    seconds: float = 0.0
    """Of the run of the suite."""
    runs: int = 1
    """In how many parts it was run."""
    problem: str = ""
    """Why nothing may be paid for, with the remedy; empty: work may begin."""

    @property
    def line(self) -> str:
        """For people, in one line."""
        return ", ".join(_parts(self))


def remarks_on(findings: BaseFindings) -> Iterator[str]:
    """What a user should know of a base on which work may begin: how it is odd, with what to do."""
    environment = findings.environment
    # What was left out of an environment was said when it was made.
    notes = () if environment is None or environment.is_reused else environment.notes
    lines = tuple(dict.fromkeys([*findings.remedies, *notes]))
    yield from lines[:_MOST_SAID]
    if len(lines) > _MOST_SAID:
        yield f"and {len(lines) - _MOST_SAID} more remarks, in the ledger's `baseline.json`"


def environment_of(answers: Sequence[Answer[Prepared]]) -> BaseEnvironment:
    """The environments of all services as one."""
    environments = [each.result for each in answers]
    return BaseEnvironment(
        key=" ".join(f"{each.service}={each.result.key}" for each in answers),
        follows_from_files=all(each.follows_from_files for each in environments),
        described="; ".join(each.described for each in environments if each.described),
        choices=tuple(
            f"{choice.what} ({choice.source or 'default'})"
            for each in environments
            for choice in each.choices
        )[:MOST_LISTED],
        runner=", ".join(dict.fromkeys(each.runner for each in environments if each.runner)),
        seconds=round(sum(each.seconds for each in environments if not each.is_reused), 1),
        is_reused=all(each.is_reused for each in environments),
        notes=tuple(note for each in environments for note in each.notes)[:MOST_LISTED],
    )


def not_made(answers: Sequence[Answer[Prepared]]) -> Failed | None:
    """Why an environment that services report cannot be used; None: it can."""
    blocking = [
        diagnostic.message
        for each in answers
        for diagnostic in each.diagnostics
        if diagnostic.severity is Severity.BLOCKING
    ]
    return refused("\n".join(blocking)) if blocking else None


def refused(why: str, *, origin: str = "") -> Failed:
    """The end of a visit whose item has to wait until somebody mended its base.

    Args:
        why: in the words of the one that met it, with the remedy, which the step after it follows.
        origin: who says so, for those who search logs; empty: nobody else.
    """
    last = f"{AGAIN} ({origin})" if origin else AGAIN
    return Failed(reason=f"{WHO}: {why}\n{last}", category="escalated")


def verdict(report: TestReport, *, wanted: str) -> Failed | None:
    """Why nothing may be paid for where the suite of the base came out like this; None: work may begin."""
    if (refusal := refusal_of(report, wanted=wanted, who=WHO)) is not None:
        return refusal
    why = nothing_ran(report) or none_passes(report, wanted=wanted)
    return refused(why) if why else None


def with_report(
    findings: BaseFindings,
    report: TestReport,
    *,
    seconds: float,
    runs: int = 1,
    flaky: Sequence[str] = (),
    note: str = "",
) -> BaseFindings:
    """The findings with the results of the suite.

    Args:
        runs: in how many parts it was run.
        flaky: tests that failed and passed when they were run again.
        note: what else a user should know of the run.
    """
    outcomes = Counter(case.outcome for case in report.cases)
    failing = [case.id for case in report.cases if case.outcome in ("failed", "error")]
    unloaded = unloaded_of(report.collection_errors)
    return findings.model_copy(
        update={
            "is_run": True,
            "timed_out": report.timed_out,
            "passed": outcomes["passed"],
            "failed": len(failing),
            "skipped": outcomes["skipped"],
            "not_loaded": len(unloaded),
            "failing": _bounded(failing),
            "unloaded": _bounded([f"{each.place}: {each.why}" for each in unloaded]),
            "commands": _bounded(report.commands),
            "flaky": _bounded(flaky),
            "remedies": _bounded((*report.remedies, *filter(None, [note])), _MAX_REMEDY_CHARS),
            "slowest": tuple(f"{file}: {took_s:.1f} s" for file, took_s in slowest(report)),
            "tests_documents": any(file_of(case.id).endswith(DOCUMENT_ENDINGS) for case in report.cases),
            "seconds": round(seconds, 1),
            "runs": runs,
        }
    )


def _parts(findings: BaseFindings) -> Iterator[str]:
    if not findings.is_run:
        yield (
            "no test was run" if findings.wanted != "none" else 'tests not run (`[tests] baseline = "none"`)'
        )
    else:
        yield _counted(findings.passed, "passes", "pass")
        if findings.failed:
            known = f" ({len(findings.flaky)} of them flaky)" if findings.flaky else ""
            yield f"{findings.failed} {'fails' if findings.failed == 1 else 'fail'} already{known}"
        if findings.skipped:
            yield f"{findings.skipped} skipped"
        if findings.not_loaded:
            yield f"{findings.not_loaded} {'file' if findings.not_loaded == 1 else 'files'} cannot be loaded"
        if findings.runs > 1:
            yield f"run in {findings.runs} parts"
    if (environment := findings.environment) is not None:
        yield (
            "environment reused"
            if environment.is_reused
            else f"environment made in {environment.seconds:.1f} s"
        )


def _counted(number: int, one: str, many: str) -> str:
    return f"1 test {one}" if number == 1 else f"{number} tests {many}"


def _bounded(texts: Sequence[str], chars: int = _MAX_CHARS) -> tuple[str, ...]:
    return tuple(each if len(each) <= chars else f"{each[: chars - 1]}…" for each in texts[:MOST_LISTED])


def is_due(
    state: RunState,
    instance: Instance,
    pipeline: Pipeline,
    pipelines: PipelineConfiguration,
    *,
    oid: CommitOid,
) -> bool:
    """Whether a visit that calls a model would be the first of its run to pay on this base.

    The first node may choose another pipeline: before it the base counts only where every pipeline asks a service.

    Args:
        oid: where the default branch stands.
    """
    is_first = instance.node == pipeline.start
    if not (needs_services(pipelines) if is_first else asks_services(pipeline)):
        return False
    ended = [*((each.node, each.spend) for each in state.folded), *((v.node, v.spend) for v in state.visits)]
    paid = [node for node, spend in ended if spend.model_calls]
    if state.base is None:
        # What the first node paid says nothing: its run may have had a choice, or be older than this check.
        return all(node == pipeline.start for node in paid)
    return not paid or state.base.oid != oid or bool(state.base.problem)


def still_holds(
    known: KnownBase | None,
    *,
    wanted: str,
    machine: str,
    changed_since: Callable[[CommitOid], Sequence[str] | None],
    specs: tuple[str, ...],
) -> bool:
    """Whether what the ledger keeps of a base is true of another, so that no service has to be asked about that one.

    Only where what tests run with follows from files of the base, which are among those that matter, and from the kind of machine. Which
    tools of other languages a machine has, only their service knows.

    Args:
        wanted: `[tests] baseline`.
        machine: the kind of this machine; empty: nobody knows, or it has no complete isolation.
        changed_since: in which files the base differs from another; None: nobody knows.
        specs: the folders in which specifications may be written.
    """
    if known is None or known.problem or not machine:
        return False
    if not (known.environment_key and known.follows_from_files):
        return False
    if (known.machine, known.wanted) != (machine, wanted):
        return False
    changed = changed_since(known.oid)
    return changed is not None and not matters(changed, specs=specs, tests_documents=known.tests_documents)


def is_alike(known: KnownBase | None, findings: BaseFindings) -> bool:
    """Whether a base passed before that differs at most in its files."""
    key = findings.environment.key if findings.environment else ""
    return (
        known is not None
        and not known.problem
        and (known.environment_key, known.wanted) == (key or None, findings.wanted)
    )


def matters(paths: Iterable[str], *, specs: tuple[str, ...], tests_documents: bool) -> bool:
    """Whether a change of these files may change what comes of the suite: of anything but documents it may.

    Args:
        specs: the folders in which specifications may be written.
        tests_documents: whether tests stand in documents.
    """
    return any(
        not any(_is_specification(path, each) for each in specs)
        and (tests_documents or not path.lower().endswith(DOCUMENT_ENDINGS))
        for path in paths
    )


def _is_specification(path: str, folder: str) -> bool:
    # Whatever else lies there is the repository's own, and tests may read it.
    name = path.removeprefix(f"{folder}/")
    return name != path and re.fullmatch(r"\d+\.md", name) is not None


def known_base(findings: BaseFindings, path: str, *, machine: str) -> KnownBase:
    """What a run remembers of a base on which work may begin.

    Args:
        path: the file of the ledger that holds the findings.
        machine: the kind of that on which its tests ran.
    """
    key = findings.environment.key if findings.environment else ""
    return KnownBase(
        oid=findings.oid,
        environment_key=key,
        follows_from_files=bool(findings.environment and findings.environment.follows_from_files),
        machine=machine,
        wanted=findings.wanted,
        line=findings.line,
        path=path,
        tests_documents=findings.tests_documents,
    )


def with_problem(state: RunState, problem: str) -> RunState:
    """The state that knows its base for broken; one on which nothing was begun stays without."""
    if state.base is None:
        return state
    return state.model_copy(update={"base": state.base.model_copy(update={"problem": problem})})
