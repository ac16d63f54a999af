"""What a node has for one visit: a model, services and a working copy, each opened when first needed."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from cogworks.canonical import sha256
from cogworks.codebase.workingcopy import WorkingCopy
from cogworks.domain_services.announcing import Waiting
from cogworks.domain_services.messages import Caller
from cogworks.domain_services.panel import ServicePanel
from cogworks.engine.ports import Session, SessionOrder
from cogworks.engine.visit_limits import Patience
from cogworks.errors import CogworksError, TryAgainLater
from cogworks.llm.conversation import Looks
from cogworks.llm.provider import Provider
from cogworks.nodes.contract import DomainService, NodePorts
from cogworks.repair.probe.investigating import SandboxPool
from cogworks.settings.config import Environment
from cogworks.sight.index import Index
from cogworks.sight.seen import Seen
from cogworks.sight.store import Store as SightStore
from cogworks.telling import During, in_silence
from cogworks.vocabulary import BranchName, CommitOid
from cogworks.wiring.looks import look_audit, looks_of
from cogworks.wiring.model import gateway_for, open_provider, priced
from cogworks.wiring.node_ports import SessionPorts, elapsed_s
from cogworks.wiring.probes import sandbox_pool_in
from cogworks.wiring.services import open_panel
from cogworks.wiring.tools import shipped_script

OpensModel = Callable[..., AbstractContextManager[Provider]]
"""As `open_provider`."""


class NodeSession:
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
def open_session(
    order: SessionOrder,
    environment: Environment,
    open_copy: Callable[[SessionOrder, ExitStack], WorkingCopy],
    say: Callable[[str], None],
    *,
    open_model: OpensModel = open_provider,
    during: During = in_silence,
) -> Iterator[Session]:
    """The session of a visit; everything it opened is closed behind the block.

    Args:
        open_copy: checks out what the visit works on.
        during: announces to people each answer of a service that is waited for.
    """
    patience = Patience(order.left_s, monotonic=elapsed_s)
    # Whatever a node waits for asks the same clock: the model, the service, git and scripts.
    order = replace(order, left_s=patience.left_s)
    with ExitStack() as stack:
        provider = stack.enter_context(open_model(order.config, environment, left_s=order.left_s))
        order = replace(order, config=priced(order.config, environment))
        yield NodeSession(
            order,
            provider=provider,
            open_service=lambda: stack.enter_context(_service_for(order, environment, say, during)),
            open_copy=lambda: open_copy(order, stack),
            open_sandbox_pool=lambda copy: sandbox_pool_in(copy, order, environment, warn=say),
            open_sight_store=lambda copy: stack.enter_context(closing(_sight_store_in(environment, copy))),
            limit=patience.within,
            say=say,
        )


def _service_for(
    order: SessionOrder,
    environment: Environment,
    say: Callable[[str], None],
    during: During,
) -> ServicePanel:
    task = order.task
    caller = Caller(
        node=task.visit.node,
        work_item_id=task.item.number,
        sub_work_item_id=task.sub_item.number if task.sub_item else None,
        needs_walls=order.needs_walls(),
    )
    return open_panel(
        order.files,
        environment,
        caller=caller,
        warn=say,
        waiting=Waiting(order.left_s, during),
        names=order.root_names,
    )


def _sight_store_in(environment: Environment, copy: WorkingCopy) -> SightStore:
    """What this machine has read of a repository's contents; one file for each repository."""
    return SightStore(Path(environment.work_dir) / "sight" / f"{sha256(copy.remote_url)[:16]}.sqlite3")
