"""A name that is imported behind `try` and used all the same: what has to be installed is told, as for any other import."""

from pathlib import Path

import pytest

from cogworks.domain_services.checking import SimulateParams
from cogworks.domain_services.messages import TestReport
from cogworks.services.python.imports import modules_behind
from tests.services.asking import Copy, answered, laid_out

TEST = (
    "try:\n    import no_such_generator\n    from no_such_checker import given\nexcept ImportError:\n    no_such_generator = None\n\n\n"
    "@given(1)\ndef test_it():\n    pass\n"
)


def test_the_line_to_paste_names_all_that_one_try_imports(tmp_path: Path) -> None:
    copy = Copy(laid_out(tmp_path, {"test_it.py": TEST}))

    report = TestReport.model_validate(answered("simulate", copy, SimulateParams()).result)

    (error,) = report.collection_errors
    assert "NameError: name 'given' is not defined" in error
    (told,) = report.remedies
    assert "`no_such_checker`, `no_such_generator`" in told
    assert 'packages = ["no-such-checker", "no-such-generator"]' in told


@pytest.mark.parametrize(
    ("error", "text", "modules"),
    [
        ("E   NameError: name 'given' is not defined", TEST, ("no_such_generator", "no_such_checker")),
        ("E   NameError: name 'other' is not defined", TEST, ()),
        ("E   NameError: name 'given' is not defined", "from checker import given\n", ()),
        ("E   NameError: name 'given' is not defined", "try:\n    (\n", ()),
        (
            "E   NameError: name 'x' is not defined",
            "try:\n    import a.b as x\nexcept Exception:\n    pass\n",
            ("a.b",),
        ),
        (
            "E   NameError: name 'a' is not defined",
            "try:\n    import a.b\nexcept ImportError:\n    pass\n",
            ("a.b",),
        ),
        (
            "E   NameError: name 'y' is not defined",
            "try:\n    from . import y\nexcept ImportError:\n    pass\n",
            (),
        ),
    ],
    ids=["bound", "another", "unguarded", "unreadable", "renamed", "dotted", "relative"],
)
def test_a_module_is_told_by_the_name_it_binds(
    error: str, text: str, modules: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "t.py").write_text(text)

    assert modules_behind([f"t.py: t.py:9: in <module>\n{error}"], tmp_path) == modules


def test_the_innermost_file_is_looked_at_and_none_outside(tmp_path: Path) -> None:
    (tmp_path / "lib.py").write_text("try:\n    import inner\nexcept ImportError:\n    pass\n")
    (tmp_path / "t.py").write_text("try:\n    import outer as inner\nexcept ImportError:\n    pass\n")
    said = "t.py: t.py:1: in <module>\n    import lib\n{}:4: in <module>\nE   NameError: name 'inner' is not defined"

    assert modules_behind([said.format("lib.py")], tmp_path) == ("inner",)
    assert modules_behind([said.format("../t.py")], tmp_path / "below") == ()


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text(TEST)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "t.py").symlink_to(outside)

    assert modules_behind(["t.py: E   NameError: name 'given' is not defined"], folder) == ()
