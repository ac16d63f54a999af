"""Several services in one repository, each for a folder of its own: what is whose business."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from cogworks.domain_services.messages import EVERYTHING, Message, TestReport

Params = TypeVar("Params", bound=Message)
Result = TypeVar("Result", bound=Message)
_MANY, _ONE = ("artifacts", "tests"), ("artifact", "test")


def lies_in(path: str, folder: str) -> bool:
    """Whether a path is a folder or below it; everything is below the empty one."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def inner_roots(root: str, others: Iterable[str]) -> tuple[str, ...]:
    """Those of the other folders that lie below this one."""
    return tuple(sorted({each for each in others if each != root and lies_in(each, root)}))


def own_results(report: TestReport, holds: Callable[[str], bool]) -> TestReport:
    """Of a report what is a service's own business: a test that lies in another's folder is that one's to run."""

    def is_own(text: str) -> bool:
        place = text.split(":", 1)[0]
        # An error without a place is about the whole run.
        return place == EVERYTHING or ": " not in text or "\n" in place or holds(place)

    cases = tuple(case for case in report.cases if holds(case.id.split("::", 1)[0]))
    errors = tuple(text for text in report.collection_errors if is_own(text))
    left = tuple(test for test in report.left if holds(test.split("::", 1)[0]))
    seconds = {file: took for file, took in report.seconds.items() if holds(file)}
    return report.model_copy(
        update={"cases": cases, "collection_errors": errors, "left": left, "seconds": seconds}
    )


def own_params(params: Params, holds: Callable[[str], bool]) -> Params | None:
    """Parameters about a service's own files and tests; None where it was asked about others' alone."""
    changes: dict[str, Any] = {}
    for key in _MANY:
        if paths := getattr(params, key, ()):
            changes[key] = tuple(path for path in paths if holds(path.split("::", 1)[0]))
            if not changes[key]:
                return None
    for key in _ONE:
        if (path := getattr(params, key, "")) and not holds(path.split("::", 1)[0]):
            return None
    if groups := getattr(params, "groups", ()):
        own = (tuple(test for test in group if holds(test.split("::", 1)[0])) for group in groups)
        changes["groups"] = tuple(group for group in own if group)
    return params.model_copy(update=changes) if changes else params


def own_result(result: Result, holds: Callable[[str], bool]) -> Result:
    """A result without what it says of files in folders of others."""
    changes = {}
    for name in type(result).model_fields:
        value = getattr(result, name)
        if isinstance(value, tuple) and any(hasattr(each, "artifact") for each in value):
            changes[name] = tuple(each for each in value if holds(getattr(each, "artifact", "")))
    return result.model_copy(update=changes) if changes else result
