"""`validate`: compiler, ruff with the project's settings or our few rules, and the project's type checker."""

from pathlib import Path

import pytest

from cogworks.domain_services.messages import ErrorCode
from cogworks.services.python import linting
from cogworks.services.python.linting import lint
from cogworks.services.python.responses import MAX_FINDINGS, sorted_findings
from cogworks.services.python.typechecking import configured_checker, read_mypy, reason_in
from cogworks.services.sandbox.isolation import NO_ISOLATION
from cogworks.vocabulary import Severity
from tests.services.asking import HERE, MACHINE, ask, diagnostic, laid_out, lines

FAULTY = "import os\n\n\ndef total(prices):\n    return sum(pries)\n"


def tools(response: object) -> list[tuple[str, str, str]]:
    return [(each["tool"], each["status"], each["reason"]) for each in response.result["tools"]]  # type: ignore[attr-defined]  # a Response


def test_without_settings_a_few_rules_look_for_bugs(tmp_path: Path) -> None:
    laid_out(tmp_path, {"a.py": FAULTY, "b.py": FAULTY, "long.py": f"x = '{'x' * 200}'  \n"})

    response = ask("validate", tmp_path, artifacts=["a.py", "long.py"])

    assert response.status == "failure"
    assert lines(response) == [
        "a.py:1 warning style_violation F401: `os` imported but unused",
        "a.py:5 blocking type_error F821: Undefined name `pries`",
    ]
    assert tools(response) == [
        ("ruff", "ran", ""),
        ("type checker", "skipped", "the repository configures none"),
    ]
    assert set(response.metadata.tool_versions) == {"python", "pytest", "ruff"}


def test_the_project_s_settings_decide_what_is_found(tmp_path: Path) -> None:
    text = "import os\n\n\ndef f(x = []):\n    print(x)\n"
    laid_out(
        tmp_path,
        {
            "pyproject.toml": '[tool.ruff.lint]\nselect = ["B006", "T20"]\nper-file-ignores = {"tests/*" = ["T20"]}\n',
            "a.py": text,
            "tests/test_a.py": text,
        },
    )

    response = ask("validate", tmp_path, artifacts=["tests/test_a.py", "a.py"])

    assert response.status == "success"
    assert lines(response) == [
        "a.py:4 warning style_violation B006: Do not use mutable data structures for argument defaults",
        "a.py:5 warning style_violation T201: `print` found",
        "tests/test_a.py:4 warning style_violation B006: Do not use mutable data structures for argument defaults",
    ]


def test_what_the_project_leaves_out_or_suppresses_is_left_out(tmp_path: Path) -> None:
    laid_out(
        tmp_path,
        {
            "ruff.toml": 'exclude = ["made/*"]\n',
            "made/a.py": FAULTY,
            "b.py": "x = y  # noqa: F821\n",
        },
    )

    assert lines(ask("validate", tmp_path, artifacts=["made/a.py", "b.py"])) == []


def test_settings_that_mend_files_or_name_a_cache_write_nothing(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    settings = f'fix = true\nunsafe-fixes = true\nfix-only = true\ncache-dir = "{outside}"\n'
    root = laid_out(tmp_path / "repository", {"ruff.toml": settings, "a.py": FAULTY})

    response = ask("validate", root, artifacts=["a.py"])

    assert len(response.diagnostics) == 2
    assert (root / "a.py").read_text() == FAULTY
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.py", "repository", "ruff.toml"]


@pytest.mark.parametrize("isolation", [HERE, NO_ISOLATION], ids=["strongest", "plain"])
def test_settings_that_read_outside_are_named_and_replaced(isolation: object, tmp_path: Path) -> None:
    secret = tmp_path / "secret.toml"
    secret.write_text("password = hunter2\n")
    root = laid_out(tmp_path / "repository", {"ruff.toml": f'extend = "{secret}"\n', "a.py": FAULTY})

    response = ask("validate", root, isolation=isolation, artifacts=["a.py"])  # type: ignore[arg-type]  # two kinds of isolation

    reason = f"ruff.toml extends '{secret}', which is not a plain path inside the repository"
    assert tools(response)[:2] == [("ruff", "ran", ""), ("ruff with ruff.toml", "skipped", reason)]
    assert lines(response) == [
        "a.py:1 warning style_violation F401: `os` imported but unused",
        "a.py:5 blocking type_error F821: Undefined name `pries`",
        f"ruff.toml:- warning completeness ruff with ruff.toml was left out: {reason}",
    ]
    assert "hunter2" not in response.model_dump_json()


def test_settings_that_ruff_does_not_understand_are_named_and_replaced(tmp_path: Path) -> None:
    laid_out(
        tmp_path,
        {"a.py": FAULTY, "ruff.toml": 'line-length = "wide"\n', "sub/b.py": FAULTY, "sub/ruff.toml": ""},
    )

    response = ask("validate", tmp_path, artifacts=["a.py", "sub/b.py"])

    (left_out,) = [line for line in lines(response) if "completeness" in line]
    assert left_out.startswith(
        "ruff.toml:- warning completeness ruff with ruff.toml was left out: ruff failed Cause: "
    )
    assert str(tmp_path) not in left_out
    assert [line.split(" ")[0] for line in lines(response) if "F821" in line] == ["a.py:5", "sub/b.py:5"]


def test_a_tool_that_fails_altogether_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linting, "BUGS", "QQQ")
    laid_out(tmp_path, {"a.py": FAULTY})

    response = ask("validate", tmp_path, artifacts=["a.py"])

    assert response.status == "success"
    (line,) = lines(response)
    assert line.startswith(".:- warning completeness ruff was left out: ruff failed")
    assert tools(response)[0][:2] == ("ruff", "skipped")


