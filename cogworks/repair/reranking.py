"""Which of several valid diffs is tried first."""

from collections import Counter
from collections.abc import Sequence

from pydantic import Field

from cogworks.vocabulary import Value

_FAR_LINES = 100


class Traits(Value):
    """What a diff is judged by."""

    id: str
    """The digest of the diff."""
    place: int = Field(default=0, ge=0)
    """In the proposer's order."""
    distance_lines: int | None = Field(ge=0)
    """From the believed place of the fault; None: in another file."""
    changed_lines: int = Field(ge=0)
    files: int = Field(ge=0)
    is_lint_clean: bool
    similarity: float = Field(default=0.0, ge=0, le=1)
    """To the most similar diff that tests refused before."""
    knows_tests: bool = False
    """Whether it holds data of the tests that it is to repair."""


def score(traits: Traits, *, most_lines: int, most_files: int) -> float:
    """How promising a diff is, 0 to 1: near the fault, small, clean and new."""
    distance = _FAR_LINES if traits.distance_lines is None else traits.distance_lines
    return (
        0.35 * _share(distance, _FAR_LINES)
        + 0.25 * _share(traits.changed_lines, most_lines)
        + 0.15 * _share(traits.files, most_files)
        + 0.15 * traits.is_lint_clean
        + 0.10 * (1 - traits.similarity)
    )


def in_order(candidates: Sequence[Traits], *, most_lines: int, most_files: int) -> tuple[Traits, ...]:
    """Most promising first; equal ones as they were proposed, and what knows the tests after all that does not."""
    return tuple(
        sorted(
            candidates,
            key=lambda each: (
                each.knows_tests,
                -score(each, most_lines=most_lines, most_files=most_files),
                each.place,
                each.id,
            ),
        )
    )


def similarity(one: str, other: str) -> float:
    """How much two diffs have in common, 0 to 1: the changed lines that are in both, of all that are in either."""
    lines, others = _changes(one), _changes(other)
    return (lines & others).total() / total if (total := (lines | others).total()) else 0.0


def _changes(diff: str) -> Counter[str]:
    """The added and removed lines, without their blanks and wherever they stand."""
    changed = (
        line for line in diff.splitlines() if line[:1] in ("+", "-") and line[:3] not in ("+++", "---")
    )
    return Counter(f"{line[0]}{' '.join(line[1:].split())}" for line in changed)


def _share(used: int, most: int) -> float:
    """What is left of the most there may be, 0 to 1."""
    return max(0.0, 1 - used / most)
