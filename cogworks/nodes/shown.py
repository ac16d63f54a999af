"""What a prompt shows of the repository, and how its reader looks further."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

from cogworks.llm.gateway import LookLimits
from cogworks.nodes.artifacts import InterfaceFile
from cogworks.nodes.contract import NodePorts
from cogworks.nodes.task import NodeTask
from cogworks.packs.choosing import FrozenPacks
from cogworks.packs.patterns import fits
from cogworks.pipeline.visits import LookedAt
from cogworks.sight.folders import by_folder
from cogworks.sight.question import About, Beside
from cogworks.sight.seen import Stretch, version_of
from cogworks.sight.stretches import merged
from cogworks.sight.view import FirstView, first_view, items_of

SHARES: Mapping[str, float] = MappingProxyType(
    {"intake": 0.4, "planning": 0.4, "code_generation": 0.7, "review": 0.35}
)
"""Of the room of a first view; a node that is not here has all of it. Intake and Planning need names more than code, Code Generation
is told which files it is about, and most of what a reviewer reads is in the diff."""


_SHOWN_BELOW = "The rest of each is what the file says now; it is shown below, with the repository."


def repository_view(task: NodeTask, ports: NodePorts, about: About) -> FirstView:
    """The first view of the working copy as it is now."""
    room = round(SHARES.get(task.visit.node, 1.0) * task.conventions.sight.first_view_tokens)
    index = ports.index()
    about = with_earlier_looks(about, task.looked, index.text)
    about = with_packs(about, task.packs, [each.path for each in index.documents])
    return first_view(index, about, room_tokens=room)


def with_earlier_looks(about: About, looked: Iterable[LookedAt], text: Callable[[str], str]) -> About:
    """The question together with what earlier visits for the same work looked at, as far as the files are still the same.

    What was looked at in this visit comes before what an earlier one looked at in the same file.

    Args:
        text: of a file as it is now; empty where it has none.
    """
    earlier = {
        each.path: each.lines for each in looked if version_of(text(each.path)).startswith(each.version)
    }
    return about._replace(looked={**earlier, **about.looked})


def with_packs(about: About, packs: FrozenPacks | None, paths: Sequence[str]) -> About:
    """The question together with what the context packs of the run want looked at: standards, and files of other repositories.

    Args:
        paths: of all files that may be seen; what is held back is none of them.
    """
    if packs is None or not packs.packs:
        return about
    standards: dict[str, str] = {}
    for pack in packs.packs:
        patterns = [pattern for each in pack.sources.standard for pattern in each.path_pattern]
        named = f"a standard of the context pack {pack.name}"
        standards |= {path: named for path in paths if patterns and fits(path, patterns)}
    beside = tuple(
        Beside(
            each.exemplar.place,
            each.exemplar.path,
            each.text,
            each.exemplar.why or f"an example of the context pack {each.pack}",
        )
        for each in packs.exemplars
    )
    return about._replace(standards=standards, beside=beside)


def view_variables(view: FirstView) -> dict[str, Any]:
    """What the template part `_repository` needs."""
    named = by_folder(each.path for each in view.named)
    return {"repository_view": {**view.model_dump(mode="json"), "named_by_folder": named}}


def shown_once(files: Sequence[InterfaceFile], view: FirstView) -> tuple[InterfaceFile, ...]:
    """The interface files without the text of declarations that the view shows with the rest of their file."""
    shown = {each.path: merged(each.lines) for each in view.files}
    return tuple(
        each.model_copy(update={"content": f"{each.heads}\n\n{_SHOWN_BELOW}"})
        if each.lines and not each.change and _holds(shown.get(each.path, ()), each.lines)
        else each
        for each in files
    )


def _holds(shown: Sequence[Stretch], lines: Sequence[Stretch]) -> bool:
    return all(any(start <= first and last <= end for start, end in shown) for first, last in lines)


def manifest_of(view: FirstView) -> tuple[Mapping[str, Any], ...]:
    """What of the repository a view shows, for the record: each file with level, tokens, score and reasons."""
    return tuple(each.model_dump(mode="json", exclude={"text"}) for each in items_of(view))


def look_limits(task: NodeTask) -> LookLimits:
    """What the looks of this visit may take together."""
    sight = task.conventions.sight
    return LookLimits(max_turns=sight.turns(task.visit.node), max_input_tokens=sight.max_tokens)


_WORDS = re.compile(r"\w+")


def files_of(name: str, files: Iterable[str]) -> tuple[str, ...]:
    """The files a module name stands for, in the order given.

    A name is a repository-relative file or directory, with or without the file's suffix, or a dotted (`a.b`) or
    `::`-separated module name; leading directories such as `src` may be missing.
    """
    wanted = _forms(name)
    return tuple(path for path in files if _names(path) & wanted)


def close_to(name: str, files: Iterable[str]) -> tuple[str, ...]:
    """At most three files whose names resemble the name, best first."""
    by_stem = {PurePosixPath(path).stem: path for path in sorted(files, reverse=True)}
    for word in reversed(_WORDS.findall(name)):
        if near := get_close_matches(word, list(by_stem), n=3):
            return tuple(by_stem[match] for match in near)
    return ()


def _forms(name: str) -> frozenset[str]:
    plain = name.strip().strip("/").removeprefix("./")
    dotted = plain.replace("::", "/") if "/" in plain else plain.replace("::", "/").replace(".", "/")
    return frozenset(form for form in (plain, dotted) if form)


def _names(path: str) -> frozenset[str]:
    """Every name a path answers to: the path, each of its directories, each without leading directories."""
    parts = PurePosixPath(path).parts
    names: set[str] = set()
    for end in range(1, len(parts) + 1):
        for start in range(end):
            names.add("/".join(parts[start:end]))
    stem = PurePosixPath(path).with_suffix("").parts
    # A package is named by its directory and a module by its file; both without the suffix.
    names.update("/".join(stem[start:]) for start in range(len(stem)))
    return frozenset(names)
