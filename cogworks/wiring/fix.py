"""The composition root of `cogworks fix`: a clone of its own, the services, the model and the coding cycle."""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from cogworks.canonical import digest
from cogworks.codebase.disktree import tree_name
from cogworks.codebase.patchtree import PatchTree
from cogworks.codebase.places import scratch_folder
from cogworks.codebase.treefacts import Checkout
from cogworks.codegen.dossier import dossier, why_not
from cogworks.codegen.governed import AUDIT_FILE, POLICY, REPAIR_EFFECTS, ActionAudit, GovernedActions
from cogworks.codegen.repair_job import Job, Notes, Tools, budgets_of
from cogworks.codegen.repairing import PatchRun
from cogworks.cycle.context import Task
from cogworks.cycle.events import Event, Header, Limits
from cogworks.cycle.loop import CodingCycle, CyclePorts
from cogworks.cycle.watchdogs import RunResult
from cogworks.domain_services.ahead import Starts
from cogworks.domain_services.messages import Caller
from cogworks.domain_services.process import ServiceProcess
from cogworks.errors import PermissionRefused
from cogworks.llm.gateway import Gateway, LookLimits, Meter
from cogworks.llm.promptlog import PromptLog
from cogworks.llm.provider import Provider
from cogworks.llm.waiting import Heard, ToldProvider
from cogworks.repair.consulting import Consulted
from cogworks.repair.hanging import TestPace
from cogworks.repair.instance import Instance
from cogworks.repair.interview import Interview
from cogworks.repair.offline import Nobody
from cogworks.repair.options import Options
from cogworks.repair.proposing import ModelProposer
from cogworks.repair.transact.gates import Limits as RepairLimits
from cogworks.repair.transact.steady import SteadyTests
from cogworks.settings.config import CONFIG_FILE, Environment
from cogworks.sight.index import Index
from cogworks.sight.seen import Seen
from cogworks.sight.store import Store as SightStore
from cogworks.telling import During, in_silence
from cogworks.tools.records import Identity
from cogworks.vocabulary import RunId
from cogworks.wiring.clone import as_it_lies, asked_about, clone_of, own_files
from cogworks.wiring.committer import COMMITTER
from cogworks.wiring.fix_model import config_of, within
from cogworks.wiring.fix_targets import asked_once, with_failing
from cogworks.wiring.looks import LOOKS_FILE, looks_at
from cogworks.wiring.model import gateway_of, open_provider, priced, silence_of, withholding
from cogworks.wiring.probes import Lent, Site, laboratory_of
from cogworks.wiring.services import open_panel
from cogworks.wiring.tools import open_redactor

_TEST_LIMIT_S = 3_600.0
_TOTAL_LIMIT_S = 6 * 3_600.0
_NODE = "code_generation"
"""Whose limits a repair has: it asks for code as well."""
PROMPTS = "prompts.ndjson"
NO_MODEL = (
    'no model is named. Give `--config FILE` with\n\n[codegen.model]\nname = "claude-sonnet-5-5"\n\nor set '
    f"`COGWORKS_LLM_MODEL`, or commit a `{CONFIG_FILE}` that says it under `[llm]`."
)


@dataclass(frozen=True)
class Order:
    """What is to be repaired, where."""

    repository: Path
    instance: Instance
    options: Options
    suite: tuple[str, ...] = ()
    """Files and folders whose tests are the whole suite; none: what the runner finds."""
    command: str = ""
    words: tuple[str, ...] = ()
    """What of the command the services have to keep; none: their own way."""
    is_offline: bool = False
    """Whether no model is asked, whatever is configured."""
    max_cost_usd: Decimal | None = None
    """Less than the repository's own budget; None: that alone counts."""
    with_uncommitted: bool = False
    """Whether the repair starts at the checkout as it lies there; else at a commit."""


