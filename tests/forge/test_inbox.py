"""Who is obeyed, and what counts as said."""

from datetime import timedelta

import pytest

from cogworks.forge.facts import Account
from cogworks.forge.inbox import hear, people_to_ask_about
from cogworks.pipeline.inputs import Asked, Heard, Refused
from cogworks.pipeline.people import IgnoredLabel, Inputs
from cogworks.settings.config import parse_config
from cogworks.vocabulary import Login
from tests.world import ANN, BOT, CONFIG, World

CONFIGURED = parse_config(CONFIG + '[commands]\nallowed_apps = ["release-app[bot]"]\n')
EVE = Account(login=Login("eve"), id=66)
SEEN = Inputs(last_label_event_id="e1")


def heard(world: World, inputs: Inputs = SEEN) -> Heard:
    known = world.snapshot().model_copy(update={"permissions": world.permissions})
    return hear(known, inputs, CONFIGURED)


@pytest.mark.parametrize(
    ("author", "reason"),
    [
        (ANN, ""),
        (EVE, "eve has none permission here, and commands need write"),
        (Account(login=Login("release-app"), id=9, is_bot=True), ""),
        (
            Account(login=Login("other-app"), id=10, is_bot=True),
            "other-app is an App that `[commands] allowed_apps` does not name",
        ),
    ],
    ids=["writer", "stranger", "allowed-app", "other-app"],
)
def test_only_writers_and_named_apps_are_obeyed(author: Account, reason: str) -> None:
    world = World()
    number = world.say("/cogworks hold", by=author)

    found = heard(world)

    asked = Asked(
        verb="hold", by=author.login, comment_id=number, subject_id=f"C_{number}", written=world.now
    )
    refused = Refused(
        reason=reason,
        by=author.login,
        comment_id=number,
        subject_id=f"C_{number}",
        is_outsider=True,
        written=world.now,
    )
    assert found == Heard(said=(refused if reason else asked,), last_comment_id=number)


@pytest.mark.parametrize("key", ["trigger", "cancel", "restart"])
def test_a_label_that_the_team_renamed_asks_for_what_it_stands_for(key: str) -> None:
    renamed = parse_config(f'{CONFIG}[labels]\n{key} = "ours"\n')
    world = World()
    world.set_label("ours", "e2")
    known = world.snapshot().model_copy(update={"permissions": world.permissions})

    found = hear(known, SEEN, renamed)

    assert [said.verb for said in found.said if isinstance(said, Asked)] == [
        "run" if key == "trigger" else key
    ]


@pytest.mark.parametrize("permission", ["triage", "read", "none"])
def test_less_than_write_permission_commands_nothing(permission: str) -> None:
    world = World(permissions={Login("ann"): permission})
    world.say("/cogworks run")

    [said] = heard(world).said

    assert isinstance(said, Refused)
    assert said.reason == f"ann has {permission} permission here, and commands need write"


def test_a_command_edited_after_posting_is_refused_whoever_wrote_it() -> None:
    world = World()
    world.say("/cogworks cancel", edited=True)

    [said] = heard(world).said

    assert isinstance(said, Refused)
    assert said.reason == "it was edited after it was posted; write a new comment"


def test_the_viewer_speaks_for_itself_without_a_request() -> None:
    world = World()
    viewer = Account(login=Login("cogs"), id=BOT.id)
    world.say("/cogworks hold", by=viewer)

    assert people_to_ask_about(world.snapshot(), SEEN, CONFIGURED) == ()
    [said] = heard(world).said
    assert isinstance(said, Asked)


def test_only_those_who_asked_for_something_new_are_asked_about_each_once() -> None:
    world = World()
    old = world.say("/cogworks retry", by=EVE)
    world.say("/cogworks hold")
    world.say("/cogworks resume never mind")
    world.say("/cogworks what", by=Account(login=Login("bob"), id=8))
    world.say("Nice!", by=Account(login=Login("cy"), id=9))

    asked = people_to_ask_about(
        world.snapshot(), SEEN.model_copy(update={"last_comment_id": old}), CONFIGURED
    )

    assert asked == ("ann", "bob")


def test_labels_and_comments_are_heard_in_the_order_of_their_times() -> None:
    world = World()
    world.say("/cogworks hold")
    world.now += timedelta(seconds=1)
    world.set_label("cogworks:cancel", "e2")
    world.now += timedelta(seconds=1)
    world.say("/cogworks restart")

    found = heard(world)

    assert [said.verb for said in found.said if isinstance(said, Asked)] == ["hold", "cancel", "restart"]
    assert found.last_label_event_id == "e2"


def test_a_label_that_was_taken_off_again_asks_for_nothing() -> None:
    world = World()
    world.set_label("cogworks:cancel", "e2")
    world.labels.remove("cogworks:cancel")

    assert heard(world).is_empty


def test_views_and_other_labels_are_no_inputs() -> None:
    world = World()
    world.set_label("cogworks:node:spec", "e2")
    world.set_label("bug", "e3")

    assert heard(world).is_empty


def test_a_label_event_counts_once_and_setting_it_again_counts_again() -> None:
    world = World()
    assert heard(world).is_empty
    assert heard(world, Inputs()).said == (Asked(verb="run", by="ann", written=world.now),)

    world.set_label("cogworks:run", "e2")

    assert heard(world).said == (Asked(verb="run", by="ann", written=world.now),)


def test_a_cursor_that_scrolled_away_is_older_than_every_event_that_is_left() -> None:
    world = World()

    assert heard(world, Inputs(last_label_event_id="long ago")).last_label_event_id == "e1"


def test_a_label_set_by_somebody_who_may_not_is_remembered_as_such_while_it_is_there() -> None:
    world = World(permissions={})
    ignored = (IgnoredLabel(event_id="e1", label="cogworks:run", by="ann"),)

    first = heard(world, Inputs())
    later = heard(world, SEEN.model_copy(update={"ignored_labels": ignored}))
    world.labels.clear()

    assert first == Heard(ignored_labels=ignored, last_label_event_id="e1")
    assert later == Heard(ignored_labels=ignored)
    assert heard(world, SEEN.model_copy(update={"ignored_labels": ignored})) == Heard()
