"""A request that names a language leads to the files for it, where a tree has files for several."""

import pytest

from cogworks.sight.locales import of_named_languages
from cogworks.sight.question import About
from cogworks.sight.ranking import rank
from tests.sight.trees import index_of

PATHS = (
    "src/phone/fr_FR/number.py",
    "src/locale/de.js",
    "src/locale/pt-BR/index.ts",
    "src/pl_pl.py",
    "src/nb.py",
    "src/number.py",
)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Wrong French phone numbers", [0]),
        ("fix german and brazilian names", [1, 2]),
        ("`thai_name` and french_name", [0]),
        ("pt_BR is missing", [2]),
        ("Norwegian months", [4]),
        ("Polish numbers are wrong", [3]),
        ("polish the texts", []),
        ("Frenchmen, deDE", []),
    ],
)
def test_a_language_is_named_in_words_or_as_a_locale(text: str, places: list[int]) -> None:
    assert sorted(of_named_languages(text, PATHS)) == places


def test_a_tree_with_few_of_such_names_has_no_files_for_languages() -> None:
    assert of_named_languages("Wrong French phone numbers", PATHS[:3]) == {}


def test_files_for_a_named_language_come_before_alike_ones_for_others() -> None:
    texts = {f"src/phone/{locale}.py": "FORMATS = ('phone number',)\n" for locale in ("de", "es", "fr", "it")}

    first, second, *_ = rank(index_of(texts), About(title="Spanish phone numbers are wrong"))[:2]

    assert (first.path, first.reasons[-1]) == ("src/phone/es.py", "for a language that is named")
    assert first.score > second.score
