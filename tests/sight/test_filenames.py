"""Files whose own name a request says."""

import pytest

from cogworks.sight.words import said_names, terms_of

PATHS = ["lib/one_var.py", "lib/two_var.py", "lib/reactors/__init__.py", "lib/reactors/tree.py", "cart.py"]


def said(request: str) -> dict[str, float]:
    found = said_names(enumerate(PATHS), dict.fromkeys(terms_of(request), 1.0))
    return {PATHS[place]: score for place, score in found.items()}


@pytest.mark.parametrize(
    ("request_text", "path"),
    [
        ("one-var", "lib/one_var.py"),
        ("One var is wrong", "lib/one_var.py"),
        ("the reactor stops", "lib/reactors/__init__.py"),
        ("Carts", "cart.py"),
    ],
)
def test_a_name_is_said_in_any_way_of_writing_it(request_text: str, path: str) -> None:
    found = said(request_text)

    assert max(found, key=lambda each: found[each]) == path


def test_half_of_a_name_says_less_than_half_of_what_all_of_it_says() -> None:
    found = said("one_var")

    assert 0 < 2 * found["lib/two_var.py"] < found["lib/one_var.py"]


def test_files_of_other_names_are_left_out() -> None:
    assert said("nothing of it") == {}
