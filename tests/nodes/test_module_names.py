"""Does the repository have the module that somebody names?"""

import pytest

from cogworks.nodes.shown import close_to, files_of

FILES = [
    "README.md",
    "crate/src/auth/token.rs",
    "src/adder/__init__.py",
    "src/adder/adding.py",
    "tests/test_adding.py",
]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("src/adder/adding.py", ["src/adder/adding.py"]),
        ("./src/adder/adding.py", ["src/adder/adding.py"]),
        ("src/adder/", ["src/adder/__init__.py", "src/adder/adding.py"]),
        ("adder", ["src/adder/__init__.py", "src/adder/adding.py"]),
        ("adder.adding", ["src/adder/adding.py"]),
        ("adding", ["src/adder/adding.py"]),
        ("auth::token", ["crate/src/auth/token.rs"]),
        ("README.md", ["README.md"]),
        ("add", []),
        ("dder/adding.py", []),
        ("", []),
    ],
)
def test_a_name_stands_for_these_files(name: str, found: list[str]) -> None:
    assert list(files_of(name, FILES)) == found


def test_a_misspelled_name_is_answered_with_what_is_close() -> None:
    assert close_to("src/adder/ading.py", FILES)[0] == "src/adder/adding.py"
    assert close_to("adder.ading", FILES)[0] == "src/adder/adding.py"
    assert close_to("zzz", FILES) == ()
