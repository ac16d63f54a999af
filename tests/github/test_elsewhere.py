"""Files of other repositories: what is missing is said, and what fails for a moment is asked for again."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from cogworks.errors import TryAgainLater
from cogworks.github.answers import Answer, GraphQLProblem
from cogworks.github.elsewhere import read_elsewhere
from cogworks.packs.declared import Exemplar

ONE = Exemplar(repository="a/one", ref="main", path="x.py")
OTHER = Exemplar(repository="a/other", ref="main", path="x.py")
FILE = {"file": {"__typename": "Blob", "oid": "1", "text": "x", "isTruncated": False, "isBinary": False}}


class Answers:
    """Gives the first file, and a problem in the place of the other."""

    def __init__(self, kind: str, message: str) -> None:
        self._problem = GraphQLProblem(("r1",), kind, message)

    def query(self, document: str, variables: Mapping[str, Any], *, cut_short_repeats: int = 3) -> Answer:
        return Answer({"r0": FILE, "r1": None}, (self._problem,), datetime.now(UTC))


def test_what_is_not_there_is_said_beside_what_is() -> None:
    found = read_elsewhere(Answers("NOT_FOUND", "Could not resolve to a Repository"), [ONE, OTHER])

    assert (found[ONE].text, found[OTHER].problem) == ("x", "it is not there, or the token may not see it")


@pytest.mark.parametrize(
    ("kind", "message"),
    [("RATE_LIMITED", "slow down"), ("", "Something went wrong while executing your query.")],
)
def test_what_fails_for_a_moment_is_missing_from_no_run(kind: str, message: str) -> None:
    with pytest.raises(TryAgainLater, match="read files of other repositories"):
        read_elsewhere(Answers(kind, message), [ONE, OTHER])