def test_a_file_that_does_not_compile_is_told_once(tmp_path: Path) -> None:
    laid_out(tmp_path, {"bad.py": "def f(:\n    x = (\nundefined\n", "good.py": "x = 1\n"})

    assert lines(ask("validate", tmp_path, artifacts=["good.py", "bad.py"])) == [
        "bad.py:1 blocking syntax_error invalid syntax, column 7: def f(:"
    ]


def test_syntax_that_is_too_new_for_the_project_blocks(tmp_path: Path) -> None:
    laid_out(
        tmp_path,
        {"ruff.toml": 'target-version = "py38"\n', "a.py": "match 1:\n    case _:\n        pass\n"},
    )

    (line,) = lines(ask("validate", tmp_path, artifacts=["a.py"]))

    assert line.startswith("a.py:1 blocking syntax_error invalid-syntax: Cannot use `match`")


def test_strange_files_are_reported_and_stop_nothing(tmp_path: Path) -> None:
    root = laid_out(
        tmp_path / "repository",
        {
            "latin.py": "# coding: latin-1\nx = 'é'\n".encode("latin-1"),
            "nul.py": b"x = '\0'\n",
            "deep.py": b"(" * 5000,
            "@odd -name.py": FAULTY,
            "folder.py/a.py": "",
        },
    )
    (tmp_path / "outside.py").write_text(FAULTY)
    (root / "link.py").symlink_to(tmp_path / "outside.py")
    artifacts = ["latin.py", "nul.py", "deep.py", "@odd -name.py", "folder.py", "link.py", "notes.txt"]

    response = ask("validate", root, artifacts=artifacts)

    assert [line.split(":")[0] for line in lines(response)] == [
        "@odd -name.py", "@odd -name.py", "deep.py", "folder.py", "latin.py", "link.py", "nul.py",
    ]  # fmt: skip
    assert "link.py:- blocking completeness there is no such file in the working copy" in lines(response)
    assert (
        "latin.py:- warning completeness ruff was left out: it cannot read the file, which may not be in UTF-8"
        in lines(response)
    )
    assert response.metadata.counts == {"artifacts": 6, "skipped": 1}


@pytest.mark.slow
def test_a_module_of_the_repository_is_never_taken_for_the_tool(tmp_path: Path) -> None:
    evil = "raise SystemExit(0)\n"
    laid_out(
        tmp_path,
        {
            "a.py": FAULTY,
            "ruff.py": evil,
            "mypy.py": evil,
            "sitecustomize.py": evil,
            "mypy.ini": "[mypy]\n",
        },
    )

    response = ask("validate", tmp_path, artifacts=["a.py"])

    assert tools(response) == [("ruff", "ran", ""), ("mypy", "ran", "")]
    assert len(response.diagnostics) == 2


