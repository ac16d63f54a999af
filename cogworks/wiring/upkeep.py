"""The composition root of the commands that look at work items and after them: environment and address in, clients out."""

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from cogworks.forge.addresses import IssueAddress, RepositoryAddress
from cogworks.github.client import GraphQLClient
from cogworks.github.ledger_store import LedgerStore
from cogworks.github.meter import Requests
from cogworks.github.moments import ItemReader
from cogworks.github.permissions import People
from cogworks.github.staging import ReadsLedger
from cogworks.github.writer import Writer
from cogworks.settings.config import Environment
from cogworks.upkeep.archiving import ArchivePorts
from cogworks.upkeep.checking import CheckPorts
from cogworks.upkeep.item import ItemOnGitHub, LedgersOnGitHub
from cogworks.vocabulary import RunId
from cogworks.wiring.step import hiding, holder_of, open_copies, open_examination, reader_of


@contextmanager
def open_client(
    environment: Environment, address: IssueAddress, *, meter: Requests
) -> Iterator[GraphQLClient]:
    """A client for one server; closed behind the block. Raises as `open_examination`."""
    with open_examination(environment, address.server_url, address.repository, meter=meter) as opened:
        yield opened[0]


@contextmanager
def open_ledger(environment: Environment, address: IssueAddress, *, meter: Requests) -> Iterator[ReadsLedger]:
    """The ledger of one work item, to be read. Raises as `open_examination`."""
    with open_client(environment, address, meter=meter) as client:
        # Only the birth of a ledger needs the repository's id.
        yield LedgerStore(client, repository=address.repository, repository_id="", issue=address.number)


@contextmanager
def open_item(environment: Environment, address: IssueAddress, *, meter: Requests) -> Iterator[ItemReader]:
    """One work item, to be read now and as it was. Raises as `open_examination`."""
    where = (address.server_url, address.repository)
    with open_examination(environment, *where, meter=meter) as (client, rest, _):
        yield ItemReader(
            client, address, reader=reader_of(environment, address, client, rest), people=People(client, rest)
        )


@contextmanager
def open_check(environment: Environment, address: IssueAddress, *, meter: Requests) -> Iterator[CheckPorts]:
    """What a check of one work item needs. Raises as `open_examination`."""
    where = (address.server_url, address.repository)
    with open_examination(environment, *where, meter=meter) as (client, rest, _):
        yield CheckPorts(
            item=ItemOnGitHub(
                client,
                address,
                reader=reader_of(environment, address, client, rest),
                people=People(client, rest),
                writer=Writer(client, rest, sleep=time.sleep),
            ),
            ledger=lambda snapshot: LedgerStore(
                client,
                repository=snapshot.repository.name_with_owner,
                repository_id=snapshot.repository.node_id,
                issue=snapshot.issue.number,
                hide=hiding(environment),
            ),
            holder=holder_of(environment),
            new_run_id=lambda: RunId(str(uuid.uuid4())),
        )


@contextmanager
def open_archive(
    environment: Environment, address: RepositoryAddress, *, meter: Requests
) -> Iterator[ArchivePorts]:
    """What putting ledgers away needs. Raises as `open_examination`."""
    where = (address.server_url, address.full_name)
    with (
        open_examination(environment, *where, meter=meter) as (client, _, _),
        open_copies(environment, meter) as copies,
    ):
        yield ArchivePorts(
            repository=LedgersOnGitHub(client, address.full_name),
            has_work_directory=copies.has,
            remove_work_directory=copies.discard,
        )
