"""The composition root of `cogworks fix`: at a place to work, the coding cycle with everything it works with."""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from cogworks.canonical import digest
from cogworks.codebase.disktree import tree_name
from cogworks.codebase.patchtree import PatchTree
from cogworks.codegen.dossier import dossier, why_not
from cogworks.codegen.governed import AUDIT_FILE, POLICY, REPAIR_EFFECTS, ActionAudit, GovernedActions
from cogworks.codegen.repair_job import Job, Notes, Tools, budgets_of
from cogworks.codegen.repairing import PatchRun
from cogworks.cycle.context import Task
from cogworks.cycle.events import Event, Header, Limits
from cogworks.cycle.loop import CodingCycle, CyclePorts
from cogworks.cycle.watchdogs import RunResult
from cogworks.domain_services.ahead import Starts
from cogworks.domain_services.process import ServiceProcess
from cogworks.llm.gateway import Meter
from cogworks.llm.prompts import delimited
from cogworks.llm.provider import Provider
from cogworks.repair.interview import Interview
from cogworks.repair.offline import Nobody
from cogworks.repair.proposing import ModelProposer
from cogworks.settings.config import Environment
from cogworks.sight.cards import card_of
from cogworks.sight.seen import Seen
from cogworks.telling import During, in_silence
from cogworks.tools.records import Identity
from cogworks.tools.schemas import schema_problem
from cogworks.vocabulary import RunId
from cogworks.wiring.clone import asked_about
from cogworks.wiring.committer import COMMITTER
from cogworks.wiring.fix_model import Asked, Unasked
from cogworks.wiring.fix_order import Order
from cogworks.wiring.fix_workplace import Workplace, open_workplace
from cogworks.wiring.looks import LOOKS_FILE, looks_at
from cogworks.wiring.probes import Site, laboratory_of

_TEST_LIMIT_S = 3_600.0
_TOTAL_LIMIT_S = 6 * 3_600.0
PROMPTS = "prompts.ndjson"


class Repair:
    """One repair, ready to run."""

    def __init__(
        self,
        cycle: CodingCycle,
        run: PatchRun,
        tree: PatchTree,
        *,
        asked: Asked | Unasked,
        audits: tuple[ActionAudit, ActionAudit],
    ) -> None:
        """Args:
        audits: of its actions, and of what the model looked at.
        """
        self._cycle, self._run, self._tree, self._asked, self._audits = cycle, run, tree, asked, audits

    def run(self) -> RunResult:
        """From the first run of the tests to the end. Raises as `CodingCycle.run_until_done`."""
        try:
            return self._cycle.run_until_done()
        finally:
            self._run.settle()
            for each in self._audits:
                each.close(success=self._cycle.result().success)

    @property
    def patch(self) -> str:
        """What was kept so far, as one diff from the base."""
        return self._tree.diff_from(self._run.base)

    @property
    def reason(self) -> str:
        """Why it did not succeed, in at most `closing.MAX_CHARS` characters."""
        return why_not(self._run.notes, self._cycle.result().error)

    @property
    def notes(self) -> Notes:
        return self._run.notes

    @property
    def meter(self) -> Meter:
        """What the model has cost."""
        return Meter() if isinstance(self._asked, Unasked) else self._asked.gateway.meter

    @property
    def unasked(self) -> Unasked | None:
        """Why no model is asked; None when one is."""
        return self._asked if isinstance(self._asked, Unasked) else None

    @property
    def model(self) -> str:
        """Who is asked; empty when nobody is."""
        return "" if isinstance(self._asked, Unasked) else self._asked.gateway.model

    def artifacts(self) -> Mapping[str, str]:
        """File name -> text."""
        files = dossier(
            self._cycle.events, self._run.notes, patch=self.patch, unreported=self._run.unreported
        )
        actions, looks = (each.text for each in self._audits)
        files = {**files, AUDIT_FILE: actions}
        if isinstance(self._asked, Unasked):
            return files
        return {**files, LOOKS_FILE: looks, PROMPTS: self._asked.log.text()}


