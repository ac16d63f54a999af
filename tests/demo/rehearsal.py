"""The sample's whole job without GitHub: every node of the default pipeline on a local repository.

What a step would do with the effects is done here with git: files are committed where they would be merged. Nothing
that enters a prompt may differ from a real run.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

from cogworks.canonical import canonical_text
from cogworks.codebase.remotes import Remote
from cogworks.codebase.scripts import ScriptRun
from cogworks.codebase.workingcopy import WorkingCopy
from cogworks.codebase.worktree import WorkingCopies
from cogworks.codegen.governed import ActionAudit
from cogworks.demo.facts import DEFAULT_BRANCH, FULL_NAME, ISSUE_NUMBER, sample_files, sample_issue
from cogworks.domain_services.client import ProcessService
from cogworks.domain_services.panel import Member, ServicePanel
from cogworks.forge.effects import CommitFiles, CreateSubIssue, OpenPullRequest, PushBranch
from cogworks.llm.budget import Budget, shipped_prices
from cogworks.llm.conversation import Looks
from cogworks.llm.gateway import Gateway, ModelSettings
from cogworks.llm.prompts import shipped_prompts
from cogworks.llm.provider import ModelReply, ModelRequest, Provider, Usage
from cogworks.llm.providers.cassette import Cassette
from cogworks.nodes.contract import Asks, DomainService, Succeeded
from cogworks.nodes.registry import NODES
from cogworks.nodes.task import NodeTask, PullRequestRef, SubItemRef, Visit, WorkItem
from cogworks.repair.probe.investigating import SandboxPool
from cogworks.settings.config import parse_config
from cogworks.sight.index import Index
from cogworks.sight.seen import Seen, Stretch
from cogworks.sight.store import Store
from cogworks.tools.records import Identity
from cogworks.vocabulary import VISIT_TRAILER, BranchName, IssueNumber, NodeId, RunId, SubItemKey, VisitKey
from cogworks.wiring.looks import looks_of
from tests.codebase.repositories import BOT, BareRepository

INPUTS = {
    "intake": (),
    "architecture": ("classification",),
    "interface_design": ("classification", "specification"),
    "planning": ("classification", "specification", "interfaces"),
    "code_generation": ("classification", "specification", "interfaces", "plan", "review"),
    "review": ("specification", "interfaces", "plan", "code"),
    "integration": ("specification", "interfaces", "plan", "code", "review"),
}
OUTPUTS = {
    "intake": "classification",
    "architecture": "specification",
    "interface_design": "interfaces",
    "planning": "plan",
    "code_generation": "code",
    "review": "review",
    "integration": "integration",
}
MAX_VISITS = 5
CHARS_PER_TOKEN = 4


class PromptCache:
    """What a provider remembers of prompts that go on: it reads again at a tenth what begins as an earlier one did.

    Prefixes end where the request has its breakpoints: behind the system text, the first message and the last.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()

    def usage(self, request: ModelRequest, *, output_tokens: int) -> Usage:
        """Tokens of one request, estimated from its length; it is remembered from now on."""
        prefixes = list(_prefixes(request))
        total = len(prefixes[-1]) // CHARS_PER_TOKEN
        if not request.goes_on:
            return Usage(input_tokens=total, output_tokens=output_tokens)
        read = max((len(each) for each in prefixes if each in self._known), default=0) // CHARS_PER_TOKEN
        ends = (prefixes[0], prefixes[1], prefixes[-1])
        self._known.update(ends)
        return Usage(
            cache_read_input_tokens=read,
            cache_creation_input_tokens=total - read,
            output_tokens=output_tokens,
        )


def _prefixes(request: ModelRequest) -> Iterator[str]:
    text = canonical_text(request.output_schema) + request.system
    yield text
    for message in request.messages:
        text += f"\n{message.role}: {message.text}"
        yield text


