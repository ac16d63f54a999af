"""Every rule refuses what it is there for, all of them speak at once, and an ordinary diff of git passes."""

from pathlib import Path

import pytest

from cogworks.codebase.diffmodel import Line
from cogworks.codebase.diffparsing import parse_diff
from cogworks.domain_services.exploring import Signature, Signatures
from cogworks.domain_services.messages import Diagnostic
from cogworks.repair.transact.diffrules import fingerprint
from cogworks.repair.transact.validators import diff_violations, has_images, images, language_violations
from cogworks.repair.violations import Ground, Reading, Span, Step, Violation
from cogworks.vocabulary import Severity
from tests.codebase.repositories import git
from tests.repair.diffs import FIX, GROUND, SHOP, SOURCES, STEP, change, created, deleted, text_of


def judged(text: str, step: Step = STEP, ground: Ground = GROUND) -> tuple[Violation, ...]:
    return diff_violations(text, parse_diff(text), step, ground)


def codes(found: tuple[Violation, ...]) -> set[str]:
    return {violation.code for violation in found}


def path_swapped(path: str) -> str:
    return text_of(created(path))


CORPUS: dict[str, list[str]] = {
    "shape": [
        "",
        "I changed `-=` to `+=`.",
        f"```diff\n{FIX}```\n",
        FIX + "Done.\n",
        FIX.replace("@@ -5,5 +5,5 @@", "@@ -5,4 +5,5 @@"),
        FIX.replace("@@ -5,5 +5,5 @@", "@@ ... @@"),
        FIX.replace("--- a/src/shop.py\n", ""),
        "\n".join(FIX.splitlines()[:-2]),
    ],
    "path": [
        path_swapped("../evil.py"),
        path_swapped("/etc/passwd"),
        path_swapped("src/../../evil.py"),
        path_swapped("src//double.py"),
        path_swapped("C:/evil.py"),
        path_swapped(".git/hooks/pre-commit"),
        path_swapped("src/SHOP.py"),
        path_swapped("src\\win.py"),
        path_swapped("src/a\0b.py"),
        FIX.replace("+++ b/src/shop.py", "+++ b/src/two.py"),
        FIX.replace("diff --git a/src/shop.py b/src/shop.py", "diff --git a/src/shop.py b/other.py"),
        FIX + FIX,
    ],
    "kind": [
        "diff --git a/src/two.py b/src/new.py\nsimilarity index 100%\nrename from src/two.py\nrename to src/new.py\n",
        "diff --git a/src/two.py b/src/new.py\nsimilarity index 100%\ncopy from src/two.py\ncopy to src/new.py\n",
        "diff --git a/src/two.py b/src/two.py\nold mode 100644\nnew mode 100755\n",
        "diff --git a/src/two.py b/src/two.py\nindex 1234567..89abcde 100644\nBinary files a/src/two.py and b/src/two.py differ\n",
        text_of(created("src/new.py", "src/two.py", new_mode="120000")),
        text_of(created("src/new.py", new_mode="100755")),
        text_of(created("src/new.py", new_mode="160000")),
        text_of(created("src/unlisted.py")),
        text_of(deleted("src/three.py")),
    ],
    "protected": [
        text_of(change(".github/workflows/ci.yml", "push", "pull_request")),
        text_of(change("poetry.lock", "1", "2")),
        text_of(change(".env", "1", "2")),
        text_of(created(".cogworks/config.toml")),
        text_of(created("deploy/id_rsa")),
    ],
    "files": [
        text_of(*(change(path, "=", "+=") for path in ("src/two.py", "src/three.py", "other.py"))),
        text_of(*(change(path, "=", "-=") for path in ("src/two.py", "src/three.py", "src/long.py"))),
        text_of(created("src/new.py"), change("src/three.py", "3", "4"), change("src/two.py", "1", "4")),
    ],
    "allowlist": [
        text_of(created("src/unlisted.py")),
        text_of(created("elsewhere/x.py")),
        text_of(change("src/shop.py", "-=", "+="), created("src/more.py")),
    ],
    "loc": [
        text_of(created("src/new.py", "".join(f"x{number} = 1\n" for number in range(13)))),
        text_of(change("src/long.py", SOURCES["src/long.py"][900:1030], "y = 0\n")),
        text_of(
            change(
                "src/long.py",
                "".join(f"line{n} = {n}\n" for n in range(100, 107)),
                "".join(f"row{n} = 0\n" for n in range(7)),
            )
        ),
    ],
    "range": [
        text_of(change("src/long.py", "line1 = 1\n", "line1 = 2\n")),
        text_of(change("src/long.py", "line39 = 39\n", "")),
        text_of(change("src/long.py", "line171 = 171\n", "line171 = 171\nmore = 1\n")),
        text_of(change("src/long.py", "line300 = 300\n", "line300 = 3\n")),
    ],
    "base": [
        FIX.replace("-        result -= price", "-        result = price"),
        FIX.replace("     for price in prices:", "     for price in  prices:"),
        FIX.replace("@@ -5,5 +5,5 @@", "@@ -4,5 +4,5 @@"),
        text_of(deleted("src/two.py")).replace("-b = 2\n", "").replace("-1,2 +0,0", "-1 +0,0"),
        text_of(created("src/new.py")).replace("src/new.py", "src/two.py"),
        FIX.replace("src/shop.py", "src/new.py"),
    ],
    "minimal": [
        FIX.replace("+        result += price", "+        result -= price"),
        text_of(change("src/two.py", "a = 1", "a  =  1")),
        text_of(change("src/two.py", "a = 1\n", "a = 1\n\n")),
        text_of(change("src/two.py", "a = 1\n", "a = 1   \n")),
        text_of(change("src/shop.py", "import os\nimport sys\n", "import sys\nimport os\n")),
    ],
    "tests": [
        text_of(change("tests/test_shop.py", "== 1", "!= 1")),
        text_of(deleted("tests/test_shop.py")),
        text_of(change("handed/check.py", "total", "True")),
        text_of(change("conftest.py", "pytest", "os")),
        text_of(change("pyproject.toml", "-q", "-q --ignore=tests")),
        text_of(change("pyproject.toml", 'name = "shop"\n', 'name = "shop"\n[tool.pytest]\nx = 1\n')),
        text_of(created("tests/test_new.py", "import pytest\n@pytest.mark.skip\ndef test_a(): ...\n")),
        text_of(created("tests/test_new.py", "def test_a():\n    assert True\n")),
        text_of(created("tests/test_new.py", "def test_a():\n    pytest.xfail('later')\n")),
        text_of(
            change(
                "src/shop.py", "    result = 0\n", "    import pytest; pytest.skip('no')\n    result = 0\n"
            )
        ),
    ],
    "secrets": [
        text_of(created("src/new.py", 'api_key = "9f8e7d6c5b4a39281706"\n')),
        text_of(created("src/new.py", f"x = 'ghp_{'a1B2' * 9}'\n")),
        text_of(created("src/new.py", "-----BEGIN RSA PRIVATE KEY-----\n")),
        text_of(created("src/new.py", "x = 'AKIAIOSFODNN7EXAMPLE'\n")),
    ],
}
CASES = [
    pytest.param(code, text, id=f"{code}-{number}")
    for code, texts in CORPUS.items()
    for number, text in enumerate(texts, 1)
]


