"""What a person sees in a browser."""

from collections.abc import Iterator

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.hub.actions.comments import create_comment
from cogworks.hub.actions.hierarchy import add_blocked_by, add_sub_issue
from cogworks.hub.actions.labels import add_labels, find_label
from cogworks.hub.actions.merging import merge_pull
from cogworks.hub.actions.pulls import pull_part
from cogworks.hub.actions.repositories import change_repository
from cogworks.hub.actions.reviews import InlineComment, create_review
from cogworks.hub.markup import text_html
from cogworks.hub.server import hub_app
from cogworks.hub.store import pages_link
from tests.hub.bench import Bench
from tests.hub.web import web_client

NASTY = "<script>alert('x')</script> & \"quotes\""


@pytest.fixture
def web(bench: Bench) -> Iterator[httpx.Client]:
    """A browser that opened the link with the token."""
    with web_client(hub_app(bench.world)) as client:
        assert client.get(pages_link(bench.world.directory, "/")).status_code == 303
        yield client


@pytest.fixture
def stranger(bench: Bench) -> Iterator[httpx.Client]:
    with web_client(hub_app(bench.world)) as client:
        yield client


PAGES = (
    "/octo/demo",
    "/octo/demo/issues/1",
    "/octo/demo/pull/2",
    "/octo/demo/pull/2.diff",
    "/octo/demo/commit/{tip}",
)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_a_private_repository_asks_for_the_token(
    bench: Bench, web: httpx.Client, stranger: httpx.Client, page: str
) -> None:
    bench.issue()
    bench.pull("topic")
    page = page.format(tip=bench.tip())
    missing = stranger.get("/octo/nothing")

    answers = [
        stranger.get(page),
        stranger.get(f"{page}?token=wrong"),
        stranger.get(page, headers={"cookie": "hub_pages_80=x"}),
    ]

    assert web.get(page).status_code == 200
    # Whether it is there is not to be seen.
    assert {(answer.status_code, answer.text) for answer in answers} == {(404, missing.text)}
    assert "Open the link with ?token= that `cogworks hub serve` printed" in missing.text


def test_the_link_leaves_a_cookie_that_no_script_and_no_other_site_sends(
    bench: Bench, stranger: httpx.Client
) -> None:
    bench.issue()

    entry = stranger.get(pages_link(bench.world.directory, "/octo/demo/issues/1"))

    assert (entry.status_code, entry.headers["location"]) == (303, "/octo/demo/issues/1")
    cookie, *attributes = entry.headers["set-cookie"].split("; ")
    assert cookie.startswith("hub_pages_80=")
    assert {each.lower() for each in attributes} == {"httponly", "samesite=strict", "path=/"}
    assert stranger.get(entry.headers["location"]).status_code == 200


def test_a_link_leads_nowhere_but_to_this_hub(bench: Bench, stranger: httpx.Client) -> None:
    entry = stranger.get(pages_link(bench.world.directory, "http://hub.test//evil.example/x"))

    assert entry.headers.get("location", "/").startswith("//") is False


def test_a_public_repository_is_for_everybody(bench: Bench, stranger: httpx.Client) -> None:
    assert "octo/demo" not in stranger.get("/").text
    change_repository(bench.world, bench.owner, bench.repository, is_private=False)

    assert stranger.get("/octo/demo").status_code == 200
    assert 'href="/octo/demo"' in stranger.get("/").text


def test_the_front_page_leads_to_every_conversation(bench: Bench, web: httpx.Client) -> None:
    issue, pull = bench.issue("Wrong sum"), bench.pull("topic")

    assert 'href="/octo/demo"' in web.get("/").text
    page = web.get("/octo/demo").text
    assert f'<a href="/octo/demo/issues/{issue.number}">#1 Wrong sum</a>' in page
    assert f'<a href="/octo/demo/pull/{pull.number}">#2 Add topic</a>' in page


def test_an_issue_shows_labels_relations_and_what_was_said(bench: Bench, web: httpx.Client) -> None:
    issue, child, blocker = bench.issue("Parent", "Body text"), bench.issue("Child"), bench.issue("Blocker")
    add_labels(bench.world, bench.owner, issue, [find_label(bench.world, bench.repository, "bug")])
    add_sub_issue(bench.world, bench.owner, issue, child)
    add_blocked_by(bench.world, bench.owner, issue, blocker)
    create_comment(bench.world, bench.reader, issue, "Me too")

    page = web.get("/octo/demo/issues/1").text

    for text in (
        "Body text",
        '<span class="label">bug</span>',
        "#2 Child",
        "#3 Blocker",
        "Me too",
        "rita on",
    ):
        assert text in page


def test_nothing_that_people_write_becomes_markup(bench: Bench, web: httpx.Client) -> None:
    issue = bench.issue(NASTY, f"{NASTY}\n```mermaid\n{NASTY}\n```\n")
    create_comment(bench.world, bench.owner, issue, NASTY)
    bench.pull("topic", files={"x.html": NASTY}, body=NASTY)

    pages = [web.get(path) for path in ("/octo/demo", "/octo/demo/issues/1", "/octo/demo/pull/2")]

    assert [page.status_code for page in pages] == [200, 200, 200]
    assert [page.text.count("<script") for page in pages] == [0, 0, 0]
    assert "&lt;script&gt;" in pages[1].text
    assert {page.headers["content-security-policy"].partition(";")[0] for page in pages} == {
        "default-src 'none'"
    }


def test_a_pull_request_shows_its_diff_its_reviews_and_that_it_is_merged(
    bench: Bench, web: httpx.Client
) -> None:
    pull = bench.pull("topic", files={"src/adder.py": "def add(a, b):\n    return b + a\n"})
    suggestion = "Nice swap\n\n````suggestion\n    return a + b  # ```\n````"
    inline = InlineComment("src/adder.py", suggestion, line=2, start_line=1)
    create_review(bench.world, bench.owner, pull, event="APPROVE", body="Fine", comments=[inline])
    merge_pull(bench.world, bench.owner, pull)

    page = web.get(f"/octo/demo/pull/{pull.number}").text

    for text in (
        '<span class="state merged">merged</span>',
        "main ← topic",
        '<span class="del">-    return a + b</span>',
        '<span class="add">+    return b + a</span>',
        "src/adder.py:1-2",
        '<div class="text">Nice swap</div><pre class="suggestion">    return a + b  # ```\n</pre>',
        "octo approved",
    ):
        assert text in page
    assert "+    return b + a" in web.get(f"/octo/demo/pull/{pull.number}.diff").text
    assert "Change" in web.get(f"/octo/demo/commit/{pull_part(pull).head_oid}").text


def test_mermaid_is_shown_as_its_source() -> None:
    html = text_html("Before\n```mermaid\ngraph TD; A-->B\n```\nAfter\n```py\nx<1\n```")

    assert html == (
        '<div class="text">Before</div><pre class="mermaid">graph TD; A--&gt;B\n</pre>'
        '<div class="text">After</div><pre>x&lt;1\n</pre>'
    )


@given(st.text())
def test_no_text_makes_a_tag_of_its_own(text: str) -> None:
    html = text_html(f"{text}<b>")

    assert "<b>" not in html


@pytest.mark.parametrize("path", ["/octo/none", "/octo/demo/issues/9", "/octo/demo/commit/none", "/a/b/c/d"])
def test_what_is_not_there_is_not_found(web: httpx.Client, path: str) -> None:
    assert web.get(path).status_code == 404
