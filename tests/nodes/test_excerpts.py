"""Which files does a prompt show?"""

from hypothesis import given
from hypothesis import strategies as st

from cogworks.nodes.excerpts import MAX_EXCERPT_CHARS, MAX_FILE_CHARS, MAX_LISTED_FILES, Excerpt, rank, survey
from tests.fakes import MemoryWorkspace
from tests.nodes.examples import FILES


def test_files_are_shown_by_how_much_they_matter() -> None:
    files = [
        "LICENSE",
        "README.md",
        "src/a.py",
        "src/b.py",
        "src/units.py",
        "tests/test_b.py",
        "tests/test_c.py",
    ]

    tiers = rank(files, wanted=["src/b.py"], text="The table in units is wrong.")

    assert list(tiers.items()) == [
        ("src/b.py", 0),
        ("src/units.py", 1),
        ("tests/test_b.py", 2),
        ("README.md", 3),
        ("LICENSE", 4),
        ("src/a.py", 4),
        ("tests/test_c.py", 4),
    ]


def test_a_survey_lists_all_files_and_shows_what_fits() -> None:
    view = survey(MemoryWorkspace(FILES), wanted=["src/adder/adding.py"], without=["README.md"])

    assert view.files == tuple(sorted(FILES))
    assert view.unlisted == 0
    assert view.excerpts[0] == Excerpt(path="src/adder/adding.py", text=FILES["src/adder/adding.py"])
    assert "README.md" not in [excerpt.path for excerpt in view.excerpts]
    assert view.left_out == ()


def test_the_configuration_of_the_pipeline_is_never_shown() -> None:
    view = survey(
        MemoryWorkspace({**FILES, ".cogworks/scenarios/secret.toml": "held out"}), text="secret scenarios"
    )

    assert [path for path in view.files if path.startswith(".cogworks")] == []
    assert "held out" not in view.model_dump_json()


def test_a_long_file_is_named_and_not_shown_and_dot_files_are_left_aside() -> None:
    files = {"src/long.py": "x" * (MAX_FILE_CHARS + 1), ".gitignore": "dist/\n", "src/empty.py": "\n"}

    view = survey(MemoryWorkspace(files), wanted=["src/long.py"])

    assert view.excerpts == ()
    assert view.left_out == ("src/long.py",)


def test_many_files_are_counted_where_they_are_not_listed() -> None:
    view = survey(MemoryWorkspace({f"src/{number:04}.py": "x" for number in range(MAX_LISTED_FILES + 5)}))

    assert len(view.files) == MAX_LISTED_FILES
    assert view.unlisted == 5


@given(st.dictionaries(st.from_regex(r"[a-z]{1,3}/[a-z]{1,3}\.py", fullmatch=True), st.integers(0, 50_000)))
def test_a_survey_is_bounded_and_the_same_however_the_files_are_ordered(sizes: dict[str, int]) -> None:
    files = {path: "x" * size for path, size in sizes.items()}
    view = survey(MemoryWorkspace(files), text="a b c")

    assert sum(len(excerpt.text) for excerpt in view.excerpts) <= MAX_EXCERPT_CHARS
    assert view == survey(MemoryWorkspace(dict(reversed(files.items()))), text="a b c")
