"""The composition root: environment and address in, a StepPorts of real adapters out."""

import os
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cogworks.canonical import sha256
from cogworks.codebase.remotes import Remote
from cogworks.codebase.workingcopy import WorkingCopy
from cogworks.codebase.worktree import WorkingCopies
from cogworks.domain_services.messages import Caller
from cogworks.domain_services.panel import ServicePanel
from cogworks.engine.base_check import check_base
from cogworks.engine.ports import Session, SessionOrder, StepPorts, VisitPorts
from cogworks.engine.visit_limits import Patience
from cogworks.errors import CogworksError, TryAgainLater
from cogworks.forge.addresses import IssueAddress
from cogworks.github.client import GraphQLClient
from cogworks.github.credentials import TokenSource, credential
from cogworks.github.failed_checks import JobLogs
from cogworks.github.item import TrackedItem
from cogworks.github.ledger_store import LedgerStore
from cogworks.github.meter import Requests
from cogworks.github.permissions import People
from cogworks.github.reading import HabitFile, SnapshotReader
from cogworks.github.writer import Writer, may_report
from cogworks.leaving import UNMISTAKABLE_CHARS
from cogworks.ledger.record import kept
from cogworks.llm.conversation import Looks
from cogworks.llm.provider import Provider
from cogworks.machine_kind import machine_kind
from cogworks.nodes.contract import DomainService, NodePorts
from cogworks.nodes.registry import NODES
from cogworks.repair.probe.investigating import SandboxPool
from cogworks.settings.config import Environment, child_environment
from cogworks.sight.index import Index
from cogworks.sight.seen import Seen
from cogworks.sight.store import Store as SightStore
from cogworks.telling import During, in_silence
from cogworks.vocabulary import BranchName, CommitOid, RunId
from cogworks.wiring.apis import apis_of
from cogworks.wiring.committer import COMMITTER
from cogworks.wiring.looks import look_audit, looks_of
from cogworks.wiring.model import gateway_for, open_provider, priced, prices_of
from cogworks.wiring.node_ports import SessionPorts, elapsed_s
from cogworks.wiring.probes import sandbox_pool_in
from cogworks.wiring.readiness import refuse_unready
from cogworks.wiring.services import open_panel
from cogworks.wiring.tools import shipped_script

if TYPE_CHECKING:
    from cogworks.github.rest import RestClient
    from cogworks.services.sandbox.isolation import Isolation

OpensModel = Callable[..., AbstractContextManager[Provider]]
"""As `open_provider`."""


class _Session:
    """A node's world for one visit: a gateway, a service and a working copy, each opened when first needed."""

    def __init__(
        self,
        order: SessionOrder,
        *,
        provider: Provider,
        open_service: Callable[[], DomainService],
        open_copy: Callable[[], WorkingCopy],
        open_sandbox_pool: Callable[[WorkingCopy], AbstractContextManager[SandboxPool]],
        open_sight_store: Callable[[WorkingCopy], SightStore],
        limit: Callable[[float], AbstractContextManager[None]],
        say: Callable[[str], None],
    ) -> None:
        self._order = order
        self._open_copy = open_copy
        self._open_service = open_service
        self._service: DomainService | None = None
        self._copy: WorkingCopy | None = None
        self._open_sight_store = open_sight_store
        self._store: SightStore | None = None
        self._seen = Seen(lambda path: self._workspace().read(path))
        self._look_audit = look_audit(order, now=elapsed_s)

        def say_until_stopped(line: str) -> None:
            order.check()
            say(line)

        self.ports: NodePorts = SessionPorts(
            model=gateway_for(order, provider),
            open_service=self._opened_service,
            say_line=say_until_stopped,
            stop=order.check,
            limit=limit,
            save=order.checkpoint,
            keep_file=order.keep,
            open_workspace=self._workspace,
            open_index=self._index,
            open_looks=self._looks,
            seen=self._seen,
            open_sandbox_pool=lambda: open_sandbox_pool(self._workspace()),
            run=lambda name, stdin: shipped_script(name, stdin, left_s=order.left_s),
        )

    def _opened_service(self) -> DomainService:
        if self._service is None:
            self._service = self._open_service()
        return self._service

    def _index(self) -> Index:
        return Index(self._workspace(), self._sight_store(), say=self.ports.say)

    def _looks(self, hidden: frozenset[str]) -> Looks:
        return looks_of(
            self._order.task.visit.node,
            self._order.files,
            self._workspace(),
            self._look_audit,
            index=self._index,
            service=self._opened_service,
            hidden=hidden,
            seen=self._seen,
        )

    def _sight_store(self) -> SightStore:
        if self._store is None:
            self._store = self._open_sight_store(self._workspace())
        return self._store

    def _workspace(self) -> WorkingCopy:
        if self._copy is None:
            self._copy = self._open_copy()
        return self._copy

    def push(self, branch: BranchName, oid: CommitOid, expected: CommitOid | None) -> None:
        copy = self._workspace()
        if copy.head != oid:
            raise CogworksError(
                f"{branch}: the working copy stands on {copy.head[:12]}, not on {oid[:12]}; run it again."
            )
        result = copy.push(branch, expected)
        if result.status == "rejected":
            raise TryAgainLater(
                f"branch {branch!r} was not pushed: {result.reason}. Somebody else moved it, or a rule of the repository "
                "forbids it; look at the branch and run the command again."
            )


