"""Searching issues."""

import pytest

from cogworks.hub.actions.labels import add_labels, find_label
from cogworks.hub.actions.merging import merge_pull
from cogworks.hub.refusals import Unprocessable
from cogworks.hub.rest.search import parse_query
from tests.hub.bench import Bench


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("", [1, 2, 3]),
        ("sum", [1]),
        ("repo:octo/demo is:issue", [1, 2]),
        ("repo:octo/other", []),
        ("is:pr is:merged", [3]),
        ('label:"help wanted"', [2]),
        ('-label:"help wanted" is:open', [1]),
        ("author:rita", [2]),
        ("head:topic base:main state:closed", [3]),
        ("assignee:ada", []),
        ('"body words" in:body', [2]),
    ],
)
def test_all_terms_must_hold(bench: Bench, query: str, numbers: list[int]) -> None:
    first = bench.issue("Wrong sum")
    second = bench.issue("Other", "Some body words", bench.reader)
    add_labels(bench.world, bench.owner, second, [find_label(bench.world, bench.repository, "help wanted")])
    third = merge_pull(bench.world, bench.owner, bench.pull("topic"))

    found = [
        issue.number
        for issue in (bench.now(each) for each in (first, second, third))
        if all(test(bench.world, bench.repository, issue) for test in parse_query(query))
    ]

    assert found == numbers


def test_an_unknown_qualifier_is_named() -> None:
    with pytest.raises(Unprocessable) as refused:
        parse_query("stars:9")

    assert refused.value.detail.startswith("The qualifier stars: is not known here; known: repo, user")
