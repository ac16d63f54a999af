"""The labels of a workflow, and which of their names clash."""

from cogworks.vocabulary import Value

INTERNAL_LABEL_PREFIX = "cogworks:node:"
MAX_LABEL_CHARS = 50


class LabelConfig(Value):
    """`[labels]`: names of the labels that people set or that the team may rename."""

    trigger: str = "cogworks:run"
    hold: str = "cogworks:hold"
    cancel: str = "cogworks:cancel"
    restart: str = "cogworks:restart"
    safety_critical: str = "cogworks:safety-critical"
    awaiting_review: str = "cogworks:awaiting-review"
    sub_work_item: str = "cogworks:sub-work-item"


def label_clashes(labels: LabelConfig) -> list[str]:
    """Workflow labels that share one name, or take a name that cogworks keeps for itself."""
    names: dict[str, str] = {}
    problems = []
    for key, name in labels.model_dump().items():
        if not name.strip() or len(name) > MAX_LABEL_CHARS:
            problems.append(
                f"`labels.{key}` is {name!r}; GitHub wants a name of 1 to {MAX_LABEL_CHARS} characters"
            )
        elif name.casefold().startswith(INTERNAL_LABEL_PREFIX):
            problems.append(
                f"`labels.{key}` is {name!r}, but `{INTERNAL_LABEL_PREFIX}*` is kept for views; choose another name"
            )
        elif name.casefold() in names:
            problems.append(
                f"`labels.{key}` and `labels.{names[name.casefold()]}` are both {name!r}; give each its own name"
            )
        names.setdefault(name.casefold(), key)
    return problems
