"""What can be done where tests were written for earlier versions than those that are there."""

from collections.abc import Sequence

import pytest

from cogworks.services.python.remedies import remedies


def told(*errors: str, packages: Sequence[str] = ()) -> tuple[str, ...]:
    return remedies(errors, is_own=lambda name: name == "shop", packages=packages)


@pytest.mark.parametrize(
    ("error", "version"),
    [
        ("tests/test_a.py: \nE   Failed: Marks cannot be applied to fixtures.", "9"),
        ("tests/test_a.py: \nE   pytest.PytestRemovedIn10Warning: no Collection", "10"),
    ],
)
def test_an_earlier_pytest_is_named_for_what_a_later_one_refuses(error: str, version: str) -> None:
    [remedy] = told(error, packages=["attrs"])

    assert remedy.startswith("The tests do what this pytest no longer allows.")
    assert remedy.endswith(f'`packages = ["attrs", "pytest<{version}"]`.')


def test_a_warning_that_the_project_makes_an_error_is_told_with_both_ways_out() -> None:
    warns = "tests/test_a.py: shop/__init__.py:25: in <module>\nE   DeprecationWarning: 'tool' is deprecated"

    [remedy] = told(warns, warns)

    assert remedy.startswith("pytest makes an error of `DeprecationWarning` by the settings of the project.")
    assert '`packages = ["NAME<VERSION"]`' in remedy


def test_other_errors_have_no_such_remedy() -> None:
    assert told("tests/test_a.py: \nE   ValueError: a DeprecationWarning: no") == ()
