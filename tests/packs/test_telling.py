"""What packs tell a model, whole documents only, and what people are told of them."""

from cogworks.packs.choosing import Subject, choose
from cogworks.packs.declared import Pack, Trigger, Unusable
from cogworks.packs.telling import for_people, knowledge, on_the_shelf
from tests.packs.declared import COMMIT, PYTHON, frozen, pack

FILE = {"name": "Analysis", "type": "file", "path_pattern": ["docs/a.md", "doc/a.md"]}


def test_a_run_without_packs_is_told_nothing() -> None:
    none = choose([pack(anti="Never.")], Subject(language="c"), commit=COMMIT, max_tokens=6_000)

    assert knowledge(None) == ""
    assert knowledge(none) == ""


def test_warnings_come_before_what_is_safe_and_that_before_background() -> None:
    text = knowledge(
        frozen(pack("b", anti="No b."), pack("a", domain="All of a.", safe="Do a.", anti="No a."))
    )

    places = [text.index(each) for each in ("No a.", "No b.", "Do a.", "All of a.")]
    assert places == sorted(places)
    assert "# a: anti patterns\n\nNo a." in text


def test_what_a_change_has_to_hold_is_always_told() -> None:
    text = knowledge(frozen(pack("p", FILE, domain="x" * 9_000), max_tokens=500))

    assert "xxx" not in text
    assert "Left out for want of room: p/domain-knowledge.md." in text
    assert "- *Analysis* (p): a file that fits `docs/a.md` or `doc/a.md`, in the change." in text


def test_a_document_is_told_whole_or_not_at_all() -> None:
    made = frozen(pack("p", anti="a" * 1_990, safe="b" * 1_990, domain="c"), max_tokens=510)

    text = knowledge(made)

    assert "a" * 1_990 in text
    assert "bb" not in text
    assert text.endswith("Left out for want of room: p/safe-patterns.md.")


def test_people_are_told_of_every_pack_and_every_contradiction() -> None:
    looked_at: list[Pack | Unusable] = [
        pack("a", FILE),
        pack("b", {**FILE, "path_pattern": "other.md"}),
        pack("c", trigger=Trigger(safety_affecting=True)),
        Unusable(name="d", why="it has no `trigger.toml`"),
    ]

    assert for_people(choose(looked_at, PYTHON, commit=COMMIT, max_tokens=9)) == (
        "`a` (of this repository): applies, language python",
        "`b` (of this repository): applies, language python",
        "`c` (of this repository): does not apply, does not affect safety",
        "`d` (of this repository): does not apply, left out: it has no `trigger.toml`",
        "context packs 'a' and 'b' both require 'Analysis' and mean different things; both are required",
    )


def test_a_pack_on_the_shelf_says_when_it_would_apply_and_what_it_would_bring_along() -> None:
    trigger = Trigger(
        languages=("rust",), component_tags=("hal", "rtos"), labels=("component:x",), safety_affecting=True
    )

    assert on_the_shelf(pack("p", FILE, trigger=trigger, anti="Never.", domain="All of it.")) == (
        "`p` (of this repository) applies where the language is rust and a component tag is hal or rtos and a label is component:x "
        "and safety is affected; tells 2 document(s), about 4 tokens; requires Analysis"
    )
    assert on_the_shelf(pack("p")) == (
        "`p` (of this repository) applies where the language is python; tells 0 document(s), about 0 tokens; requires nothing"
    )
    assert on_the_shelf(Unusable(name="q", why="it has no `trigger.toml`")) == (
        "`q` is left out: it has no `trigger.toml`"
    )
