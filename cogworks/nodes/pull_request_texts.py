"""The words under pull requests and sub-issues: for people who have not read the program's documentation."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cogworks.codegen.mending import MENDED
from cogworks.codegen.proving import PROOF_FILE
from cogworks.forge.bases import part_of
from cogworks.leaving import in_code, in_markdown
from cogworks.ledger.record import ledger_branch
from cogworks.nodes.artifacts import DONE_WHEN, FILES, INTERFACES, TESTS, asked_for, pull_request
from cogworks.nodes.customs import Part, filled
from cogworks.nodes.replies import Interfaces, PlannedItem, Specification
from cogworks.nodes.task import NodeTask
from cogworks.packs.telling import for_people
from cogworks.repair.brief import in_brief
from cogworks.repair.proof import Summary, caution, promise

_DEPENDENCY = {"add": "comes to depend on", "remove": "no longer depends on"}
_HOW_TO_ACCEPT = (
    "**To accept**, merge this pull request (or approve it). **To change it**, request changes in a review, or edit the "
    "files on this branch before you merge; what is merged is what the next step reads. **To refuse**, close it without merging."
)
_HOW_TO_APPROVE = (
    "**To accept**, approve this pull request in a review, or comment `/cogworks approve` on the issue with the line that stands "
    "there; it is then closed unmerged, and its branch stays. **To change it**, request changes in a review, or edit the file on "
    "this branch before you approve; what is approved is what the next step reads. **To refuse**, close it before anybody approves it."
)


def specification_body(task: NodeTask, reply: Specification, path: str) -> str:
    """Body of the specification's pull request."""
    says_nothing = all(each.section.casefold() == "requirements" for each in reply.requirements)
    heads = ("", "requirement") if says_nothing else ("", "requirement", "explained under")
    rows = [(each.id, each.text, each.section)[: len(heads)] for each in reply.requirements]
    requirements = _table(heads, rows)
    dependencies = _section(
        "Dependencies that change",
        _bullets(
            [
                f"`{each.source}` {_DEPENDENCY[each.change]} `{each.target}`: {in_markdown(each.reason)}"
                for each in reply.dependency_changes
            ]
        ),
    )
    risks = _section("Risks", _bullets([in_markdown(each) for each in reply.risks]))
    decisions = _section(
        "Decision records to write", _bullets([in_markdown(each) for each in reply.required_adrs])
    )
    is_settled = not reply.public_names and task.learnt is None
    modules = _bullets([f"`{each.name}`{' (new)' if each.new else ''}" for each in reply.affected_modules])
    return _paragraphs(
        f"{_part_of(task)}.",
        f"This is the specification of *{_plain(task.item.title)}*. {_spec_file(task, path)}",
        stacking(task),
        f"### What will be true afterwards\n\n{requirements}",
        f"### Modules it touches\n\n{modules}",
        f"### Public names that change\n\n{_public_names(reply.public_names, is_settled=is_settled)}",
        dependencies,
        risks,
        decisions,
        packs_section(task),
        f"### What to do with it\n\n{_how_to_accept(task)}{'' if is_settled else ' Next comes the design of the interfaces.'}",
    )


def _public_names(names: Sequence[str], *, is_settled: bool) -> str:
    if is_settled:
        return "None, so no interfaces are designed, unless somebody edits the file or asks for interfaces."
    return _bullets([in_code(each) for each in names]) or "None."


def _spec_file(task: NodeTask, path: str) -> str:
    if task.conventions.merges_specs:
        return f"It adds one file, `{path}`, and no code."
    return f"It is here to be read, in `{path}`, and is not merged: the ledger of the issue keeps it."


def _how_to_accept(task: NodeTask) -> str:
    return _HOW_TO_ACCEPT if task.conventions.merges_specs else _HOW_TO_APPROVE


def interfaces_body(task: NodeTask, title: str, reply: Interfaces, *, left_out: Sequence[str] = ()) -> str:
    """Body of the interfaces' pull request; `title` is the specification's."""
    rows = [(f"`{each.name}`", f"`{each.path}`", each.purpose) for each in reply.interfaces]
    return _paragraphs(
        f"{_part_of(task)}. Follows the specification{_reference(task, 'spec')}.",
        f"These are the names, types and signatures of *{_plain(title)}*. The code that does what they promise comes later.",
        stacking(task),
        _table(("interface", "file", "purpose"), rows),
        _section("Notes", in_markdown(reply.notes)),
        _left_out(left_out),
        packs_section(task),
        f"### What to do with it\n\n{_HOW_TO_ACCEPT} Next comes the plan: sub-issues of #{task.item.number}, each of "
        "which gets a pull request of its own.",
    )


