"""Which packs apply: any of a list, every list that is there; and what two packs together require."""

from typing import Any

import pytest

from cogworks.packs.choosing import MAX_EXEMPLAR_BYTES, ReadElsewhere, Subject, choose, required, verdict
from cogworks.packs.declared import AnnotationArtefact, Exemplar, Sources, Trigger, Unusable
from tests.packs.declared import COMMIT, PYTHON, frozen, pack

FIRMWARE = Subject(
    component_tags=("firmware", "uart"),
    labels=("component:firmware",),
    language="Rust",
    is_safety_affecting=True,
)
PLAIN = Subject(component_tags=("cli",), labels=("bug",), language="python")


@pytest.mark.parametrize(
    ("trigger", "subject", "applies", "why"),
    [
        ({"languages": ("rust",)}, FIRMWARE, True, "language rust"),
        ({"languages": ("c", "rust")}, FIRMWARE, True, "language rust"),
        ({"languages": ("rust",)}, PLAIN, False, "language is python, wanted rust"),
        ({"languages": ("rust",)}, Subject(), False, "language is none, wanted rust"),
        ({"component_tags": ("bootloader", "firmware")}, FIRMWARE, True, "component tag firmware"),
        ({"labels": ("component:firmware",)}, FIRMWARE, True, "label component:firmware"),
        ({"labels": ("component:firmware",)}, PLAIN, False, "label is bug, wanted component:firmware"),
        ({"safety_affecting": True}, FIRMWARE, True, "affects safety"),
        ({"safety_affecting": True}, PLAIN, False, "does not affect safety"),
        ({"languages": ("rust",), "safety_affecting": True}, FIRMWARE, True, "language rust; affects safety"),
        (
            {"languages": ("rust",), "component_tags": ("hal",), "safety_affecting": True},
            FIRMWARE,
            False,
            "component tag is firmware, uart, wanted hal",
        ),
        (
            {"languages": ("c",), "safety_affecting": True},
            PLAIN,
            False,
            "language is python, wanted c; does not affect safety",
        ),
    ],
)
def test_any_of_a_list_and_every_list_that_is_there(
    trigger: dict[str, Any], subject: Subject, applies: bool, why: str
) -> None:
    assert verdict(pack(trigger=Trigger(**trigger)), subject) == (applies, why)


def test_every_pack_is_named_with_the_reason_whether_it_applies_or_not() -> None:
    rust = pack("rust", trigger=Trigger(languages=("rust",)))

    made = choose(
        [rust, Unusable(name="broken", why="it has no `trigger.toml`"), pack("py")],
        PLAIN,
        commit=COMMIT,
        max_tokens=9,
    )

    assert [(each.name, each.applies, each.why) for each in made.considered] == [
        ("broken", False, "left out: it has no `trigger.toml`"),
        ("py", True, "language python"),
        ("rust", False, "language is python, wanted rust"),
    ]
    assert [each.name for each in made.packs] == ["py"]
    assert (made.commit, made.is_empty) == (COMMIT, False)


def test_several_may_apply_and_their_order_is_that_of_their_names() -> None:
    assert [each.name for each in frozen(pack("b"), pack("a")).packs] == ["a", "b"]


UNSAFE = {"name": "Unsafe", "type": "annotation", "code_pattern": "unsafe", "annotation_pattern": "SAFETY"}


def test_of_two_that_want_the_same_the_stricter_one_holds() -> None:
    made = frozen(
        pack("a", {**UNSAFE, "within_lines": 5}), pack("b", {**UNSAFE, "name": "Why", "within_lines": 2})
    )

    [only] = required(made.packs)

    assert isinstance(only.artefact, AnnotationArtefact)
    assert (only.pack, only.artefact.within_lines) == ("b", 2)
    assert made.warnings == ()


def test_of_two_that_contradict_each_other_both_are_required_and_people_are_told() -> None:
    other = {**UNSAFE, "name": "Reason", "annotation_pattern": "WHY"}
    document = {"name": "Analysis", "type": "file", "path_pattern": "docs/a.md"}

    made = frozen(pack("a", UNSAFE, document), pack("b", other, {**document, "path_pattern": "doc/a.md"}))

    assert len(required(made.packs)) == 4
    assert made.warnings == (
        "context packs 'a' and 'b' want different words near `unsafe`; both are required",
        "context packs 'a' and 'b' both require 'Analysis' and mean different things; both are required",
    )


def test_the_same_file_is_required_once() -> None:
    document = {"name": "Analysis", "type": "file", "path_pattern": "docs/a.md"}

    assert len(required(frozen(pack("a", document), pack("b", document)).packs)) == 1


def shows(*paths: str) -> Sources:
    return Sources(exemplar=tuple(Exemplar(repository="octo-org/hal", path=path) for path in paths))


def test_examples_of_the_packs_that_apply_are_kept_and_what_cannot_be_had_is_told() -> None:
    packs = [
        pack("a", sources=shows("one.rs", "absent.rs", "big.rs")),
        pack("b", sources=shows("one.rs", "two.rs")),
        pack("c", sources=shows("other.rs"), trigger=Trigger(languages=("c",))),
    ]
    read = {
        Exemplar(repository="octo-org/hal", path=path): found
        for path, found in {
            "one.rs": ReadElsewhere(blob="1" * 40, text="one"),
            "two.rs": ReadElsewhere(blob="2" * 40, text="two"),
            "absent.rs": ReadElsewhere(problem="it is not there"),
            "big.rs": ReadElsewhere(blob="3" * 40, text="x" * MAX_EXEMPLAR_BYTES),
        }.items()
    }

    found = choose(packs, PYTHON, commit=COMMIT, max_tokens=6_000, elsewhere=read)

    assert [(each.pack, each.exemplar.path, each.text) for each in found.exemplars] == [
        ("a", "one.rs", "one"),
        ("b", "two.rs", "two"),
    ]
    absent, big = found.warnings
    assert absent == "context pack 'a': its exemplar `octo-org/hal:absent.rs` is left out: it is not there"
    assert "its exemplar `octo-org/hal:big.rs` is left out: it has 80,002 bytes, and 79,995 are left" in big