@pytest.mark.parametrize(("code", "text"), CASES)
def test_a_hostile_or_careless_diff_is_refused_by_its_rule(code: str, text: str) -> None:
    assert code in codes(judged(text))


def test_the_corpus_is_large_enough() -> None:
    assert len(CASES) >= 60
    assert all(len(texts) >= 3 for texts in CORPUS.values())


def test_a_small_fix_breaks_no_rule() -> None:
    assert judged(FIX) == ()
    assert images(parse_diff(FIX).diff, GROUND) == {"src/shop.py": SHOP.replace("-=", "+=")}


@pytest.mark.parametrize(
    "text",
    [
        text_of(change("src/long.py", "line40 = 40\n", "line40 = 4\n")),
        text_of(change("src/long.py", "line170 = 170\n", "")),
        text_of(created("src/new.py")),
        text_of(deleted("src/two.py")),
        text_of(created("tests/test_new.py", "def test_a():\n    assert total([]) == 0\n")),
        text_of(change("src/shop.py", "    return result", "        return result")),
        text_of(change("src/shop.py", "import os\n", "")),
        text_of(change("pyproject.toml", '"shop"', '"store"')),
        text_of(change("src/two.py", "a = 1", 'password = os.environ["SHOP_PASSWORD"]')),
    ],
    ids=[
        "first line of the padding",
        "last line of the padding",
        "listed new file",
        "listed deletion",
        "honest new test",
        "indentation alone",
        "import removed",
        "other table of the configuration",
        "a secret read from elsewhere",
    ],
)
def test_what_a_rule_is_not_about_passes(text: str) -> None:
    assert judged(text) == ()


