"""The composition root: environment and address in, a Shell of real adapters out."""

import os
import random
import socket
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cogworks.codebase.git import Identity
from cogworks.codebase.workingcopy import WorkingCopy
from cogworks.codebase.worktree import WorkingCopies
from cogworks.domain_services.client import ProcessService
from cogworks.domain_services.messages import Caller
from cogworks.errors import CogworksError, PermissionRefused, TryAgainLater, UsageError
from cogworks.github.addresses import ApiAddresses, IssueAddress, api_addresses
from cogworks.github.client import GraphQLClient
from cogworks.github.effects import Effect
from cogworks.github.meter import Requests
from cogworks.github.permissions import permissions_of
from cogworks.github.publication import PublicationContext, Published
from cogworks.github.publishing import Push
from cogworks.github.reading import Queries, SnapshotReader
from cogworks.github.snapshot import Snapshot
from cogworks.github.tokens import FixedToken
from cogworks.github.writer import Writer
from cogworks.ledger.record import ROOT_BRANCH
from cogworks.ledger.store import LedgerStore
from cogworks.llm.anthropic import BASE_URL, AnthropicProvider
from cogworks.llm.budget import Budget, Price
from cogworks.llm.cassette import CassetteProvider
from cogworks.llm.gateway import Gateway, ModelSettings
from cogworks.llm.package_data import shipped_prices, shipped_prompts
from cogworks.llm.provider import Provider
from cogworks.nodes.contract import Asks, DomainService, NodeShell, Workspace
from cogworks.nodes.registry import NODES
from cogworks.nodes.visit import Session, SessionOrder, VisitShell
from cogworks.settings import Config, Environment, child_environment
from cogworks.step import Shell
from cogworks.vocabulary import BranchName, CommitOid, Login, RunId

if TYPE_CHECKING:
    from cogworks.github.rest import RestClient

COMMITTER = Identity("cogworks", "cogworks@users.noreply.github.com")
PROMPT_SUFFIX = ".md.j2"


@dataclass(frozen=True)
class _NodeShell:
    model: Asks
    service: DomainService
    tell: Callable[[str], None]
    open_workspace: Callable[[], Workspace]

    def say(self, line: str, /) -> None:
        self.tell(line)

    def workspace(self) -> Workspace:
        return self.open_workspace()


class _Tracker:
    """One work item on GitHub, through the reader, the writer and REST."""

    def __init__(
        self,
        address: IssueAddress,
        queries: Queries,
        reader: SnapshotReader,
        writer: Writer,
        rest: "Callable[[], RestClient]",
    ) -> None:
        self._address = address
        self._queries = queries
        self._reader = reader
        self._writer = writer
        self._rest = rest

    def read(self) -> Snapshot:
        return self._reader.read(self._address)

    def complete(self, snapshot: Snapshot, recorded: Sequence[str]) -> Snapshot:
        return self._reader.complete(snapshot, recorded)

    def permissions(self, snapshot: Snapshot, people: Sequence[Login]) -> Mapping[Login, str]:
        return permissions_of(self._queries, self, snapshot.repository.name_with_owner, people)

    def permission_of(self, login: Login) -> str:
        return self._rest().permission_of(login)

    def create_root(self) -> CommitOid:
        return self._rest().create_ledger_root(BranchName(ROOT_BRANCH))

    def publish(
        self, effects: Sequence[Effect], snapshot: Snapshot, context: PublicationContext, push: Push
    ) -> Published:
        return self._writer.publish(effects, snapshot, context, push=push)

    def show(self, effects: Sequence[Effect], snapshot: Snapshot) -> str | None:
        return self._writer.apply_views(effects, snapshot)


class _Session:
    """A node's world for one visit: a gateway, a service and a working copy, each opened when first needed."""

    def __init__(
        self,
        order: SessionOrder,
        *,
        provider: Provider,
        service: DomainService,
        open_copy: Callable[[], WorkingCopy],
        say: Callable[[str], None],
    ) -> None:
        self._order = order
        self._open_copy = open_copy
        self._copy: WorkingCopy | None = None

        def told(line: str) -> None:
            order.check()
            say(line)

        self.shell: NodeShell = _NodeShell(
            model=_gateway(order, provider), service=service, tell=told, open_workspace=self._workspace
        )

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
def open_shell(
    environment: Environment, address: IssueAddress, *, meter: Requests, say: Callable[[str], None]
) -> Iterator[Shell]:
    """A Shell for one work item; everything it opened is closed behind it.

    Raises:
        PermissionRefused: there is no GitHub token.
    """
    if not environment.github_token:
        raise PermissionRefused(
            "there is no GitHub token. Set `COGWORKS_GITHUB_TOKEN` (or `GH_TOKEN`, `GITHUB_TOKEN`) to one that may write "
            f"contents, issues and pull requests of {address.repository}."
        )
    tokens = FixedToken(environment.github_token)
    apis = _apis(environment, address)
    with ExitStack() as stack:
        client = stack.enter_context(
            GraphQLClient(
                apis.graphql_url, tokens, meter=meter, mutation_pause_s=1.0 if apis.is_github_com else 0.0
            )
        )
        opened: list[RestClient] = []

        def rest() -> "RestClient":
            # PyGithub takes a fifth of a second to import, and most steps need no REST.
            from cogworks.github.rest import RestClient

            if not opened:
                new = RestClient(apis.rest_url, tokens, address.repository, meter=meter)
                opened.append(stack.enter_context(new))
            return opened[0]

        tracker = _Tracker(
            address,
            client,
            SnapshotReader(client, sleep=time.sleep),
            Writer(client, rest, sleep=time.sleep),
            rest,
        )
        copies = stack.enter_context(_copies(environment, meter))
        yield Shell(
            visit=VisitShell(
                tracker=tracker,
                nodes=NODES,
                session=lambda order: _open_session(order, environment, address, copies, say),
                monotonic=time.monotonic,
                say=say,
            ),
            tracker=tracker,
            ledger=lambda snapshot: LedgerStore(
                client,
                repository=snapshot.repository.name_with_owner,
                repository_id=snapshot.repository.node_id,
                issue=snapshot.issue.number,
            ),
            holder=_holder(environment),
            new_run_id=lambda: RunId(str(uuid.uuid4())),
            forget=copies.discard,
            sleep=time.sleep,
            say=say,
        )


