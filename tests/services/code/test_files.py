"""Which files are read, and what is said of those that are not."""

import os
from pathlib import Path

import pytest

from cogworks.services.python.code.facts import Unreadable
from cogworks.services.python.code.files import Listing, contents, listing
from cogworks.services.python.code.gathering import MAX_BYTES


def put(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("x = 1\n")


def test_what_tools_made_and_what_is_hidden_is_left_out(tmp_path: Path) -> None:
    put(
        tmp_path, "b.py", "a/c.pyi", "a/notes.txt", "build/lib.py", ".git/hooks/x.py", ".tox/y.py", ".conf.py"
    )
    put(
        tmp_path,
        "node_modules/n.py",
        "own/pyvenv.cfg",
        "own/lib/v.py",
        "a/site-packages/s.py",
        "a/__pycache__/p.py",
    )
    put(tmp_path, "src/build/__init__.py", "src/build/real.py", "x.egg-info/e.py", "dist/d.py")

    assert listing(tmp_path) == Listing(("a/c.pyi", "b.py", "src/build/__init__.py", "src/build/real.py"))


def test_what_only_looks_like_a_file_is_named(tmp_path: Path) -> None:
    put(tmp_path, "real.py", "folder.py/inner.py", "elsewhere/e.txt")
    (tmp_path / "link.py").symlink_to(tmp_path / "real.py")
    (tmp_path / "linked").symlink_to("/usr/lib")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / os.fsdecode(b"caf\xe9.py")).write_text("x = 1\n")

    found = listing(tmp_path)

    assert found.paths == ("folder.py/inner.py", "real.py")
    assert found.unread == (
        ("caf\\udce9.py", Unreadable("control characters and lone surrogates are not allowed in a path")),
        ("folder.py", Unreadable("is a directory")),
        ("link.py", Unreadable("is a symbolic link; nothing is read through it")),
        ("pipe.py", Unreadable("is no regular file")),
    )


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("gone.py", "there is no such file in the working copy"),
        ("folder.py", "is a directory"),
        ("huge.py", f"is longer than {MAX_BYTES} bytes"),
        ("link.py", "is no regular file, or a symbolic link leads to it"),
        ("outside/passwd.py", "is no regular file, or a symbolic link leads to it"),
        ("a.py/b.py", "there is no such file in the working copy"),
        ("n" * 300, "there is no such file in the working copy"),
    ],
)
def test_a_file_that_is_not_to_be_had_says_why(path: str, reason: str, tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    put(folder, "a.py", "folder.py/inner.py")
    put(tmp_path, "secret/passwd.py")
    with (folder / "huge.py").open("wb") as file:
        file.truncate(10**12)
    (folder / "link.py").symlink_to("a.py")
    (folder / "outside").symlink_to(tmp_path / "secret")

    assert contents(folder, path) == Unreadable(reason)
    assert contents(folder, "a.py") == b"x = 1\n"
