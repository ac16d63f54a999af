"""A world in this process with a repository, people and a clock that stands still until told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cogworks.hub.actions.access import Actor, authenticate, find_repository
from cogworks.hub.actions.commits import create_commit_on_branch
from cogworks.hub.actions.issues import create_issue
from cogworks.hub.actions.pulls import create_pull
from cogworks.hub.actions.refs import create_ref
from cogworks.hub.actions.timeline import events
from cogworks.hub.gitstore import GitRepository
from cogworks.hub.records import Issue, Repository
from cogworks.hub.world import World
from tests.hub.running import BOT_TOKEN, OWNER_TOKEN, READER_TOKEN, WRITER_TOKEN, seeded


@dataclass
class StandingClock:
    """A clock that only a test moves."""

    moment: datetime = field(default_factory=lambda: datetime(2026, 3, 1, 12, tzinfo=UTC))

    def now(self) -> datetime:
        return self.moment

    def advance(self, seconds: int) -> None:
        self.moment += timedelta(seconds=seconds)


class Bench:
    """octo owns octo/demo, ada writes, rita reads, helper[bot] writes."""

    def __init__(self, directory: Path) -> None:
        self.clock = StandingClock()
        self.world = World(seeded(directory), clock=self.clock, base_url="http://hub.test")
        self.owner = authenticate(self.world, OWNER_TOKEN)
        self.writer = authenticate(self.world, WRITER_TOKEN)
        self.reader = authenticate(self.world, READER_TOKEN)
        self.bot = authenticate(self.world, BOT_TOKEN)

    @property
    def repository(self) -> Repository:
        return find_repository(self.world, self.owner, "octo", "demo")

    @property
    def git(self) -> GitRepository:
        return self.world.repository_git(self.repository)

    def tip(self, branch: str = "main") -> str:
        found = self.git.branch(branch)
        assert found is not None
        return found

    def issue(self, title: str = "Wrong sum", body: str | None = None, actor: Actor | None = None) -> Issue:
        return create_issue(self.world, actor or self.owner, self.repository, title=title, body=body)

    def commit(self, branch: str, files: Mapping[str, str], message: str = "Change") -> str:
        """One more commit on a branch, which is made from main when it is not there."""
        if self.git.branch(branch) is None:
            create_ref(self.world, self.writer, self.repository, f"refs/heads/{branch}", self.tip())
        return create_commit_on_branch(
            self.world,
            self.writer,
            self.repository,
            branch=branch,
            expected_head_oid=self.tip(branch),
            message=message,
            additions={path: text.encode() for path, text in files.items()},
        ).oid

    def pull(
        self,
        head: str = "topic",
        *,
        base: str = "main",
        files: Mapping[str, str] | None = None,
        body: str | None = None,
        actor: Actor | None = None,
    ) -> Issue:
        """An open pull request with one commit."""
        self.commit(head, files or {f"{head}.txt": f"{head}\n"})
        return create_pull(
            self.world,
            actor or self.writer,
            self.repository,
            title=f"Add {head}",
            head=head,
            base=base,
            body=body,
        )

    def now(self, issue: Issue) -> Issue:
        """The issue as it is kept now."""
        found = self.world.store.get(Issue, issue.id)
        assert found is not None
        return found

    def kinds(self, issue: Issue) -> list[str]:
        """The kinds of the issue's events, oldest first."""
        return [event.kind for event in events(self.world, issue)]
