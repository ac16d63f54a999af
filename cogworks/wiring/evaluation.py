"""The composition root of one instance of an evaluation: its repository, its repair, and a verdict of its own."""

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Literal

from cogworks.codebase.diffmodel import Diff
from cogworks.codebase.diffparsing import parse_diff
from cogworks.codebase.failures import GitFailed
from cogworks.codebase.git import Git
from cogworks.codebase.making import commit_all, first_commit, lay_over, repository_at
from cogworks.codegen.suitability import Hints
from cogworks.cycle.events import Event
from cogworks.domain_services.messages import Caller, TestReport
from cogworks.errors import (
    BudgetReached,
    CogworksError,
    Interrupted,
    MachineUnfit,
    PermissionRefused,
    UsageError,
)
from cogworks.evaluation.cases import Case, places_of, sample_cases, sample_recordings, sample_repositories
from cogworks.evaluation.judging import StageMeter, Verdict, judged, new_failures, selection
from cogworks.evaluation.report import Result, Stage, Transactions
from cogworks.llm.budget import dollars
from cogworks.llm.cassette_files import file_stem
from cogworks.llm.provider import Provider
from cogworks.llm.providers.cassette import CassetteProvider
from cogworks.removal import temporary_folder
from cogworks.repair.consulting import Consulted
from cogworks.repair.options import Options
from cogworks.repair.testcommand import USUAL, read_command
from cogworks.repair.transact.gates import Limits
from cogworks.repair.transact.measure import RERUNS, confirmed, measured
from cogworks.settings.config import Environment, child_environment
from cogworks.unfit import writing
from cogworks.vocabulary import Value
from cogworks.wiring.clone import clone_of, own_files
from cogworks.wiring.fix import Repair, open_repair
from cogworks.wiring.fix_order import Order
from cogworks.wiring.services import open_panel

RECORDINGS = "cassettes"
"""Folder beside the instances: one folder of recorded replies for each, named for its id."""
Prepare = Callable[[Path, str], AbstractContextManager[Path]]
"""Runs a command on a copy of a repository; the files it left, for the length of a block."""


class Assignment(Value):
    """One instance and how it is worked at; can be handed to another process."""

    case: Case
    tasks: Path
    """Folder of the instance's file."""
    repositories: Path | None = None
    options: Options = Options()
    test_cmd: str = ""
    artifacts: Path
    """Folder of the instance's own."""
    replays: bool = True
    """Whether recorded replies beside the instance are used."""
    runs_commands: bool = False
    """Whether the operator lets `environment_cmd` run."""
    max_cost_usd: Decimal | None = None
    """What it may use of the whole evaluation's budget; None: its own budget alone counts."""


def work_at(
    assignment: Assignment,
    environment: Environment,
    *,
    prepare: Prepare,
    provider: Provider | None = None,
) -> Result:
    """Repair one instance and judge the result.

    Args:
        prepare: see there; used only where the operator lets commands run.
        provider: asked instead of recordings and of the configured one.

    Raises:
        PermissionRefused: the model provider's key is missing; the same would come of every instance.
        MachineUnfit: so would it of what this machine lacks.
        Interrupted: not a result.
    """
    begun_s, lines = time.monotonic(), list[str]()
    evaluator = _Evaluator(assignment, environment, lines.append, provider)
    try:
        with temporary_folder("cogworks-evaluate-") as folder:
            result = evaluator.evaluate(folder, prepare)
    except (Interrupted, MachineUnfit, PermissionRefused):
        raise
    except CogworksError as error:
        so_far = evaluator.result_so_far()
        outcome = _outcome_of(error, so_far.cost_usd, assignment.max_cost_usd)
        reason = str(error)
        if outcome == "unbudgeted" and assignment.max_cost_usd is not None:
            reason = (
                f"broken off: it could use {dollars(assignment.max_cost_usd)} USD of `--max-cost`; {error}"
            )
        result = so_far.model_copy(update={"outcome": outcome, "reason": reason})
    finally:
        _write(assignment.artifacts, "messages.txt", "".join(f"{line}\n" for line in lines))
    return result.model_copy(update={"duration_s": round(time.monotonic() - begun_s, 3)})


def _outcome_of(
    error: CogworksError, cost_usd: float, max_cost_usd: Decimal | None
) -> Literal["not_solved", "error", "unbudgeted"]:
    """What a repair that was broken off counts as."""
    if not isinstance(error, BudgetReached) or error.needs_usd is None:
        # Where the provider's budget ends, nobody can say what would have come.
        return "error"
    if max_cost_usd is not None and cost_usd + error.needs_usd > max_cost_usd:
        return "unbudgeted"
    # The instance's own budget is part of the question.
    return "not_solved"


