"""`review_rules`: security, likely bugs, and the rules that a request brings along."""

from pathlib import Path
from typing import Any

import pytest

from cogworks.domain_services.checking import ReviewRulesParams
from cogworks.domain_services.messages import ErrorCode
from cogworks.services.python.reviewing import RULES, RuleSettings, rules_for
from cogworks.vocabulary import Severity
from tests.services.asking import ask, diagnostic, laid_out, lines

CODE = "import subprocess\n\n\ndef run(command, seen=[]):\n    subprocess.call(command, shell=True)\n    return eval(command)\n"


def test_security_and_bugs_are_found_in_the_asked_files_only(tmp_path: Path) -> None:
    laid_out(tmp_path, {"a.py": CODE, "b.py": CODE, "notes.txt": ""})

    response = ask("review_rules", tmp_path, artifacts=["a.py", "notes.txt"])

    assert response.status == "success"
    assert [line.split(": ")[0] for line in lines(response)] == [
        "a.py:4 warning style_violation B006",
        "a.py:5 warning safety_concern S602",
        "a.py:6 warning safety_concern S307",
    ]
    assert response.result == {"tools": [{"tool": "ruff", "status": "ran", "reason": ""}]}
    assert response.metadata.counts == {"artifacts": 1, "skipped": 1}


def test_what_the_file_suppresses_is_seen_all_the_same(tmp_path: Path) -> None:
    laid_out(tmp_path, {"a.py": "x = eval('1')  # noqa: S307\n", "b.py": "# ruff: noqa\nx = eval('1')\n"})

    response = ask("review_rules", tmp_path, artifacts=["a.py", "b.py"])

    said = "informational safety_concern S307: Use of possibly insecure function; consider using `ast.literal_eval`"
    assert lines(response) == [
        f"a.py:1 {said} (suppressed by a comment in the file)",
        f"b.py:2 {said} (suppressed by a comment in the file)",
    ]


def reviewed(folder: Path, files: dict[str, str], *, changed: tuple[str, ...] = ()) -> list[str]:
    """Place and rule of every finding in the Python files."""
    laid_out(folder, files)
    paths = [path for path in files if path.endswith(".py")]
    response = ask("review_rules", folder, artifacts=paths, changed=[*paths, *changed])
    assert [each["status"] for each in response.result["tools"]] == ["ran"]
    return [
        f"{each.artifact}:{each.location.line} {each.message.split(':')[0]}" for each in response.diagnostics
    ]


FILES = {"src/a.py": CODE, "src/generated/b.py": CODE, "tests/test_a.py": CODE}
EVERYTHING = [
    f"{path}:{line} {rule}" for path in FILES for line, rule in ((4, "B006"), (5, "S602"), (6, "S307"))
]
RUFF = """extend-exclude = ["src/generated"]
[lint]
select = ["E"]
ignore = ["S307"]
[lint.per-file-ignores]
"tests/*" = ["S", "B006"]
"""
LEFT = ["src/a.py:4 B006", "src/a.py:5 S602"]


@pytest.mark.parametrize(
    ("place", "settings"),
    [
        ("ruff.toml", RUFF),
        (".ruff.toml", RUFF),
        ("pyproject.toml", f"[tool.ruff]\n{RUFF}".replace("[lint", "[tool.ruff.lint")),
        (
            "setup.cfg",
            "[flake8]\nextend-ignore = E203, S307\nexclude = src/generated\nper-file-ignores =\n    tests/*: S, B006\n",
        ),
        (
            ".flake8",
            "[flake8]\nignore=S307\nexclude=generated,build\nper-file-ignores=tests/*,x.py:S,B006 y.py:E1\n",
        ),
        (
            "tox.ini",
            "[tox]\n[flake8]\nignore = S307\nextend-exclude = ./src/generated/\nper-file-ignores = test_*.py:S,B\n",
        ),
    ],
    ids=lambda text: text if "\n" not in text else "",
)
def test_what_the_repository_ignores_is_not_found(tmp_path: Path, place: str, settings: str) -> None:
    assert reviewed(tmp_path, {**FILES, place: settings}) == LEFT


@pytest.mark.parametrize("place", ["ruff.toml", "setup.cfg"])
def test_nobody_silences_a_rule_about_their_own_change(tmp_path: Path, place: str) -> None:
    texts = {"ruff.toml": 'exclude = ["*"]\n', "setup.cfg": "[flake8]\nexclude = *\n"}

    assert reviewed(tmp_path, {**FILES, place: texts[place]}, changed=(place,)) == EVERYTHING


def test_settings_count_for_what_lies_below_them_with_those_that_they_extend(tmp_path: Path) -> None:
    files = {
        **FILES,
        "base.toml": 'lint.ignore = ["B006"]\n',
        "src/ruff.toml": 'extend = "../base.toml"\n[lint.per-file-ignores]\n"generated/*" = ["S"]\n',
    }

    assert reviewed(tmp_path, files) == ["src/a.py:5 S602", "src/a.py:6 S307", *EVERYTHING[6:]]
    assert reviewed(tmp_path, files, changed=("base.toml",)) == EVERYTHING