def sub_issue_body(task: NodeTask, item: PlannedItem) -> str:
    """Body of a sub-issue."""
    needs = ", ".join(sorted(set(item.depends_on))) or "nothing"
    return _paragraphs(
        f"Part of #{task.item.number}. Sub-work-item {item.key}; depends on {needs}.",
        in_markdown(item.description),
        _section(
            DONE_WHEN, "\n".join(f"- [ ] {in_markdown(criterion)}" for criterion in item.acceptance_criteria)
        ),
        _section(TESTS, in_markdown(item.test_specification)),
        _section(INTERFACES, _bullets([f"`{name}`" for name in item.interfaces])),
        _section(FILES, _bullets([f"`{path}`" for path in item.files])),
    )


def change_body(
    task: NodeTask,
    item: PlannedItem,
    code: Mapping[str, Any],
    review: Mapping[str, Any],
    template: str = "",
    *,
    at_lines: int = 0,
    specification: str = "",
) -> str:
    """Body of a sub-work-item's pull request.

    Args:
        code: output of `code_generation`.
        review: output of `review`, with the findings that are listed here.
        template: of the repository; what it asks for stands in its sections, the rest below them.
        at_lines: how many further findings stand at their lines.
        specification: that no file of the repository holds; empty: it is said elsewhere.
    """
    proof = Summary.model_validate(code["proof"]) if "proof" in code else None
    open_questions = caution(proof) if proof else ""
    parts = _parts(task, item, code, proof)
    form, placed = filled(template, parts)
    first = next(part.text for part in parts if part.name == "summary")
    left_out = list(dict.fromkeys([*code.get("left_out", ()), *review.get("left_out", ())]))
    return _paragraphs(
        f"> {open_questions}" if open_questions else "",
        _opening(task, item),
        "" if "summary" in placed else first,
        stacking(task),
        form,
        *(_section(part.title, part.text) for part in parts if part.title and part.name not in placed),
        _left_out(left_out),
        _folded("The specification", in_markdown(specification)),
        f"### Review\n\n{_findings(review, at_lines)}",
        packs_section(task),
        "### What to do with it\n\nReview it like any other pull request and merge it when you are content; it is "
        "never merged by the program that wrote it.",
    )


def _parts(
    task: NodeTask, item: PlannedItem, code: Mapping[str, Any], proof: Summary | None
) -> tuple[Part, ...]:
    """What a section of a template may take, in the order in which it stands where there is no template."""
    files = [f"`{file['path']}` ({_PARTICIPLE[file['action']]})" for file in code["files"]]
    summary = f"{in_markdown(code['summary']).rstrip('.')}."
    asked = _folded("What was asked for", in_markdown(asked_for(task, item)))
    return (
        Part("summary", "", f"{summary}\n\n{asked}".strip()),
        Part("issue", "", f"#{task.item.number}"),
        Part("changes", "Changes", _bullets(files)),
        Part("notes", "Notes for the reviewer", in_markdown(code["notes"])),
        Part("tests", "Tests", _tests(task, code, proof)),
    )


def packs_section(task: NodeTask) -> str:
    """Which context packs the run looked at; empty where it had none to look at."""
    if task.packs is None or task.packs.is_empty:
        return ""
    read = f"Read at {task.packs.commit[:12]}, when the issue was classified; what changes later acts on later runs."
    return _section(
        "Context packs", f"{_bullets([in_markdown(line) for line in for_people(task.packs)])}\n\n{read}"
    )


_DUNDER = re.compile(r"\b__\w+?__\b")
_MAX_WARNING_CHARS = 300
_PARTICIPLE = {"create": "new", "modify": "changed", "delete": "deleted"}


def _tests(task: NodeTask, code: Mapping[str, Any], proof: Summary | None) -> str:
    """Code from before there were proofs has figures alone."""
    figures = _test_figures(code, proof)
    if proof is None:
        return figures
    branch = ledger_branch(task.item.number)
    whole = f"`{PROOF_FILE}` on branch [`{branch}`](/{task.item.repository}/tree/{branch}/visits)"
    return in_brief(proof, figures, whole=whole)


def _left_out(warnings: Sequence[str]) -> str:
    """As code: a service's own words must not address anybody or link anywhere."""
    shown = [in_code(each)[1:-1][:_MAX_WARNING_CHARS] for each in warnings]
    return _section("Checks that were left out", _bullets([f"`{each}`" for each in shown]))


