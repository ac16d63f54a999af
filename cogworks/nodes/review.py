"""Is a change good enough to show to people? Three model passes over the diff, or one, aggregated by a rule.

Several begin with the same words, so that a provider reads those once.
"""

from collections.abc import Sequence
from typing import Any

from cogworks.codebase.diffmodel import numbered
from cogworks.codebase.diffparsing import parse_diff
from cogworks.codegen.handoff import TestHandoff
from cogworks.codegen.mending import MENDED, MENDING, left_after, misplaced, suggested
from cogworks.codegen.openings import MOST_SHOWN, Opening, openings_of
from cogworks.codegen.plan_bounds import SLOT, file_actions, without_object_names
from cogworks.domain_services.messages import Diagnostic
from cogworks.nodes.artifacts import (
    asked_for,
    interface_files,
    planned_item,
    proposed_paths,
    spec_path,
    wanted_text,
    without_shown_changes,
)
from cogworks.nodes.asking import Question, answered, conversation_about
from cogworks.nodes.contract import BuiltIn, Failed, NodePorts, Outcome, Succeeded, Workspace, left_out
from cogworks.nodes.intake import issue
from cogworks.nodes.replies import Finding, PlannedItem, ReviewPass, Suggestion
from cogworks.nodes.shown import repository_view, view_variables
from cogworks.nodes.task import NodeTask
from cogworks.packs.artefacts import Changed, missing, patterns_besides
from cogworks.packs.patterns import fits
from cogworks.repair.proof import Summary, caution
from cogworks.sight.kinds import Kind, kind_of
from cogworks.sight.question import About
from cogworks.sight.view import FirstView
from cogworks.vocabulary import Severity

PASSES = ("quality", "architecture", "security")
"""In this order, each with a prompt of its own; none hears of the others."""
COMBINED = ("combined",)
"""All of them in one question, where the pipeline asks for that."""
_ARTEFACTS = {"name": "artefacts", "passed": False, "criteria": []}
MAX_DIFF_CHARS = 200_000
MAX_RULE_FINDINGS = 50
"""So many findings of rules the security pass is shown."""


def run(task: NodeTask, ports: NodePorts) -> Outcome:
    """Review one sub-work-item's change; `passed` is false when any finding is blocking."""
    workspace = ports.workspace()
    item = planned_item(task)
    if (settled := after_mending(task, workspace, item)) is not None:
        return settled
    diff = without_object_names(workspace.diff(task.base_branch))
    if len(diff) > MAX_DIFF_CHARS:
        return Failed(
            reason=f"review: the change of {item.key} has {len(diff)} characters and the limit is {MAX_DIFF_CHARS}. "
            f"Split the {'sub-work-item' if task.visit.sub_item else 'issue'}.",
            category="escalated",
        )
    files = tuple(file_actions(diff))
    opened = openings_of(task, workspace, item, parse_diff(diff).diff)
    if lacks := lacking(task, workspace, diff):
        # What is missing is known; to ask what else is wrong would be paid twice.
        ports.say(
            f"{item.key}: {len(lacks)} required artefact(s) of context packs are missing; nobody is asked"
        )
        findings = [*scope_findings(task, item, files), *opening_findings(opened), *lacks]
        return _verdict(item, [scope_pass(), _ARTEFACTS], findings, {})
    view = review_view(task, ports, item, diff)
    variables = {**review_variables(task, workspace, item, diff), **view_variables(view)}
    opening = Question(
        prompt="review", variables=variables, reply_type=ReviewPass, check=lambda _: (), view=view
    )
    shared = conversation_about(ports, task, opening)
    diagnostics = on_touched_lines(diff, ports.service.review(workspace, _there(workspace, files)))
    rules = [rule_line(each) for each in diagnostics[:MAX_RULE_FINDINGS]]
    rules += [f"{each.path}:{each.line}: {each.in_words} (warning)" for each in opened[:MOST_SHOWN]]
    findings = [
        *scope_findings(task, item, files),
        *opening_findings(opened),
        *blocking_findings(diagnostics),
    ]
    passes = [scope_pass()]
    for name in COMBINED if task.conventions.combined_review else PASSES:
        ports.say(f"{item.key}: review of {name}")
        question = Question(
            prompt=f"review_{name}",
            variables=variables,
            reply_type=ReviewPass,
            check=lambda reply: problems_of(reply, workspace, files),
        )
        # Each has read the same and hears nothing of what the others said.
        talk = shared.fork()
        talk.tell(f"_review_{name}", {"rule_findings": rules})
        reply = answered(ports, task, question, talk)
        if isinstance(reply, Failed):
            return reply
        passes.append({"name": name, **reply.model_dump(mode="json", include={"passed", "criteria"})})
        placed, reasons = without_misplaced(reply.findings, workspace, diff=diff)
        for reason in reasons:
            ports.say(f"{item.key}: {reason}, so it is left out")
        findings += [{"pass": name, **_as_json(finding)} for finding in placed]
    # Once: what is still to be said after it is for people, and a loop back is left for what blocks.
    may_mend = not task.earlier.get("review") and bool(task.inputs.get("code"))
    mendable = _mendable(findings, _handed_over(task)) if may_mend else 0
    return _verdict(item, passes, findings, left_out(ports), mendable=mendable)