class KeptReplies:
    """A provider that gives the reply recorded for a purpose, whatever the prompt; tokens are estimated from lengths."""

    def __init__(self, directory: Path) -> None:
        self._replies = {recording.purpose: recording.reply for recording in Cassette(directory).recordings()}
        self._cache = PromptCache()

    def complete(self, request: ModelRequest) -> ModelReply:
        if request.purpose not in self._replies:
            known = ", ".join(sorted(self._replies))
            raise KeyError(f"no reply is written for {request.purpose!r}; there are {known}")
        reply = self._replies[request.purpose]
        usage = self._cache.usage(request, output_tokens=len(reply.text) // CHARS_PER_TOKEN)
        return reply.model_copy(update={"usage": usage, "model": request.model})


class Done(NamedTuple):
    """One finished visit."""

    node: str
    sub_item: str | None
    ordinal: int
    outcome: Succeeded


@dataclass
class Session:
    """What a node may use, for one visit."""

    model: Asks
    service: DomainService
    copy: WorkingCopy
    node: NodeId

    def say(self, line: str, /) -> None:
        """Nobody watches."""

    def say_once(self, line: str, /) -> None:
        """Nor here."""

    def check(self) -> None:
        """Nobody wants it to stop."""

    def checkpoint(self) -> None:
        """There is no ledger."""

    def within(self, limit_s: float, /) -> AbstractContextManager[None]:
        del limit_s
        return nullcontext()

    def script(self, name: str, stdin: str) -> ScriptRun:
        raise AssertionError(f"no node of the sample runs the script {name!r} on {stdin!r}")

    def sandbox_pool(self) -> AbstractContextManager[SandboxPool]:
        raise AssertionError("the sample wants no probes")

    def now(self) -> float:
        return 0.0

    def keep(self, name: str, text: str, /) -> None:
        del name, text

    def looks(self, hidden: frozenset[str] = frozenset()) -> Looks | None:
        audit = ActionAudit(Identity(), now=self.now)
        return looks_of(
            self.node,
            {},
            self.copy,
            audit,
            index=self.index,
            service=lambda: self.service,
            hidden=hidden,
            seen=self.seen,
        )

    def looked(self) -> Mapping[str, Sequence[Stretch]]:
        return {path: self.seen.stretches(path) for path in self.seen.paths}

    @cached_property
    def seen(self) -> Seen:
        return Seen(self.copy.read)

    def index(self) -> Index:
        return Index(self.copy, Store())

    def workspace(self) -> WorkingCopy:
        return self.copy


class Rehearsal:
    """One run over the sample, in a directory of its own."""

    def __init__(self, folder: Path, provider: Provider) -> None:
        self._stack = ExitStack()
        self._provider = provider
        self._remote = BareRepository(folder)
        self._remote.put(DEFAULT_BRANCH, sample_files(), message="Initial commit")
        self._copies = self._stack.enter_context(
            WorkingCopies(folder / "copies", identity=BOT, environment=os.environ)
        )
        command = [sys.executable, "-m", "cogworks.services.python"]
        python = ProcessService(command, name="python", environment=os.environ)
        self._service = self._stack.enter_context(ServicePanel([Member(python)], warn=print))
        self._config = parse_config(sample_files()[".cogworks/config.toml"])
        self._outputs: dict[tuple[str, str | None], dict[str, Any]] = {}
        self._pulls: list[PullRequestRef] = []
        self._sub_items: tuple[SubItemRef, ...] = ()
        self._pushed: dict[BranchName, Any] = {}
        self.done: list[Done] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def repository(self) -> Path:
        """The bare repository, for a check-out of the result."""
        return self._remote.path

    def run(self) -> list[Done]:
        """All visits, in order; the last pull request's head is the branch of the last sub-work-item."""
        for node in ("intake", "architecture", "interface_design", "planning"):
            self._visit(node, None, 1)
        for item in self._sub_items:
            self._sub_item(item.key)
        return self.done

    def _sub_item(self, key: SubItemKey) -> None:
        for ordinal in range(1, MAX_VISITS + 1):
            self._visit("code_generation", key, ordinal)
            review = self._visit("review", key, ordinal)
            if review.output["passed"]:
                self._visit("integration", key, 1)
                return
        raise AssertionError(f"{key} never passed its review")

    def _visit(self, node: str, key: SubItemKey | None, ordinal: int) -> Succeeded:
        task = self._task(node, key, ordinal)
        copy = self._copies.open(
            remote=Remote(self._remote.url, None),
            run=RunId("rehearsal"),
            name=key or "item",
            branch=task.branch,
            base=task.base_branch,
        )
        session = Session(self._gateway(), self._service, copy, NodeId(node))
        outcome = NODES[NodeId(node)](task, session)
        if not isinstance(outcome, Succeeded):
            raise AssertionError(f"{node} {key or ''} failed: {outcome.reason}")
        # The ledger keeps outputs as JSON, so nothing else may come back from them.
        self._outputs[OUTPUTS[node], key] = dict(outcome.output)
        self._effect(outcome, copy)
        self.done.append(Done(node, key, ordinal, outcome))
        return outcome

    def _gateway(self) -> Gateway:
        llm = self._config.llm
        return Gateway(
            self._provider,
            shipped_prompts(),
            ModelSettings(model=llm.model, max_output_tokens=llm.max_output_tokens),
            prices=shipped_prices(),
            budget=Budget(limit_usd=Decimal(100), limit_tokens=10_000_000),
        )

    def _task(self, node: str, key: SubItemKey | None, ordinal: int) -> NodeTask:
        sub_item = next((item for item in self._sub_items if item.key == key), None)
        slug = f"swi-{sub_item.ordinal}" if sub_item else {"architecture": "spec"}.get(node, "interfaces")
        issue = sample_issue()
        has_branch = sub_item is not None or node in ("architecture", "interface_design")
        return NodeTask(
            visit=Visit(
                index=len(self.done) + 1,
                node=NodeId(node),
                sub_item=key,
                visit_key=VisitKey(f"{len(self.done) + 1:064x}"),
                attempt=1,
                ordinal=ordinal,
            ),
            item=WorkItem(
                number=IssueNumber(ISSUE_NUMBER),
                title=issue.title,
                body=issue.body,
                labels=(),
                repository=FULL_NAME,
                default_branch=BranchName(DEFAULT_BRANCH),
            ),
            inputs=self._inputs(node, key),
            dependency_outputs=self._dependency_outputs(sub_item),
            earlier={OUTPUTS[node]: self._outputs[OUTPUTS[node], key]} if ordinal > 1 else {},
            sub_item=sub_item,
            sub_items=self._sub_items,
            pull_requests=tuple(self._pulls),
            branch=self._branch(slug) if has_branch else BranchName(DEFAULT_BRANCH),
            base_branch=self._base(sub_item),
            merge_branches=(),
        )

    def _inputs(self, node: str, key: SubItemKey | None) -> Mapping[str, Any]:
        found = {}
        for slot in INPUTS[node]:
            value = self._outputs.get((slot, key), self._outputs.get((slot, None)))
            if value is not None:
                found[slot] = value
        return found

    def _dependency_outputs(self, sub_item: SubItemRef | None) -> dict[SubItemKey, dict[str, Any]]:
        depends_on = sub_item.depends_on if sub_item else ()
        return {key: {"code": self._outputs["code", key]} for key in depends_on}

    def _branch(self, slug: str) -> BranchName:
        return BranchName(f"cogworks/{ISSUE_NUMBER}/{slug}")

    def _base(self, sub_item: SubItemRef | None) -> BranchName:
        if sub_item is None or not sub_item.depends_on:
            return BranchName(DEFAULT_BRANCH)
        ordinals = {item.key: item.ordinal for item in self._sub_items}
        return self._branch(f"swi-{ordinals[sub_item.depends_on[0]]}")

    def _effect(self, outcome: Succeeded, copy: WorkingCopy) -> None:
        created: list[CreateSubIssue] = []
        shown = {
            each.head for each in outcome.effects if isinstance(each, OpenPullRequest) and each.is_shown_only
        }
        for effect in outcome.effects:
            match effect:
                case CommitFiles() if effect.branch not in shown:
                    # As if a person had merged the pull request.
                    files = {file.path: file.text for file in effect.files}
                    self._remote.put(
                        DEFAULT_BRANCH, files, message=f"{effect.headline}\n\n{VISIT_TRAILER}rehearsal"
                    )
                case PushBranch():
                    copy.push(effect.branch, self._pushed.get(effect.branch))
                    self._pushed[effect.branch] = effect.oid
                case OpenPullRequest():
                    number = IssueNumber(10 + len(self._pulls))
                    self._pulls.append(
                        PullRequestRef(slug=effect.slug, number=number, head=effect.head, base=effect.base)
                    )
                case CreateSubIssue():
                    created.append(effect)
                case _:
                    pass
        if created:
            self._sub_items = self._planned(created)

    def _planned(self, created: list[CreateSubIssue]) -> tuple[SubItemRef, ...]:
        items = self._outputs["plan", None]["sub_work_items"]
        return tuple(
            SubItemRef(
                key=effect.key,
                ordinal=ordinal,
                number=IssueNumber(20 + ordinal),
                depends_on=tuple(item["depends_on"]),
            )
            for ordinal, (effect, item) in enumerate(zip(created, items, strict=True), 1)
        )
