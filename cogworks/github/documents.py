"""The GraphQL documents cogworks sends, read from the package and put together from their fragments."""

import re
from functools import cache
from importlib import resources

_DEPENDENCIES_PLACE = "# dependencies"
_SPREAD = re.compile(r"\.\.\.(?!\s*on\b)(\w+)")
_FRAGMENT = re.compile(r"^fragment (\w+) on ", re.MULTILINE)


@cache
def document(name: str, *, with_dependencies: bool = False) -> str:
    """`documents/<name>.graphql` with the fragments it uses.

    Args:
        with_dependencies: ask which issue blocks which, where the document lists sub-issues; an older GitHub Enterprise
            Server refuses the whole document then.
    """
    text = _with_fragments(_text(name))
    if with_dependencies and _DEPENDENCIES_PLACE in text:
        return text.replace(_DEPENDENCIES_PLACE, "...Dependencies") + "\n" + _fragments()["Dependencies"]
    return text


def read_work_item(*, with_dependencies: bool) -> str:
    """The one query that reads a whole work item; the variables `page` and `branches` say how much of each list."""
    return document("read-work-item", with_dependencies=with_dependencies)


def _text(name: str) -> str:
    return (
        resources.files("cogworks.github")
        .joinpath("documents", f"{name}.graphql")
        .read_text(encoding="utf-8")
    )


def _with_fragments(text: str) -> str:
    fragments = _fragments()
    used: list[str] = []
    waiting = _SPREAD.findall(text)
    while waiting:
        name = waiting.pop()
        if name not in used:
            used.append(name)
            waiting += _SPREAD.findall(fragments[name])
    return "\n".join([text, *(fragments[name] for name in sorted(used))])


@cache
def _fragments() -> dict[str, str]:
    text = _text("fragments")
    starts = [(found.start(), found[1]) for found in _FRAGMENT.finditer(text)]
    ends = [start for start, _ in starts[1:]] + [len(text)]
    return {name: text[start:end].strip() + "\n" for (start, name), end in zip(starts, ends, strict=True)}