def _mendable(findings: Sequence[dict[str, Any]], handed_over: Sequence[str]) -> int:
    """How many findings say word for word what would put them right, where that may be tried: tests that were handed over stay."""
    return sum(suggested(each) is not None and each["file"] not in handed_over for each in findings)


def _as_json(finding: Finding) -> dict[str, Any]:
    """A finding as it is kept: without a suggestion where it has none."""
    return finding.model_dump(mode="json", exclude=None if finding.suggestion.first_line else {"suggestion"})


def lacking(task: NodeTask, workspace: Workspace, diff: str) -> list[dict[str, Any]]:
    """A blocking finding for each artefact that the run's context packs require and the change does not hold."""
    if task.packs is None or not task.packs.packs:
        return []
    touched = {
        file.new_path: file.added_lines for file in parse_diff(diff).diff.files if file.kind != "delete"
    }
    texts = {path: workspace.read(path) for path in touched}
    changed = [
        Changed(path=path, text=text, added=frozenset(touched[path]))
        for path, text in texts.items()
        if text is not None
    ]
    besides = patterns_besides(task.packs)
    others = {
        path: workspace.read(path) or ""
        for path in workspace.files()
        if path not in touched and fits(path, besides)
    }
    return [
        {
            "pass": "artefacts",
            "file": each.place,
            "line": each.line,
            "severity": Severity.BLOCKING.value,
            "criterion": "required artefacts",
            "explanation": each.explanation,
        }
        for each in missing(task.packs, changed, others)
    ]


def review_variables(task: NodeTask, workspace: Workspace, item: PlannedItem, diff: str) -> dict[str, Any]:
    """What every pass is told: the same for all."""
    code = task.inputs.get("code") or {}
    return {
        "item": issue(task.item),
        "sub_item": item.model_dump(mode="json"),
        "specification": wanted_text(task, workspace),
        "interfaces": [
            file.model_dump()
            for file in without_shown_changes(interface_files(task, workspace), diff, task, workspace)
        ],
        "diff": numbered(diff),
        "notes": str(code.get("notes", "")),
        "unrun": "\n".join(code.get("unrun", ())),
        "doubts": caution(Summary.model_validate(code["proof"])) if code.get("proof") else "",
    }


_SHOWN_BY_DIFF = frozenset({Kind.TEST, Kind.DOCUMENT, Kind.CHANGELOG})
"""Of which a reviewer needs the lines that changed, and those the diff has with their numbers."""


def review_view(task: NodeTask, ports: NodePorts, item: PlannedItem, diff: str) -> FirstView:
    """The definitions around what was changed, and what is near them."""
    changed = parse_diff(diff).diff.files
    touched = {
        file.path: tuple(sorted(file.added_lines))
        for file in changed
        if file.kind == "modify" and kind_of(file.path) not in _SHOWN_BY_DIFF
    }
    unchanged = (
        file.path for file in interface_files(task, ports.workspace()) if file.is_whole and not file.change
    )
    about = About(
        title=item.title,
        text=asked_for(task, item),
        # What is left of the room is for what describes it.
        wanted=tuple(sorted(touched, key=lambda path: kind_of(path) is not Kind.SOURCE)),
        # The diff holds new files whole already.
        without=frozenset(
            (spec_path(task), *(file.path for file in changed if file.path not in touched), *unchanged)
        ),
        touched=touched,
    )
    return repository_view(task, ports, about)


def after_mending(task: NodeTask, workspace: Workspace, item: PlannedItem) -> Succeeded | None:
    """The verdict from before, where all that has changed since is what it proposed itself; None: the change has to be read."""
    before, code = task.earlier.get("review") or {}, task.inputs.get("code") or {}
    if not before.get(MENDING) or MENDED not in code or code["head"] != workspace.head:
        return None
    mended = code[MENDED]
    findings = before["findings"]
    left = left_after(findings, mended["applied"])
    count = len(mended["applied"])
    record = {**mended, "applied": [findings[number] for number in mended["applied"]]}
    why = f"; others were not applied: {mended['why_not'].splitlines()[0]}" if mended["why_not"] else ""
    return Succeeded(
        output={**before, "findings": left, MENDING: False, MENDED: record},
        summary=f"{item.key}: passed with {len(left)} remark(s), {count} suggestion(s) applied as proposed{why}",
    )


def problems_of(reply: ReviewPass, workspace: Workspace, files: Sequence[str]) -> list[str]:
    """What the reviewer has to correct: places that do not exist, a verdict that its findings do not support."""
    problems = [
        problem
        for finding in reply.findings
        for problem in _place_problems(finding.file, finding.line, workspace, files)
    ]
    blocking = sum(1 for finding in reply.findings if finding.severity is Severity.BLOCKING)
    if reply.passed and blocking:
        problems.append(f"`passed` is true, but {blocking} finding(s) are blocking; one of the two is wrong")
    if not reply.passed and not blocking:
        problems.append("`passed` is false, but no finding is blocking; say what blocks, or pass the change")
    return problems


