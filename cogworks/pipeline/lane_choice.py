"""Which of the built-in pipelines an item takes that leaves the choice to what Intake found: a rule, no model's opinion."""

from collections.abc import Mapping

from cogworks.vocabulary import Value

MOST_MODULES = 2
"""Where the mistake is, and one that goes with it."""
MOST_FILES = 6
"""Those, their tests, a change log, a page of documentation."""
MAX_FILES = 40
"""More than this is not one work item, and so are more interfaces than the next number."""
MAX_INTERFACES = 25
SMALL_IS_FOR = (
    f"`small` is for bug fixes of low complexity in at most {MOST_MODULES} modules and {MOST_FILES} files, tests included, "
    "that change no public interface and whose issue itself says what is right"
)


LARGE_IS_FOR = (
    f"the work is too large for one item: more than {MAX_FILES} files or {MAX_INTERFACES} public interfaces"
)


class MovedUp(Value):
    """A run that began on the short way and goes on from Intake on the whole one."""

    why: str
    """What showed that the short way does not do; the end of a sentence."""
    after: int
    """Index of the last visit on the short way; what visits up to it put out is no input of the whole way."""


def suits_small(classification: object) -> bool:
    """Whether an issue may take the pipeline `small`.

    Whatever does not say so plainly takes the whole way: too many gates cost time, too few a wrong merge.

    Args:
        classification: what Intake put out, as `nodes/replies.Classification` has it; anything else does not suit.
    """
    if not isinstance(classification, Mapping):
        return False
    scope = classification.get("estimated_scope")
    return (
        classification.get("type") == "bug_fix"
        and classification.get("safety_affecting") is False
        and not classification.get("questions")
        # Intake made sure that the words are in the issue.
        and bool(classification.get("says_what_is_right"))
        and isinstance(scope, Mapping)
        and scope.get("complexity") == "low"
        and scope.get("interfaces") == 0
        and _is_within(scope.get("files"))
        and _are_few(classification.get("affected_modules"))
    )


def suits_large(classification: object) -> bool:
    """Whether an issue has to be divided: exactly where no other pipeline would take it on as it is.

    Not where safety is at stake: how such work is cut is for people.

    Args:
        classification: as for `suits_small`.
    """
    if not isinstance(classification, Mapping) or classification.get("safety_affecting") is not False:
        return False
    scope = classification.get("estimated_scope")
    if not isinstance(scope, Mapping):
        return False
    files, interfaces = scope.get("files"), scope.get("interfaces")
    return isinstance(files, int) and isinstance(interfaces, int) and is_too_large(files, interfaces)


def is_too_large(files: int, interfaces: int) -> bool:
    """Whether so much is more than one work item."""
    return files > MAX_FILES or interfaces > MAX_INTERFACES


def _is_within(files: object) -> bool:
    return isinstance(files, int) and not isinstance(files, bool) and 0 <= files <= MOST_FILES


def _are_few(modules: object) -> bool:
    return isinstance(modules, list | tuple) and 0 < len(modules) <= MOST_MODULES
