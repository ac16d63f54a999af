"""What code uses of setuptools without declaring it: environments of a Python before 3.12 had it from the beginning."""

import re
from collections.abc import Collection, Iterator, Mapping

from cogworks.services.python.distributions import WITH_PKG_RESOURCES
from cogworks.services.python.recipe.pytest_settings import Used

_MODULES = frozenset(["setuptools", "pkg_resources"])
_BESIDE_TESTS = re.compile(r"setup\.py|(?:.*/)?conf\.py|(?:docs?|documentation|examples|benchmarks)/.*")


def brought_along(files: Mapping[str, str], declared: Collection[str]) -> Iterator[Used]:
    """What of it these Python files import, apart from those that only build the project or its documentation.

    Args:
        declared: names of the distributions that are installed anyway.
    """
    places: dict[str, str] = {}
    for path, text in sorted(files.items()):
        for module in _MODULES - places.keys() if not _BESIDE_TESTS.fullmatch(path) else ():
            if match := re.search(rf"^[ \t]*(?:import|from)[ \t]+{module}\b", text, re.MULTILINE):
                places[module] = f"{path}, line {text.count(chr(10), 0, match.start()) + 1}"
    # A declared one has its module `setuptools` in every version, and no `pkg_resources` in the newest.
    wanted = [each for each in sorted(places) if each == "pkg_resources" or "setuptools" not in declared]
    for module in wanted[:1]:
        yield Used(
            WITH_PKG_RESOURCES, places[module], f"it imports {module!r} as a Python before 3.12 had it"
        )