def without_misplaced(
    findings: Sequence[Finding], workspace: Workspace, *, diff: str
) -> tuple[list[Finding], list[str]]:
    """The findings without suggestions that nobody can try as they are, and why each of these was left out.

    What is to be done stands in the explanation as well, so that nobody has to be asked again.
    """
    touched = {file.new_path: frozenset(file.added_lines) for file in parse_diff(diff).diff.files}
    reasons = [
        misplaced(each.file, each.suggestion, workspace.read(each.file), touched.get(each.file, frozenset()))
        for each in findings
    ]
    left = [
        each.model_copy(update={"suggestion": Suggestion()}) if reason else each
        for each, reason in zip(findings, reasons, strict=True)
    ]
    return left, [reason for reason in reasons if reason]


def scope_pass() -> dict[str, Any]:
    """The deterministic pass; it only ever warns."""
    return {"name": "scope", "passed": True, "criteria": []}


def scope_findings(task: NodeTask, item: PlannedItem, files: Sequence[str]) -> list[dict[str, Any]]:
    """A warning for every changed file that neither the plan nor the hand-off of the tests lists; none where nothing was planned."""
    if task.visit.sub_item is None:
        return []
    planned = {*item.files, *proposed_paths(task), *_handed_over(task)}
    asked = {each["path"]: each["reason"] for each in (task.inputs.get("code") or {}).get(SLOT, ())}
    return [
        {
            "pass": "scope",
            "file": path,
            "line": 0,
            "severity": Severity.WARNING.value,
            "criterion": "planned files",
            "explanation": f"The plan of {item.key} does not list this file."
            + (f" Whoever wrote the code asked for it: {asked[path]}" if path in asked else ""),
        }
        for path in files
        if path not in planned
    ]


def opening_findings(opened: Sequence[Opening]) -> list[dict[str, Any]]:
    """A warning for what the change reaches beyond itself, without that anybody spoke of it."""
    return [
        {
            "pass": "scope",
            "file": each.path,
            "line": each.line,
            "severity": Severity.WARNING.value,
            "criterion": f"capability: {each.capability}",
            "explanation": f"This file now {each.in_words}.",
        }
        for each in opened[:MOST_SHOWN]
    ]


def _handed_over(task: NodeTask) -> tuple[str, ...]:
    code = task.inputs.get("code") or {}
    stored = code.get("test_handoff")
    return TestHandoff.model_validate(stored).paths if stored else ()


def on_touched_lines(diff: str, diagnostics: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The findings on lines that a diff adds or changes, and those about a file as a whole; the others are not its doing."""
    touched = {file.new_path: file.added_lines for file in parse_diff(diff).diff.files}
    return tuple(each for each in diagnostics if not each.line or each.line in touched.get(each.artifact, ()))


def rule_line(diagnostic: Diagnostic) -> str:
    """One finding of a rule in one line, with how much it matters."""
    return f"{diagnostic.in_one_line} ({diagnostic.severity.value})"


def blocking_findings(diagnostics: Sequence[Diagnostic]) -> list[dict[str, Any]]:
    """The findings of rules that the services let block; the others are only shown to the security pass."""
    return [
        {
            "pass": "rules",
            "file": each.artifact,
            "line": each.line or 0,
            "severity": each.severity.value,
            "criterion": each.category,
            "explanation": each.message,
        }
        for each in diagnostics
        if each.severity is Severity.BLOCKING
    ]


def _there(workspace: Workspace, files: Sequence[str]) -> list[str]:
    """The files that the change did not delete."""
    existing = set(workspace.files())
    return [path for path in files if path in existing]


def _place_problems(path: str, line: int, workspace: Workspace, files: Sequence[str]) -> list[str]:
    text = workspace.read(path)
    if path not in files:
        return [f"a finding names {path!r}, which this change does not touch ({', '.join(files)})"]
    if text is not None and line > len(text.splitlines()):
        return [f"a finding names {path} line {line}, and the file has {len(text.splitlines())} lines"]
    return []


def _verdict(
    item: PlannedItem,
    passes: list[dict[str, Any]],
    findings: list[dict[str, Any]],
    gaps: dict[str, list[str]],
    *,
    mendable: int = 0,
) -> Succeeded:
    blocking = sum(1 for finding in findings if finding["severity"] == Severity.BLOCKING)
    rest = len(findings) - blocking
    is_mending = not blocking and mendable > 0
    summary = (
        f"{blocking} blocking finding(s), {rest} other(s)" if blocking else f"passed with {rest} remark(s)"
    )
    if is_mending:
        summary += f", {mendable} of them with the exact fix, which is tried"
    return Succeeded(
        output={
            "sub_item": item.key,
            "passed": blocking == 0,
            "passes": passes,
            "findings": findings,
            **({MENDING: True} if is_mending else {}),
            **gaps,
        },
        summary=f"{item.key}: {summary}",
    )


NODE = BuiltIn(run=run, replies={"review": ReviewPass})
