"""A repair in a real worktree whose tests are the facts in its files; what a model says is scripted."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cogworks.codegen.governed import POLICY, REPAIR_EFFECTS, ActionAudit, GovernedActions
from cogworks.codegen.repair_job import Job, Tools, budgets_of
from cogworks.codegen.repairing import PatchRun
from cogworks.cycle.context import Task
from cogworks.cycle.events import ExecutionComplete, Header, Limits
from cogworks.cycle.loop import CodingCycle, CyclePorts
from cogworks.cycle.results import TraceEntry
from cogworks.cycle.watchdogs import RunResult
from cogworks.domain_services.exploring import Coverage, Symbol, TestCoverage
from cogworks.domain_services.messages import TestReport
from cogworks.repair.heldback import TriesBeside
from cogworks.repair.instance import Instance
from cogworks.repair.offline import Nobody
from cogworks.repair.options import Options
from cogworks.repair.probe.investigating import SandboxPool
from cogworks.repair.proposing import ModelProposer
from cogworks.tools.policy import Policy
from cogworks.tools.records import Identity
from cogworks.vocabulary import RunId
from tests.repair.benches import FactChecks, patch_tree
from tests.repair.exploring import ScriptedExplorer
from tests.repair.scripted_model import Answers

TARGETS = ("a.txt::a", "a.txt::d")
SYMBOLS = [
    Symbol(id=f"a.{name}", kind="function", artifact="a.txt", lines=(line, line))
    for line, name in enumerate("abcd", 1)
]
COVERAGE = Coverage(
    report=TestReport(cases=()),
    tests=tuple(
        TestCoverage(test=f"a.txt::{name}", lines={"a.txt": ((line, line),)})
        for line, name in enumerate("abcd", 1)
    ),
)


class TracedChecks(FactChecks):
    """Failing facts say where they stand, and the report how they were looked at, as a test runner would."""

    def run(self, tests: Sequence[str], *, timeout_s: float) -> TestReport:
        report = super().run(tests, timeout_s=timeout_s)
        cases = [
            case.model_copy(update={"message": f"{case.id.split('::')[0]}:1: in fact"})
            if case.outcome == "failed"
            else case
            for case in report.cases
        ]
        return report.model_copy(
            update={
                "cases": tuple(cases),
                "collection_errors": tuple(
                    f"{error}\n{error.split(':')[0]}:1: in fact" for error in report.collection_errors
                ),
                "commands": (" ".join(("facts", *tests)),),
                "versions": {"facts": "1"},
            }
        )


class TreeExplorer(ScriptedExplorer):
    """Reads the files as they lie there."""

    def __init__(self, tree: Path, **known: Any) -> None:
        super().__init__({}, **{"coverage": COVERAGE, "symbols": SYMBOLS, **known})
        self._tree = tree

    def text(self, path: str) -> str | None:
        place = self._tree / path
        return place.read_text() if place.is_file() else None


class RepairScene:
    """One run, and everything that can be asked about it afterwards."""

    def __init__(
        self,
        tree: Path,
        *answers: str | Exception,
        targets: tuple[str, ...] = TARGETS,
        options: Options | None = None,
        spoil: Callable[[Path], None] = lambda _: None,
        pass_to_pass: tuple[str, ...] = (),
        nobody: Nobody | None = None,
        sandbox_pool: SandboxPool | None = None,
        policy: Policy = POLICY,
        now: Callable[[], float] = lambda: 0.0,
        tries: TriesBeside | None = None,
        **known: Any,
    ) -> None:
        self.model = Answers(*answers)
        self.said: list[str] = []
        self.checks = TracedChecks(tree, spoil)
        self.tree = patch_tree(tree)
        instance = Instance(instance_id="facts", failing_tests=targets, pass_to_pass=pass_to_pass)
        job = Job(run=RunId("r"), instance=instance, options=options or Options())
        tools = Tools(
            tree=self.tree,
            checks=self.checks,
            explorer=TreeExplorer(tree, **known),
            model=nobody or self.model,
            proposer=nobody or ModelProposer(self.model),
            sandbox_pool=sandbox_pool,
            say=self.said.append,
            now=now,
            tries=tries,
        )
        self.work = PatchRun(job, tools)
        header = Header(
            item="facts",
            task=Task(goal="repair", has_validators=True, climbs=True),
            limits=Limits(
                generation_retries=job.options.search.retries_per_step,
                finalists=budgets_of(job.options).most,
            ),
            config_digest="",
        )
        self.audit = ActionAudit(Identity(run_id="run-1", node="fix"), now=lambda: 0.0)
        actions = GovernedActions(
            self.work.handlers(),
            policy=policy,
            trail=self.audit.trail,
            tree=lambda: self.work.base,
            effects=REPAIR_EFFECTS,
        )
        around = CyclePorts(handlers=actions.handlers(), now=now, identity={"began_at": now()})
        self.cycle = CodingCycle(header, around)

    def run(self) -> RunResult:
        return self.cycle.run_until_done()

    @property
    def patch(self) -> str:
        return self.tree.diff_from(self.work.base)

    @property
    def course(self) -> list[str]:
        """Each action with its outcome."""
        return [f"{each.action}: {each.outcome}" for each in self.cycle.result().history]

    @property
    def modes(self) -> list[str]:
        """How the failure was approached anew, in its order."""
        return [str(entry.data["mode"]) for entry in self.entries if entry.kind == "replan"]

    @property
    def moments(self) -> list[str]:
        """What happened inside the actions, in its order."""
        return [entry.kind for entry in self.entries]

    @property
    def entries(self) -> list[TraceEntry]:
        """The same with what each of them tells."""
        bodies = [event.body for event in self.cycle.events]
        return [
            entry for body in bodies if isinstance(body, ExecutionComplete) for entry in body.result.trace
        ]

    @property
    def codes(self) -> list[str]:
        """How each transaction ended."""
        return [each.result.code for each in self.work.notes.tried]
