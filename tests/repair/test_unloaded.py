"""What of a suite could not be loaded is told with its place and its reason."""

import pytest

from cogworks.repair.unloaded import Unloaded, causes, unloaded_between, unloaded_in_words, unloaded_of

IMPORT_ERROR = (
    "tests/x.py: ImportError while importing test module 'tests/x.py'.\nTraceback:\n"
    "<python>/importlib/__init__.py:126: in import_module\n    return _bootstrap._gcd_import(name)\n"
    "tests/x.py:3: in <module>\n    import y\nE   ModuleNotFoundError: No module named 'y'"
)
CONFTEST = (
    "tests: no test could be loaded:\nImportError while loading conftest 'tests/conftest.py'.\n"
    "tests/conftest.py:1: in <module>\n    1 / 0\nE   ZeroDivisionError: division by zero\n"
)
X = Unloaded(place="tests/x.py", reason="ModuleNotFoundError: No module named 'y'", at="tests/x.py:3")


@pytest.mark.parametrize(
    ("error", "found"),
    [
        (IMPORT_ERROR, X),
        (
            CONFTEST,
            Unloaded(place="tests", reason="ZeroDivisionError: division by zero", at="tests/conftest.py:1"),
        ),
        (
            "tests/b.py: src/b.py:2: in <module>\n    raise E\nE   E: the last line\nnoise",
            Unloaded(place="tests/b.py", reason="E: the last line", at="src/b.py:2"),
        ),
        (
            "pytest ended early (exit code 4):\nERROR: unrecognized arguments: --cov",
            Unloaded(place=".", reason="ERROR: unrecognized arguments: --cov"),
        ),
        (
            "pytest ended early (exit code 1):\nTraceback (most recent call last):\n  ...\nq.Warning: Q is R\nSee https://q/",
            Unloaded(place=".", reason="q.Warning: Q is R"),
        ),
        (
            'tests/e.py: tests/e.py:2: in <module>\nE     File "src/e.py", line 7\nE       def half(:\nE   SyntaxError: no',
            Unloaded(place="tests/e.py", reason="SyntaxError: no", at="src/e.py:7"),
        ),
        ("tests/c.py: ", Unloaded(place="tests/c.py", reason="it does not say why")),
        ("tests/d.py: " + "long " * 100, Unloaded(place="tests/d.py", reason=f"{('long ' * 100)[:199]}…")),
    ],
    ids=["module", "folder", "innermost", "whole-run", "plugin", "unreadable", "silent", "long"],
)
def test_an_error_is_understood_as_a_place_a_reason_and_where_it_arose(error: str, found: Unloaded) -> None:
    assert unloaded_of([error, error]) == (found,)


def test_what_could_not_be_loaded_is_told_for_each_side_apart() -> None:
    before = unloaded_of([IMPORT_ERROR, "tests/old.py: NameError: o"])
    after = unloaded_of([IMPORT_ERROR, "tests/new.py: NameError: n"])

    found = unloaded_between(before, after)

    assert {(each.place, each.before, each.after) for each in found} == {
        ("tests/x.py", True, True), ("tests/old.py", True, False), ("tests/new.py", False, True),
    }  # fmt: skip
    assert unloaded_in_words(found) == (
        "Not proven for `tests/x.py`, which could not be loaded: `ModuleNotFoundError: No module named 'y'`. "
        "Not proven for `tests/new.py`, which cannot be loaded with the change: `NameError: n`. "
        "Not proven for `tests/old.py` as it was before, for it could not be loaded then: `NameError: o`."
    )
    assert unloaded_in_words(()) == ""


def test_many_files_with_one_reason_are_one_sentence_that_addresses_nobody() -> None:
    many = unloaded_of(f"tests/test_{number}.py: E   Error: `@ann`" for number in range(7))

    told = unloaded_in_words(many)

    assert told.endswith("`tests/test_4.py` and 2 more, which could not be loaded: `Error: '@ann'`.")


def test_a_place_that_is_everything_has_a_name() -> None:
    (found,) = unloaded_of([".: no test could be loaded:\nE   SyntaxError: no"])

    assert (found.name, found.why) == ("the whole suite", "`SyntaxError: no`")
    assert X.why == "`ModuleNotFoundError: No module named 'y'` (at `tests/x.py:3`)"


def test_a_reason_of_many_places_is_told_once() -> None:
    many = [f"tests/test_{number}.py: ImportError: no" for number in range(7)]

    found = causes(unloaded_of([*many, "tests/other.py: NameError: n", "tests/test_0.py: ImportError: no"]))

    assert found == (
        (
            "`tests/test_0.py`, `tests/test_1.py`, `tests/test_2.py`, `tests/test_3.py`, `tests/test_4.py` and 2 more",
            "`ImportError: no`",
        ),
        ("`tests/other.py`", "`NameError: n`"),
    )