class _Evaluator:
    """One instance on its way to a result."""

    def __init__(
        self,
        assignment: Assignment,
        environment: Environment,
        say: Callable[[str], None],
        provider: Provider | None,
    ) -> None:
        self._assignment, self._environment, self._say = assignment, environment, say
        self._meter = StageMeter()
        self._hints: list[str] = []
        self._hear = Hints(self._hints.append)
        self._own_stages: dict[str, float] = {}
        self._repair: Repair | None = None
        self._provider = provider
        recordings = assignment.tasks / RECORDINGS / file_stem(assignment.case.id)
        if provider is None and assignment.replays and recordings.is_dir():
            self._provider = CassetteProvider(recordings, misses=assignment.artifacts / "misses")
        if self._provider is not None:
            # Nobody else is asked, so that no key is needed.
            update = {"llm_provider": "cassette", "cassette_dir": str(recordings)}
            self._environment = environment.model_copy(update=update)

    def evaluate(self, folder: Path, prepare: Prepare) -> Result:
        """Raises: CogworksError when nobody can say how good the repair is."""
        case = self._assignment.case
        with self._timed("prepare"):
            repository, base = self._repository(folder, prepare)
        command = self._assignment.test_cmd or case.instance.test_cmd or USUAL
        instance = case.instance.model_copy(update={"base_commit": base})
        test_command = read_command(command)
        order = Order(
            repository,
            instance,
            self._assignment.options,
            suite=test_command.suite,
            command=command,
            words=test_command.words,
            max_cost_usd=self._assignment.max_cost_usd,
        )
        patch, reason = self._repaired(order)
        with self._timed("judge"):
            verdict = self._judged(order, patch)
        is_solved = bool(patch) and verdict.is_solved
        diff = parse_diff(patch).diff
        return self.result_so_far().model_copy(
            update={
                "outcome": "solved" if is_solved else "not_solved",
                "reason": "" if is_solved else "; ".join([reason or verdict.reason, *self._hints]),
                "patch": patch,
                "repaired": verdict.repaired,
                "regressions": verdict.regressions,
                "mu": verdict.mu,
                "changed_lines": sum(file.added + file.removed for file in diff.files),
                "files": diff.paths,
            }
        )

    def result_so_far(self) -> Result:
        """What is known of the repair so far."""
        case, repair = self._assignment.case, self._repair
        own = {
            name: Stage(name=name, runs=1, duration_s=spent_s) for name, spent_s in self._own_stages.items()
        }
        first, last = ([own[name]] if name in own else [] for name in ("prepare", "judge"))
        result = Result(
            instance_id=case.id,
            repo=case.repo or case.repo_archive,
            outcome="not_solved",
            stages=(*first, *self._meter.stages(), *last),
            artifacts=file_stem(case.id),
        )
        if repair is None:
            return result
        notes, meter = repair.notes, repair.meter
        codes = tuple(each.result.code for each in notes.tried)
        return result.model_copy(
            update={
                "model": repair.model,
                "transactions": Transactions(
                    tried=len(codes), kept=codes.count("kept"), codes=codes, refused=len(notes.refused)
                ),
                "cycles": sum(stage.runs for stage in self._meter.stages()),
                "calls": meter.calls,
                "input_tokens": meter.input_tokens,
                "output_tokens": meter.output_tokens,
                "cost_usd": round(float(meter.cost_usd), 9),
            }
        )

    def _repository(self, folder: Path, prepare: Prepare) -> tuple[Path, str]:
        """The repository and the commit to start from, with what `environment_cmd` made of it."""
        case = self._assignment.case
        source = repository_at(
            find_repository(case, self._assignment.tasks, self._assignment.repositories),
            folder,
            Git(environment=child_environment(), home=folder),
        )
        base = case.instance.base_commit
        if not case.environment_cmd:
            return source, base
        if not self._assignment.runs_commands:
            self._say("`environment_cmd` was not run; `--run-environment-commands` allows it")
            return source, base
        bare = case.instance.model_copy(update={"test_patch": ""})
        place = folder / "prepared"
        place.mkdir()
        copy = clone_of(source, bare, place, self._say)
        with prepare(copy.path, case.environment_cmd) as files:
            lay_over(files, copy.path)
        copy.git.run("add", "--all", "--force", cwd=copy.path)
        return copy.path, commit_all(copy.path, copy.git, "what the environment command made")

    def _repaired(self, order: Order) -> tuple[str, str]:
        """The patch, and why there is none."""
        with open_repair(
            order, self._environment, say=self._say, listener=self._listen, provider=self._provider
        ) as repair:
            if repair.unasked is not None:
                # The same would come of every instance.
                raise repair.unasked.refusal or UsageError(repair.unasked.reason)
            self._repair = repair
            self._meter.watch(lambda: repair.meter)
            try:
                result = repair.run()
            finally:
                for name, text in repair.artifacts().items():
                    _write(self._assignment.artifacts, name, text)
            return (repair.patch, "") if result.success else ("", repair.reason)

    def _listen(self, event: Event) -> None:
        self._meter(event)
        self._hear(event)

    def _judged(self, order: Order, patch: str) -> Verdict:
        """What the tests say on a checkout that no repair has touched."""
        instance, limits = order.instance, Limits()
        tests = selection(instance)
        with fresh_checkout(order, self._environment, self._say) as (path, git, checks):
            before = _ended(checks.run(tests, timeout_s=limits.baseline_s))
            if not patch:
                report = measured(before)
                return judged(instance, report, report, diff=Diff(files=()))
            try:
                git.run("reset", "--quiet", "--hard", cwd=path)
                git.run("apply", "--index", "--whitespace=nowarn", "-", cwd=path, stdin=patch)
            except GitFailed as error:
                raise UsageError(
                    f"the patch does not apply to a fresh checkout: {error.stderr.strip()}"
                ) from error
            after = _ended(checks.run(tests, timeout_s=limits.baseline_s))
            again = new_failures(before, after)
            reruns = [checks.run(again, timeout_s=limits.baseline_s) for _ in range(RERUNS if again else 0)]
            report_after = confirmed(measured(after), reruns, again)
        return judged(instance, measured(before), report_after, diff=parse_diff(patch).diff)

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        begun_s = time.monotonic()
        try:
            yield
        finally:
            self._own_stages[stage] = round(time.monotonic() - begun_s, 3)


