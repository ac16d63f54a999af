"""Files, headings and words near code that a pack requires: there, or named with their place."""

import pytest

from cogworks.packs.artefacts import headings, missing, patterns_besides
from cogworks.packs.patterns import fits
from tests.packs.declared import frozen, names, new, pack, touched

FILE = {"name": "Analysis", "type": "file", "path_pattern": "docs/safety/panic*.md"}
SECTION = {
    "name": "Stack",
    "type": "section",
    "file_pattern": "docs/**/*.md",
    "heading_pattern": "Stack (Usage|Budget)",
}
UNSAFE = {
    "name": "Unsafe",
    "type": "annotation",
    "code_pattern": r"unsafe\s*\{",
    "annotation_pattern": "// SAFETY:",
}


@pytest.mark.parametrize(
    ("path", "is_there"),
    [
        ("docs/safety/panic-paths.md", True),
        ("docs/safety/deep/panic-paths.md", False),
        ("docs/panic-paths.md", False),
        ("a/docs/safety/panic-paths.md", False),
    ],
)
def test_a_file_is_there_when_one_that_the_change_writes_fits(path: str, is_there: bool) -> None:
    assert names(missing(frozen(pack("p", FILE)), [new(path)], {})) == ([] if is_there else ["Analysis"])


def test_what_is_missing_names_the_artefact_the_pack_and_where_it_would_be() -> None:
    [found] = missing(frozen(pack("rust-embedded-safety", FILE)), [new("src/a.rs")], {})

    assert (found.pack, found.artefact, found.place, found.line) == (
        "rust-embedded-safety",
        "Analysis",
        "docs/safety/panic*.md",
        0,
    )
    assert "`rust-embedded-safety` requires the artefact *Analysis*, and it is missing" in found.explanation


@pytest.mark.parametrize("required", [FILE, {**SECTION, "heading_pattern": "Stack"}], ids=["file", "section"])
def test_one_that_was_there_before_does_only_where_the_pack_says_so(required: dict[str, str]) -> None:
    before = {"docs/safety/panic.md": "# Stack\n"}

    assert len(missing(frozen(pack("p", required)), [], before)) == 1
    assert missing(frozen(pack("p", {**required, "where": "repository"})), [], before) == ()
    assert patterns_besides(frozen(pack("p", required))) == ()
    assert len(patterns_besides(frozen(pack("p", {**required, "where": "repository"})))) == 1


@pytest.mark.parametrize(
    ("text", "is_there"),
    [
        ("# Stack Usage\n", True),
        ("text\n### The Stack Budget of it ###\n", True),
        ("Stack Usage\n===========\n", True),
        ("Stack Usage is low.\n", False),
        ("```\n# Stack Usage\n```\n", False),
        ("#Stack Usage\n", False),
        ("", False),
    ],
)
def test_a_section_is_there_when_a_heading_fits(text: str, is_there: bool) -> None:
    found = missing(frozen(pack("p", SECTION)), [new("docs/safety/a.md", text)], {})

    assert names(found) == ([] if is_there else ["Stack"])


def test_headings_of_both_kinds_are_found_and_rules_are_none() -> None:
    assert list(headings("# A\n\n---\nB\n-\n~~~\n# C\n~~~\n## D ##\n")) == ["A", "B", "D"]


def source(distance: int) -> str:
    """Code whose reason stands so many lines before it (after it: negative)."""
    lines = [f"let x{each} = 0;" for each in range(20)]
    lines[10] = "unsafe { go() }"
    lines[10 - distance] += " // SAFETY: alone"
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("distance", "is_there"), [(0, True), (1, True), (5, True), (6, False), (-5, True), (-6, False)]
)
def test_words_stand_within_five_lines_of_the_code(distance: int, is_there: bool) -> None:
    found = missing(frozen(pack("p", UNSAFE)), [new("src/a.rs", source(distance))], {})

    assert [(each.place, each.line) for each in found] == ([] if is_there else [("src/a.rs", 11)])


@pytest.mark.parametrize(("within", "is_there"), [(2, False), (3, True)])
def test_how_near_is_what_the_pack_says(within: int, is_there: bool) -> None:
    strict = {**UNSAFE, "within_lines": within}

    assert (missing(frozen(pack("p", strict)), [new("a.rs", source(3))], {}) == ()) is is_there


