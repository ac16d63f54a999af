"""Whatever a repository's files hold, reading them ends in an answer."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.domain_services.checking import Unread
from cogworks.domain_services.messages import Diagnostic
from cogworks.repair.transact.measure import new_faults
from cogworks.services.python.declarations import declared, read_declarations
from cogworks.services.python.imports import imports_in
from cogworks.services.python.linting import findings_in
from cogworks.services.python.settings_files import ruff_settings
from cogworks.services.python.typechecking import configured_checker, read_mypy
from tests.exhaustive import examples
from tests.services.asking import diagnostic, laid_out

WORDS = st.sampled_from(
    [
        "[project]\n", "[tool.ruff]\n", "[tool.mypy]\n", "[mypy]\n", "[options]\n", "[dependency-groups]\n", "dependencies = ",
        "dynamic = ", "extend = ", "test = ", "install_requires = ", "setup(install_requires=", "['foo']", "'foo>=1'", "7", "[",
        "(", ")", "{}", "\n", "-r ", "-e ", "../", "$HOME", "foo", ">=1", "; ", "\\\n", "\0", "é", "import a\n", "from . import b\n",
    ]
)  # fmt: skip
TEXTS = st.one_of(
    st.binary(max_size=60), st.lists(WORDS, max_size=12).map(lambda each: "".join(each).encode())
)
NAMES = ("pyproject.toml", "setup.cfg", "setup.py", "requirements.txt", "ruff.toml", "mypy.ini")


@settings(max_examples=examples(50))
@given(texts=st.fixed_dictionaries(dict.fromkeys(NAMES, TEXTS)))
def test_settings_and_manifests_are_read_or_named(texts: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = laid_out(Path(folder), texts)

        manifest = read_declarations(root)
        own = ruff_settings(root, "src/a.py")
        checker = configured_checker(root)

    places = {*NAMES, *(each.artifact for each in manifest.unread)}
    assert {each.place for each in manifest.declared} <= places
    assert own is not None
    assert bool(own.problem) is (own.chain == ())
    assert not any(path.startswith(("/", "..")) for path in own.chain)
    assert checker is None or checker.place in NAMES


@given(source=TEXTS)
def test_imports_are_found_or_the_file_is_no_python(source: bytes) -> None:
    try:
        found = imports_in(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return

    assert list(found) == sorted(found, key=lambda each: (each.line, each.module))


@given(output=TEXTS)
def test_words_of_a_tool_are_findings_or_none(output: bytes) -> None:
    for found in (findings_in(output, Path("/repository")), read_mypy(output, ["a.py"])):
        assert found is None or not getattr(found, "findings", found)


@pytest.mark.parametrize("depth", [10, 5000])
def test_a_requirement_may_be_nested_as_it_likes(depth: int) -> None:
    marker = f"{'(' * depth}python_version > '3'{')' * depth}"

    found = declared(f"foo; {marker}", "pyproject.toml")

    assert isinstance(found, Unread) is (depth > 10)


FAULTS = st.lists(
    st.builds(
        lambda line, message: diagnostic(f"a.py:{line}", "blocking", "type_error", message),
        st.integers(1, 9),
        st.sampled_from("xyz"),
    ),
    max_size=8,
)


@given(before=FAULTS, after=FAULTS)
def test_old_and_new_faults_make_up_all_of_them(before: list[Diagnostic], after: list[Diagnostic]) -> None:
    added = [each.message for each in new_faults(before, after)]

    for message in "xyz":
        earlier, later = (sum(each.message == message for each in found) for found in (before, after))
        assert added.count(message) == max(0, later - earlier)
