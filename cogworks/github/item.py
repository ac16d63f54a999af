"""One work item on GitHub as a step uses it: read whole, published to, shown."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from cogworks.forge.addresses import IssueAddress
from cogworks.forge.effects import Effect
from cogworks.forge.facts import FailedCheck, ReviewText
from cogworks.forge.failing_checks import Failing
from cogworks.forge.neighbours import Neighbour
from cogworks.forge.publication import PublicationContext, Published
from cogworks.forge.snapshot import Snapshot
from cogworks.github.earlier_logs import EarlierLog, read_earlier_logs
from cogworks.github.elsewhere import read_elsewhere
from cogworks.github.failed_checks import ReadsLog, read_failed_checks
from cogworks.github.item_costs import read_item_costs
from cogworks.github.neighbours import read_neighbours
from cogworks.github.permissions import People
from cogworks.github.publishing import Push
from cogworks.github.reading import Queries, SnapshotReader
from cogworks.github.writer import Writer
from cogworks.ledger.record import ROOT_BRANCH
from cogworks.packs.choosing import ReadElsewhere
from cogworks.packs.declared import Exemplar
from cogworks.pipeline.worth import ItemCost
from cogworks.vocabulary import CommitOid, Login, NodeId

if TYPE_CHECKING:
    # PyGithub takes a fifth of a second to import, and most steps need no REST.
    from cogworks.github.rest import RestClient


class TrackedItem:
    """One work item, through the reader, the writer and REST."""

    def __init__(
        self,
        address: IssueAddress,
        people: People,
        reader: SnapshotReader,
        writer: Writer,
        rest: Callable[[], "RestClient"],
        *,
        client: Queries,
        log_of: ReadsLog,
    ) -> None:
        """
        Args:
            log_of: reads the log of a job of GitHub Actions.
        """
        self._address = address
        self._people = people
        self._reader = reader
        self._writer = writer
        self._rest = rest
        self._client = client
        self._log_of = log_of

    def read(self) -> Snapshot:
        return self._reader.read(self._address)

    def complete(self, snapshot: Snapshot, recorded: Sequence[str]) -> Snapshot:
        return self._reader.complete(snapshot, recorded)

    def review_texts(self, snapshot: Snapshot, reviews: Sequence[str]) -> Mapping[str, ReviewText]:
        return self._reader.review_texts(snapshot, reviews)

    def failed_checks(self, snapshot: Snapshot, failing: Failing) -> tuple[FailedCheck, ...]:
        return read_failed_checks(self._client, snapshot, failing, self._log_of)

    def permissions(self, snapshot: Snapshot, people: Sequence[Login]) -> Mapping[Login, str]:
        return self._people.permissions(snapshot, people)

    def earlier_logs(self, node: NodeId, *, besides: str) -> Sequence[EarlierLog]:
        return read_earlier_logs(self._client, self._address.repository, node, besides=besides)

    def item_costs(self) -> tuple[ItemCost, ...]:
        return read_item_costs(self._client, self._address.repository)

    def read_elsewhere(self, exemplars: Sequence[Exemplar]) -> Mapping[Exemplar, ReadElsewhere]:
        return read_elsewhere(self._client, exemplars)

    def neighbours(self) -> Sequence[Neighbour]:
        return read_neighbours(self._client, self._address.repository)

    def create_root(self) -> CommitOid:
        return self._rest().create_ledger_root(ROOT_BRANCH)

    def publish(
        self, effects: Sequence[Effect], snapshot: Snapshot, context: PublicationContext, push: Push
    ) -> Published:
        return self._writer.publish(effects, snapshot, context, push=push)

    def show(self, effects: Sequence[Effect], snapshot: Snapshot) -> str | None:
        return self._writer.apply_views(effects, snapshot)