@pytest.mark.parametrize("odd", ["\f", "\v", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\r"])
def test_lines_are_numbered_as_git_numbers_them(odd: str) -> None:
    text = f"a{odd}b\nunsafe {{ a() }}\n"

    found = missing(frozen(pack("p", UNSAFE)), [touched("a.rs", text, 2)], {})

    assert [each.line for each in found] == [2]


def test_the_end_of_a_line_of_windows_is_none_of_its_words() -> None:
    strict = {**UNSAFE, "code_pattern": r"\{$"}

    assert [
        each.line for each in missing(frozen(pack("p", strict)), [touched("a.rs", "a {\r\n", 1)], {})
    ] == [1]
    assert list(headings("# A\r\n\r\nB\r\n-\r\n")) == ["A", "B"]


def test_every_place_without_the_words_is_named() -> None:
    text = (
        "unsafe { a() }\n" + "\n" * 20 + "// SAFETY: held\nunsafe { b() }\n" + "\n" * 20 + "unsafe { c() }\n"
    )

    assert [each.line for each in missing(frozen(pack("p", UNSAFE)), [new("a.rs", text)], {})] == [1, 44]


NEARLY = "a" * 1_999
"""Every one of the patterns fits it nearly, in more ways than anybody can try."""


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+b",
        "((a+)b?)+$c",
        "(a|a)*$b",
        "(a|ab)*?$b",
        "(a?){500}a{500}b",
        "a*a*a*a*a*a*a*a*b",
        r"(\w+\s?)*(\w+\s?)*(\w+\s?)*;",
        ".*.*.*.*.*.*=",
    ],
)
def test_no_line_keeps_a_pattern_busy(pattern: str) -> None:
    busy = {**UNSAFE, "code_pattern": pattern, "annotation_pattern": pattern}
    heading = {**SECTION, "heading_pattern": pattern}

    lines = touched("docs/a.md", f"# {NEARLY}\n{NEARLY}\n", 1, 2)

    assert names(missing(frozen(pack("p", busy, heading)), [lines], {})) == ["Stack"]


@pytest.mark.timeout(60)
def test_no_path_and_no_heading_keeps_anybody_busy() -> None:
    far = {**FILE, "path_pattern": "**/" + "*a" * 40 + "/" + "**/a/" * 20 + "b"}
    blanks = new("docs/a.md", f"# a{' ' * 1_990}b\n" * 20)

    assert names(missing(frozen(pack("p", far)), [new("a/" * 1_000 + "a")], {})) == ["Analysis"]
    assert list(headings(blanks.text)) == [f"a{' ' * 1_990}b"] * 20


def test_a_line_and_a_path_that_are_no_utf_8_are_searched_all_the_same() -> None:
    odd = {**UNSAFE, "code_pattern": "größe", "annotation_pattern": "x"}

    found = missing(frozen(pack("p", odd)), [new("\udcff.rs", "\udcff größe\x00\n")], {})

    assert [(each.place, each.line) for each in found] == [("\udcff.rs", 1)]
    assert fits("\udcff.rs", ["*.rs"])


def test_code_that_was_there_before_is_nobodys_doing() -> None:
    text = "unsafe { a() }\nunsafe { b() }\n"

    assert [each.line for each in missing(frozen(pack("p", UNSAFE)), [touched("a.rs", text, 2)], {})] == [2]


def test_words_are_wanted_only_in_files_that_fit() -> None:
    only = {**UNSAFE, "file_pattern": "src/**/*.rs"}
    files = [new("docs/a.md", "unsafe {"), new("src/deep/a.rs", "unsafe {"), new("src/b.rs", "unsafe {")]

    assert [each.place for each in missing(frozen(pack("p", only)), files, {})] == [
        "src/deep/a.rs",
        "src/b.rs",
    ]


@pytest.mark.parametrize(
    ("pattern", "path", "does"),
    [
        ("**/tests/**/*.py", "tests/test_a.py", True),
        ("**/tests/**/*.py", "a/b/tests/c/d.py", True),
        ("**/test_*.py", "test_a.py", True),
        ("**/test_*.py", "a/mytest_a.py", False),
        ("docs/**", "docs/a/b", True),
        ("docs/?.md", "docs/a.md", True),
        ("docs/?.md", "docs/ab.md", False),
        ("a.b", "axb", False),
        ("/a", "a", True),
        ("/a", "b/a", False),
        ("*.rs", "a.rs", True),
        ("*.rs", "src/deep/a.rs", True),
        ("test_?.py", "tests/test_a.py", True),
        ("src/*.rs", "b/src/a.rs", False),
        ("docs/", "docs/a/b.md", True),
        ("docs/", "a/docs/b.md", True),
        ("docs/", "docs", False),
        ("/docs/", "a/docs/b.md", False),
        ("docs/safety/", "docs/safety/a/b.md", True),
        ("docs/safety/", "a/docs/safety/b.md", False),
    ],
)
def test_a_pattern_of_paths_fits_whole_paths_as_git_reads_it(pattern: str, path: str, does: bool) -> None:
    assert fits(path, [pattern]) is does
