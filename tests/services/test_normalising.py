"""`normalise`: files in the project's own formatting, and never a write."""

from pathlib import Path

import pytest

from cogworks.services.python import normalising
from cogworks.services.python.normalising import used_formatter
from tests.services.asking import ask, laid_out, lines

ROUGH = "x = {  'a':1 }\n"
PLAIN = 'x = {"a": 1}\n'
BLACK = "[tool.black]\nskip-string-normalization = true\n"


def texts(response: object) -> dict[str, str | None]:
    files = response.result["files"]  # type: ignore[attr-defined]  # a Response
    assert all(each["changed"] is ("content" in each) for each in files)
    return {each["artifact"]: each.get("content") for each in files}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"ruff.toml": "[format]\n"}, PLAIN),
        ({"pyproject.toml": '[tool.ruff.format]\nquote-style = "single"\n'}, "x = {'a': 1}\n"),
        ({".pre-commit-config.yaml": "- id: ruff-format\n"}, PLAIN),
        ({"pyproject.toml": BLACK}, "x = {'a': 1}\n"),
        ({".pre-commit-config.yaml": "- id: black\n"}, PLAIN),
        ({"pyproject.toml": "[tool.ruff]\nline-length = 90\n"}, None),
        ({}, None),
    ],
    ids=["ruff", "ruff-own", "ruff-hook", "black-own", "black-hook", "lint-only", "none"],
)
def test_a_file_gets_the_project_s_own_formatting(
    settings: dict[str, str], expected: str | None, tmp_path: Path
) -> None:
    laid_out(tmp_path, {**settings, "src/a.py": ROUGH})

    response = ask("normalise", tmp_path, artifacts=["src/a.py"])

    assert texts(response) == {"src/a.py": expected}
    assert (tmp_path / "src/a.py").read_text() == ROUGH


def test_without_a_formatter_everything_is_unchanged_and_that_is_said(tmp_path: Path) -> None:
    laid_out(tmp_path, {"a.py": ROUGH, "notes.txt": "x"})

    response = ask("normalise", tmp_path, artifacts=["a.py", "notes.txt"])

    assert texts(response) == {"a.py": None, "notes.txt": None}
    assert lines(response) == [".:- informational completeness unchanged: no formatter is configured"]


def test_only_the_asked_files_are_answered_and_the_settings_nearest_to_each_count(tmp_path: Path) -> None:
    files = {
        "ruff.toml": "[format]\n",
        "sub/ruff.toml": 'extend = "../base.toml"\n',
        "base.toml": '[format]\nquote-style = "single"\n',
        "a.py": ROUGH,
        "sub/b.py": ROUGH,
        "c.py": ROUGH,
    }
    laid_out(tmp_path, files)

    response = ask("normalise", tmp_path, artifacts=["sub/b.py", "a.py"])

    assert texts(response) == {"sub/b.py": "x = {'a': 1}\n", "a.py": PLAIN}
    assert response.metadata.counts == {"artifacts": 2, "changed": 2}
    assert "ruff" in response.metadata.tool_versions


def test_formatting_once_more_changes_nothing(tmp_path: Path) -> None:
    laid_out(tmp_path, {"ruff.toml": "[format]\n", "a.py": ROUGH})
    (tmp_path / "a.py").write_text(texts(ask("normalise", tmp_path, artifacts=["a.py"]))["a.py"] or "")

    assert texts(ask("normalise", tmp_path, artifacts=["a.py"])) == {"a.py": None}


@pytest.mark.parametrize("settings", ["[tool.ruff.format]\n", BLACK], ids=["ruff", "black"])
def test_a_file_that_cannot_be_formatted_holds_up_no_other(settings: str, tmp_path: Path) -> None:
    root = laid_out(
        tmp_path / "repository",
        {
            "pyproject.toml": settings,
            "a.py": ROUGH,
            "bad.py": "def f(:\n",
            "latin.py": "# coding: latin-1\nx  = 'é'\n".encode("latin-1"),
            "folder.py/x.py": "",
        },
    )
    (root / "link.py").symlink_to(root / "a.py")
    artifacts = ["a.py", "bad.py", "latin.py", "folder.py", "link.py"]

    response = ask("normalise", root, artifacts=artifacts)

    changed = {path for path, text in texts(response).items() if text is not None}
    assert "a.py" in changed
    assert changed.isdisjoint({"bad.py", "latin.py"})
    told = lines(response)
    assert "bad.py:- warning completeness unchanged: invalid syntax, column 7: def f(:" in told
    assert "link.py:- blocking completeness there is no such file in the working copy" in told
    assert "folder.py:- blocking completeness there is no such file in the working copy" in told


