"""What V10 says of Python source as it is written, read by the bundled service: thirty cases, there and back."""

import os
from pathlib import Path
from typing import NamedTuple

import pytest

from cogworks.domain_services.exploring import Signature, Signatures
from cogworks.domain_services.opening import BUNDLED, open_client
from cogworks.domain_services.panel import Member, ServicePanel
from cogworks.repair.consulting import Consulted
from cogworks.repair.transact.validators import api_changes, refused_changes


class Case(NamedTuple):
    """Two texts of one file, and what is refused from the first to the second and the other way round."""

    name: str
    old: str
    new: str
    there: tuple[str, ...] = ()
    back: tuple[str, ...] = ()


SAME = ()
CASES = (
    Case("spacing only", "def f(a,b=1): return a\n", "def f( a, b = 1 ):\n    return a\n"),
    Case("lines of its own", "def f(a, b): ...\n", "def f(\n    a,\n    b,\n): ...\n"),
    Case("comment and docstring", "def f(a): ...\n", 'def f(a):\n    """Says."""\n    # why\n'),
    Case("annotation", "def f(a): ...\n", "def f(a: int) -> str: ...\n"),
    Case("another default", "def f(a=1): ...\n", "def f(a=2): ...\n"),
    Case("private helper goes", "def _f(a): ...\n", ""),
    Case("name inside a function goes", "def f():\n    def g(a): ...\n", "def f(): ...\n"),
    Case("deleted", "def f(a): ...\n", "", ("removed",), SAME),
    Case("renamed function", "def f(a): ...\n", "def g(a): ...\n", ("removed",), ("removed",)),
    Case("several lines, one gone", "def f(\n    a,\n    b,\n): ...\n", "def f(\n    a,\n): ...\n", ("parameter_removed",), ("required_parameter_added",)),
    Case("required parameter", "def f(a): ...\n", "def f(a, b): ...\n", ("required_parameter_added",), ("parameter_removed",)),
    Case("optional parameter", "def f(a): ...\n", "def f(a, b=None): ...\n", SAME, ("parameter_removed",)),
    Case("default gone", "def f(a=1): ...\n", "def f(a): ...\n", ("default_removed",), SAME),
    Case("parameter renamed", "def f(a): ...\n", "def f(b): ...\n", ("parameter_renamed",), ("parameter_renamed",)),
    Case("order turned", "def f(a, b): ...\n", "def f(b, a): ...\n", ("parameters_reordered",), ("parameters_reordered",)),
    Case("positional only", "def f(a): ...\n", "def f(a, /): ...\n", ("passing_changed",), ("passing_changed",)),
    Case("keyword only", "def f(a): ...\n", "def f(*, a): ...\n", ("passing_changed",), ("passing_changed",)),
    Case("keyword only required", "def f(): ...\n", "def f(*, a): ...\n", ("required_parameter_added",), ("parameter_removed",)),
    Case("keyword only order", "def f(*, a, b): ...\n", "def f(*, b, a): ...\n"),
    Case("star args", "def f(): ...\n", "def f(*args): ...\n", SAME, ("parameter_removed",)),
    Case("star star", "def f(): ...\n", "def f(**rest): ...\n", SAME, ("parameter_removed",)),
    Case("async", "def f(): ...\n", "async def f(): ...\n", ("async_changed",), ("async_changed",)),
    Case("decorator", "import functools\ndef f(): ...\n", "import functools\n@functools.cache\ndef f(): ...\n", ("decorators_changed",), ("decorators_changed",)),
    Case("method", "class C:\n    def m(self, a): ...\n", "class C:\n    def m(self): ...\n", ("parameter_removed",), ("required_parameter_added",)),
    Case("method deleted", "class C:\n    def m(self): ...\n", "class C: ...\n", ("removed",), SAME),
    Case("static method", "class C:\n    @staticmethod\n    def m(a): ...\n", "class C:\n    def m(self, a): ...\n", ("decorators_changed", "kind_changed", "parameters_reordered", "required_parameter_added"), ("decorators_changed", "kind_changed", "parameter_removed")),
    Case("class method", "class C:\n    @classmethod\n    def m(cls): ...\n", "class C:\n    @staticmethod\n    def m(): ...\n", ("decorators_changed", "kind_changed", "parameter_removed"), ("decorators_changed", "kind_changed", "required_parameter_added")),
    Case("property", "class C:\n    @property\n    def m(self): ...\n", "class C:\n    def m(self): ...\n", ("decorators_changed", "kind_changed"), ("decorators_changed", "kind_changed")),
    Case("nested class", "class C:\n    class D:\n        def m(self, a): ...\n", "class C:\n    class D:\n        def m(self, b): ...\n", ("parameter_renamed",), ("parameter_renamed",)),
    Case("async method", "class C:\n    async def m(self): ...\n", "class C:\n    def m(self): ...\n", ("async_changed",), ("async_changed",)),
    Case("base gone", "class B: ...\nclass C(B): ...\n", "class B: ...\nclass C: ...\n", ("base_removed",), SAME),
    Case("constructor", "class C:\n    def __init__(self, a): ...\n", "class C:\n    def __init__(self, a, b): ...\n", ("required_parameter_added",), ("parameter_removed",)),
    Case("private, but exported", "__all__ = ['_f']\ndef _f(a): ...\n", "__all__ = ['_f']\ndef _f(): ...\n", ("parameter_removed",), ("required_parameter_added",)),
)  # fmt: skip


class Tree(NamedTuple):
    path: Path


def module(number: int) -> str:
    return f"case_{number}.py"


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Signatures, Signatures]:
    """The signatures of every case before and after; one service reads all of them at once."""
    folder = tmp_path_factory.mktemp("source")
    for number, case in enumerate(CASES):
        (folder / module(number)).write_text(case.old)
    with ServicePanel([Member(open_client(BUNDLED, environment=os.environ))], warn=print) as panel:
        reading = Consulted(Tree(folder), panel).read(
            {module(number): case.new for number, case in enumerate(CASES)}
        )
    assert reading.syntax == ()
    return reading.before, reading.after


def of(side: Signatures, number: int) -> Signatures:
    found: list[Signature] = [each for each in side.signatures if each.artifact == module(number)]
    return Signatures(signatures=tuple(found))


def refused(old: Signatures, new: Signatures) -> tuple[str, ...]:
    return tuple(sorted({each.difference for each in refused_changes(api_changes(old, new), ())}))


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.name for case in CASES])
def test_what_is_refused_of_source_there_and_back(sides: tuple[Signatures, Signatures], number: int) -> None:
    before, after = (of(side, number) for side in sides)

    assert refused(before, after) == CASES[number].there
    assert refused(after, before) == CASES[number].back


def test_there_are_thirty_cases_and_each_refusal_can_be_allowed_by_name(
    sides: tuple[Signatures, Signatures],
) -> None:
    changes = api_changes(*sides)

    assert len(CASES) >= 30
    assert refused_changes(changes, ()) != ()
    assert refused_changes(changes, {change.id for change in changes}) == ()
