"""Looks through a repository's open work items: one request per fifty, the ledgers of one page beside the next page."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from cogworks.errors import CogworksError
from cogworks.forge.addresses import RepositoryAddress
from cogworks.forge.labels import legible_config
from cogworks.forge.sweep import (
    Listed,
    PullSeen,
    Seen,
    Tip,
    in_milestone,
    is_down_to,
    seen_by,
    unread,
    wants_mergeable,
    wants_pulls,
)
from cogworks.github.documents import Answer
from cogworks.github.sweep_document import (
    Wish,
    configuration_of,
    is_app,
    listed,
    merged_of,
    page_of,
    pull_seen,
    repository_of,
    reviewed_of,
    spoken_to,
    sweep_document,
    tips_of,
)
from cogworks.pipeline.limits import limits_mark
from cogworks.settings.config import require_config
from cogworks.settings.sections import LabelConfig
from cogworks.vocabulary import IssueNumber


class Queries(Protocol):
    """Reads through GraphQL."""

    def query(self, document: str, variables: Mapping[str, Any]) -> Answer: ...


def look_through(
    client: Queries, address: RepositoryAddress, *, since: datetime | None, milestone: str = ""
) -> Seen:
    """Every open work item of a repository: a request per fifty of them, one for the last ledgers, and one for the
    reviews of what they wait for, for what of theirs can be merged, and for the comments that no step has looked at.

    Args:
        since: when the last sweep was, by GitHub's clock; pull requests are listed down to it. None = there was
            none, then only the newest hundred.
        milestone: title or number; items outside of it are left out.

    Raises:
        CogworksError: what the client raises.
    """
    names = LabelConfig()
    while True:
        reading = _Reading(client, address, since, milestone, names)
        if reading.read():
            return reading.seen()
        # The team gave the trigger label another name, so the first page was of the wrong items.
        names = reading.labels


@dataclass
class _Reading:
    """One sweep on its way through the pages."""

    client: Queries
    address: RepositoryAddress
    since: datetime | None
    milestone: str
    labels: LabelConfig
    items: list[Listed] = field(default_factory=list)
    tips: dict[IssueNumber, Tip] = field(default_factory=dict)
    pulls: dict[IssueNumber, PullSeen] = field(default_factory=dict)
    spoken: set[IssueNumber] = field(default_factory=set)
    config_oid: str = ""
    limits: str = ""
    problem: str = ""
    server_date: datetime | None = None
    _issues_cursor: str | None = None
    _pulls_cursor: str | None = None
    _viewer_is_app: bool = False

    def read(self) -> bool:
        """Ask until nothing is left to ask; False when the trigger label is called otherwise here."""
        wish = Wish(with_issues=True, with_pulls=True)
        while not wish.is_empty:
            repository = self._ask(wish)
            if wish.with_issues and not self._knows_labels(repository):
                return False
            wish = self._learn(wish, repository)
        return True

    def seen(self) -> Seen:
        if self.server_date is None:
            raise RuntimeError("a sweep that asked nothing has seen nothing")
        return Seen(
            server_date=self.server_date,
            config_oid=self.config_oid,
            labels=self.labels,
            limits=self.limits,
            problem=self.problem,
            items=tuple(self.items),
            tips=self.tips,
            pulls=self.pulls,
            spoken=frozenset(self.spoken),
        )

    def _ask(self, wish: Wish) -> Mapping[str, Any]:
        variables: dict[str, Any] = {"owner": self.address.owner, "name": self.address.name}
        if wish.with_issues:
            variables |= {"label": self.labels.trigger, "issues": self._issues_cursor}
        if wish.with_pulls:
            variables |= {"pulls": self._pulls_cursor}
        answer = self.client.query(sweep_document(wish), variables)
        self.server_date = self.server_date or answer.server_date
        self._viewer_is_app = is_app(answer)
        return repository_of(answer, self.address.url)

    def _knows_labels(self, repository: Mapping[str, Any]) -> bool:
        oid, text = configuration_of(repository)
        files = {} if text is None else {"config.toml": text}
        self.problem = ""
        try:
            config = require_config(files, where=self.address.full_name)
        except CogworksError as error:
            # The step of an item reports it to the person who asked for it.
            self.problem, config = str(error), legible_config(files)
        is_known = config.labels.trigger == self.labels.trigger
        self.config_oid, self.labels = oid, config.labels
        budgets = config.budgets
        known = limits_mark(
            budgets.pipeline_max_cost_dollars, budgets.small_max_cost_dollars, budgets.pipeline_max_tokens
        )
        self.limits = "" if self.problem else known
        return is_known

    def _learn(self, wish: Wish, repository: Mapping[str, Any]) -> Wish:
        """Keep what came; what the next request has to ask for."""
        arrived = self._learn_issues(repository) if wish.with_issues else []
        more_pulls = self._learn_pulls(repository) if wish.with_pulls else False
        tips = tips_of(repository, wish.tips)
        self.tips |= tips
        for pull in reviewed_of(repository, wish.reviewed):
            self.pulls[pull.number] = pull
        for pull in merged_of(repository, wish.merged):
            self.pulls[pull.number] = pull
        self.spoken |= spoken_to(
            repository, {number: seen_by(self.tips[number]).last_comment_id for number in wish.spoken}
        )
        by_number = {item.number: item for item in self.items}
        return Wish(
            with_issues=wish.with_issues and self._issues_cursor is not None,
            with_pulls=more_pulls,
            tips=[item.number for item in arrived],
            reviewed=sorted({number for tip in tips.values() for number in wants_pulls(tip, self.pulls)}),
            merged=sorted({number for tip in tips.values() for number in wants_mergeable(tip, self.pulls)}),
            spoken={n: count for n, tip in tips.items() if (count := unread(by_number[n], tip))},
        )

    def _learn_issues(self, repository: Mapping[str, Any]) -> list[Listed]:
        page = page_of(repository["issues"])
        self._issues_cursor = page.next_cursor
        known = {item.number for item in self.items}
        items = [listed(node, viewer_is_app=self._viewer_is_app) for node in page.nodes]
        arrived = [i for i in items if i.number not in known and in_milestone(i, self.milestone)]
        self.items += arrived
        return arrived

    def _learn_pulls(self, repository: Mapping[str, Any]) -> bool:
        """Whether a further page is wanted."""
        page = page_of(repository["pullRequests"])
        pulls = [pull_seen(node) for node in page.nodes]
        for pull in pulls:
            self.pulls.setdefault(pull.number, pull)
        self._pulls_cursor = page.next_cursor
        return page.next_cursor is not None and not is_down_to(pulls, self.since)
