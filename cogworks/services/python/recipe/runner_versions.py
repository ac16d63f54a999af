"""Which pytest is installed where a repository asks for one that does not run here."""

from collections.abc import Iterable

from packaging.requirements import Requirement

_RUNS = [f"{major}.{minor}.{patch}" for major in range(6, 20) for minor in range(12) for patch in range(10)]
"""Versions that there are or may be; before 6.2 our reporters do not run, nor does pytest itself with a Python of today."""
_OLDEST = "6.2.0"
_INSTEAD = "pytest>=8"


def with_a_runner_that_runs(requirements: Iterable[str]) -> tuple[set[str], list[str]]:
    """The requirements with a pytest of today for one that is too old, and what is said of it."""
    found: set[str] = set()
    said: list[str] = []
    for line in requirements:
        requirement = Requirement(line)
        if requirement.name.lower() == "pytest" and not _runs(requirement):
            found.add(f"{_INSTEAD} ; {requirement.marker}" if requirement.marker else _INSTEAD)
            said.append(
                f"{line!r} is older than what runs here (pytest {_OLDEST}); {_INSTEAD!r} is installed instead"
            )
        else:
            found.add(line)
    return found, said


def _runs(requirement: Requirement) -> bool:
    return not requirement.specifier or any(
        requirement.specifier.contains(each) for each in _RUNS[_RUNS.index(_OLDEST) :]
    )
