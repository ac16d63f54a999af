"""The read, the writes and REST against a real server: the hub in a process of its own."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from cogworks.errors import PermissionRefused, UsageError
from cogworks.forge.addresses import ApiAddresses, IssueAddress, api_addresses, parse_issue_url
from cogworks.forge.effects import (
    CommitFiles,
    CreateIssue,
    CreateSubIssue,
    EditComment,
    Effect,
    FileText,
    LineRemark,
    LinkDependency,
    OpenPullRequest,
    PostComment,
    PostReview,
    ReportCheck,
    SetLabels,
)
from cogworks.forge.inbox import may_command
from cogworks.forge.publication import PublicationContext, Published
from cogworks.forge.snapshot import Snapshot
from cogworks.github.client import GraphQLClient
from cogworks.github.credentials import FixedToken
from cogworks.github.documents import Answer, OutcomeUnknown, read_work_item
from cogworks.github.meter import Requests
from cogworks.github.permissions import permissions_of
from cogworks.github.reading import SnapshotReader
from cogworks.github.rest import RestClient
from cogworks.github.writer import Writer, may_report
from cogworks.hub.seeding import add_collaborator, add_token, add_user, create_repository
from cogworks.hub.world import World
from cogworks.ledger.record import ROOT_BRANCH
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, Login, SubItemKey, VisitKey
from tests import plain_http
from tests.hub.running import running_hub

TOKEN = "ghp_" + "a" * 36
READER_TOKEN = "ghp_" + "b" * 36
APP_TOKEN = "ghs_" + "c" * 36
VISIT = VisitKey("c0" * 32)


@dataclass
class Hub:
    """A hub with the repository octo-org/sample; ann and an app may write, eve may read."""

    url: str

    @property
    def apis(self) -> ApiAddresses:
        return api_addresses(self.url)

    def new_issue(self) -> IssueAddress:
        made = self.ask("POST", "issues", {"title": "Wrong sum", "body": "It adds up wrongly."})
        return parse_issue_url(made["html_url"])

    def ask(self, verb: str, path: str, payload: Any = None) -> Any:
        """What a person does, as ann."""
        answer = plain_http.request(
            verb,
            f"{self.apis.rest_url}/repos/octo-org/sample/{path}",
            json=payload,
            headers={"Authorization": f"Bearer {TOKEN}"},
        )
        assert answer.is_success, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    directory = tmp_path_factory.mktemp("hub")
    files = tmp_path_factory.mktemp("sample")
    (files / ".cogworks" / "prompts").mkdir(parents=True)
    (files / ".cogworks" / "config.toml").write_text("[labels]\n")
    (files / ".cogworks" / "prompts" / "intake.md.j2").write_text("Read it.\n")
    (files / "README.md").write_text("# Sample\n")
    world = World(directory)
    add_user(world, "octo-org", kind="Organization")
    repository = create_repository(world, "octo-org/sample", tree=files)
    for login, token, role in (("ann", TOKEN, "write"), ("eve", READER_TOKEN, "read")):
        user = add_user(world, login)
        add_token(world, user, token)
        add_collaborator(world, repository, user, role)
    app = add_user(world, "cogs[bot]", kind="Bot")
    add_token(world, app, APP_TOKEN, kind="installation")
    add_collaborator(world, repository, app, "write")
    world.close()
    with running_hub(directory) as running:
        yield Hub(running.url)


@dataclass
class Bench:
    """Everything of cogworks that speaks to one GitHub."""

    hub: Hub
    address: IssueAddress
    client: GraphQLClient
    rest: RestClient
    meter: Requests

    def read(self) -> Snapshot:
        return SnapshotReader(self.client, sleep=lambda _: None).read(self.address)

    def publish(self, *effects: Effect, context: PublicationContext | None = None) -> Published:
        return self.writer().publish(effects, self.read(), context or PublicationContext())

    def writer(self, client: Any = None) -> Writer:
        return Writer(client or self.client, lambda: self.rest, sleep=lambda _: None)


@pytest.fixture
def bench(hub: Hub) -> Iterator[Bench]:
    meter = Requests()
    with (
        GraphQLClient(hub.apis.graphql_url, FixedToken(TOKEN), meter=meter) as client,
        RestClient(hub.apis.rest_url, FixedToken(TOKEN), "octo-org/sample", meter=meter) as rest,
    ):
        yield Bench(hub, hub.new_issue(), client, rest, meter)


def commit(bench: Bench, slug: str, *, visit_key: VisitKey = VISIT, text: str = "# Spec\n") -> CommitFiles:
    return CommitFiles(
        branch=BranchName(f"cogworks/{bench.address.number}/{slug}"),
        base=BranchName("main"),
        files=(FileText(path=f"docs/{bench.address.number}.md", text=text),),
        headline="Specify",
        visit_key=visit_key,
    )


def pull(bench: Bench, slug: str) -> OpenPullRequest:
    return OpenPullRequest(
        slug=slug,
        head=BranchName(f"cogworks/{bench.address.number}/{slug}"),
        base=BranchName("main"),
        title="Specification",
        body=f"Part of #{bench.address.number}",
    )


def comment(bench: Bench) -> PostComment:
    return PostComment(number=bench.address.number, topic="status", body="Working on it.", visit_key=VISIT)


def sub_issue(key: str, *labels: str) -> CreateSubIssue:
    return CreateSubIssue(
        key=SubItemKey(key), title=f"Part {key}", body=f"Do {key}.", labels=labels, visit_key=VISIT
    )


def test_a_new_item_is_read_in_one_request(bench: Bench) -> None:
    snapshot = bench.read()

    assert bench.meter.graphql == 1
    assert (snapshot.issue.title, snapshot.issue.state, snapshot.issue.comments) == ("Wrong sum", "open", ())
    assert snapshot.repository.config_files == {
        "config.toml": "[labels]\n",
        "prompts/intake.md.j2": "Read it.\n",
    }
    assert snapshot.repository.viewer_permission == "WRITE"
    assert (snapshot.viewer.login, snapshot.viewer.is_app) == ("ann", False)
    assert snapshot.issue.author is not None
    assert snapshot.issue.author.id == snapshot.viewer.id
    assert (snapshot.ledger, snapshot.branches, snapshot.pulls) == (None, {}, ())


def test_everything_a_visit_publishes_is_read_back(bench: Bench) -> None:
    published = bench.publish(
        commit(bench, "spec"),
        pull(bench, "spec"),
        comment(bench),
        sub_issue("a", "cogworks:run"),
        sub_issue("b"),
    )

    snapshot = bench.read()
    assert published.warnings == ()
    assert [made.oid for made in published.commits] == [branch.oid for branch in snapshot.branches.values()]
    assert [made.number for made in published.pull_requests] == [found.number for found in snapshot.pulls]
    assert [made.node_id for made in published.pull_requests] == [found.node_id for found in snapshot.pulls]
    assert [made.database_id for made in published.comments] == [
        c.database_id for c in snapshot.issue.comments
    ]
    assert [made.number for made in published.sub_issues] == [s.number for s in snapshot.issue.sub_issues]
    assert snapshot.pulls[0].state == "open"
    assert snapshot.pulls[0].head_oid == published.commits[0].oid


def test_publishing_again_writes_nothing(bench: Bench) -> None:
    effects = (commit(bench, "spec"), pull(bench, "spec"), comment(bench), sub_issue("a"), sub_issue("b"))
    first = bench.publish(*effects)
    before = bench.meter.graphql

    assert bench.publish(*effects) == first
    # Reading what is there, and what is in a commit that no ledger knows as ours.
    assert bench.meter.graphql == before + 2


def test_rework_commits_on_top_and_keeps_the_pull_request(bench: Bench) -> None:
    first = bench.publish(commit(bench, "spec"), pull(bench, "spec"))

    second = bench.publish(
        commit(bench, "spec", visit_key=VisitKey("d1" * 32), text="# Better\n"), pull(bench, "spec")
    )

    assert second.pull_requests == first.pull_requests
    assert bench.read().pulls[0].head_oid == second.commits[0].oid != first.commits[0].oid


def test_sub_issues_are_linked_and_linking_again_changes_nothing(bench: Bench) -> None:
    link = LinkDependency(blocked=SubItemKey("b"), blocking=SubItemKey("a"))
    published = bench.publish(*[sub_issue(key) for key in "abcdefg"], link)
    numbers = {made.key: made.number for made in published.sub_issues}

    again = bench.publish(link, context=PublicationContext(sub_items=numbers))

    blocked = {issue.number: issue.blocked_by for issue in bench.read().issue.sub_issues}
    assert blocked[numbers[SubItemKey("b")]] == (numbers[SubItemKey("a")],)
    assert (published.warnings, again.warnings) == ((), ())


def follow_up(bench: Bench, key: str, *labels: str) -> CreateIssue:
    # The repository is shared by these tests, so that each needs a visit of its own.
    visit = VisitKey(f"{bench.address.number:064x}")
    return CreateIssue(key=key, title=f"Later {key}", body=f"Do {key}.", labels=labels, visit_key=visit)


def test_follow_up_issues_are_made_once_with_their_labels_and_belong_to_nobody(bench: Bench) -> None:
    effects = [follow_up(bench, f"issue-{number}", "documentation") for number in range(1, 8)]

    before = bench.read()
    first = bench.publish(*effects)

    assert [made.key for made in first.issues] == [effect.key for effect in effects]
    assert bench.writer().publish(effects, before, PublicationContext()) == first
    assert bench.read().issue.sub_issues == ()
    made = bench.client.query(
        "query Q($id: ID!) { node(id: $id) { ... on Issue { title labels(first: 9) { nodes { name } } } } }",
        {"id": first.issues[0].node_id},
    ).data["node"]
    assert made == {"title": "Later issue-1", "labels": {"nodes": [{"name": "documentation"}]}}


def test_follow_up_issues_whose_answer_is_lost_are_found_again(bench: Bench) -> None:
    client = LosesAnswers(bench.client)
    effects = [follow_up(bench, "issue-1"), follow_up(bench, "issue-2")]

    before = bench.read()
    published = bench.writer(client).publish(effects, before, PublicationContext())

    assert client.documents == 1
    assert [made.key for made in published.issues] == ["issue-1", "issue-2"]
    assert bench.writer().publish(effects, before, PublicationContext()).issues == published.issues


@dataclass
class Misdirects:
    """A client to which every issue with the word in its title is sent to a repository that does not exist."""

    client: GraphQLClient
    word: str

    def query(self, document: str, variables: Any) -> Answer:
        return self.client.query(document, variables)

    def mutate(self, document: str, variables: Any) -> Answer:
        for given in variables.values():
            if self.word in given["title"]:
                given["repositoryId"] = "nothing"
        return self.client.mutate(document, variables)


def test_one_follow_up_issue_of_three_that_is_refused_leaves_the_others(bench: Bench) -> None:
    client = Misdirects(bench.client, "issue-2")
    effects = [follow_up(bench, f"issue-{number}") for number in (1, 2, 3)]

    published = bench.writer(client).publish(effects, bench.read(), PublicationContext())

    assert [made.key for made in published.issues] == ["issue-1", "issue-3"]
    assert [refused.key for refused in published.refused_issues] == ["issue-2"]
    assert "refused to create the issue 'issue-2'" in published.refused_issues[0].reason


@dataclass
class LosesAnswers:
    """A client whose every first write is carried out, but never answered."""

    client: GraphQLClient
    documents: int = 0

    def query(self, document: str, variables: Any) -> Answer:
        return self.client.query(document, variables)

    def mutate(self, document: str, variables: Any) -> Answer:
        self.documents += 1
        answer = self.client.mutate(document, variables)
        if self.documents == 1:
            raise OutcomeUnknown("the answer is lost")
        return answer


def test_a_lost_answer_leaves_everything_there_exactly_once(bench: Bench) -> None:
    client = LosesAnswers(bench.client)
    effects = (commit(bench, "spec"), pull(bench, "spec"), comment(bench))

    published = bench.writer(client).publish(effects, bench.read(), PublicationContext())

    snapshot = bench.read()
    assert client.documents == 1
    assert [made.number for made in published.pull_requests] == [found.number for found in snapshot.pulls]
    assert len(snapshot.issue.comments) == 1


def test_views_are_applied_in_one_document(bench: Bench) -> None:
    published = bench.publish(comment(bench))
    edit = EditComment(comment_id=published.comments[0].node_id, body="Done.")
    labels = SetLabels(number=bench.address.number, add=("cogworks:node:intake", "cogworks:kind:bug"))

    warnings = [
        bench.writer().apply_views([edit, labels], bench.read()),
        bench.writer().apply_views(
            [SetLabels(number=bench.address.number, remove=("cogworks:node:intake",))], bench.read()
        ),
    ]

    issue = bench.read().issue
    assert warnings == [None, None]
    assert issue.comments[0].body == "Done."
    assert issue.labels == ("cogworks:kind:bug",)
    assert [(event.label, event.added) for event in issue.label_events][-1] == ("cogworks:node:intake", False)


def test_a_merged_pull_request_stays_known_by_its_reference(bench: Bench) -> None:
    published = bench.publish(commit(bench, "spec"), pull(bench, "spec"))
    number = published.pull_requests[0].number

    bench.hub.ask("PUT", f"pulls/{number}/merge")

    found = [found for found in bench.read().pulls if found.number == number]
    assert [(pull.state, pull.merged_by and pull.merged_by.login) for pull in found] == [("merged", "ann")]


def test_a_recorded_pull_request_is_found_by_its_id(bench: Bench) -> None:
    published = bench.publish(commit(bench, "spec"), pull(bench, "spec"))
    whole = bench.read()
    reader = SnapshotReader(bench.client, sleep=lambda _: None)

    completed = reader.complete(whole.model_copy(update={"pulls": ()}), [published.pull_requests[0].node_id])

    assert completed == whole


def test_more_branches_than_one_page_holds_are_all_read(bench: Bench) -> None:
    effects = [commit(bench, f"swi-{number}") for number in range(45)]

    published = bench.publish(*effects)

    assert sorted(bench.read().branches) == sorted(made.branch for made in published.commits)


def test_the_ledger_root_is_made_once(bench: Bench) -> None:
    first = bench.rest.create_ledger_root(ROOT_BRANCH)

    assert bench.rest.create_ledger_root(ROOT_BRANCH) == first
    assert bench.read().root_oid == first


def test_labels_are_made_once_and_set_by_name(bench: Bench) -> None:
    ids = {bench.rest.ensure_label("cogworks:hold", "d93f0b", "Pause") for _ in range(2)}

    bench.hub.ask("POST", f"issues/{bench.address.number}/labels", {"labels": ["cogworks:hold"]})

    snapshot = bench.read()
    assert {snapshot.repository.label_ids["cogworks:hold"]} == ids
    assert snapshot.issue.label_events[-1].actor is not None
    assert snapshot.issue.label_events[-1].actor.login == "ann"


def test_permissions_are_read_for_everybody_at_once(bench: Bench) -> None:
    people = [Login(login) for login in ("ann", "eve", "nobody-at-all")]

    found = permissions_of(bench.client, bench.rest, "octo-org/sample", people)

    assert [may_command(found[login]) for login in people] == [True, False, False]
    assert [bench.rest.permission_of(login) for login in people[:2]] == ["write", "read"]


def test_a_reader_may_not_write(bench: Bench) -> None:
    snapshot = bench.read()
    with GraphQLClient(bench.hub.apis.graphql_url, FixedToken(READER_TOKEN)) as client:
        writer = bench.writer(client)

        with pytest.raises(PermissionRefused, match="refused to commit"):
            writer.publish([commit(bench, "spec")], snapshot, PublicationContext())
    assert bench.read().branches == {}


def test_an_app_recognises_its_own_comments_and_sub_issues(bench: Bench) -> None:
    effects = (comment(bench), sub_issue("a"))
    with GraphQLClient(bench.hub.apis.graphql_url, FixedToken(APP_TOKEN)) as client:
        reader, writer = SnapshotReader(client, sleep=lambda _: None), bench.writer(client)

        first = writer.publish(effects, reader.read(bench.address), PublicationContext())
        second = writer.publish(effects, reader.read(bench.address), PublicationContext())
        snapshot = reader.read(bench.address)

    author = snapshot.issue.comments[0].author
    assert first == second
    assert (snapshot.viewer.login, snapshot.viewer.is_app) == ("cogs[bot]", True)
    assert author is not None
    assert (author.login, author.is_bot, author.id) == ("cogs", True, snapshot.viewer.id)


def test_a_bad_token_is_refused(hub: Hub) -> None:
    address = IssueAddress(hub.url, "octo-org", "sample", IssueNumber(1))
    with (
        GraphQLClient(hub.apis.graphql_url, FixedToken("nonsense")) as client,
        pytest.raises(PermissionRefused),
    ):
        SnapshotReader(client, sleep=lambda _: None).read(address)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("octo-org/sample/issues/9999", "has no issue with this number"),
        ("octo-org/none/issues/1", "no repository"),
    ],
)
def test_what_is_not_there_is_named(bench: Bench, path: str, text: str) -> None:
    address = parse_issue_url(f"{bench.hub.url}/{path}")

    with pytest.raises(UsageError, match=text):
        SnapshotReader(bench.client, sleep=lambda _: None).read(address)


def test_a_pull_request_number_is_not_an_issue(bench: Bench) -> None:
    published = bench.publish(commit(bench, "spec"), pull(bench, "spec"))
    number = published.pull_requests[0].number
    address = IssueAddress(bench.hub.url, "octo-org", "sample", number)

    with pytest.raises(UsageError, match="has no issue with this number"):
        SnapshotReader(bench.client, sleep=lambda _: None).read(address)


def test_the_server_counts_the_points_that_we_count(bench: Bench) -> None:
    variables = {
        "owner": "octo-org",
        "name": "sample",
        "number": bench.address.number,
        "ledger": "refs/heads/a",
        "root": "refs/heads/b",
        "branchPrefix": "refs/heads/c/",
    }

    answer = bench.client.query(read_work_item(with_dependencies=True), variables)

    assert answer.rate is not None
    assert answer.rate.cost == 3


def check(head: str) -> ReportCheck:
    return ReportCheck(
        name="cogworks: tests before and after",
        head=CommitOid(head),
        conclusion="success",
        title="1 test fails before and passes after",
        summary="| test |",
        visit_key=VISIT,
    )


def test_an_app_shows_a_verdict_beside_a_commit_once(hub: Hub, bench: Bench) -> None:
    (made,) = bench.publish(commit(bench, "checked")).commits
    tokens = FixedToken(APP_TOKEN)
    with RestClient(hub.apis.rest_url, tokens, "octo-org/sample") as rest:
        for _ in range(2):
            rest.report_check(check(made.oid))

    runs = plain_http.get(
        f"{hub.apis.rest_url}/repos/octo-org/sample/commits/{made.oid}/check-runs",
        headers={"Authorization": f"Bearer {APP_TOKEN}"},
    ).json()["check_runs"]
    assert [(run["name"], run["conclusion"], run["external_id"]) for run in runs] == [
        ("cogworks: tests before and after", "success", VISIT)
    ]
    assert may_report(tokens)


def test_a_person_may_not_and_that_is_a_warning(bench: Bench) -> None:
    made = bench.publish(commit(bench, "unchecked"))
    writer = Writer(bench.client, lambda: bench.rest, sleep=lambda _: None, checks=lambda: bench.rest)

    found = writer.publish([check(made.commits[0].oid)], bench.read(), PublicationContext())

    (warning,) = found.warnings
    assert warning.startswith("no check run: ")
    assert "You must authenticate via a GitHub App." in warning
    assert not may_report(FixedToken(TOKEN))


def test_without_an_app_a_check_costs_no_request(bench: Bench) -> None:
    made = bench.publish(commit(bench, "unasked"))
    snapshot, before = bench.read(), repr(bench.meter)

    found = bench.writer().publish([check(made.commits[0].oid)], snapshot, PublicationContext())

    assert (found, repr(bench.meter)) == (Published(), before)


def remarks(bench: Bench, head: str, *lines: tuple[int, int]) -> PostReview:
    """A suggestion for each stretch of the file that `commit` adds."""
    return PostReview(
        branch=BranchName(f"cogworks/{bench.address.number}/said"),
        base=BranchName("main"),
        head=CommitOid(head),
        body="For you to decide.",
        remarks=tuple(
            LineRemark(
                key=f"{first}-{last}",
                path=f"docs/{bench.address.number}.md",
                first_line=first,
                last_line=last,
                body="Shorter.\n\n````suggestion\n```\n````",
            )
            for first, last in lines
        ),
        visit_key=VISIT,
    )


def said(bench: Bench, number: int) -> list[dict[str, Any]]:
    api = f"{bench.hub.apis.rest_url}/repos/octo-org/sample/pulls/{number}"
    found = plain_http.get(f"{api}/comments", headers={"Authorization": f"Bearer {TOKEN}"})
    return [{key: each[key] for key in ("start_line", "line", "body")} for each in found.json()]


def test_a_suggestion_stands_at_its_lines_once(bench: Bench) -> None:
    text = commit(bench, "said", text="# Spec\n\none\ntwo\n")
    (made,) = bench.publish(text).commits
    effects = (text, pull(bench, "said"), remarks(bench, made.oid, (1, 1), (3, 4)))

    first = bench.publish(*effects)
    again = bench.publish(*effects)

    assert (first.warnings, again) == ((), first)
    found = said(bench, first.pull_requests[0].number)
    assert [(each["start_line"], each["line"]) for each in found] == [(None, 1), (3, 4)]
    assert found[1]["body"].endswith("Shorter.\n\n````suggestion\n```\n````")


def test_a_line_that_no_diff_shows_leaves_the_remarks_in_the_body_of_the_review(bench: Bench) -> None:
    text = commit(bench, "said")
    (made,) = bench.publish(text).commits

    published = bench.publish(text, pull(bench, "said"), remarks(bench, made.oid, (1, 1), (7, 7)))

    number = published.pull_requests[0].number
    assert (published.warnings, said(bench, number)) == ((), [])
    api = f"{bench.hub.apis.rest_url}/repos/octo-org/sample/pulls/{number}/reviews"
    [review] = plain_http.get(api, headers={"Authorization": f"Bearer {TOKEN}"}).json()
    assert review["state"] == "COMMENTED"
    assert f"`docs/{bench.address.number}.md` line 7:\n\nShorter." in review["body"]