@contextmanager
def _open_session(
    order: SessionOrder,
    environment: Environment,
    address: IssueAddress,
    copies: WorkingCopies,
    say: Callable[[str], None],
) -> Iterator[Session]:
    task = order.task
    sub = task.sub_item.number if task.sub_item else None
    caller = Caller(node=task.visit.node, work_item_id=task.item.number, sub_work_item_id=sub)
    command = (sys.executable, "-m", "cogworks", "service", "python", "--until-stdin-closes")
    with ExitStack() as stack:
        service = stack.enter_context(
            ProcessService(command, name="python", environment=child_environment(), caller=caller)
        )
        provider = stack.enter_context(_provider(order.config, environment))
        yield _Session(
            order,
            provider=provider,
            service=service,
            open_copy=lambda: _open_copy(order, environment, address, copies),
            say=say,
        )


def _open_copy(
    order: SessionOrder, environment: Environment, address: IssueAddress, copies: WorkingCopies
) -> WorkingCopy:
    task = order.task
    copy = copies.open(
        url=f"{address.server_url}/{task.item.repository}.git",
        token=environment.github_token,
        run=order.run_id,
        name=task.sub_item.key if task.sub_item else "item",
        branch=task.branch,
        base=task.base_branch,
        merge=task.merge_branches,
    )
    copy.step_back_from(task.visit.visit_key)
    return copy


def _gateway(order: SessionOrder, provider: Provider) -> Gateway:
    llm = order.config.llm
    configured = {
        model: Price.model_validate({name: _exact(usd) for name, usd in price.model_dump().items()})
        for model, price in llm.prices.items()
    }
    overrides = {
        name.removesuffix(PROMPT_SUFFIX): text
        for name, text in order.prompts.items()
        if name.endswith(PROMPT_SUFFIX)
    }
    return Gateway(
        provider,
        shipped_prompts(overrides),
        ModelSettings(model=llm.model, max_output_tokens=llm.max_output_tokens),
        prices=shipped_prices().with_configured(configured),
        budget=Budget(limit_usd=_exact(order.budget_usd), limit_tokens=order.budget_tokens),
        memory=order.memory,
        on_reply=order.on_reply,
    )


@contextmanager
def _provider(config: Config, environment: Environment) -> Iterator[Provider]:
    match environment.llm_provider or config.llm.provider:
        case "cassette":
            with ExitStack() as stack:
                directory = Path(environment.cassette_dir) if environment.cassette_dir else None
                if directory is None:
                    shipped = as_file(files("cogworks") / "demo" / "cassettes")
                    directory = stack.enter_context(shipped)
                yield CassetteProvider(directory, misses=_misses(directory, environment))
        case "anthropic":
            if not environment.llm_api_key:
                raise PermissionRefused(
                    "there is no key for the model provider. Set `COGWORKS_LLM_API_KEY` or `ANTHROPIC_API_KEY`."
                )
            base_url = environment.llm_base_url or BASE_URL
            with AnthropicProvider(
                environment.llm_api_key, sleep=time.sleep, jitter=random.random, base_url=base_url
            ) as provider:
                yield provider
        case other:
            raise UsageError(
                f"`COGWORKS_LLM_PROVIDER` is {other!r}; known providers are anthropic and cassette."
            )


def _misses(directory: Path, environment: Environment) -> Path:
    writable = os.access(directory, os.W_OK)
    return directory / "misses" if writable else Path(environment.work_dir) / "cassette-misses"


def _copies(environment: Environment, meter: Requests) -> WorkingCopies:
    return WorkingCopies(
        Path(environment.work_dir),
        identity=COMMITTER,
        environment=child_environment(),
        on_network=lambda _: meter.count_git(),
    )


def _apis(environment: Environment, address: IssueAddress) -> ApiAddresses:
    server = environment.github_server_url.rstrip("/")
    if server == address.server_url:
        # The variables speak of one server; an issue elsewhere must not be looked up there.
        return api_addresses(
            server,
            rest_url=environment.github_api_url or None,
            graphql_url=environment.github_graphql_url or None,
        )
    if not _is_known_host(address.server_url):
        raise UsageError(
            f"{address.url}: the token would go to {address.server_url}. If that is your GitHub Enterprise Server, "
            f"say so: GITHUB_SERVER_URL={address.server_url}"
        )
    return api_addresses(address.server_url)


def _is_known_host(server_url: str) -> bool:
    """Hosts that may see a GitHub token without being named: GitHub's own, and this machine."""
    host = urlsplit(server_url).hostname or ""
    return host in ("github.com", "www.github.com", "127.0.0.1", "localhost", "::1") or host.endswith(
        ".ghe.com"
    )


def _holder(environment: Environment) -> str:
    where = environment.host or socket.gethostname()
    return f"{where}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def _exact(amount: float) -> Decimal:
    return Decimal(str(amount))
