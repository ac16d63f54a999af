"""The small programs: each has a bug, tests that tell it, its fix and diffs that are none."""

import re
import tomllib
from pathlib import Path
from typing import NamedTuple

_TEST = re.compile(r"^def test_", re.MULTILINE)
FOLDER = Path(__file__).with_name("programs")
FILE, TESTS = "work.py", "test_work.py"


class Program(NamedTuple):
    """One program."""

    name: str
    kind: str
    code: str
    tests: str
    bug: str
    """What stands in the code and is wrong; whole lines."""
    fix: str
    """What belongs in its place."""
    wrong: tuple[str, ...]
    """What does not: plausible, without effect, or made for the tests."""

    @property
    def line(self) -> int:
        """Of the code, at which the bug begins."""
        return self.code[: self.code.index(self.bug)].count("\n") + 1

    @property
    def lines(self) -> int:
        return self.bug.count("\n")

    def with_tests(self, count: int) -> "Program":
        """The same with tests that pass and say nothing of it, until there are so many."""
        more = count - len(_TEST.findall(self.tests))
        added = "".join(
            f"\n\ndef test_beside_{each}():\n    assert {each} + 1 == {each + 1}\n" for each in range(more)
        )
        return self._replace(tests=self.tests + added)

    def with_change(self, text: str) -> str:
        """The code with something in the bug's place."""
        return self.code.replace(self.bug, text)


def programs(only: str = "") -> tuple[Program, ...]:
    """All of them in the order of their names, or those whose name begins so."""
    found = []
    for path in sorted(FOLDER.glob(f"{only}*.toml")):
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        found.append(Program(name=path.stem, **{**told, "wrong": tuple(told["wrong"])}))
    return tuple(found)


def in_order(program: Program, number: int) -> tuple[str, ...]:
    """The diffs of a program, the fix among them: first, last, or in between, by its number."""
    place = (0, len(program.wrong), 1)[number % 3]
    return (*program.wrong[:place], program.fix, *program.wrong[place:])