class Repair:
    """One repair, ready to run."""

    def __init__(
        self,
        cycle: CodingCycle,
        run: PatchRun,
        tree: PatchTree,
        *,
        asked: "_Asked | Unasked",
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
    def unasked(self) -> "Unasked | None":
        """Why no model is asked; None when one is."""
        return self._asked if isinstance(self._asked, Unasked) else None

    @property
    def model(self) -> str:
        """Who is asked; empty when nobody is."""
        return "" if isinstance(self._asked, Unasked) else self._asked.gateway.model

    def artifacts(self) -> Mapping[str, str]:
        """File name -> text."""
        found = dossier(self._cycle.events, self._run.notes, patch=self.patch, untold=self._run.untold)
        actions, looks = (each.text for each in self._audits)
        found = {**found, AUDIT_FILE: actions}
        if isinstance(self._asked, Unasked):
            return found
        return {**found, LOOKS_FILE: looks, PROMPTS: self._asked.log.text()}


class Unasked(NamedTuple):
    """Why a repair goes without a model."""

    reason: str
    refusal: PermissionRefused | None = None
    """What kept the model that is configured from being asked."""


class _Asked(NamedTuple):
    """The model of a repair, and what it was asked."""

    gateway: Gateway
    log: PromptLog
    limits: LookLimits
    """Of all looks of the repair."""


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

    Where no model is named, or the key of the provider is missing, what needs no model is done; `say` is told.

    Args:
        provider: asked instead of the configured one; nothing has to be configured then.
        progress: is told one line as each probe begins and ends.
        during: is told of everything that runs tests outside of probes.
        starts: what makes a domain service a process of ours.

    Raises:
        UsageError: there is no such repository or commit, the tests do not apply, no test can be run to find out which
            fail, or the test command cannot be kept.
        NothingFails: no test is named and all pass.
        ConfigurationError: a file below `.cogworks` is malformed, or the model has no price.
    """
    with scratch_folder("cogworks-fix-") as folder:
        repository = order.repository
        if order.with_uncommitted:
            repository = as_it_lies(repository, folder / "checkout", say)
        copy = clone_of(repository, order.instance, folder, say)
        files = own_files(copy.path)
        names = tuple(each.name for each in copy.path.iterdir())
        lent = Lent()
        with (
            _open_model(order, environment, files, provider, during) as asked,
            open_panel(
                files,
                environment,
                caller=Caller(node="fix"),
                warn=say,
                left_s=lent.left_s,
                test_command=order.words,
                names=names,
                starts=starts,
            ) as panel,
            ExitStack() as opened,
        ):
            if isinstance(asked, Unasked):
                say(f"{asked.reason}\nOnly the steps that need no model run. Your files stay as they are.")
            tree = PatchTree(copy.path, copy.git, identity=COMMITTER)
            site = Site(copy.path, copy.git, base=copy.start, folder=folder / "probes", root_names=names)
            sandbox_pool = opened.enter_context(
                laboratory_of(site, tree, files, environment, warn=say, test_command=order.words)
            )
            lent.panel = panel
            sandbox_pool.lend(lent)
            store, checkout = SightStore(folder / "sight.sqlite3"), Checkout(copy.path, copy.git)
            consulted = SteadyTests(
                Consulted(
                    copy,
                    panel,
                    suite=order.suite,
                    warn=say,
                    words=lambda: Index(checkout, store),
                    during=during,
                    pace=TestPace(order.options.gates.test_timeout_s, warn=say),
                    apart=copy.apart(folder / "beside"),
                )
            )
            instance = order.instance
            if not instance.failing_tests:
                instance = with_failing(instance, consulted, say)
            elif order.words:
                asked_once(consulted, instance.failing_tests, RepairLimits().targeted_s)
            clock = _steady_clock()
            job = Job(
                run=RunId(str(uuid.uuid4())),
                instance=instance,
                options=order.options,
                handed_over=copy.handed_over,
                asked=asked_about(files),
                command=order.command,
            )
            seen = Seen(consulted.text)
            look_audit = ActionAudit(
                Identity(run_id=job.run, node="fix"), now=time.monotonic, file=LOOKS_FILE
            )
            looks = looks_at(
                copy,
                files,
                look_audit,
                index=lambda: Index(checkout, store),
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


@contextmanager
def _open_model(
    order: Order,
    environment: Environment,
    files: Mapping[str, str],
    provider: Provider | None,
    during: During,
) -> Iterator[_Asked | Unasked]:
    """Who is asked, or why nobody is."""
    config = config_of(order.options.model, environment, files, is_given=provider is not None)
    if order.is_offline or config is None:
        yield Unasked("offline mode: no model will be called." if order.is_offline else NO_MODEL)
        return
    with ExitStack() as opened:
        if provider is None:
            try:
                heard = Heard(silence_of(config))
                asked = opened.enter_context(open_provider(config, environment, heard=heard))
                provider = ToldProvider(asked, during, heard=heard)
                config = priced(config, environment)
            except PermissionRefused as error:
                yield Unasked(str(error), error)
                return
        logging = order.options.logging
        log = PromptLog(
            withholding(provider),
            is_full=logging.prompts == "full",
            max_tokens=logging.max_prompt_tokens,
            redact=open_redactor().text,
        )
        sight = config.sight
        limits = LookLimits(max_turns=sight.turns(_NODE), max_input_tokens=sight.max_tokens)
        yield _Asked(gateway_of(within(config, order.max_cost_usd), files, log), log, limits)
