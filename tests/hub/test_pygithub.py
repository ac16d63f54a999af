"""The hub as PyGithub sees it, unmodified."""

from collections.abc import Iterator

import github
import pytest
from github.GithubRetry import GithubRetry
from github.Repository import Repository

from tests.hub.running import (
    BOT_TOKEN,
    OWNER_TOKEN,
    READER_TOKEN,
    SAMPLE,
    WRITER_TOKEN,
    RunningHub,
    running_hub,
    seeded,
)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    with running_hub(seeded(tmp_path_factory.mktemp("pygithub") / "hub")) as running:
        yield running


class Clients:
    """PyGithub clients that are closed at the end."""

    def __init__(self, hub: RunningHub) -> None:
        self._hub = hub
        self._open: list[github.Github] = []

    def client(self, token: str = OWNER_TOKEN, *, base_url: str | None = None) -> github.Github:
        made = github.Github(
            auth=github.Auth.Token(token),
            base_url=base_url or self._hub.api_url,
            seconds_between_requests=None,
            seconds_between_writes=None,
            retry=GithubRetry(total=0),
        )
        self._open.append(made)
        return made

    def repository(self, token: str = OWNER_TOKEN) -> Repository:
        return self.client(token).get_repo("octo/demo")

    def close(self) -> None:
        for each in self._open:
            each.close()


@pytest.fixture
def clients(hub: RunningHub) -> Iterator[Clients]:
    made = Clients(hub)
    yield made
    made.close()


@pytest.mark.parametrize("prefix", ["", "/api/v3"], ids=["root", "api-v3"])
def test_the_viewer_is_the_owner_of_the_token(hub: RunningHub, clients: Clients, prefix: str) -> None:
    client = clients.client(WRITER_TOKEN, base_url=hub.url + prefix)

    assert client.get_user().login == "ada"
    assert client.get_repo("octo/demo").full_name == "octo/demo"


def test_an_issue_lives_from_opening_to_closing(clients: Clients) -> None:
    repository = clients.repository()
    issue = repository.create_issue("Wrong sum", body="2 + 2 is 5", labels=["bug"], assignees=["ada"])
    comment = issue.create_comment("Looking")
    comment.edit("Looked")
    comment.create_reaction("eyes")
    issue.add_to_labels("new label", "question")
    issue.remove_from_labels("question")
    issue.edit(title="Wrong sums", state="closed", state_reason="not_planned")

    found = repository.get_issue(issue.number)

    assert (found.title, found.state, found.state_reason, found.body) == (
        "Wrong sums",
        "closed",
        "not_planned",
        "2 + 2 is 5",
    )
    assert [label.name for label in found.labels] == ["bug", "new label"]
    assert [user.login for user in found.assignees] == ["ada"]
    assert [(each.id > 2**31, each.user.login, each.body) for each in found.get_comments()] == [
        (True, "octo", "Looked")
    ]
    assert [each.content for each in comment.get_reactions()] == ["eyes"]
    assert [each.event for each in found.get_events()] == [
        "labeled",
        "assigned",
        "labeled",
        "labeled",
        "unlabeled",
        "renamed",
        "closed",
    ]


def test_sub_issues_and_dependencies_hang_together(clients: Clients) -> None:
    repository = clients.repository()
    parent, one, two = (repository.create_issue(title) for title in ("Parent", "One", "Two"))
    parent.add_sub_issue(one)
    parent.add_sub_issue(two)
    parent.prioritize_sub_issue(one, two)
    two.add_blocked_by(one)

    assert [each.number for each in parent.get_sub_issues()] == [two.number, one.number]
    assert [each.number for each in two.get_blocked_by()] == [one.number]
    assert [each.number for each in one.get_blocking()] == [two.number]
    with pytest.raises(github.GithubException) as refused:
        one.add_sub_issue(parent)
    assert refused.value.status == 422


def test_a_list_is_paged_with_links(clients: Clients) -> None:
    repository = clients.repository()
    issue = repository.create_issue("Long talk")
    for number in range(35):
        issue.create_comment(f"{number}")

    found = issue.get_comments()

    assert [each.body for each in found] == [f"{number}" for number in range(35)]
    assert found.totalCount == 35


def test_a_pull_request_is_opened_reviewed_and_merged(clients: Clients) -> None:
    repository = clients.repository()
    main = repository.get_branch("main").commit.sha
    repository.create_git_ref("refs/heads/feature/pr", main)
    old = repository.get_contents("src/adder.py", ref="feature/pr")
    assert not isinstance(old, list)
    text = SAMPLE["src/adder.py"].replace("a + b", "b + a")
    repository.update_file(old.path, "Swap", text, old.sha, branch="feature/pr")
    pull = repository.create_pull(base="main", head="feature/pr", title="Swap", body="For fun")
    reviewed = clients.repository(WRITER_TOKEN).get_pull(pull.number)
    reviewed.create_review(
        body="Fine", event="APPROVE", comments=[{"path": "src/adder.py", "line": 2, "body": "Nice"}]
    )

    assert pull.mergeable in (None, True)
    assert repository.get_pull(pull.number).mergeable is True
    assert [(file.filename, file.status, file.changes) for file in pull.get_files()] == [
        ("src/adder.py", "modified", 2)
    ]
    assert [commit.commit.message for commit in pull.get_commits()] == ["Swap"]
    assert [(review.state, review.user.login) for review in pull.get_reviews()] == [("APPROVED", "ada")]
    assert [(comment.path, comment.line) for comment in pull.get_review_comments()] == [("src/adder.py", 2)]
    merged = pull.merge(merge_method="merge", sha=pull.head.sha)
    assert merged.merged
    assert repository.get_branch("main").commit.sha == merged.sha
    assert repository.get_pull(pull.number).merged