def test_settings_from_elsewhere_leave_the_files_below_them_unchanged(tmp_path: Path) -> None:
    files = {
        "ruff.toml": "[format]\n",
        "sub/ruff.toml": 'extend = "/etc/x"\n',
        "a.py": ROUGH,
        "sub/b.py": ROUGH,
    }
    laid_out(tmp_path, files)

    response = ask("normalise", tmp_path, artifacts=["a.py", "sub/b.py"])

    assert texts(response) == {"a.py": PLAIN, "sub/b.py": None}
    assert lines(response)[0].startswith(
        "sub/ruff.toml:- warning completeness files below it are unchanged: "
    )


def test_settings_that_the_formatter_refuses_are_named(tmp_path: Path) -> None:
    laid_out(tmp_path, {"ruff.toml": 'line-length = "wide"\n[format]\n', "a.py": ROUGH})

    response = ask("normalise", tmp_path, artifacts=["a.py"])

    assert texts(response) == {"a.py": None}
    assert lines(response)[0].startswith(
        "ruff.toml:- warning completeness not everything was formatted: ruff"
    )


def test_a_file_name_is_never_an_option_of_the_formatter(tmp_path: Path) -> None:
    names = ("--quiet.py", "@odd.py", "with blank.py")
    laid_out(tmp_path, {"ruff.toml": "[format]\n", **dict.fromkeys(names, ROUGH)})

    assert texts(ask("normalise", tmp_path, artifacts=list(names))) == dict.fromkeys(names, PLAIN)


def test_what_the_project_excludes_stays_as_it_is(tmp_path: Path) -> None:
    laid_out(tmp_path, {"ruff.toml": 'exclude = ["made"]\n[format]\n', "made/a.py": ROUGH})

    assert texts(ask("normalise", tmp_path, artifacts=["made/a.py"])) == {"made/a.py": None}


def test_a_formatter_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(normalising, "installed_version", lambda _: None)
    laid_out(tmp_path, {"pyproject.toml": BLACK, "a.py": ROUGH})

    response = ask("normalise", tmp_path, artifacts=["a.py"])

    assert texts(response) == {"a.py": None}
    assert lines(response) == [
        "pyproject.toml:- warning completeness unchanged: black is used and not installed beside cogworks"
    ]


def test_an_answer_has_room_for_so_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(normalising, "MAX_BYTES", len(PLAIN))
    laid_out(tmp_path, {"ruff.toml": "[format]\n", "a.py": ROUGH, "b.py": ROUGH})

    response = ask("normalise", tmp_path, artifacts=["a.py", "b.py"])

    assert texts(response) == {"a.py": PLAIN, "b.py": None}
    assert lines(response) == [
        f"b.py:- warning completeness unchanged: the answer would be longer than {len(PLAIN)} bytes"
    ]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"ruff.toml": "[format]\n", "pyproject.toml": BLACK}, ("ruff", "ruff.toml")),
        ({"pyproject.toml": BLACK, "Makefile": "\truff format .\n"}, ("black", "pyproject.toml")),
        ({".github/workflows/ci.yml": "- run: ruff format --check ."}, ("ruff", ".github/workflows/ci.yml")),
        ({"tox.ini": "commands = black --check src\n"}, ("black", "tox.ini")),
        ({"noxfile.py": 'session.run("ruff", "format")\n'}, ("ruff", "noxfile.py")),
        ({"Makefile": "\techo black magic, ruff formatting\n"}, None),
        ({"pyproject.toml": "[tool.black\n"}, None),
        (
            {"ruff.toml": b"\xff", ".pre-commit-config.yaml": b"\xff- id: black"},
            ("black", ".pre-commit-config.yaml"),
        ),
    ],
    ids=["ruff-first", "settings-first", "workflow", "tox", "nox", "words", "broken", "bytes"],
)
def test_which_formatter_a_repository_uses(
    files: dict[str, str | bytes], expected: tuple[str, str] | None, tmp_path: Path
) -> None:
    found = used_formatter(laid_out(tmp_path, files))

    assert (found and (found.name, found.place)) == expected
