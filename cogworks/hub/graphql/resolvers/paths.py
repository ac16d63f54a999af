"""Where on the hub the page of an object is."""

from cogworks.hub.graphql.request import Request
from cogworks.hub.records import (
    Comment,
    Event,
    Issue,
    Label,
    Milestone,
    Repository,
    Review,
    ReviewComment,
    User,
)


def user_path(user: User) -> str:
    return f"/apps/{user.handle}" if user.kind == "Bot" else f"/{user.login}"


def repository_path(repository: Repository) -> str:
    return f"/{repository.full_name}"


def issue_path(issue: Issue, request: Request) -> str:
    word = "issues" if issue.pull is None else "pull"
    return f"{repository_path(request.repository(issue.repository_id))}/{word}/{issue.number}"


def item_path(issue_id: int, anchor: str, request: Request) -> str:
    """The place of something that is shown on the page of an issue or pull request."""
    issue = request.issue(issue_id)
    return "" if issue is None else f"{issue_path(issue, request)}#{anchor}"


def comment_path(comment: Comment, request: Request) -> str:
    return item_path(comment.issue_id, f"issuecomment-{comment.id}", request)


def event_path(event: Event, request: Request) -> str:
    return item_path(event.issue_id, f"event-{event.id}", request)


def review_path(review: Review, request: Request) -> str:
    return item_path(review.issue_id, f"pullrequestreview-{review.id}", request)


def review_comment_path(comment: ReviewComment, request: Request) -> str:
    return item_path(comment.issue_id, f"discussion_r{comment.id}", request)


def label_path(label: Label, request: Request) -> str:
    return f"{repository_path(request.repository(label.repository_id))}/labels/{label.name}"


def milestone_path(milestone: Milestone, request: Request) -> str:
    return f"{repository_path(request.repository(milestone.repository_id))}/milestone/{milestone.number}"