def test_answers_do_not_depend_on_the_order_of_the_question(tmp_path: Path) -> None:
    laid_out(tmp_path, {"a.py": FAULTY, "b.py": FAULTY})

    assert lines(ask("validate", tmp_path, artifacts=["b.py", "a.py", "a.py"])) == lines(
        ask("validate", tmp_path, artifacts=["a.py", "b.py"])
    )


def test_of_too_many_findings_the_worst_are_told() -> None:
    warnings = [
        diagnostic(f"a.py:{n}", "warning", "style_violation", "w") for n in range(1, MAX_FINDINGS + 3)
    ]
    worst = diagnostic("z.py:1", "blocking", "type_error", "b")

    found = sorted_findings([*warnings, worst])

    assert len(found) == MAX_FINDINGS + 1
    assert worst in found
    assert found[-1].message == "3 more finding(s), of this and other files, are not listed"


def test_a_name_that_was_agreed_on_and_is_missing_blocks(tmp_path: Path) -> None:
    laid_out(tmp_path, {"shop.py": "def total(): ...\n"})

    response = ask("validate", tmp_path, artifacts=["shop.py"], interfaces=["shop.total", "shop.Cart"])

    assert lines(response) == [
        "shop.py:- blocking interface_mismatch 'shop.Cart' is expected and none of the files declares it"
    ]


def test_a_path_that_leads_outside_is_refused(tmp_path: Path) -> None:
    response = ask("validate", tmp_path, artifacts=["../a.py"])

    assert response.error is not None
    assert response.error.code is ErrorCode.INVALID_REQUEST


def test_many_files_are_one_run(tmp_path: Path) -> None:
    names = [f"{'n' * 100}/{'m' * 100}_{number}.py" for number in range(1500)]
    laid_out(tmp_path, dict.fromkeys(names, "x = y\n"))

    (ran,) = lint(tmp_path, names, MACHINE)

    assert len(ran.findings) == 1500


TYPED = {
    "pkg/__init__.py": "",
    "pkg/a.py": "def f(x: int) -> str:\n    return x\n",
    "pkg/old.py": "y: int = 'old'\n",
    "tests/test_a.py": "z: int = 'test'\n",
}


@pytest.mark.slow
def test_the_project_s_type_checker_is_asked_about_these_files(tmp_path: Path) -> None:
    laid_out(tmp_path, {**TYPED, "pyproject.toml": "[tool.mypy]\nstrict = true\n"})

    response = ask("validate", tmp_path, artifacts=["pkg/a.py", "tests/test_a.py"])

    assert lines(response) == [
        'pkg/a.py:2 blocking type_error Incompatible return value type (got "int", expected "str") [return-value]'
    ]
    assert tools(response)[-1] == ("mypy", "ran", "")
    assert "mypy" in response.metadata.tool_versions


@pytest.mark.slow
def test_a_file_name_is_never_an_option_of_the_checker(tmp_path: Path) -> None:
    laid_out(tmp_path, {"--always-true=x.py": "x: int = 'a'\n", "mypy.ini": "[mypy]\n"})

    response = ask("validate", tmp_path, artifacts=["--always-true=x.py"])

    assert [line.split(" ")[:3] for line in lines(response)] == [
        ["--always-true=x.py:1", "blocking", "type_error"]
    ]


@pytest.mark.slow
def test_where_the_settings_say_what_is_checked_tests_count_as_well(tmp_path: Path) -> None:
    laid_out(tmp_path, {**TYPED, "mypy.ini": "[mypy]\nfiles = pkg, tests\n"})

    response = ask("validate", tmp_path, artifacts=["tests/test_a.py"])

    assert [line.split(" ")[:3] for line in lines(response)] == [
        ["tests/test_a.py:1", "blocking", "type_error"]
    ]


@pytest.mark.slow
def test_without_all_modules_no_type_error_blocks(tmp_path: Path) -> None:
    files = {"setup.cfg": "[mypy]\nstrict = True\n", "a.py": "import not_there\nx: int = 'a'\n"}
    laid_out(tmp_path, files)

    response = ask("validate", tmp_path, artifacts=["a.py"])

    assert response.status == "success"
    assert [line.split(" ")[:3] for line in lines(response)] == [
        ["a.py:1", "warning", "style_violation"],
        ["a.py:1", "warning", "type_error"],
        ["a.py:2", "warning", "type_error"],
        ["setup.cfg:-", "warning", "completeness"],
    ]
    assert "mypy lacked modules, so none of its errors blocks" in lines(response)[-1]


