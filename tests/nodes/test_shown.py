"""How much of the repository a prompt shows, and how often its reader may look."""

from cogworks.nodes.intake import run
from cogworks.nodes.shown import look_limits, manifest_of, repository_view
from cogworks.nodes.task import Conventions
from cogworks.settings.config import parse_config
from cogworks.sight.question import About
from tests.nodes.examples import CLASSIFICATION, FILES, ports, task

LONG = {**FILES, "src/adder/more.py": "def add_more(a, b):\n    return a + b  # add\n" * 400}
MODEL = '[llm]\nmodel = "m"\n'


def configured(text: str) -> Conventions:
    return Conventions(sight=parse_config(f"{MODEL}\n{text}").sight)


def test_a_view_has_the_room_that_is_configured() -> None:
    world = ports(files=LONG)
    about = About(title="add() subtracts")
    sizes = [
        repository_view(task("intake", conventions=configured(text)), world, about).tokens
        for text in ("", "[sight]\nfirst_view_tokens = 1000\n")
    ]

    assert sizes[1] <= 1_000 < sizes[0]


def test_a_node_has_the_turns_that_are_configured_for_it_and_its_usual_ones_else() -> None:
    turns = configured("[sight.max_turns]\nintake = 2\nown = 9\n").sight

    assert (turns.turns("intake"), turns.turns("own")) == (2, 9)
    assert (turns.turns("code_generation"), turns.turns("another")) == (24, 6)
    assert look_limits(task("intake", conventions=Conventions(sight=turns))).max_turns == 2


def test_looks_end_at_the_tokens_that_are_configured() -> None:
    conventions = configured("[sight]\nmax_tokens = 5000\n")

    assert look_limits(task("intake", conventions=conventions)).max_input_tokens == 5_000


def test_what_is_shown_is_handed_on_for_the_record_without_its_text() -> None:
    view = repository_view(task("intake"), ports(files=FILES), About(title="add() subtracts"))

    first = manifest_of(view)[0]
    assert set(first) == {"path", "level", "tokens", "score", "reasons", "lines"}
    assert first["path"] == "src/adder/adding.py"


def test_a_question_shows_the_file_it_is_about() -> None:
    world = ports(CLASSIFICATION)

    run(task("intake"), world)

    assert FILES["src/adder/adding.py"] in world.model.asked[0]
