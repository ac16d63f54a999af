"""What a change lets code reach that it did not reach before, and of which nobody spoke: people are told where to look.

Nothing is refused for it. An author who wants to hide such code can. A reviewer shall not have to search for what is in the open.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from cogworks.codebase.diffmodel import Diff, FileDiff, undone
from cogworks.codegen.handoff import is_test_path
from cogworks.grammars.capabilities import uses_of
from cogworks.grammars.languages.capable import Capability
from cogworks.nodes.artifacts import interface_files, wanted_text
from cogworks.nodes.contract import Workspace
from cogworks.nodes.replies import PlannedItem
from cogworks.nodes.task import NodeTask

MOST_SHOWN = 5
_IN_TESTS: frozenset[Capability] = frozenset({"network"})
"""What is reported of tests as well: they write files, start programs, pickle and import by name all the time."""
_DOES: Mapping[Capability, str] = {
    "network": "reaches the network",
    "processes": "starts processes",
    "evaluation": "runs code that it loads or makes",
    "deserialisation": "makes objects of bytes, which can run code",
    "files": "writes or removes files",
}
_WORDS: Mapping[Capability, str] = {
    "network": r"networks?|https?|urls?|uris?|sockets?|requests?|download\w*|upload\w*|fetch\w*|servers?|dns|tcp|udp|tls|ssl|smtp|ftp|e?mails?|"
    r"web\w*|endpoints?|remote|internet|grpc|connections?|prox(?:y|ies)",
    "processes": r"process(?:es)?|subprocess\w*|shells?|spawn\w*|fork\w*|execut\w*|programs?|child|popen|exec",
    "evaluation": r"eval\w*|exec\w*|interpret\w*|compil\w*|plugins?|import\w*|dynamic\w*|load(?:s|ed|er|ers|ing)?|ctypes|ffi|native",
    "deserialisation": r"(?:un)?pickl\w*|(?:de)?seriali[sz]\w*|(?:un)?marshal\w*|yaml|shelve|joblib|dill|gob|load(?:s|ed|er|ers|ing)?",
    "files": r"files?|folders?|director(?:y|ies)|paths?|disks?|writ\w*|sav\w*|delet\w*|remov\w*|renam\w*|cop(?:y|ies|ied)|cach\w*|temp\w*|"
    r"outputs?|stor\w*|permissions?",
}
"""How people speak of it."""
_SPEAKS = {name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for name, words in _WORDS.items()}
_ADDRESS = re.compile(r"https?://[^\s)>\]]+")
"""A link is no word about the network."""


class Opening(NamedTuple):
    """The first place of one file that reaches what the file did not reach before."""

    path: str
    line: int
    capability: Capability
    what: str
    """The module or the call, as the code names it."""

    @property
    def in_words(self) -> str:
        """What it does, without the place."""
        shown = self.what.replace("`", "'")
        return (
            f"{_DOES[self.capability]} (`{shown}`), of which neither the work item nor the file before speak"
        )


def openings(diff: Diff, text: Callable[[str], str | None], spoken: str) -> tuple[Opening, ...]:
    """What a change opens that nobody spoke of, the first place of each file and capability.

    Args:
        text: a file as the change leaves it.
        spoken: what the work item's texts say.
    """
    unspoken = _unspoken(spoken)
    if not unspoken:
        return ()
    before = undone(diff, text)
    return tuple(
        each
        for file in diff.files
        if file.kind != "delete" and file.binary is None
        for each in _of_file(file, text(file.path), before.get(file.old_path))
        if each.capability in unspoken
    )


def openings_of(task: NodeTask, workspace: Workspace, item: PlannedItem, diff: Diff) -> tuple[Opening, ...]:
    """What the change of a sub-work-item opens, beside what its specification, its interfaces and its plan speak of."""
    return openings(diff, workspace.read, spoken_text(task, workspace, item))


def spoken_text(task: NodeTask, workspace: Workspace, item: PlannedItem) -> str:
    """All that people let pass of a work item, as one text; of the issue itself only where nothing was made of it."""
    wanted = wanted_text(task, workspace)
    issue = "" if wanted else f"{task.item.title}\n{task.item.body}"
    interfaces = [each.content for each in interface_files(task, workspace)]
    plan = (
        item.title,
        item.description,
        *item.acceptance_criteria,
        item.test_specification,
        *item.interfaces,
    )
    asked = [each.text for each in task.asked_changes]
    return "\n".join((wanted, issue, *plan, *interfaces, *asked))


def opening_warnings(opened: Sequence[Opening]) -> tuple[str, ...]:
    """A sentence for each place, few of them."""
    sentences = [
        f"`{each.path}:{each.line}` {each.in_words}: read it before you merge."
        for each in opened[:MOST_SHOWN]
    ]
    more = len(opened) - MOST_SHOWN
    return (*sentences, *((f"There are {more} more such places.",) if more > 0 else ()))


def _unspoken(spoken: str) -> frozenset[Capability]:
    plain = _ADDRESS.sub(" ", spoken)
    return frozenset(name for name, form in _SPEAKS.items() if not form.search(plain))


def _of_file(file: FileDiff, after: str | None, before: str | None) -> Iterator[Opening]:
    added = file.added_lines
    if after is None or not added:
        return
    known = {each.capability for each in (uses_of(file.old_path, before) or ())} if before else set()
    is_test = is_test_path(file.path)
    for use in uses_of(file.path, after) or ():
        if use.line not in added or use.capability in known or (is_test and use.capability not in _IN_TESTS):
            continue
        known.add(use.capability)
        yield Opening(file.path, use.line, use.capability, use.what)
