"""Runners that step on one work item of a GitHub in memory, and the ways in which they may fail.

The tracker and the ledger obey the Protocols of `cogworks.engine.step`; what is adopted is judged by the real rule.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from functools import cache, partial
from typing import Any, Literal, TypeVar

from pydantic import BaseModel

from cogworks.codebase.scripts import ScriptRun
from cogworks.engine.base_check import check_base
from cogworks.engine.consider import Wanted
from cogworks.engine.ports import Push, Session, SessionOrder, StepPorts, VisitPorts
from cogworks.engine.report import StepReport
from cogworks.engine.step import take_step
from cogworks.errors import LostRace, TryAgainLater
from cogworks.forge.bases import part_of
from cogworks.forge.effects import (
    AddReaction,
    CloseIssue,
    CommitFiles,
    CreateSubIssue,
    EditComment,
    EditPullRequest,
    Effect,
    FileText,
    LinkDependency,
    OpenPullRequest,
    SetBase,
    SetLabels,
)
from cogworks.forge.facts import FailedCheck, ReviewText
from cogworks.forge.publication import (
    Learned,
    PublicationContext,
    Published,
    PublishedComment,
    PublishedCommit,
    PublishedIssue,
    PublishedPull,
    PublishedSubIssue,
    adopted,
    known_from,
)
from cogworks.forge.snapshot import Neighbour, Snapshot
from cogworks.forge.unmergeable import Failing
from cogworks.github.earlier_logs import EarlierLog
from cogworks.ledger.record import Change, LedgerCommit, StaleTip, Tip
from cogworks.llm.budget import shipped_prices
from cogworks.llm.conversation import Looks
from cogworks.llm.gateway import NO_LOOKS, LookLimits, PromptManifest, ReplyRecord
from cogworks.llm.provider import ModelReply, Usage
from cogworks.nodes.contract import NodePorts, Outcome, Reply, Succeeded, Talk
from cogworks.nodes.task import NodeTask
from cogworks.packs.choosing import ReadElsewhere
from cogworks.packs.declared import Exemplar
from cogworks.pipeline.spend import ItemCost
from cogworks.repair.probe.investigating import SandboxPool
from cogworks.sight.index import Index
from cogworks.sight.seen import Stretch
from cogworks.sight.store import Store
from cogworks.vocabulary import BranchName, CommitOid, Login, NodeId, RunId, SubItemKey
from tests.fakes import MemoryWorkspace, ScriptedService
from tests.world import ADDRESS, World

T = TypeVar("T")


class Died(BaseException):
    """The runner's process is gone: whatever it still tries does not reach anything."""


class Said(BaseModel):
    """What the model answers in these tests."""

    text: str


@dataclass(frozen=True)
class Fault:
    """What goes wrong at one call of a runner."""

    at: int
    """Which of its calls, from 1."""
    when: Literal["before", "after"]
    """Whether the call had its effect."""
    kind: Literal["death", "lost", "interrupt"]


