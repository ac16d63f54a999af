"""Every field and mutation that the hub answers from its own data."""

from collections.abc import Mapping

from cogworks.hub.graphql.mutations import branches as branch_mutations
from cogworks.hub.graphql.mutations import comments as comment_mutations
from cogworks.hub.graphql.mutations import issues as issue_mutations
from cogworks.hub.graphql.mutations import labels as label_mutations
from cogworks.hub.graphql.mutations import pulls as pull_mutations
from cogworks.hub.graphql.mutations import reviews as review_mutations
from cogworks.hub.graphql.resolvers import (
    actors,
    checks,
    conversations,
    gitobjects,
    issues,
    languages,
    pulls,
    refs,
    repositories,
    reviews,
    roots,
    suites,
    timelines,
)
from cogworks.hub.graphql.tables import Answer

_MODULES = (
    roots,
    actors,
    repositories,
    languages,
    conversations,
    issues,
    timelines,
    gitobjects,
    refs,
    pulls,
    reviews,
    checks,
    suites,
    branch_mutations,
    issue_mutations,
    label_mutations,
    comment_mutations,
    pull_mutations,
    review_mutations,
)

ANSWERS: Mapping[tuple[str, str], Answer] = {
    where: answer for module in _MODULES for where, answer in module.TABLE
}
"""`(type, field)` -> the function that answers it."""
