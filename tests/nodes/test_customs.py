"""How a repository titles its changes, learnt from its commits."""

import pytest

from cogworks.nodes.customs import LOOKED_AT, TESTS, subjects_of, titled
from cogworks.vocabulary import VISIT_TRAILER

PLAIN = ("Add a parser", "Mend the parser", "Read files once", "Say what failed", "Release 1.2")
CONVENTIONAL = (
    "fix(parser): read the last line",
    "feat(cli): add --json",
    "docs: say how to install",
    "chore(deps): bump ruff",
    "Merge what was missing",
    "fix(parser): refuse an empty file",
)
UNSCOPED = (
    "fix: Read the last line",
    "feat: Add --json",
    "docs: Say how",
    "chore: Bump ruff",
    "test: Cover it",
)
NUMPY = (
    "BUG: fix ravel",
    "ENH: add where",
    "DOC: say how",
    "MAINT: remove it",
    "BUG: keep order",
    "CI: pin it",
)
BRACKETS = ("[FIX] a", "[FIX] b", "[DOC] c", "[FEAT] d", "[FIX] e")
PATHS = ("src/hourglass/parser.py", "tests/test_parser.py")


@pytest.mark.parametrize(
    ("subjects", "kind", "title"),
    [
        (PLAIN, "bug_fix", "Refuse leftover text"),
        (CONVENTIONAL, "bug_fix", "fix(parser): refuse leftover text"),
        (CONVENTIONAL, TESTS, "test(parser): refuse leftover text"),
        (NUMPY, TESTS, "Refuse leftover text"),
        ((*NUMPY, "TST: cover it"), TESTS, "TST: Refuse leftover text"),
        (CONVENTIONAL, "new_feature", "feat(parser): refuse leftover text"),
        (UNSCOPED, "dependency_update", "chore: Refuse leftover text"),
        (NUMPY, "bug_fix", "BUG: Refuse leftover text"),
        (NUMPY, "refactor", "MAINT: Refuse leftover text"),
        (NUMPY, "configuration_change", "MAINT: Refuse leftover text"),
        (BRACKETS, "bug_fix", "[FIX] Refuse leftover text"),
        (BRACKETS, "refactor", "Refuse leftover text"),
        (CONVENTIONAL[:4], "bug_fix", "Refuse leftover text"),
        (CONVENTIONAL, "", "Refuse leftover text"),
        ((*PLAIN, *CONVENTIONAL), "bug_fix", "Refuse leftover text"),
    ],
    ids=[
        "none",
        "conventional",
        "tests-conventional",
        "no-tag-for-tests",
        "a-tag-for-tests",
        "feature",
        "capitals-and-no-scope",
        "tags",
        "a-tag-that-means-the-same",
        "the-tag-used-most",
        "brackets",
        "no-tag-for-it",
        "too-few",
        "unclassified",
        "too-rare",
    ],
)
def test_a_title_follows_the_custom_of_the_repository(
    subjects: tuple[str, ...], kind: str, title: str
) -> None:
    assert titled("Refuse leftover text", kind, subjects, PATHS) == title


@pytest.mark.parametrize("words", ["RunState keeps its order", "HTTP errors are told", "add() adds"])
def test_a_name_at_the_front_keeps_its_capitals(words: str) -> None:
    assert titled(words, "bug_fix", CONVENTIONAL, ()) == f"fix: {words}"


def test_a_title_that_follows_it_already_stays() -> None:
    assert titled("fix: refuse leftover text", "bug_fix", CONVENTIONAL, PATHS) == "fix: refuse leftover text"


def test_only_the_newest_commits_of_people_are_looked_at() -> None:
    ours = (f"Let add() add\n\nPart\n\n{VISIT_TRAILER}{'a' * 64}\n", "cogworks: ledger begin [skip ci]\n")
    people = [f"Change {number}\n\nWhy.\n" for number in range(40)]

    found = subjects_of([ours[0], people[0], "\n", ours[1], *people[1:]])

    assert found == tuple(f"Change {number}" for number in range(LOOKED_AT))
