"""Which settings ruff would obey for a file, and which of them are refused."""

from pathlib import Path

import pytest

from cogworks.services.python.settings_files import MAX_CHAIN, by_settings, ruff_settings
from tests.services.asking import laid_out

OWN = "[tool.ruff]\nline-length = 90\n"


def test_a_repository_without_settings_has_none(tmp_path: Path) -> None:
    laid_out(tmp_path, {"src/a.py": "", "pyproject.toml": "[project]\nname = 'x'\n"})

    assert ruff_settings(tmp_path, "src/a.py") is None


def test_the_nearest_settings_count_and_a_file_of_ruff_s_own_comes_first(tmp_path: Path) -> None:
    files = {"pyproject.toml": OWN, "src/pyproject.toml": OWN, "src/ruff.toml": "", "src/x/.ruff.toml": ""}
    laid_out(tmp_path, files)

    found = {path: ruff_settings(tmp_path, path) for path in ("a.py", "src/a.py", "src/x/a.py", "src/y/a.py")}

    assert {path: settings.path for path, settings in found.items() if settings} == {
        "a.py": "pyproject.toml",
        "src/a.py": "src/ruff.toml",
        "src/x/a.py": "src/x/.ruff.toml",
        "src/y/a.py": "src/ruff.toml",
    }


def test_settings_that_are_taken_over_are_followed_inside_the_repository(tmp_path: Path) -> None:
    laid_out(tmp_path, {"src/ruff.toml": 'extend = "../conf/base.toml"\n', "conf/base.toml": ""})

    settings = ruff_settings(tmp_path, "src/a.py")

    assert settings is not None
    assert (settings.problem, settings.chain) == ("", ("src/ruff.toml", "conf/base.toml"))


@pytest.mark.parametrize(
    "extended",
    ["/etc/passwd", "../outside.toml", "~/ruff.toml", "$HOME/ruff.toml", "conf/${X}.toml", ".git/config", 7],
)
def test_settings_from_elsewhere_are_refused(extended: object, tmp_path: Path) -> None:
    root = laid_out(tmp_path / "repository", {"ruff.toml": f"extend = {extended!r}\n"})
    (tmp_path / "outside.toml").write_text("")

    settings = ruff_settings(root, "a.py")

    assert settings is not None
    assert settings.problem == (
        f"ruff.toml extends {extended!r}, which is not a plain path inside the repository"
    )


def test_a_link_is_no_settings_file(tmp_path: Path) -> None:
    root = laid_out(tmp_path / "repository", {"a.py": ""})
    (tmp_path / "outside.toml").write_text("")
    (root / "ruff.toml").symlink_to(tmp_path / "outside.toml")

    settings = ruff_settings(root, "a.py")

    assert settings is not None
    assert settings.problem == "it is no regular file of the repository"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"[tool.ruff\n", "it cannot be read: "),
        (b"\xff\xfe", "it cannot be read: "),
        (b'extend = "gone.toml"\n', "gone.toml: it is no regular file"),
        (b'extend = "ruff.toml"\n', "ruff.toml extends ruff.toml, and that does not end"),
    ],
    ids=["not-toml", "not-utf-8", "gone", "endless"],
)
def test_settings_that_cannot_be_used_say_why(text: bytes, words: str, tmp_path: Path) -> None:
    laid_out(tmp_path, {"ruff.toml": text})

    settings = ruff_settings(tmp_path, "a.py")

    assert settings is not None
    assert words in settings.problem


def test_a_chain_has_an_end(tmp_path: Path) -> None:
    chain = {f"r{number}.toml": f'extend = "r{number + 1}.toml"\n' for number in range(MAX_CHAIN + 1)}
    laid_out(tmp_path, {"ruff.toml": 'extend = "r0.toml"\n', **chain})

    settings = ruff_settings(tmp_path, "a.py")

    assert settings is not None
    assert settings.problem.endswith("and that does not end")


def test_files_are_grouped_by_their_settings(tmp_path: Path) -> None:
    laid_out(tmp_path, {"one/ruff.toml": "", "two/x/ruff.toml": 'extend = "/etc/x"\n'})

    groups = by_settings(tmp_path, ["a.py", "one/a.py", "two/x/a.py", "one/b.py"])

    assert [(key and key.path, list(paths)) for key, paths in groups.items()] == [
        (None, ["a.py"]),
        ("one/ruff.toml", ["one/a.py", "one/b.py"]),
        ("two/x/ruff.toml", ["two/x/a.py"]),
    ]
