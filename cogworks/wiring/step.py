"""The composition root: environment and address in, a StepPorts of real adapters out."""

import os
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cogworks.codebase.remotes import Remote
from cogworks.codebase.workingcopy import WorkingCopy
from cogworks.codebase.worktree import WorkingCopies
from cogworks.engine.base_check import check_base
from cogworks.engine.ports import SessionOrder, StepPorts, VisitPorts
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
from cogworks.leaving import UNMISTAKABLE_CHARS, secrets_of
from cogworks.ledger.record import kept
from cogworks.machine_kind import machine_kind
from cogworks.nodes.registry import NODES
from cogworks.settings.config import Environment, child_environment
from cogworks.telling import During, in_silence
from cogworks.vocabulary import RunId
from cogworks.wiring.apis import apis_of
from cogworks.wiring.committer import COMMITTER
from cogworks.wiring.model import open_provider, priced, prices_of
from cogworks.wiring.node_ports import elapsed_s
from cogworks.wiring.readiness import refuse_unready
from cogworks.wiring.session import OpensModel, open_session

if TYPE_CHECKING:
    from cogworks.github.rest import RestClient
    from cogworks.services.sandbox.isolation import Isolation


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
    waiting: During = in_silence,
) -> Iterator[StepPorts]:
    """A StepPorts for one work item; everything it opened is closed behind it. Raises as `open_examination`.

    Args:
        during: announces to people what takes long.
        waiting: announces each answer of a service once it takes long.
        open_model: opens the provider that answers the questions.
        sleep: how the step waits for GitHub: for a rate limit, before a second try, before a second look.
    """
    with ExitStack() as stack:
        where = (address.server_url, address.repository)
        client, rest, tokens, _ = _speaking(stack, environment, *where, meter=meter, sleep=sleep)
        reader = reader_of(environment, address, client, rest, sleep=sleep)
        writer = Writer(client, rest, sleep=sleep, checks=lambda: rest() if may_report(tokens) else None)
        logs = JobLogs(
            apis_of(environment, address.server_url).rest_url, tokens, address.repository, meter=meter
        )
        tracker = TrackedItem(
            address, People(client, rest), reader, writer, rest, client=client, log_of=logs.tail
        )
        copies = stack.enter_context(open_copies(environment, meter))
        yield StepPorts(
            visit=VisitPorts(
                tracker=tracker,
                nodes=NODES,
                session=lambda order: open_session(
                    order,
                    environment,
                    lambda within, stack: _open_copy(
                        within,
                        address,
                        tokens,
                        stack.enter_context(open_copies(environment, meter, left_s=within.left_s)),
                    ),
                    say,
                    open_model=open_model,
                    during=waiting,
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


def hiding(environment: Environment) -> Callable[[str], str]:
    """Takes the credentials of this machine and tokens of known services out of what a ledger keeps."""
    secrets = (environment.github_token, *secrets_of(environment.variables))
    # A shorter one is a word as well, and a state has to stay readable.
    return partial(kept, secrets=tuple(each for each in secrets if len(each) >= UNMISTAKABLE_CHARS))


def holder_of(environment: Environment) -> str:
    """Who we are in a ledger: unique to this process."""
    where = environment.host or socket.gethostname()
    return f"{where}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
