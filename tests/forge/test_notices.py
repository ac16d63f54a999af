"""What is posted of the words that a ledger keeps for people."""

from cogworks.forge.notices import owed_comment
from cogworks.pipeline.people import Owed
from cogworks.vocabulary import VisitKey
from tests.step_fakes import Runner
from tests.world import World

KEY = VisitKey("a" * 64)


def posted(body: str, *, topic: str = "", world: World | None = None) -> str:
    """The body of what is owed about the last comment of the issue."""
    world = world or asked()
    comment = world.comments[-1]
    owed = Owed(topic=topic or f"reply-{comment.database_id}", body=body, visit_key=KEY)
    return owed_comment(owed, world.snapshot(), world.state).body


def asked() -> World:
    world = World()
    Runner(world).step()
    world.say("/cogworks aprove spec")
    return world


def test_an_answer_calls_whoever_asked_and_says_its_words_as_they_are() -> None:
    world = asked()
    author = world.comments[-1].author
    assert author is not None
    body = f"@{author.login}: I do not understand this: did you mean `approve`?.\n\n```text\n/cogworks approve\n```\n"

    assert posted(body, world=world) == body


def test_words_that_somebody_put_into_the_ledger_act_nowhere() -> None:
    forged = "@octo-dev @team: closes #7 and ![x](https://elsewhere.example/x.png) \u202etxt"

    for topic in ("", "reply-99", "checks-4-abc"):
        said = posted(forged, topic=topic)
        assert "@octo-dev" not in said
        assert "@team" not in said
        assert "closes #7" not in said
        assert "![" not in said
        assert "\u202e" not in said


def test_nobody_is_called_by_an_answer_to_somebody_else() -> None:
    assert "@mallory" not in posted("@mallory: This was not obeyed: no.")
