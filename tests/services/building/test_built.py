"""What a finished build adds to the Python that runs the tests."""

from pathlib import Path

import pytest

from cogworks.services.python.building.built import Built

REQUIRES = (
    "attrs>=2",
    'tomli; python_version < "3.11"',
    'pytest-cov>=4; extra == "test"',
    'exceptiongroup; extra == "test" and python_version < "3.11"',
    'sphinx; extra == "docs"',
    "no requirement !",
    'odd; colour == "red"',
)


@pytest.mark.parametrize(
    ("extras", "python", "dependencies"),
    [
        ((), "3.12.1", ("attrs>=2",)),
        ((), "3.9.18", ("attrs>=2", "tomli")),
        (("test",), "3.12.1", ("attrs>=2", "pytest-cov>=4")),
        (("test",), "3.10.0", ("attrs>=2", "tomli", "pytest-cov>=4", "exceptiongroup")),
    ],
)
def test_what_is_installed_of_the_metadata_names_no_extra_of_the_project(
    extras: tuple[str, ...], python: str, dependencies: tuple[str, ...]
) -> None:
    # `pytest-cov; extra == "test"` in a list of requirements would install nothing.
    assert Built(Path("place"), ("",), REQUIRES).dependencies(extras, python) == dependencies