@contextmanager
def open_ports(
    environment: Environment,
    address: IssueAddress,
    *,
    meter: Requests,
    say: Callable[[str], None],
    sleep: Callable[[float], None] = time.sleep,
    during: During = in_silence,
    open_model: OpensModel = open_provider,
) -> Iterator[StepPorts]:
    """A StepPorts for one work item; everything it opened is closed behind it. Raises as `open_examination`.

    Args:
        during: announces to people what takes long.
        open_model: opens the provider that answers the questions.
        sleep: how the step waits for GitHub: for a rate limit, before a second try, before a second look.
    """
    with ExitStack() as stack:
        where = (address.server_url, address.repository)
        client, rest, tokens, _ = _speaking(stack, environment, *where, meter=meter, sleep=sleep)
        reader = reader_of(environment, address, client, rest, sleep=sleep)
        writer = Writer(client, rest, sleep=sleep, checks=lambda: rest() if may_report(tokens) else None)
        rest_url = apis_of(environment, address.server_url).rest_url
        logs = JobLogs(rest_url, tokens, address.repository, meter=meter)
        tracker = TrackedItem(
            address, People(client, rest), reader, writer, rest, client=client, log_of=logs.tail
        )
        copies = stack.enter_context(open_copies(environment, meter))
        yield StepPorts(
            visit=VisitPorts(
                tracker=tracker,
                nodes=NODES,
                session=lambda order: _open_session(
                    order,
                    environment,
                    lambda within, stack: _open_copy(
                        within,
                        address,
                        tokens,
                        stack.enter_context(open_copies(environment, meter, left_s=within.left_s)),
                    ),
                    say,
                    open_model,
                ),
                monotonic=elapsed_s,
                say=say,
                check_base=partial(check_base, during=during, machine=kind_of_isolating_machine),
            ),
            tracker=tracker,
            ledger=lambda snapshot: LedgerStore(
                client,
                repository=snapshot.repository.name_with_owner,
                repository_id=snapshot.repository.node_id,
                issue=snapshot.issue.number,
                hide=hiding(environment),
            ),
            holder=holder_of(environment),
            new_run_id=lambda: RunId(str(uuid.uuid4())),
            check=lambda config, repository: refuse_unready(
                config, repository.config_files, repository.contents, environment
            ),
            prices=lambda config: prices_of(priced(config, environment)),
            forget=copies.discard,
            sleep=sleep,
            say=say,
        )


def kind_of_isolating_machine(isolation: "Isolation | None" = None) -> str:
    """The kind of this machine; empty where it cannot isolate code completely, so that a service has to say what that means.

    Args:
        isolation: None: it is tried, as the services try it.
    """
    # Few steps look at a base.
    from cogworks.services.sandbox.probing import strongest

    isolation = isolation or strongest(child_environment().get("PATH", os.defpath))
    return machine_kind() if isolation.is_complete else ""


