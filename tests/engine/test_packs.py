"""Where packs come from, and that those which ship can be used."""

from typing import get_args

import pytest

from cogworks.engine.packs import packs_of, shipped_pack
from cogworks.errors import ConfigurationError
from cogworks.packs.artefacts import missing
from cogworks.packs.choosing import Subject, choose
from cogworks.packs.declared import DOCUMENTS, Pack
from cogworks.settings.sections import ShippedPack
from tests.packs.declared import COMMIT, new

TRIGGER = '[trigger]\nlanguages = ["c"]\n'
SHIPPED = get_args(ShippedPack)


def loaded(name: str) -> Pack:
    """A pack that ships."""
    found = shipped_pack(name)
    assert isinstance(found, Pack)
    return found


@pytest.mark.parametrize("name", SHIPPED)
def test_a_pack_that_ships_has_every_document_and_requires_something(name: str) -> None:
    found = loaded(name)

    assert tuple(found.documents) == DOCUMENTS
    assert found.artefacts
    assert sum(map(len, found.documents.values())) < 4 * 6_000


def test_packs_are_the_folders_below_their_folder() -> None:
    root = ".cogworks/context-packs"
    files = {
        f"{root}/a/trigger.toml": TRIGGER,
        f"{root}/a/anti-patterns.md": "No.",
        f"{root}/b/safe-patterns.md": "x",
        f"{root}/README.md": "x",
    }

    found = packs_of(list(files), files.get, ())

    assert [each.name for each in found] == ["a", "b"]
    assert isinstance(found[0], Pack)
    assert found[0].documents == {"anti-patterns.md": "No."}


@pytest.mark.parametrize("name", ["required-artefacts.toml", "trigger.toml", "anti-patterns.md"])
def test_a_file_that_is_no_text_requires_something_nobody_knows_and_is_an_error(name: str) -> None:
    root = ".cogworks/context-packs/a"
    files = {f"{root}/trigger.toml": TRIGGER, f"{root}/{name}": None}

    with pytest.raises(ConfigurationError, match="is no text in UTF-8") as refused:
        packs_of(list(files), files.get, ())

    assert refused.value.source == f"{root}/{name}"


def test_a_pack_of_the_repository_goes_before_one_that_ships() -> None:
    files = {".cogworks/context-packs/python-library/trigger.toml": TRIGGER}

    found = packs_of(list(files), files.get, SHIPPED)

    assert [(each.name, each.source) for each in found if isinstance(each, Pack)] == [
        ("python-library", "repository"),
        ("rust-embedded-safety", "cogworks"),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("try:\n    a()\nexcept Exception:\n    pass\n", 3),
        ("try:\n    a()\nexcept:\n    pass\n", 3),
        ("try:\n    a()\nexcept Exception as error:\n\n\n    pass  # why\n", 3),
        ("try:\n    a()\n# A plugin may raise anything.\nexcept Exception:\n    pass\n", 0),
        ("try:\n    a()\nexcept ValueError:\n    pass\n", 0),
        ("a = b()  # type: ignore\n", 1),
        ("a = b()  # type: ignore[no-any-return] # b has no types\n", 0),
        ("a = b  # noqa: E501\n", 1),
        ("a = b  # noqa: E501 - one address\n", 0),
    ],
)
def test_the_pack_for_python_libraries_wants_reasons(text: str, line: int) -> None:
    frozen = choose([loaded("python-library")], Subject(language="python"), commit=COMMIT, max_tokens=6_000)

    found = missing(frozen, [new("src/a.py", text), new("tests/test_a.py")], {})

    assert [each.line for each in found] == ([line] if line else [])


def test_the_pack_for_python_libraries_wants_a_test() -> None:
    frozen = choose([loaded("python-library")], Subject(language="python"), commit=COMMIT, max_tokens=6_000)

    assert [each.artefact for each in missing(frozen, [new("src/a.py")], {})] == ["A test of the change"]


DOCUMENTED = {"docs/safety/panic-path-analysis.md": "# Panic paths\n\n## Stack Usage Analysis\n"}


@pytest.mark.parametrize(
    ("text", "artefacts"),
    [
        ("unsafe { go() }\n", ["Unsafe block justification"]),
        ("// SAFETY: alone\nunsafe { go() }\n", []),
        ("let a = b.unwrap();\n", ["Panic path justification"]),
        ("// PANIC: b is set above\nlet a = b.unwrap();\n", []),
        ("let a = b.unwrap_or(0);\n", []),
    ],
)
def test_the_pack_for_safe_firmware_wants_reasons_and_analyses(text: str, artefacts: list[str]) -> None:
    subject = Subject(language="rust", component_tags=("driver",))
    frozen = choose([loaded("rust-embedded-safety")], subject, commit=COMMIT, max_tokens=6_000)

    assert [each.artefact for each in missing(frozen, [new("fw/src/a.rs", text)], DOCUMENTED)] == artefacts
    assert [each.artefact for each in missing(frozen, [], {})] == [
        "Panic path analysis",
        "Stack usage analysis",
    ]