@contextmanager
def fresh_checkout(
    order: Order, environment: Environment, say: Callable[[str], None]
) -> Iterator[tuple[Path, Git, Consulted]]:
    """A clone that nobody has worked in, with the tests of its task, and who runs its tests. Raises as `open_repair`."""
    with temporary_folder("cogworks-judge-") as folder:
        copy = clone_of(order.repository, order.instance, folder, say)
        files = own_files(copy.path)
        caller = Caller(node="evaluate")
        names = tuple(each.name for each in copy.path.iterdir())
        with open_panel(
            files, environment, caller=caller, warn=say, test_command=order.words, names=names
        ) as panel:
            yield copy.path, copy.git, Consulted(copy, panel, suite=order.suite, warn=say)


def find_repository(case: Case, tasks: Path, repositories: Path | None) -> Path:
    """Where the repository of a case is.

    Raises:
        UsageError: it is nowhere, with every place that was looked at.
    """
    looked = [repositories / place for place in places_of(case)] if repositories and case.repo else []
    looked += [tasks / name for name in (case.repo_archive, case.repo) if name]
    place_there = next((place for place in looked if place.exists()), None)
    if place_there is None:
        raise UsageError(
            f"the repository of {case.id} is not there; looked for {', '.join(map(str, looked))}. Clone it to one of these "
            "places, or name the folder of your clones with `--repos`."
        )
    return place_there.resolve()


def write_samples(folder: Path) -> Path:
    """Write the bundled instances with their repositories and recordings into an empty folder; returns the folder.

    Raises:
        UsageError: the folder is not empty.
    """
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; name a folder that is, or that is not there yet.")
    bases: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="cogworks-samples-") as home:
        git = Git(environment=child_environment(), home=Path(home))
        for name, files in sample_repositories().items():
            for path, text in files.items():
                _write(folder / name, path, text)
            bases[name] = first_commit(folder / name, git)
    for name, case in sample_cases().items():
        _write(folder, name, json.dumps({**case, "base_commit": bases[case["repo"]]}, indent=2) + "\n")
    for name, text in sample_recordings().items():
        _write(folder / RECORDINGS, name, text)
    return folder


def _ended(report: TestReport) -> TestReport:
    if report.timed_out:
        raise CogworksError("the tests did not come to an end on a fresh checkout; nothing can be said.")
    return report


def _write(folder: Path, name: str, text: str) -> None:
    place = folder / name
    with writing(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode("utf-8", "surrogateescape"))