@dataclass
class Runner:
    """One process that takes steps; it is its own tracker and ledger."""

    world: World
    name: str = "runner"
    fault: Fault | None = None
    turn: Callable[[str], object] = lambda _: None
    """Called before every call, with its name."""
    pause: Callable[[str], object] = lambda _: None
    """Called when a call had its effect and its answer is on the way, with its name."""
    nodes: Mapping[NodeId, Callable[[NodeTask, NodePorts], Outcome]] = field(default_factory=lambda: NODES)
    calls: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    naps_s: list[float] = field(default_factory=list)
    run_id: str = "run-1"
    judge: Callable[[str], Mapping[str, Any]] = lambda _: {"answer": "yes", "reason": "It is so."}
    """What the model replies to the question of a condition, or what asking it raises."""
    clock_s: float = 0.0
    """What its monotonic clock says."""
    is_dead: bool = False
    service: ScriptedService | None = None
    """Whom its nodes ask; where there is none, they find their lease lost."""
    trees: Mapping[CommitOid, Mapping[str, str]] = field(default_factory=dict)
    """What commits of the base hold, where it is more than nothing."""
    forgetting: Callable[[], object] = lambda: None
    """Called when the copies of an ended run are to be removed; it may fail."""
    looks_at_the_base: bool = False
    """Whether the base is looked at before the first model call, as outside of tests; the service has to be there."""
    machine: str = "m1"
    """The kind of that on which it runs."""
    contaminated: tuple[str, ...] = ()
    """What its model is shown that gives orders."""
    looked_at: Mapping[str, Sequence[Stretch]] = field(default_factory=dict)
    """What its nodes look at."""

    def step(self, wanted: Wanted | None = None) -> StepReport:
        return take_step(self.ports(), ADDRESS, wanted or Wanted())

    def ports(self) -> StepPorts:
        return StepPorts(
            visit=VisitPorts(
                tracker=self,
                nodes=self.nodes,
                session=self._session,
                monotonic=lambda: self.clock_s,
                say=self.said.append,
                check_base=(
                    partial(check_base, machine=lambda: self.machine)
                    if self.looks_at_the_base
                    else lambda *_: None
                ),
            ),
            tracker=self,
            ledger=lambda _: self,
            holder=self.name,
            new_run_id=lambda: RunId(self.run_id),
            check=lambda config, files: None,
            prices=lambda _: shipped_prices(),
            forget=self._forget,
            sleep=self.naps_s.append,
            say=self.said.append,
        )

    def _forget(self, run: RunId) -> None:
        self.said.append(f"forget {run}")
        self.forgetting()

    def read(self) -> Snapshot:
        return self._call("read", self.world.snapshot)

    def complete(self, snapshot: Snapshot, recorded: Sequence[str]) -> Snapshot:
        missing = set(recorded) - {pull.node_id for pull in snapshot.pulls}
        if not missing:
            return snapshot
        found = [pull for pull in self.world.pulls if pull.node_id in missing]
        pulls = (*snapshot.pulls, *found)
        return self._call("complete", lambda: snapshot.model_copy(update={"pulls": pulls}))

    def review_texts(self, snapshot: Snapshot, reviews: Sequence[str]) -> Mapping[str, ReviewText]:
        return self._call("review_texts", lambda: {each: self.world.review_texts[each] for each in reviews})

    def failed_checks(self, snapshot: Snapshot, failing: Failing) -> tuple[FailedCheck, ...]:
        return self._call("failed_checks", lambda: self.world.failed_checks[failing.pull.number])

    def permissions(self, snapshot: Snapshot, people: Sequence[Login]) -> Mapping[Login, str]:
        known = {login: self.world.permissions.get(login, "none") for login in people}
        return self._call("permissions", lambda: known)

    def earlier_logs(self, node: NodeId, *, besides: str) -> Sequence[EarlierLog]:
        return self._call("earlier_logs", lambda: self.world.logs)

    def item_costs(self) -> tuple[ItemCost, ...]:
        return self._call("item_costs", lambda: tuple(self.world.item_costs))

    def read_elsewhere(self, exemplars: Sequence[Exemplar]) -> Mapping[Exemplar, ReadElsewhere]:
        absent = ReadElsewhere(problem="it is not there")
        known = {each: self.world.examples.get(each.place, absent) for each in exemplars}
        return self._call("read_elsewhere", lambda: known)

    def neighbours(self) -> Sequence[Neighbour]:
        return self._call("neighbours", lambda: self.world.neighbours)

    def create_root(self) -> CommitOid:
        return self._call("create_root", self.world.create_root)

    def publish(
        self, effects: Sequence[Effect], snapshot: Snapshot, context: PublicationContext, push: Push
    ) -> Published:
        known = replace(
            known_from(snapshot, context), issues=tuple(self.world.issues), written=self.world.written
        )
        # Like the real one, it looks at the comments below a pull request before it posts there.
        below = {number: tuple(self.world.comments) for number, _ in self.world.elsewhere}
        known = replace(known, comments={**known.comments, **below})
        learned = [adopted(effect, known) or self._do(effect) for effect in effects]
        return Published(
            commits=tuple(fact for fact in learned if isinstance(fact, PublishedCommit)),
            pull_requests=tuple(fact for fact in learned if isinstance(fact, PublishedPull)),
            sub_issues=tuple(fact for fact in learned if isinstance(fact, PublishedSubIssue)),
            issues=tuple(fact for fact in learned if isinstance(fact, PublishedIssue)),
            comments=tuple(fact for fact in learned if isinstance(fact, PublishedComment)),
        )

    def _do(self, effect: Effect) -> Learned:
        return self._call(f"publish {effect.kind}", lambda: self.world.do(effect))

    def show(self, effects: Sequence[Effect], snapshot: Snapshot) -> str | None:
        def all_of_them() -> None:
            for effect in effects:
                views = SetLabels | EditComment | AddReaction | SetBase | EditPullRequest | CloseIssue
                assert isinstance(effect, views), effect
                self.world.do(effect)

        try:
            self._call("show", all_of_them)
        except TryAgainLater as error:
            return str(error)
        return None

    def tip(self) -> Tip | None:
        def now() -> Tip | None:
            if not self.world.commits:
                return None
            history = tuple((c.message, c.committed_date) for c in reversed(self.world.commits))
            return Tip(
                oid=self.world.commits[-1].oid,
                state_text=self.world.files["state.json"],
                history=history[:50],
                server_date=self.world.now,
            )

        return self._call("tip", now)

    def files(self, paths: Sequence[str]) -> Mapping[str, str]:
        found = {
            path: text
            for path, text in self.world.files.items()
            if any(path == wanted or path.startswith(f"{wanted}/") for wanted in paths)
        }
        return self._call("files", lambda: found)

    def create(self, root: CommitOid, change: Change) -> LedgerCommit:
        return self._move("create", change, lambda: not self.world.commits, ())

    def append(self, tip: CommitOid, change: Change, *, echoes: Sequence[str] = ()) -> LedgerCommit:
        verb = change.headline.split()[2]
        return self._move(verb, change, lambda: self.world.commits[-1].oid == tip, echoes)

    def _move(
        self, what: str, change: Change, still_there: Callable[[], bool], echoes: Sequence[str]
    ) -> LedgerCommit:
        def move() -> LedgerCommit:
            if not still_there():
                raise StaleTip("the branch moved")
            oid = self.world.oid()
            self.world.commit(oid, change)
            echoed = {
                path: text
                for path, text in self.world.files.items()
                if any(path == echo or path.startswith(f"{echo}/") for echo in echoes)
            }
            return LedgerCommit(
                oid=oid, echoed=echoed, issue_is_open=self.world.is_open, labels=frozenset(self.world.labels)
            )

        return self._call(what, move)

    def _call(self, what: str, act: Callable[[], T]) -> T:
        if self.is_dead:
            raise Died(self.name)
        self.turn(what)
        if self.is_dead:
            raise Died(self.name)
        self.calls.append(what)
        fault = self.fault if self.fault and self.fault.at == len(self.calls) else None
        if fault and fault.when == "before":
            self._fail(fault)
        result = act()
        self.world.now += timedelta(seconds=1)
        self.pause(what)
        if fault:
            self._fail(fault)
        return result

    def _fail(self, fault: Fault) -> None:
        if fault.kind == "interrupt":
            raise KeyboardInterrupt
        if fault.kind == "lost":
            raise TryAgainLater("no answer came")
        self.is_dead = True
        raise Died(self.name)

    @contextmanager
    def _session(self, order: SessionOrder) -> Iterator[Session]:
        yield _Session(self, order)