@contextmanager
def open_repair(
    order: Order,
    environment: Environment,
    *,
    say: Callable[[str], None],
    listener: Callable[[Event], None] = lambda _: None,
    provider: Provider | None = None,
    progress: Callable[[str], None] = lambda _: None,
    during: During = in_silence,
    starts: Starts = ServiceProcess,
) -> Iterator[Repair]:
    """A repair in a clone below a temporary folder, removed with the block; the repository itself is only read.

    Where no model is named, or the key of the provider is missing, what needs no model is done; `say` gets the reason.

    Args:
        provider: asked instead of the configured one; nothing has to be configured then.
        progress: gets one line as each probe begins and ends.
        during: announces everything that runs tests outside of probes.
        starts: what makes a domain service a process of ours.

    Raises:
        UsageError: there is no such repository or commit, the tests do not apply, no test can be run to find out which
            fail, or the test command cannot be kept.
        NothingFails: no test is named and all pass.
        ConfigurationError: a file below `.cogworks` is malformed, or the model has no price.
    """
    with (
        open_workplace(order, environment, say=say, provider=provider, during=during, starts=starts) as place,
        repair_at(place, say=say, listener=listener, progress=progress) as repair,
    ):
        yield repair


@contextmanager
def repair_at(
    place: Workplace,
    *,
    say: Callable[[str], None],
    listener: Callable[[Event], None] = lambda _: None,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Repair]:
    """The repair of what fails at a place. Args and raises: as `open_repair`."""
    order, copy, asked, consulted = place.order, place.copy, place.asked, place.consulted
    tree = PatchTree(copy.path, copy.git, identity=COMMITTER)
    site = Site(copy.path, copy.git, base=copy.start, folder=place.folder / "probes", root_names=place.names)
    with laboratory_of(
        site, tree, place.files, place.environment, warn=say, test_command=order.words
    ) as sandbox_pool:
        place.lent.panel = place.panel
        sandbox_pool.lend(place.lent)
        clock = _steady_clock()
        job = Job(
            run=RunId(str(uuid.uuid4())),
            instance=place.instance,
            options=order.options,
            handed_over=copy.handed_over,
            asked=asked_about(place.files),
            command=order.command,
        )
        seen = Seen(consulted.text)
        look_audit = ActionAudit(Identity(run_id=job.run, node="fix"), now=time.monotonic, file=LOOKS_FILE)
        looks = looks_at(
            copy,
            place.files,
            look_audit,
            index=place.index,
            simulate=lambda tests: consulted.run(tests, timeout_s=job.limits.targeted_s),
            seen=seen,
        )
        model: Nobody | Interview = (
            Nobody(asked.reason)
            if isinstance(asked, Unasked)
            else Interview(asked.gateway, looks, asked.limits)
        )
        tools = Tools(
            tree=tree,
            checks=consulted,
            explorer=consulted,
            model=model,
            proposer=model if isinstance(model, Nobody) else ModelProposer(model),
            seen=seen,
            sandbox_pool=sandbox_pool,
            tries=consulted,
            steady=consulted,
            say=progress,
            now=clock,
        )
        run = PatchRun(job, tools)
        audit = ActionAudit(Identity(run_id=job.run, node="fix"), now=time.monotonic)
        # What the repository's own policy says is about Code Generation; here somebody asked for the repair.
        actions = GovernedActions(
            run.handlers(),
            policy=POLICY,
            trail=audit.trail,
            tree=lambda: tree_name(copy.git, copy.path),
            effects=REPAIR_EFFECTS,
        )
        cycle = _cycle(job, run, actions, listener, clock)
        yield Repair(cycle, run, tree, asked=asked, audits=(audit, look_audit))


def warm() -> None:
    """Have loaded what every repair loads at the first question about it; for a thread that has nothing else to do."""
    delimited("")
    card_of("module.py", "word = 1\n")
    schema_problem({"type": "object"})


def _cycle(
    job: Job,
    run: PatchRun,
    actions: GovernedActions,
    listener: Callable[[Event], None],
    clock: Callable[[], float],
) -> CodingCycle:
    options = job.options
    count = len(job.instance.failing_tests)
    header = Header(
        item=job.instance.instance_id,
        task=Task(
            goal=f"{job.instance.instance_id}: make {count} failing test(s) pass",
            has_validators=True,
            climbs=True,
        ),
        limits=Limits(
            generation_retries=options.search.retries_per_step,
            finalists=budgets_of(options).most,
            cycle_timeout_s=_TEST_LIMIT_S,
            total_timeout_s=_TOTAL_LIMIT_S,
            test_timeout_s=_TEST_LIMIT_S,
            lint_timeout_s=_TEST_LIMIT_S,
        ),
        config_digest=digest(options),
    )
    ports = CyclePorts(
        handlers=actions.handlers(),
        now=clock,
        listeners=(listener,),
        identity={"run_id": job.run, "base": run.base, "began_at": clock()},
    )
    return CodingCycle(header, ports)


def _steady_clock() -> Callable[[], float]:
    """Seconds since 1970 that only run forward, whatever is done to the machine's clock meanwhile."""
    began_s = time.time() - time.monotonic()
    return lambda: began_s + time.monotonic()