def test_a_stale_sha_stops_a_merge_and_a_file_write(clients: Clients) -> None:
    repository = clients.repository()
    main = repository.get_branch("main").commit.sha
    repository.create_git_ref("refs/heads/feature/stale", main)
    made = repository.create_file("stale.txt", "Add", "1", branch="feature/stale")
    pull = repository.create_pull(base="main", head="feature/stale", title="Stale")

    with pytest.raises(github.GithubException) as merge:
        pull.merge(sha=main)
    with pytest.raises(github.GithubException) as write:
        repository.update_file("stale.txt", "Again", "2", main, branch="feature/stale")

    assert made["commit"].sha == pull.head.sha
    assert (merge.value.status, write.value.status) == (409, 409)


def test_a_second_pull_request_for_a_branch_is_refused_in_githubs_words(clients: Clients) -> None:
    repository = clients.repository()
    main = repository.get_branch("main").commit.sha
    repository.create_git_ref("refs/heads/feature/twice", main)
    with pytest.raises(github.GithubException) as none:
        repository.create_pull(base="main", head="feature/twice", title="Empty")
    repository.create_file("twice.txt", "Add", "1", branch="feature/twice")
    repository.create_pull(base="main", head="feature/twice", title="Once")
    with pytest.raises(github.GithubException) as second:
        repository.create_pull(base="main", head="octo:feature/twice", title="Twice")

    messages = [refused.value.data["errors"][0]["message"] for refused in (none, second)]
    assert messages == [
        "No commits between main and feature/twice",
        "A pull request already exists for octo:feature/twice.",
    ]


def test_nobody_approves_their_own_pull_request(clients: Clients) -> None:
    repository = clients.repository()
    repository.create_git_ref("refs/heads/feature/own", repository.get_branch("main").commit.sha)
    repository.create_file("own.txt", "Add", "1", branch="feature/own")
    pull = repository.create_pull(base="main", head="feature/own", title="Own")

    with pytest.raises(github.GithubException) as refused:
        pull.create_review(event="APPROVE")

    assert refused.value.status == 422


def test_a_root_commit_has_no_parents(clients: Clients) -> None:
    repository = clients.repository()
    element = github.InputGitTreeElement("README", "100644", "blob", content="A root of its own\n")
    commit = repository.create_git_commit("Root", repository.create_git_tree([element]), [])
    ref = repository.create_git_ref("refs/heads/root", commit.sha)

    assert (commit.parents, ref.object.sha) == ([], commit.sha)
    with pytest.raises(github.GithubException) as twice:
        repository.create_git_ref("refs/heads/root", commit.sha)
    assert (twice.value.status, twice.value.data["message"]) == (422, "Reference already exists")
    ref.delete()


def test_only_an_app_writes_check_runs(clients: Clients) -> None:
    by_app, by_person = clients.repository(BOT_TOKEN), clients.repository(OWNER_TOKEN)
    head = by_app.get_branch("main").commit.sha
    run = by_app.create_check_run("tests", head, status="in_progress", external_id="key")
    run.edit(conclusion="success", output={"title": "Passed", "summary": "All of them"})
    by_app.get_commit(head).create_status("pending", context="ci")

    assert [
        (each.name, each.status, each.conclusion) for each in by_app.get_commit(head).get_check_runs()
    ] == [("tests", "completed", "success")]
    assert by_app.get_commit(head).get_combined_status().state == "pending"
    with pytest.raises(github.GithubException) as refused:
        by_person.create_check_run("tests", head)
    assert refused.value.status == 403


def test_a_reader_comments_but_changes_nothing(clients: Clients) -> None:
    issue = clients.repository().create_issue("Read me")
    mine = clients.repository(READER_TOKEN).get_issue(issue.number)

    assert mine.create_comment("Hello").user.login == "rita"
    with pytest.raises(github.GithubException) as refused:
        mine.add_to_labels("bug")
    assert refused.value.status == 403
    assert clients.repository().get_collaborator_permission("rita") == "read"


def test_an_unchanged_object_is_answered_with_not_modified(clients: Clients) -> None:
    client = clients.client()
    issue = client.get_repo("octo/demo").create_issue("Same")
    read = client.get_repo("octo/demo").get_issue(issue.number)
    before = client.get_rate_limit().resources.core.remaining

    assert read.update() is False
    assert client.get_rate_limit().resources.core.remaining == before
    issue.edit(title="Other")
    assert read.update() is True


def test_a_wrong_token_and_a_missing_object_have_githubs_words(clients: Clients) -> None:
    with pytest.raises(github.BadCredentialsException) as wrong:
        clients.client("nonsense").get_user().login  # noqa: B018 - PyGithub asks when the attribute is read
    with pytest.raises(github.UnknownObjectException) as missing:
        clients.repository().get_issue(999_999)

    assert (wrong.value.data["message"], missing.value.data["message"]) == ("Bad credentials", "Not Found")