@dataclass
class _Session:
    runner: Runner
    order: SessionOrder

    @property
    def ports(self) -> NodePorts:
        ports = _NodePorts(_Model(self.runner, self.order), self.runner, self.order)
        return replace(ports, service=self.runner.service) if self.runner.service else ports

    def push(self, branch: BranchName, oid: CommitOid, expected: CommitOid | None) -> None:
        raise AssertionError("these nodes push nothing")


@dataclass
class _NodePorts:
    model: "_Model"
    runner: Runner
    order: SessionOrder
    service: ScriptedService = field(
        default_factory=lambda: ScriptedService(lambda _: (_ for _ in ()).throw(LostRace))
    )

    def say_once(self, line: str, /) -> None:
        if line not in self.runner.said:
            self.say(line)

    def say(self, line: str, /) -> None:
        self.order.check()
        self.runner.said.append(line)

    def check(self) -> None:
        self.order.check()

    def checkpoint(self) -> None:
        self.order.checkpoint()

    def within(self, limit_s: float, /) -> AbstractContextManager[None]:
        return nullcontext()

    def now(self) -> float:
        return self.runner.clock_s

    def keep(self, name: str, text: str, /) -> None:
        self.order.keep(name, text)

    def looks(self, hidden: frozenset[str] = frozenset()) -> Looks | None:
        return None

    def index(self) -> Index:
        return Index(self.workspace(), Store())

    def looked(self) -> Mapping[str, Sequence[Stretch]]:
        return self.runner.looked_at

    def script(self, name: str, stdin: str) -> ScriptRun:
        raise AssertionError(f"these nodes run no script, and {name!r} was run with {stdin!r}")

    def sandbox_pool(self) -> AbstractContextManager[SandboxPool]:
        raise AssertionError("these nodes want no probes")

    def workspace(self) -> MemoryWorkspace:
        copy = MemoryWorkspace({})
        for oid, files in {self.runner.world.head: {}, **self.runner.trees}.items():
            copy.approve(oid, files)
        copy.settle(self.runner.world.head)
        return copy