def test_a_diff_that_git_itself_wrote_passes(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    for path, source in SOURCES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(source)
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "before")
    (tmp_path / "src/shop.py").write_text(SHOP.replace("-=", "+="))
    (tmp_path / "src/new.py").write_text("x = 1\n")
    git(tmp_path, "add", "--intent-to-add", "src/new.py")

    text = git(tmp_path, "diff") + "\n"

    assert text.count("diff --git") == 2
    assert judged(text) == ()


def test_all_violations_are_told_at_once() -> None:
    text = text_of(
        created("src/unlisted.py", 'secret_key = "0123456789abcdef"\n' * 13),
        change("tests/test_shop.py", "== 1", "!= 1"),
        change("poetry.lock", "1", "2"),
    )

    assert codes(judged(text)) == {"kind", "allowlist", "files", "loc", "secrets", "tests", "protected"}


def test_whitespace_pairs_count_half() -> None:
    lines = "".join(f"x{number} = 1\n" for number in range(12))
    indented = "".join(f"    x{number} = 1\n" for number in range(12))
    step, ground = STEP, Ground(sources={"src/two.py": lines}, existing=frozenset({"src/two.py"}))
    files = between_texts("src/two.py", lines, indented)

    assert "loc" not in codes(judged(files, step, ground))
    assert "loc" in codes(judged(files, step.model_copy(update={"max_changed_lines": 11}), ground))


def test_new_files_may_be_left_out_of_the_caps() -> None:
    text = text_of(*(created(f"src/new{number}.py", "x = 1\n" * 30) for number in range(4)))
    files = tuple(f"src/new{number}.py" for number in range(4))
    step = STEP.model_copy(update={"files": files, "create": files})

    assert codes(judged(text, step)) == {"files", "loc"}
    assert codes(judged(text, step.model_copy(update={"counts_new_files": False}))) == set()


def test_tests_that_the_same_work_brought_in_earlier_may_be_changed_by_it() -> None:
    text = change("tests/test_shop.py", "== 1", "!= 1")
    step = STEP.model_copy(update={"files": ("tests/test_shop.py",)})

    assert "tests" in codes(judged(text_of(text), step))
    assert codes(judged(text_of(text), step.model_copy(update={"own_tests": step.files}))) == set()


def between_texts(path: str, before: str, after: str) -> str:
    from cogworks.codebase.diffplacing import between

    return text_of(between(path, before, after))


@pytest.mark.parametrize("size", [1, 100, len(FIX) - 1])
def test_a_diff_larger_than_allowed_is_refused(size: int) -> None:
    assert codes(judged(FIX, STEP.model_copy(update={"max_diff_bytes": size}))) == {"size"}


@pytest.mark.parametrize("text", [FIX, text_of(created("src/new.py")), text_of(deleted("src/two.py"))])
def test_what_was_tried_on_this_tree_is_not_tried_again(text: str) -> None:
    tried = frozenset({fingerprint(parse_diff(text).diff)})

    assert codes(judged(text, ground=GROUND.model_copy(update={"tried": tried}))) == {"repeat"}


