"""What earlier nodes delivered, as it stands in the repository now: a person may have edited it before merging.

A sub-work-item as people rewrote its sub-issue: read back by the headings under which its parts were written.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import unified_diff
from textwrap import shorten
from typing import Any

from cogworks.codebase.changes import path_problem
from cogworks.codebase.diffmodel import post_image
from cogworks.codebase.diffparsing import parse_diff
from cogworks.errors import NodeFailed
from cogworks.forge.effects import CommitFiles, Effect, FileText, OpenPullRequest
from cogworks.forge.wordings import EditedText
from cogworks.nodes.contract import Workspace
from cogworks.nodes.replies import InterfaceName, PlannedItem, WholeItem
from cogworks.nodes.task import NodeTask, PullRequestRef
from cogworks.sight.cards import card_of
from cogworks.sight.seen import Stretch
from cogworks.sight.stretches import merged, numbered_slices
from cogworks.vocabulary import SubItemKey, Value

DONE_WHEN, TESTS, INTERFACES, FILES = "Done when", "Tests", "Interfaces", "Files"
"""The headings of a sub-issue, in this order below its description."""
MAX_TITLE_CHARS = 80
_HEADINGS = {heading.casefold(): heading for heading in (DONE_WHEN, TESTS, INTERFACES, FILES)}
_HEADING = re.compile(r"#{1,6}\s+(?P<title>.*?)\s*#*\s*")
_BULLET = re.compile(r"\s{0,3}[-*+]\s+(?:\[[ xX]\]\s+)?(?P<text>.*)")
_OPENING = re.compile(r"Part of #\d+\. Sub-work-item \S+; depends on .*")


def as_edited(item: PlannedItem, text: EditedText) -> PlannedItem:
    """The sub-work-item with what people wrote in place of what the plan says.

    Its key and what it depends on stay, for other work hangs on them. A part whose heading is gone is empty, but for the
    files: the plan's are where to look first, and nothing that people have to repeat.
    """
    parts = _parts(text.body.splitlines())
    description = "\n".join(parts.get("", ())).strip()
    files = tuple(path for path in _listed(parts.get(FILES, ())) if path_problem(path) is None)
    return item.model_copy(
        update={
            "title": " ".join(text.title.split()) or item.title,
            "description": description or text.title,
            "acceptance_criteria": tuple(_entries(parts.get(DONE_WHEN, ()))),
            "test_specification": "\n".join(parts.get(TESTS, ())).strip(),
            "interfaces": _listed(parts.get(INTERFACES, ())),
            "files": files or item.files,
        }
    )


def _parts(lines: Sequence[str]) -> Mapping[str, list[str]]:
    """The lines below each heading that is ours; under the empty name everything else, other headings included."""
    parts: dict[str, list[str]] = {}
    place, fence = "", ""
    for line in lines:
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~") and fence in ("", mark):
            fence = "" if fence else mark
        heading = _HEADING.fullmatch(line) if not fence else None
        known = _HEADINGS.get(heading["title"].casefold()) if heading else None
        if known is not None:
            place = known
            parts.setdefault(place, [])
            continue
        if heading is not None:
            place = ""
        if place or not _OPENING.fullmatch(line.strip()):
            parts.setdefault(place, []).append(line)
    return parts


def _entries(lines: Sequence[str]) -> Iterator[str]:
    """Bullets with the lines that go on below them; what is no bullet counts as one."""
    entry = ""
    for line in [*lines, ""]:
        bullet = _BULLET.fullmatch(line)
        if (bullet or not line.strip()) and entry:
            yield entry
            entry = ""
        entry = bullet["text"].strip() if bullet else f"{entry} {line.strip()}".strip()


def _listed(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for entry in _entries(lines) if (name := entry.strip().strip("`").strip()))


_SLOT, _SPECIFICATION = "interfaces", "specification"
SPEC_SLUG = "spec"
SHOWN_ONLY = "is_shown_only"
"""In the output of a specification: true where no file of it is to be merged."""


class InterfaceFile(Value):
    """One interface file as people approved it."""

    path: str
    content: str
    """Its text; of a long file only the declarations that were approved, each line with its number."""
    is_whole: bool = True
    lines: tuple[Stretch, ...] = ()
    """Of a long file, where these declarations stand."""
    heads: str = ""
    """The first line of each of them, with its number."""
    change: str = ""
    """Unified diff from there to the file as it is now; empty: nobody changed it."""
    is_in_diff: bool = False
    """Whether the diff of the work itself, which is shown besides, says what was changed."""


LONG_LINES = 150
"""Of a longer interface file only the declarations are shown: it was there before, and little of it was approved."""
_DECLARATION_LINES = 60
_LAST_WORD = re.compile(r"\w+")
_TAKES = re.compile(r"[(\[<]")


def name_itself(name: str) -> str:
    """A name without what it belongs to and what it takes: `Cart.add(row)` is `add`."""
    words = _LAST_WORD.findall(_TAKES.split(name, maxsplit=1)[0])
    return words[-1] if words else name


def spec_path(task: NodeTask) -> str:
    """Where the specification of the issue is kept: where it was put, else where it would be put first."""
    written = task.inputs.get("specification")
    known = written.get("path") if isinstance(written, Mapping) else None
    return str(known) if known else spec_paths(task)[0]


def bounds_of(task: NodeTask) -> str:
    """What says how far code may go, with its verb, e.g. `the issue does`."""
    return "specification and interfaces do" if _SPECIFICATION in task.inputs else "the issue does"


MENDING = (
    "Where the repository is at fault, as with tests that differ from run to run, mend its base branch. Else make the sub-issue or the "
    "specification more precise. Then remove the trigger label and set it again."
)
"""What a person does where a sub-work-item was not solved."""


def to_allow_more(task: NodeTask) -> str:
    """What a person does where a node needs what it may not have, as a sentence without its end."""
    if _SPECIFICATION not in task.inputs:
        return "Make the issue more precise"
    shown = pull_request(task, SPEC_SLUG) if is_shown_only(task) else None
    if shown is None:
        return f"Extend the specification, {spec_path(task)}, merge it"
    return f"Extend the specification (reopen #{shown.number}, change its file, approve it again)"


def is_shown_only(task: NodeTask) -> bool:
    """Whether the specification stands in its pull request and in the ledger alone."""
    written = task.inputs.get(_SPECIFICATION)
    return isinstance(written, Mapping) and bool(written.get(SHOWN_ONLY))


def to_change_the_specification(task: NodeTask, how: str) -> str:
    """What a person does to have another specification, as a clause; `how` it is to become, e.g. `narrower`."""
    shown = pull_request(task, SPEC_SLUG) if is_shown_only(task) else None
    if shown is None:
        return f"merge a {how} specification"
    return f"make the specification {how} (reopen #{shown.number}, change its file, approve it again)"


def spec_paths(task: NodeTask) -> tuple[str, ...]:
    """Where the specification of the issue may be kept, the best place first."""
    return tuple(f"{folder}/{task.item.number}.md" for folder in task.conventions.specs)


def put_to_people(
    task: NodeTask,
    slug: str,
    files: Sequence[FileText],
    *,
    headline: str,
    title: str,
    body: str,
    is_shown_only: bool = False,
) -> tuple[Effect, ...]:
    """The effects that make whole files a pull request, whose merge or approval is how people accept them.

    Args:
        headline: of the commit.
        is_shown_only: nobody is to merge it.
    """
    return (
        CommitFiles(
            branch=task.branch,
            base=task.base_branch,
            files=tuple(files),
            headline=headline,
            visit_key=task.visit.visit_key,
        ),
        OpenPullRequest(
            slug=slug,
            head=task.branch,
            base=task.base_branch,
            title=title,
            body=body,
            is_shown_only=is_shown_only,
        ),
    )


def output_of(task: NodeTask, slot: str) -> Any:
    """The output JSON of an earlier node.

    Raises: NodeFailed naming the slot when no node has produced it.
    """
    if slot not in task.inputs:
        slots = ", ".join(sorted(task.inputs)) or "none"
        message = (
            f"{task.visit.node} needs the output {slot!r} and was handed {slots}. "
            f"Declare it among the node's `inputs` in the pipeline."
        )
        raise NodeFailed(message)
    return task.inputs[slot]


def specification_text(task: NodeTask, workspace: Workspace) -> str:
    """The approved specification in Markdown, without trailing white space."""
    standing = _standing_specification(task, workspace)
    text: str = standing if standing is not None else output_of(task, _SPECIFICATION)["markdown"]
    return text.rstrip()


def is_unedited(task: NodeTask, workspace: Workspace) -> bool:
    """Whether the specification stands word for word as its data has it; False also where nobody can tell."""
    standing = _standing_specification(task, workspace)
    return (
        standing is not None
        and standing.rstrip() == str(output_of(task, _SPECIFICATION).get("markdown")).rstrip()
    )


def _standing_specification(task: NodeTask, workspace: Workspace) -> str | None:
    if is_shown_only(task):
        commit = task.approved.get(_SPECIFICATION)
        return workspace.read_at(commit, spec_path(task)) if commit else None
    return workspace.read_newest(spec_path(task), task.item.default_branch)


def wanted_text(task: NodeTask, workspace: Workspace) -> str:
    """The approved specification; empty where the issue itself is worked on and no node specified anything."""
    is_undivided = task.visit.sub_item is None and "specification" not in task.inputs
    return "" if is_undivided else specification_text(task, workspace)


def interface_files(task: NodeTask, workspace: Workspace) -> tuple[InterfaceFile, ...]:
    """The approved interface files, in the order in which they were proposed; none where no node designed any.

    Approved is what the commit holds that people let pass: the writer of the code may have changed the working
    copy. Without a pull request, what was proposed counts.
    """
    names = {name_itself(each.name) for each in interface_names(task)}
    files = []
    for path, approved in _approved(task, workspace):
        now = workspace.read(path)
        change = _change(path, approved, now or "") if now is not None or _SLOT in task.approved else ""
        stretches, heads = _declared(path, approved, names)
        lines = approved.splitlines()
        files.append(
            InterfaceFile(
                path=path,
                content=numbered_slices(lines, stretches) if stretches else approved,
                is_whole=not stretches,
                lines=stretches,
                heads=numbered_slices(lines, heads) if heads else "",
                change=change,
            )
        )
    return tuple(files)


def without_shown_changes(
    files: Sequence[InterfaceFile], diff: str, task: NodeTask, workspace: Workspace
) -> tuple[InterfaceFile, ...]:
    """The interface files without the changes that the diff of the work shows itself, from the approved text on."""
    approved = dict(_approved(task, workspace))
    in_diff = {file.path: file for file in parse_diff(diff).diff.files}
    return tuple(
        each.model_copy(update={"change": "", "is_in_diff": True})
        if each.change
        and each.path in in_diff
        and post_image(in_diff[each.path], approved[each.path]) == workspace.read(each.path)
        else each
        for each in files
    )


def _approved(task: NodeTask, workspace: Workspace) -> Iterator[tuple[str, str]]:
    commit = task.approved.get(_SLOT)
    for file in _interfaces(task)["files"]:
        text = file["content"] if commit is None else workspace.read_at(commit, file["path"])
        if text is not None:
            yield file["path"], text


def _declared(
    path: str, text: str, names: Collection[str]
) -> tuple[tuple[Stretch, ...], tuple[Stretch, ...]]:
    """Where the definitions of these names stand in a long file, and the first line of each; nothing where it is short, or nothing shows them."""
    if len(text.splitlines()) <= LONG_LINES:
        return (), ()
    definitions = [each for each in card_of(path, text).definitions if each.name in names]
    places = [(each.first, min(each.last, each.line + _DECLARATION_LINES)) for each in definitions]
    return tuple(merged(places)), tuple(merged([(each.line, each.line) for each in definitions]))


def _change(path: str, approved: str, now: str) -> str:
    before, after = approved.splitlines(keepends=True), now.splitlines(keepends=True)
    lines = unified_diff(before, after, f"approved/{path}", f"now/{path}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def proposed_paths(task: NodeTask) -> tuple[str, ...]:
    """Where the interface files were proposed to be."""
    return tuple(file["path"] for file in _interfaces(task)["files"])


def interface_names(task: NodeTask) -> tuple[InterfaceName, ...]:
    """The public names that the plan has to cover, in the order in which they were proposed; none where no node designed any."""
    return tuple(InterfaceName.model_validate(name) for name in _interfaces(task)["interfaces"])


def key_of(task: NodeTask) -> str:
    """What the part is called that a visit works on: its key in the plan, or the issue where no plan divides it."""
    return task.visit.sub_item or f"#{task.item.number}"


def planned_items(task: NodeTask) -> tuple[PlannedItem, ...]:
    """The plan in dependency order, with what people wrote into its sub-issues since; the whole issue where it is not divided."""
    if task.visit.sub_item is None:
        return (_whole_item(task),)
    edited = {ref.key: ref.edited for ref in task.sub_items}
    items = (PlannedItem.model_validate(item) for item in output_of(task, "plan")["sub_work_items"])
    return tuple(
        as_edited(item, text) if (text := edited.get(SubItemKey(item.key))) else item for item in items
    )


def planned_item(task: NodeTask) -> PlannedItem:
    """The sub-work-item this task is about.

    Raises: NodeFailed when the plan does not know it, or there is neither a plan nor a classification.
    """
    key = key_of(task)
    for item in planned_items(task):
        if item.key == key:
            return item
    message = f"{task.visit.node} works on a sub-work-item of the plan, and {key!r} is none. Restart the run."
    raise NodeFailed(message)


def _whole_item(task: NodeTask) -> WholeItem:
    title = " ".join(task.item.title.split())
    classification = output_of(task, "classification")
    right = str(classification.get("says_what_is_right") or "").strip()
    return WholeItem(
        key=key_of(task),
        title=shorten(title, MAX_TITLE_CHARS, placeholder=" …"),
        description=right or task.item.body.strip() or title,
        files=tuple(classification["affected_modules"]),
        test_specification="Show what the issue is about: fail before the change and pass with it.",
    )


def asked_for(task: NodeTask, item: PlannedItem) -> str:
    """What people asked for, in their words: the issue itself where no plan divides it."""
    whole = task.item.body.strip() if isinstance(item, WholeItem) else ""
    return whole or item.description


def pull_request(task: NodeTask, slug: str) -> PullRequestRef | None:
    """The run's pull request with this slug, if it is open or merged."""
    return next((pull for pull in task.pull_requests if pull.slug == slug), None)


def _interfaces(task: NodeTask) -> Mapping[str, Any]:
    """What Interface Design put out; a pipeline may do without that node."""
    output: Mapping[str, Any] = task.inputs.get(_SLOT) or {"files": (), "interfaces": ()}
    return output
