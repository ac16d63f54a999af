"""Under which names test runners report the tests of a repository, and in which files these are."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cogworks.grammars.facts import FILE, Definition
from cogworks.grammars.gathering import gather
from cogworks.grammars.resolving.named import go_package, rust_path
from cogworks.grammars.testing import is_test_file
from cogworks.services.command.grammars.code import Code, Reading, read_code


class ReportedTest(NamedTuple):
    """One test."""

    name: str
    artifact: str
    """Repository-relative POSIX path."""


def reported_tests(
    folder: Path, read: Reading = gather, *, root: str = "", only: Sequence[str] = ()
) -> tuple[ReportedTest, ...]:
    r"""The tests below a directory by path and line, each under the name by which its usual runner reports it.

    Go `example.com/shop/cart.TestAdd` (import path, dot, function); Rust `cart::tests::adds` as libtest prints it, a test of
    `tests/api.rs` without the name of the file; Java `com.shop.CartTest.adds` and `com.shop.CartTest$Inner.adds`; C#
    `Shop.Tests.CartTests.Adds`; PHP `Shop\Tests\CartTest::testAdds`; JavaScript, TypeScript and RSpec the titles from the
    outermost block on, with a blank between, blocks without tests inside left out; minitest `CartTest#test_adds`; C and C++
    the name of the function. Subtests and parameters that only a run makes are not there: cut them off (`/`, `[`, `(`) before
    looking a name up. One name may be in several files. Never raises for what a file holds.

    Args:
        read: `Shelf().facts` where more than one question is asked.
        root: only what is below this folder of the repository.
        only: paths of the files to look at; none: all.
    """
    code = read_code(folder, read, root=root, only=only)
    return tuple(ReportedTest(name, path) for path in code.files for name in _names(code, path))


def _names(code: Code, path: str) -> Iterator[str]:
    facts, spec = code.files[path], code.spec(path)
    definitions = facts.definitions
    blocks = {each.parent for each in definitions if each.kind == "test"}
    in_tests = is_test_file(spec, path)
    for place, own in enumerate(definitions):
        if own.kind == "test":
            if place not in blocks:
                yield " ".join(_chain(definitions, own))
        elif own.is_test and (in_tests or spec.test_marks or not spec.test_names):
            yield _qualified(code, path, _chain(definitions, own))


def _chain(definitions: tuple[Definition, ...], own: Definition) -> list[str]:
    """The names from the outermost definition to this one."""
    names: list[str] = []
    at = own
    while True:
        names += [at.name, *reversed(at.owner)]
        if at.parent == FILE:
            return names[::-1]
        at = definitions[at.parent]


def _qualified(code: Code, path: str, names: list[str]) -> str:
    package = code.files[path].package
    match code.files[path].language:
        case "Go":
            return f"{go_package(code.tree, path)}.{names[-1]}"
        case "Rust":
            return "::".join((*rust_path(code.tree, path), *names))
        case "Java":
            return f"{package}.{'$'.join(names[:-1])}.{names[-1]}".lstrip(".")
        case "C#":
            around = [] if package and names[0] == package.partition(".")[0] else [package]
            return ".".join(each for each in (*around, *names) if each)
        case "PHP":
            return f"{package}\\{'::'.join(names)}".lstrip("\\")
        case "Ruby":
            return f"{'::'.join(names[:-1])}#{names[-1]}"
        case _:
            return names[-1]
