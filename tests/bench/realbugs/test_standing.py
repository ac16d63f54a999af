"""What was kept and taken back by the whole suite is no part of what a repair ends with."""

import pytest

from scripts.benchmarks.realbugs.playing import standing_of


def log(text: str) -> list[dict[str, object]]:
    """Words such as `kept:a`, the commit at which a worktree stands then."""
    found: list[dict[str, object]] = [{"kind": "txn.start", "data": {}}]
    for word in text.split():
        why, head = word.split(":")
        found.append({"kind": "vcs.checkpoint", "data": {"why": why, "head": head}})
    return found


@pytest.mark.parametrize(
    ("text", "standing"),
    [
        ("base:0", set()),
        ("base:0 kept:a kept:b", {0, 1}),
        ("base:0 kept:a taken_back:0 kept:b", {1}),
        ("base:0 kept:a kept:b taken_back:a kept:c", {0, 2}),
        ("base:0 savepoint:0 kept:a kept:b undone:0", set()),
    ],
    ids=["nothing", "two", "another one after it", "the last of two", "a part of a chain"],
)
def test_which_changes_stand_at_the_end(text: str, standing: set[int]) -> None:
    assert standing_of(log(text)) == standing
