"""What people ask for in comments."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.forge.bodies import marked
from cogworks.forge.facts import Account, Comment
from cogworks.forge.inbox import Command, Edited, Misspelt, new_commands, parse_command
from cogworks.pipeline.inputs import HOW_TO_WRITE
from cogworks.vocabulary import IssueNumber, Login, VisitKey

ADA = Account(login=Login("ada"), id=7)


def comment(body: str, *, number: int = 1, edited: bool = False) -> Comment:
    return Comment(
        node_id=f"C{number}",
        database_id=number,
        author=ADA,
        body=body,
        created_at=datetime(2026, 1, 5, tzinfo=UTC),
        edited=edited,
        viewer_did_author=False,
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("/cogworks run", Command(verb="run")),
        ("  /cogworks RETRY  \r\nplease", Command(verb="retry")),
        (
            "/cogworks approve architecture 0123abc",
            Command(verb="approve", node="architecture", artifact="0123abc"),
        ),
        (
            "/cogworks approve code_generation@57 ABCDEF1234",
            Command(verb="approve", node="code_generation@57", artifact="abcdef1234"),
        ),
        ("/cogworks reject review too slow", Command(verb="reject", node="review", why="too slow")),
        ("/cogworks hold", Command(verb="hold")),
        ("/cogworks update", Command(verb="update")),
        ("/cogworks update #12", Command(verb="update", pull_request=IssueNumber(12))),
        ("/cogworks update 12", Command(verb="update", pull_request=IssueNumber(12))),
        (
            "/cogworks update main",
            Misspelt(problem="`update` takes the number of one pull request, or nothing"),
        ),
        ("/cogworks resume it was a quote", Command(verb="resume", why="it was a quote")),
        ("/cogworks", Misspelt(problem="it names no verb")),
        ("/cogworks resume", Misspelt(problem="`resume` needs a reason why the item may go on")),
        ("/cogworks xyzzy", Misspelt(problem="`xyzzy` is not a verb I know")),
        ("/cogworks aprove spec", Misspelt(problem="`aprove` is not a verb I know; did you mean `approve`?")),
        ("/cogworks `@everyone`", Misspelt(problem="the first word is not a verb I know")),
        ("/cogworks status now", Misspelt(problem="`status` takes nothing after it")),
        (
            "/cogworks approve architecture",
            Misspelt(
                problem="the approval of architecture names no hash of 7 to 64 hex digits, so it is not clear what is approved"
            ),
        ),
        ("/cogworks approve", Misspelt(problem="`approve` needs the node and the hash of what is approved")),
        ("/cogworks reject", Misspelt(problem="`reject` needs the node and a reason")),
        ("/cogworks reject review", Misspelt(problem="the rejection of review gives no reason")),
        ("I ran /cogworks run yesterday", None),
        ("Thanks!\n/cogworks run", None),
        ("/cogworksrun", None),
        ("", None),
    ],
)
def test_the_first_line_of_a_comment_is_a_command_or_not(body: str, said: Command | Misspelt | None) -> None:
    assert parse_command(body) == said


@given(st.text(max_size=300))
def test_no_comment_breaks_the_parser(body: str) -> None:
    for text in (body, f"/cogworks {body}"):
        assert isinstance(parse_command(text), Command | Misspelt | None)


@given(st.text(max_size=80))
def test_an_answer_never_repeats_what_could_mean_something_to_github(body: str) -> None:
    said = parse_command(f"/cogworks {body}")

    if isinstance(said, Misspelt):
        assert all(part not in said.problem for part in ("<", "](", "\n", "#"))


@pytest.mark.parametrize("verb", sorted(HOW_TO_WRITE))
def test_every_verb_is_understood_the_way_it_is_shown(verb: str) -> None:
    line = HOW_TO_WRITE[verb].replace("<node>", "intake").replace("<hash>", "0123abc")

    said = parse_command(line.replace("<why>", "so").replace("[why]", "").replace("[number]", "12"))

    assert isinstance(said, Command)
    assert said.verb == verb


def test_only_comments_after_the_cursor_are_heard_oldest_first_and_never_our_own() -> None:
    ours = marked("/cogworks run", visit_key=VisitKey("a" * 64), topic="status")

    found = new_commands(
        (
            comment("/cogworks run", number=4),
            comment("/cogworks hold", number=3),
            comment(ours, number=2),
            comment("/cogworks retry", number=1),
        ),
        after=1,
    )

    assert [each.database_id for each, _ in found] == [3, 4]


def test_a_command_that_was_edited_after_posting_is_told_apart() -> None:
    [(_, said)] = new_commands((comment("/cogworks cancel", edited=True),), after=0)

    assert said == Edited()
