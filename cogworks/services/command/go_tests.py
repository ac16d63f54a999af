"""How single Go tests are run from a binary of their package; pure rules from tests to lines for `sh`."""

import math
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from cogworks.domain_services.messages import TestCase
from cogworks.services.command.recipe import Recipe
from cogworks.services.command.reports.go_cover import BEGINS, ENDS, SAID

MOST_AT_ONCE = 25
_MOST_CHARS = 60_000
"""Of the patterns in one line: a system takes no word of any length."""
_COMMAND = re.compile(r"\bgo test\b")
_OF_BUILD = ("-tags", "-mod", "-modfile", "-ldflags", "-gcflags", "-asmflags")
_BAD = ("failed", "error")
_RAN = ("passed", *_BAD)
_SAID_BYTES = 20_000


class Job(NamedTuple):
    """Some tests of one package that are run one after the other."""

    folder: str
    """Of the package, relative to the root; empty: the root itself."""
    number: int
    """Of the package among those that are measured."""
    cases: tuple[TestCase, ...]
    is_last: bool
    """Whether nothing more of the package follows, so that what was built for it may go."""

    @property
    def has_failures(self) -> bool:
        """Whether these are tests that fail."""
        return self.cases[0].outcome in _BAD


def runs_go_test(line: str) -> bool:
    """Whether a test command starts `go test`, so that its tests can be run one by one."""
    return bool(_COMMAND.search(line))


def without_vet(recipe: Recipe) -> Recipe:
    """The recipe whose packages are tested whatever `go vet` says of them."""
    return recipe._replace(
        test=_COMMAND.sub("go test -vet=off", recipe.test),
        test_one=_COMMAND.sub("go test -vet=off", recipe.test_one),
    )


def jobs_of(files: Mapping[str, str], cases: Iterable[TestCase]) -> tuple[Job, ...]:
    """The tests to measure, in groups: those that fail, then others of their packages, then those of other packages.

    Left out is what only holds others, for they report it, and what no run of its own can be made of.

    Args:
        files: test id -> its file, relative to the root.
    """
    ran = [each for each in cases if each.outcome in _RAN and _is_named(each.id) and each.id in files]
    around = {outer for each in ran for outer in _outer(each.id)}
    blamed = {outer for each in ran if each.outcome in _BAD for outer in _outer(each.id)}
    # One that fails while all that it holds passes fails by itself.
    single = [
        each for each in ran if each.id not in around or (each.outcome in _BAD and each.id not in blamed)
    ]
    bad = {files[each.id].rpartition("/")[0] for each in single if each.outcome in _BAD}

    def place(case: TestCase) -> tuple[int, str]:
        folder = files[case.id].rpartition("/")[0]
        return (0 if case.outcome in _BAD else 1 if folder in bad else 2), folder

    groups = [(folder, tuple(each)) for (_, folder), each in groupby(sorted(single, key=place), key=place)]
    parts = [(folder, part) for folder, group in groups for part in _parted(group)]
    last = {folder: number for number, (folder, _) in enumerate(parts)}
    packages = [*last]
    return tuple(
        Job(folder, packages.index(folder), part, last[folder] == number)
        for number, (folder, part) in enumerate(parts)
    )


def line_of(job: Job, numbers: Mapping[str, int], recipe: Recipe, *, test_timeout_s: float) -> str:
    """What builds the package's tests, unless that was done, and runs each alone; written for `reports.go_cover`.

    Args:
        numbers: test id -> the number by which its run is known.
    """
    folder = f"./{job.folder}" if job.folder else "."
    words = _words(recipe.test)
    build = shlex.join(
        ["go", "test", "-c", "-vet=off", "-covermode=set", "-coverpkg=./...", *_build_options(words)]
    )
    limit = [f"-test.timeout={math.ceil(test_timeout_s)}s"] if test_timeout_s else []
    options = shlex.join([*limit, *(["-test.short"] if "-short" in words else [])])
    runs = [f"alone {numbers[case.id]} {shlex.quote(pattern_of(case.id))}" for case in job.cases]
    return "\n".join(
        [
            'room="$TMPDIR/cogworks-lines" report="$COGWORKS_REPORT"; mkdir -p "$room"',
            f'built="$room/{job.number}.test"',
            "unset COGWORKS_REPORT COGWORKS_SAID COGWORKS_ASK",
            f'[ -x "$built" ] || {build} -o "$built" {shlex.quote(folder)} || exit 1',
            _ALONE.replace("{folder}", shlex.quote(folder)).replace("{options}", options),
            *runs,
            *(['rm -f "$built"'] if job.is_last else []),
        ]
    )


_ALONE = f"""alone() {{
rm -f "$room/profile" "$room/said"
(cd {{folder}} && exec "$built" "-test.run=$2" "-test.coverprofile=$room/profile" {{options}}) < /dev/null > /dev/null 2> "$room/said"
{{
printf '{BEGINS}%s\\n' "$1"
if [ -s "$room/profile" ]; then sed '/ 0$/d' "$room/profile"; else tail -c {_SAID_BYTES} "$room/said" | sed 's/^/{SAID}/'; fi
printf '\\n{ENDS}%s\\n' "$1"
}} >> "$report"
}}"""
"""A process that dies leaves no profile, and what it said last. What did not run is not kept."""


def pattern_of(test: str) -> str:
    """What `-run` takes for exactly one test."""
    return "/".join(f"^{re.escape(part)}$" for part in _name(test).split("/"))


def _name(test: str) -> str:
    return test.partition("::")[2]


def _is_named(test: str) -> bool:
    """Whether Go knows the test by this name: one that was reported twice has a number after a space."""
    return bool(_name(test)) and not re.search(r"\s", _name(test))


def _outer(test: str) -> Iterator[str]:
    """The tests that a subtest stands in; they are in its file as far as anybody knows."""
    file, _, name = test.partition("::")
    parts = name.split("/")
    for count in range(1, len(parts)):
        yield f"{file}::{'/'.join(parts[:count])}"


def _parted(cases: Sequence[TestCase]) -> Iterator[tuple[TestCase, ...]]:
    part: list[TestCase] = []
    chars = 0
    for case in cases:
        size = 2 * len(case.id) + 50
        if part and (len(part) == MOST_AT_ONCE or chars + size > _MOST_CHARS):
            yield tuple(part)
            part, chars = [], 0
        part.append(case)
        chars += size
    if part:
        yield tuple(part)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return []


def _build_options(words: Sequence[str]) -> Iterator[str]:
    """Those of a `go test` without which its packages may not be the same."""
    for word, after in zip(words, [*words[1:], ""], strict=True):
        name = word.replace("--", "-", 1).partition("=")[0]
        if name in _OF_BUILD:
            yield word if "=" in word else f"{name}={after}"