def test_the_names_of_objects_do_not_make_a_diff_another_one() -> None:
    named = FIX.replace("--- a/", "index 1234567..89abcde 100644\n--- a/")

    assert fingerprint(parse_diff(named).diff) == fingerprint(parse_diff(FIX).diff)


def test_a_path_behind_a_link_is_refused() -> None:
    ground = GROUND.model_copy(update={"links": frozenset({"src/shop.py"})})

    assert codes(judged(FIX, ground=ground)) == {"path"}


def test_a_path_that_git_ignores_is_refused_with_the_rule() -> None:
    rule = "src/shop.py is ignored by .gitignore:12 `shop.py`"
    ground = GROUND.model_copy(update={"unwritable": {"src/shop.py": rule}})

    (found,) = judged(FIX, ground=ground)

    assert (found.code, found.text) == ("path", rule)


def test_blank_context_lines_advance_the_line_count() -> None:
    source = "a\n" + "\n" * 80 + "b\n"
    ground = Ground(sources={"src/two.py": source}, existing=frozenset({"src/two.py"}))
    step = STEP.model_copy(update={"spans": (Span("src/two.py", 1, 2),)})

    assert codes(judged(between_texts("src/two.py", source, source.replace("b", "c")), step, ground)) == {
        "range"
    }


def test_a_span_of_another_file_restricts_nothing() -> None:
    step = STEP.model_copy(update={"spans": (Span("src/two.py", 1, 1),), "padding_lines": 0})

    assert judged(FIX, step) == ()


def test_a_deleted_line_that_looks_like_a_header_is_a_line() -> None:
    source = "-- old\nkept\n"
    ground = Ground(sources={"src/two.py": source}, existing=frozenset({"src/two.py"}))
    text = between_texts("src/two.py", source, "kept\n")

    assert judged(text, ground=ground) == ()
    assert Line("-", "-- old\n") in parse_diff(text).diff.files[0].hunks[0].lines


TOTAL = Signature(id="shop.total", kind="function", artifact="src/shop.py", line=5, positional=("prices",))


@pytest.mark.parametrize(
    ("after", "allow", "refused"),
    [
        ((TOTAL,), (), False),
        ((TOTAL.model_copy(update={"line": 90}),), (), False),
        ((TOTAL.model_copy(update={"positional": ("prices", "tax")}),), (), True),
        ((TOTAL.model_copy(update={"positional": ("prices", "tax")}),), ("shop.total",), False),
        ((TOTAL.model_copy(update={"positional": ("prices", "tax")}),), ("shop",), True),
        ((), (), True),
    ],
)
def test_public_signatures_stay_unless_the_step_names_them(
    after: tuple[Signature, ...], allow: tuple[str, ...], refused: bool
) -> None:
    reading = Reading(before=Signatures(signatures=(TOTAL,)), after=Signatures(signatures=after))

    found = language_violations(reading, STEP.model_copy(update={"allow_api": allow}))

    assert (codes(found) == {"api"}) is refused


@pytest.mark.parametrize("severity", list(Severity))
def test_what_does_not_parse_is_refused(severity: Severity) -> None:
    finding = Diagnostic(
        artifact="src/shop.py", line=3, severity=severity, category="syntax_error", message="invalid syntax"
    )

    found = language_violations(Reading(syntax=(finding, finding, finding)), STEP)

    blocking = (Violation("syntax", "src/shop.py:3: invalid syntax"),) * 3
    assert found == (blocking if severity is Severity.BLOCKING else ())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [(FIX, True), (FIX + FIX, False), (CORPUS["base"][0], False), (CORPUS["secrets"][0], True)],
)
def test_only_a_diff_that_fits_is_shown_to_the_language(text: str, wanted: bool) -> None:
    assert has_images(judged(text)) is wanted


def test_a_line_that_moved_past_another_is_a_change() -> None:
    down = SHOP.replace(
        "    result = 0\n    for price in prices:\n", "    for price in prices:\n    result = 0\n"
    )

    assert "minimal" not in codes(judged(between_texts("src/shop.py", SHOP, down)))