def test_a_plugin_runs_behind_walls_and_a_broken_one_is_named(tmp_path: Path) -> None:
    decoy = tmp_path / "decoy"
    decoy.write_text("secret")
    plugin = (
        f"try:\n    text = open('{decoy}').read()\nexcept OSError:\n    text = 'nothing'\n"
        "raise RuntimeError('the plugin read ' + text)\n"
    )
    root = laid_out(
        tmp_path / "repository",
        {"mypy.ini": "[mypy]\nplugins = ./plugin.py\n", "plugin.py": plugin, "a.py": "x = 1\n"},
    )

    response = ask("validate", root, artifacts=["a.py"])

    (line,) = lines(response)
    assert line.startswith("mypy.ini:- warning completeness mypy was left out: ")
    assert "the plugin read nothing" in line or not HERE.is_complete


def test_types_are_not_checked_for_strangers_without_walls(tmp_path: Path) -> None:
    laid_out(tmp_path, {**TYPED, "mypy.ini": "[mypy]\n"})

    response = ask("validate", tmp_path, isolation=NO_ISOLATION, needs_walls=True, artifacts=["pkg/a.py"])

    assert response.status == "success"
    assert tools(response)[-1][:2] == ("mypy", "skipped")
    assert "runs only in complete isolation" in lines(response)[0]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, None),
        ({"pyproject.toml": "[tool.other]\n"}, None),
        ({"pyproject.toml": "[tool.mypy]\n"}, ("mypy", "pyproject.toml", "", False)),
        ({"pyproject.toml": '[tool.mypy]\nfiles = ["src"]\n'}, ("mypy", "pyproject.toml", "", True)),
        ({"mypy.ini": "[mypy]\n", "setup.cfg": "[mypy]\n"}, ("mypy", "mypy.ini", "", False)),
        ({"setup.cfg": "[metadata]\n"}, None),
        ({"setup.cfg": "[mypy]\npackages = a\n"}, ("mypy", "setup.cfg", "", True)),
        ({"pyrightconfig.json": "{}"}, ("pyright", "pyrightconfig.json", "", False)),
        ({"pyproject.toml": "[tool.pyright]\n"}, ("pyright", "pyproject.toml", "", False)),
    ],
    ids=["nothing", "others", "pyproject", "targets", "ini-first", "other-cfg", "cfg", "json", "pyright"],
)
def test_which_type_checker_is_configured(
    files: dict[str, str], expected: tuple[str, str, str, bool] | None, tmp_path: Path
) -> None:
    checker = configured_checker(laid_out(tmp_path, files))

    told_ = checker and (checker.name, checker.place, checker.problem, checker.has_targets)
    assert told_ == expected


@pytest.mark.parametrize("name", ["mypy.ini", "pyproject.toml"])
def test_settings_that_cannot_be_read_are_named(name: str, tmp_path: Path) -> None:
    laid_out(tmp_path, {name: b"\xff[", "a.py": "x = 1\n"})

    response = ask("validate", tmp_path, artifacts=["a.py"])

    assert response.status == "success"
    assert any(line.startswith(f"{name}:- warning completeness") for line in lines(response))
    assert tools(response)[-1][1] == "skipped"


def test_a_checker_that_is_not_run_is_named(tmp_path: Path) -> None:
    laid_out(tmp_path, {"pyrightconfig.json": "{}", "a.py": "x = 1\n"})

    assert lines(ask("validate", tmp_path, artifacts=["a.py"])) == [
        "pyrightconfig.json:- warning completeness pyright was left out: pyright is configured, and this service runs only mypy"
    ]


@pytest.mark.parametrize("output", [b"Success\n", b"[]\n", b'{"file": 1}\n'], ids=["words", "list", "half"])
def test_words_instead_of_findings_are_no_findings(output: bytes) -> None:
    assert read_mypy(output, ["a.py"]) is None
    assert reason_in(output, "one\ntwo") == "one; two"


def test_a_note_of_the_checker_is_information() -> None:
    note = b'{"file": "a.py", "line": -1, "message": "see there", "code": null, "severity": "note"}'

    reported = read_mypy(note, ["a.py"])

    assert reported is not None
    assert reported.findings == (diagnostic("a.py", "informational", "type_error", "see there"),)
    assert reported.findings[0].severity is Severity.INFORMATIONAL
