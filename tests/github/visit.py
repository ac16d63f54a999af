"""One visit's effects, and a writer to publish them with."""

from typing import Any

from cogworks.forge.effects import (
    CommitFiles,
    CreateSubIssue,
    Effect,
    FileText,
    LinkDependency,
    OpenPullRequest,
    PostComment,
)
from cogworks.forge.publication import PublicationContext, Published, PublishedPull
from cogworks.forge.snapshot import Snapshot
from cogworks.github.writer import Writer
from cogworks.vocabulary import BranchName, IssueNumber, SubItemKey, VisitKey
from tests.github.fake_github import FakeGitHub

VISIT = VisitKey("c0" * 32)
OTHER_VISIT = VisitKey("d1" * 32)
SPEC = BranchName("cogworks/4/spec")
MAIN = BranchName("main")
ISSUE = IssueNumber(4)

COMMIT = CommitFiles(
    branch=SPEC,
    base=MAIN,
    files=(FileText(path="docs/spec.md", text="# Spec\n"),),
    headline="Specify",
    visit_key=VISIT,
)
PULL = OpenPullRequest(slug="spec", head=SPEC, base=MAIN, title="Specification", body="Part of #4")
COMMENT = PostComment(number=ISSUE, topic="status", body="Working on it.", visit_key=VISIT)
LINK = LinkDependency(blocked=SubItemKey("b"), blocking=SubItemKey("a"))


def sub_issue(key: str, *labels: str) -> CreateSubIssue:
    return CreateSubIssue(
        key=SubItemKey(key), title=f"Part {key}", body=f"Do {key}.", labels=labels, visit_key=VISIT
    )


def publish(
    github: FakeGitHub,
    *effects: Effect,
    snapshot: Snapshot | None = None,
    context: PublicationContext | None = None,
    push: Any = None,
) -> Published:
    writer = Writer(github, lambda: github, sleep=github.sleep)
    return writer.publish(effects, snapshot or github.snapshot(), context or PublicationContext(), push=push)


def spec_pull(number: int = 101) -> PublishedPull:
    return PublishedPull(
        slug="spec",
        number=IssueNumber(number),
        node_id=f"P{number}",
        url=f"https://github.com/o/r/pull/{number}",
        head=SPEC,
        base=MAIN,
    )
