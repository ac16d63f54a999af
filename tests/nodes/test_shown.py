"""How much of the repository a prompt shows, and how often its reader may look."""

from cogworks.llm.prompts import shipped_prompts
from cogworks.nodes.intake import run
from cogworks.nodes.shown import look_limits, manifest_of, repository_view, view_variables
from cogworks.nodes.task import Conventions
from cogworks.packs.choosing import FrozenPacks, ReadElsewhere, choose
from cogworks.packs.declared import Exemplar, Sources, Standard
from cogworks.pipeline.visits import LookedAt
from cogworks.settings.config import parse_config
from cogworks.sight.question import About
from cogworks.sight.seen import version_of
from cogworks.sight.view import items_of
from tests.nodes.examples import CLASSIFICATION, FILES, ports, task
from tests.packs.declared import COMMIT, PYTHON, pack

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


def packed() -> FrozenPacks:
    """A run whose pack shows a file of another repository, and names everything as its standard."""
    shown = Exemplar(repository="octo-org/hal", path="src/uart.rs", why="how errors are reported")
    sources = Sources(
        exemplar=(shown,), standard=(Standard(path_pattern=("docs/**", ".cogworks/**", "tests/held.py")),)
    )
    read = {shown: ReadElsewhere(blob="b" * 40, text="fn uart_send() {}\n")}
    return choose([pack("p", sources=sources)], PYTHON, commit=COMMIT, max_tokens=6_000, elsewhere=read)


def test_what_packs_show_is_a_source_of_the_view_and_what_is_held_back_stays_so() -> None:
    files = {
        **FILES,
        "docs/adr/1.md": "# Sums\n\nQuiet quartz.\n",
        ".cogworks/scenarios/held.toml": "secret = true\n",
        "tests/held.py": "def test_held(): ...\n",
    }
    about = About(title="add() subtracts", hidden=frozenset({"tests/held.py"}))

    view = repository_view(task("architecture", packs=packed()), ports(files=files), about)

    shown = {each.path: each for each in items_of(view)}
    assert "a standard of the context pack p" in shown["docs/adr/1.md"].reasons
    assert [(each.path, each.reasons) for each in view.beside] == [
        ("octo-org/hal:src/uart.rs", ("how errors are reported",))
    ]
    assert not {".cogworks/scenarios/held.toml", "tests/held.py"} & {*shown, *view.folders.split()}


def test_a_prompt_has_files_of_other_repositories_as_data_apart_from_those_that_may_change() -> None:
    plain, asked = (architecture_prompt(packs) for packs in (None, packed()))

    assert "other repositories" not in plain
    assert "These files belong to other repositories: learn from them, never change or import them." in asked
    label = "file of another repository octo-org/hal:src/uart.rs; shown because: how errors are reported"
    assert f'of="{label}">\nfn uart_send() {{}}' in asked


def architecture_prompt(packs: FrozenPacks | None) -> str:
    """What the architect is shown of a repository."""
    view = repository_view(
        task("architecture", packs=packs), ports(files=FILES), About(title="add() subtracts")
    )
    return shipped_prompts({}).render_part("_repository", view_variables(view))


def test_what_an_earlier_visit_looked_at_is_shown_while_its_file_is_the_same() -> None:
    steps = "".join(
        f"def step_{number}():\n    return {number}\n" + "    # .\n" * 20 for number in range(300)
    )
    world = ports(files={**FILES, "src/adder/steps.py": steps})
    about = About(title="add() subtracts")

    def shown(*looked: LookedAt) -> str:
        view = repository_view(task("planning", looked=looked), world, about)
        return shipped_prompts({}).render_part("_repository", view_variables(view))

    def at_step_23(text: str) -> LookedAt:
        return LookedAt(path="src/adder/steps.py", version=version_of(text)[:12], lines=((507, 527),))

    assert "return 23" in shown(at_step_23(steps))
    assert "return 23" not in shown(at_step_23(f"{steps}# changed since\n"))
    assert "return 23" not in shown()