def _opening(task: NodeTask, item: PlannedItem) -> str:
    number = task.sub_item.number if task.sub_item else None
    if task.visit.sub_item is None:
        closes = ""
    else:
        closes = f"Closes #{number}. " if number else f"Sub-work-item {item.key}. "
    followed = [
        f"the {name} in #{pull.number}"
        for slug, name in (("spec", "specification"), ("interfaces", "interfaces"))
        if (pull := pull_request(task, slug))
    ]
    follows = f" Follows {' and '.join(followed)}." if followed else ""
    return f"{closes}{_part_of(task)}.{follows}"


def _part_of(task: NodeTask) -> str:
    return part_of(task.item.number, closes=task.closes_issue)


def stacking(task: NodeTask) -> str:
    """What has to be merged before a node's pull request; empty where it goes to the default branch."""
    if task.base_branch == task.item.default_branch:
        return ""
    below = (task.base_branch, *task.merge_branches)
    named = [f"#{pull.number}" for pull in task.pull_requests if pull.head in below] or [
        f"`{task.base_branch}`"
    ]
    return f"> Builds on {' and '.join(named)}: merge that first; this pull request shows only what it adds to it."


def _test_figures(code: Mapping[str, Any], proof: Summary | None) -> str:
    figures = code["tests"]
    # A result from before there were proofs says nothing about what could not be run.
    promised = f" {promise(proof)}" if proof and promise(proof) else ""
    before = _counted(figures["failed_before"], "test")
    known = f" {before} failed before this change as well." if figures["failed_before"] else ""
    passed = figures["passed"]
    unrun = ", ".join(in_code(path) for path in code.get("unrun", ()))
    known += f" No runner here ran the tests in {unrun}." if unrun else ""
    return f"{_counted(passed, 'test')} {'passes' if passed == 1 else 'pass'}, {_new_and_changed(figures)}.{promised}{known}"


def _new_and_changed(figures: Mapping[str, Any]) -> str:
    """Of the tests that pass; what was added to tests that were there is as much of a test as a new one."""
    new, changed = len(figures["added"]) - figures.get("moved", 0), len(figures.get("changed", ()))
    if not changed:
        return f"{new} of them new" if new else "none of them new"
    tests = f"{_counted(changed, 'changed test')}, which failed before"
    return f"{new} of them new; {tests}" if new else f"among them {tests}"


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


def _findings(review: Mapping[str, Any], at_lines: int) -> str:
    passes = ", ".join(each["name"] for each in review["passes"])
    mended = review.get(MENDED) or {"applied": (), "why_not": ""}
    applied = [
        f"- `{each['file']}` line {each['line']}: {_plain(each['explanation'])}" for each in mended["applied"]
    ]
    after = ["Applied as the review proposed it:\n\n" + "\n".join(applied)] if applied else []
    after += [f"Proposed, and not applied: {_plain(mended['why_not'])}"] if mended["why_not"] else []
    return "\n\n".join((_remarks(review, passes, at_lines), *after))


def _remarks(review: Mapping[str, Any], passes: str, at_lines: int) -> str:
    if not review["findings"]:
        there = f"with {_counted(at_lines, 'remark')} at the changed lines" if at_lines else "without remarks"
        return f"Passed ({passes}), {there}."
    rows = [
        (
            finding["severity"],
            f"`{finding['file']}`" + (f" line {finding['line']}" if finding["line"] else ""),
            finding["explanation"],
        )
        for finding in review["findings"]
    ]
    there = f"; {_counted(at_lines, 'further remark')} at the changed lines" if at_lines else ""
    return f"Passed ({passes}), with remarks that do not block{there}:\n\n{_table(('', 'where', 'remark'), rows)}"


def _reference(task: NodeTask, slug: str) -> str:
    pull = pull_request(task, slug)
    return f" in #{pull.number}" if pull else ""


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *([_cell(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    """One line that cannot end the cell; a name such as `__init__` is no bold text."""
    parts = " ".join(in_markdown(text).split()).replace("|", "\\|").split("`")
    return "`".join(part if at % 2 else _DUNDER.sub(r"`\g<0>`", part) for at, part in enumerate(parts))


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text.strip()}\n\n</details>" if text.strip() else ""


def _section(title: str, text: str) -> str:
    return f"### {title}\n\n{text}" if text else ""


def _plain(text: str) -> str:
    return " ".join(in_markdown(text).replace("*", "\\*").split())


def _paragraphs(*texts: str) -> str:
    return "\n\n".join(text.strip() for text in texts if text.strip())
