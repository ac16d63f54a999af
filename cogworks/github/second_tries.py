"""Which effects that GitHub refused can end differently when they are sent once more?"""

from cogworks.github.answers import GraphQLProblem, is_internal, is_limited
from cogworks.github.effects import CommitFiles, Effect, OpenPullRequest

_NOT_VISIBLE_YET = (
    "no commits between",
    "head sha can't be blank",
    "head ref must be a branch",
    "not all refs are readable",
)


def is_not_visible_yet(problem: GraphQLProblem) -> bool:
    return any(words in problem.message.lower() for words in _NOT_VISIBLE_YET)


def may_pass(effect: Effect, problem: GraphQLProblem) -> bool:
    """Whether a second try, after a look at what is there, can end differently."""
    if is_internal(problem) or is_limited(problem):
        return True
    if isinstance(effect, CommitFiles):
        return problem.type == "STALE_DATA" or "expected branch to point to" in problem.message.lower()
    if isinstance(effect, OpenPullRequest):
        return is_not_visible_yet(problem) or "already exists" in problem.message.lower()
    return False