def test_settings_that_cannot_be_used_silence_nothing_and_are_named(tmp_path: Path) -> None:
    laid_out(
        tmp_path, {"ruff.toml": "lint.ignore = [", "a.py": "x = eval('1')\n", ".flake8": "not a section"}
    )

    response = ask("review_rules", tmp_path, artifacts=["a.py"])

    assert lines(response)[0].split(": ")[0] == "a.py:1 warning safety_concern S307"
    assert [(each["tool"], each["status"]) for each in response.result["tools"]] == [
        ("ruff", "ran"),
        ("ruff with ruff.toml", "skipped"),
    ]


def test_a_request_brings_rules_of_its_own(tmp_path: Path) -> None:
    laid_out(
        tmp_path,
        {"a.py": "import requests\n\nrequests.get('x')\n\n\ndef f(a):\n    if a:\n        return 1\n"},
    )
    settings = {
        "banned": {"requests.get": "use our client"},
        "max_complexity": 1,
        "severity": {"TID": "warning", "TID251": "blocking"},
        "colour": "red",
    }

    response = ask("review_rules", tmp_path, artifacts=["a.py"], ignore=["S113"], settings=settings)

    assert response.status == "failure"
    assert lines(response) == [
        ".:- warning completeness setting 'colour' is not known to this service; it knows `banned`, `max_complexity`, `severity`",
        "a.py:3 blocking style_violation TID251: `requests.get` is banned: use our client",
        "a.py:6 warning style_violation C901: `f` is too complex (2 > 1)",
    ]


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"select": ["--config=/etc/passwd"]}, "a rule or group is written like"),
        ({"ignore": ["s1"]}, "'s1'"),
        ({"settings": {"severity": {"S": "fatal"}}}, "params.settings: severity.S"),
        ({"settings": {"max_complexity": 0}}, "params.settings: max_complexity"),
        ({"artifacts": ["/etc/passwd"]}, "the path is absolute"),
    ],
    ids=["option", "lower-case", "severity", "complexity", "outside"],
)
def test_a_request_that_makes_no_sense_is_refused(params: dict[str, Any], words: str, tmp_path: Path) -> None:
    response = ask("review_rules", tmp_path, **{"artifacts": [], **params})

    assert response.error is not None
    assert response.error.code is ErrorCode.INVALID_REQUEST
    assert words in response.error.message


def test_a_rule_that_ruff_does_not_know_is_named(tmp_path: Path) -> None:
    laid_out(tmp_path, {"a.py": CODE})

    response = ask("review_rules", tmp_path, artifacts=["a.py"], select=["QQQ1"])

    (line,) = lines(response)
    assert line.startswith(".:- warning completeness ruff was left out: ruff failed")
    assert response.result["tools"][0]["status"] == "skipped"


def test_files_that_are_gone_or_broken_are_reported(tmp_path: Path) -> None:
    laid_out(tmp_path, {"bad.py": "def f(:\n"})

    response = ask("review_rules", tmp_path, artifacts=["bad.py", "gone.py"])

    assert response.status == "failure"
    assert [line.split(" ")[:3] for line in lines(response)][-1] == ["gone.py:-", "blocking", "completeness"]
    assert any(line.startswith("bad.py:1 blocking syntax_error") for line in lines(response))


def test_tests_may_assert_unless_the_rule_is_asked_for_by_name() -> None:
    usual = rules_for(ReviewRulesParams(artifacts=()), RuleSettings())
    strict = rules_for(ReviewRulesParams(artifacts=(), select=("S101",)), RuleSettings())
    in_test = diagnostic("tests/test_a.py:1", "warning", "safety_concern", "S101: Use of `assert` detected")
    in_code = in_test.model_copy(update={"artifact": "a.py"})

    assert [usual.applies(in_test), usual.applies(in_code), strict.applies(in_test)] == [False, True, True]


def test_the_longest_selector_that_fits_says_how_much_a_rule_matters() -> None:
    severity = {"S": Severity.INFORMATIONAL, "S3": Severity.BLOCKING}
    rules = rules_for(ReviewRulesParams(artifacts=()), RuleSettings(severity=severity))

    assert [rules.severity_of(code) for code in ("S301", "S101", "B006", "F821")] == [
        Severity.BLOCKING,
        Severity.INFORMATIONAL,
        Severity.WARNING,
        Severity.BLOCKING,
    ]


def test_every_rule_of_the_default_is_known_to_ruff(tmp_path: Path) -> None:
    laid_out(tmp_path, {"a.py": "x = 1\n"})

    response = ask("review_rules", tmp_path, artifacts=["a.py"], select=list(RULES))

    assert lines(response) == []