@dataclass
class _Model:
    """Answers everything, for 0.10 dollars each, once per request that it has not answered in this visit before."""

    runner: Runner
    order: SessionOrder

    def digest(self, prompt: str) -> str:
        return ""

    def converse(
        self,
        prompt: str,
        variables: Mapping[str, Any],
        reply_type: type[Reply],
        *,
        looks: Looks | None = None,
        limits: LookLimits = NO_LOOKS,
        shown: Sequence[Mapping[str, Any]] = (),
    ) -> Talk[Reply]:
        raise AssertionError("these nodes ask single questions")

    def ask(
        self, prompt: str, variables: Mapping[str, Any], reply_type: type[Reply], *, purpose: str
    ) -> Reply:
        known = self.order.memory.get(purpose)
        if known is not None:
            return _read(known.text, reply_type)
        if self.runner.is_dead:
            raise Died(self.runner.name)
        judged = self.runner.judge(variables["question"]) if prompt == "condition" else None
        self.runner.world.paid[purpose] += 1
        # Another answer every time: whoever asks twice makes something else.
        text = f"{purpose}, answer {self.runner.world.paid[purpose]}"
        text = text if judged is None else json.dumps(judged)
        reply = ModelReply(
            text=text, stop_reason="end_turn", usage=Usage(input_tokens=100, output_tokens=50), model="m"
        )
        manifest = PromptManifest(
            template=prompt,
            template_sha256="",
            system_sha256="",
            messages_sha256="",
            schema_sha256="",
            contaminated=self.runner.contaminated,
        )
        self.order.on_reply(
            ReplyRecord(
                request_key=purpose, purpose=purpose, reply=reply, cost_usd=Decimal("0.1"), manifest=manifest
            )
        )
        return _read(text, reply_type)


def _read(text: str, reply_type: type[Reply]) -> Reply:
    return reply_type.model_validate({"text": text} if reply_type is Said else json.loads(text))


def _asked_of_checks(task: NodeTask, ports: NodePorts) -> str:
    sub = f"@{task.visit.sub_item}" if task.visit.sub_item else ""
    return ports.model.ask("any", {}, Said, purpose=f"{task.visit.node}{sub}-{task.visit.ordinal}").text


def _files(task: NodeTask, text: str) -> CommitFiles:
    return CommitFiles(
        branch=task.branch,
        base=task.base_branch,
        files=(FileText(path="answer.md", text=text),),
        headline=text,
        visit_key=task.visit.visit_key,
    )


def _pull(task: NodeTask, slug: str) -> OpenPullRequest:
    body = part_of(task.item.number, closes=task.closes_issue)
    return OpenPullRequest(slug=slug, head=task.branch, base=task.base_branch, title=slug, body=body)


def spec(task: NodeTask, ports: NodePorts) -> Outcome:
    text = _asked_of_checks(task, ports)
    return Succeeded(output={"text": text}, effects=(_files(task, text), _pull(task, "spec")), summary=text)


def plan(task: NodeTask, ports: NodePorts) -> Outcome:
    text = _asked_of_checks(task, ports)
    items = [
        {"key": "A", "title": f"A of {text}", "depends_on": []},
        {"key": "B", "title": f"B of {text}", "depends_on": ["A"]},
    ]
    made = [
        CreateSubIssue(
            key=SubItemKey(str(item["key"])),
            title=str(item["title"]),
            body="Do it.",
            visit_key=task.visit.visit_key,
        )
        for item in items
    ]
    link = LinkDependency(blocked=SubItemKey("B"), blocking=SubItemKey("A"))
    return Succeeded(output={"sub_work_items": items}, effects=(*made, link), summary=text)


def code(task: NodeTask, ports: NodePorts) -> Outcome:
    text = _asked_of_checks(task, ports)
    return Succeeded(output={"text": text}, effects=(_files(task, text),), summary=text)


def ship(task: NodeTask, ports: NodePorts) -> Outcome:
    assert task.sub_item is not None
    ports.say("opening it")
    return Succeeded(
        output={}, effects=(_pull(task, f"swi-{task.sub_item.ordinal}"),), summary="a pull request"
    )


NODES: Mapping[NodeId, Callable[[NodeTask, NodePorts], Outcome]] = {
    NodeId("spec"): spec,
    NodeId("plan"): plan,
    NodeId("code"): code,
    NodeId("ship"): ship,
}


def until_done(world: World, *, max_steps: int = 40) -> list[StepReport]:
    """Steps of ever new runners, merges at the gates in between, until the item is done; dead leases grow old."""
    reports: list[StepReport] = []
    for number in range(max_steps):
        report = Runner(world, name=f"healer-{number}").step()
        reports.append(report)
        if report.outcome == "done":
            return reports
        if report.outcome == "backed_off":
            world.now += timedelta(seconds=(report.retry_in_s or 0.0) + 1)
        for wait in report.waiting_for:
            assert wait.number is not None, wait
            world.merge(wait.number)
    raise AssertionError(f"not done after {max_steps} steps: {reports[-1]}")


def after(steps: int) -> World:
    """The world after so many undisturbed steps, everything merged that had to be; the caller's own."""
    return deepcopy(_after(steps))


@cache
def _after(steps: int) -> World:
    if not steps:
        return World()
    world = after(steps - 1)
    for wait in Runner(world, name=f"early-{steps - 1}").step().waiting_for:
        assert wait.number is not None
        world.merge(wait.number)
    return world


def undisturbed() -> World:
    """The world after a whole item to which nothing happened."""
    world = World()
    until_done(world)
    return world