def reader_of(
    environment: Environment,
    address: IssueAddress,
    client: GraphQLClient,
    rest: "Callable[[], RestClient]",
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> SnapshotReader:
    """Reads work items of the address's repository, and remembers from process to process what GitHub cannot do there."""
    habits = HabitFile(
        Path(environment.work_dir) / "reads",
        server_url=address.server_url,
        repository=address.repository,
        now=lambda: datetime.now(UTC),
    )
    return SnapshotReader(client, sleep=sleep, blobs=rest, habits=habits)


@contextmanager
def open_examination(
    environment: Environment, server_url: str, repository: str, *, meter: Requests
) -> Iterator[tuple[GraphQLClient, "Callable[[], RestClient]", str]]:
    """What looks at a repository without a work item: GraphQL, REST, and where the token came from in words.

    Raises:
        PermissionRefused: there is no GitHub token.
        UsageError: nobody said that the token may go to that server.
    """
    with ExitStack() as stack:
        client, rest, _, source = _speaking(stack, environment, server_url, repository, meter=meter)
        yield client, rest, source


def _speaking(
    stack: ExitStack,
    environment: Environment,
    server_url: str,
    repository: str,
    *,
    meter: Requests,
    sleep: Callable[[float], None] = time.sleep,
) -> "tuple[GraphQLClient, Callable[[], RestClient], TokenSource, str]":
    """GraphQL, REST, their token, and where that came from in words."""
    apis = apis_of(environment, server_url)
    tokens, source = credential(
        environment,
        server_url=server_url,
        rest_url=apis.rest_url,
        repository=repository,
        meter=meter,
        child_environment=child_environment(),
    )
    pause_s = 1.0 if apis.is_github_com else 0.0
    client = stack.enter_context(
        GraphQLClient(apis.graphql_url, tokens, meter=meter, mutation_pause_s=pause_s, sleep=sleep)
    )
    opened: list[RestClient] = []

    def rest() -> "RestClient":
        # PyGithub takes a fifth of a second to import, and most steps need no REST.
        from cogworks.github.rest import RestClient

        if not opened:
            opened.append(stack.enter_context(RestClient(apis.rest_url, tokens, repository, meter=meter)))
        return opened[0]

    return client, rest, tokens, source


@contextmanager
def _open_session(
    order: SessionOrder,
    environment: Environment,
    open_copy: Callable[[SessionOrder, ExitStack], WorkingCopy],
    say: Callable[[str], None],
    open_model: OpensModel,
) -> Iterator[Session]:
    patience = Patience(order.left_s, monotonic=elapsed_s)
    # Whatever a node waits for asks the same clock: the model, the service, git and scripts.
    order = replace(order, left_s=patience.left_s)
    with ExitStack() as stack:
        provider = stack.enter_context(open_model(order.config, environment, left_s=order.left_s))
        order = replace(order, config=priced(order.config, environment))
        yield _Session(
            order,
            provider=provider,
            open_service=lambda: stack.enter_context(_service_for(order, environment, say)),
            open_copy=lambda: open_copy(order, stack),
            open_sandbox_pool=lambda copy: sandbox_pool_in(copy, order, environment, warn=say),
            open_sight_store=lambda copy: stack.enter_context(closing(sight_store(environment, copy))),
            limit=patience.within,
            say=say,
        )


def _service_for(order: SessionOrder, environment: Environment, say: Callable[[str], None]) -> ServicePanel:
    task = order.task
    caller = Caller(
        node=task.visit.node,
        work_item_id=task.item.number,
        sub_work_item_id=task.sub_item.number if task.sub_item else None,
        needs_walls=order.needs_walls(),
    )
    return open_panel(
        order.files, environment, caller=caller, warn=say, left_s=order.left_s, names=order.root_names
    )


def _open_copy(
    order: SessionOrder, address: IssueAddress, tokens: TokenSource, copies: WorkingCopies
) -> WorkingCopy:
    task = order.task
    copy = copies.open(
        remote=Remote(f"{address.server_url}/{task.item.repository}.git", tokens.token),
        run=order.run_id,
        name=task.sub_item.key if task.sub_item else "item",
        # A node without a branch of its own reads what it builds on.
        branch=task.base_branch if task.branch == task.item.default_branch else task.branch,
        base=task.base_branch,
        base_oid=task.base_oid,
        merge=task.merge_branches,
        besides=(task.item.default_branch,),
    )
    copy.step_back_from(task.visit.visit_key)
    return copy


def open_copies(
    environment: Environment, meter: Requests, *, left_s: Callable[[], float | None] = lambda: None
) -> WorkingCopies:
    """The working copies of this machine; `left_s` bounds every git command."""
    return WorkingCopies(
        Path(environment.work_dir),
        identity=COMMITTER,
        environment=child_environment(),
        on_network=lambda _: meter.count_git(),
        left_s=left_s,
        # Of a large repository the history is most of what there is to fetch, and no node reads it.
        is_blobless=True,
    )


def sight_store(environment: Environment, copy: WorkingCopy) -> SightStore:
    """What this machine has read of a repository's contents; one file for each repository."""
    return SightStore(Path(environment.work_dir) / "sight" / f"{sha256(copy.remote_url)[:16]}.sqlite3")


def hiding(environment: Environment) -> Callable[[str], str]:
    """Takes the credentials of this machine and tokens of known services out of what a ledger keeps."""
    clouds = environment.clouds.bedrock_key.value
    secrets = (environment.github_token, environment.llm_api_key, environment.openai_api_key, clouds)
    # A shorter one is a word as well, and a state has to stay readable.
    return partial(kept, secrets=tuple(each for each in secrets if len(each) >= UNMISTAKABLE_CHARS))


def holder_of(environment: Environment) -> str:
    """Who we are in a ledger: unique to this process."""
    where = environment.host or socket.gethostname()
    return f"{where}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
