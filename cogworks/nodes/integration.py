"""The reviewed change of one sub-work-item as a pull request. Deterministic; nothing is merged."""

from collections.abc import Mapping
from typing import Any

from cogworks.codebase.diffparsing import parse_diff
from cogworks.forge.effects import OWN_CHECK, OpenPullRequest, PostReview, ReportCheck
from cogworks.nodes.artifacts import is_shown_only, output_of, planned_item, specification_text
from cogworks.nodes.contract import BuiltIn, Failed, NodePorts, Outcome, Succeeded, Workspace
from cogworks.nodes.customs import template_among, titled_at
from cogworks.nodes.pull_request_texts import change_body
from cogworks.nodes.remarks import Remarks, placed
from cogworks.nodes.task import NodeTask
from cogworks.repair.proof import Summary, caution, markdown
from cogworks.vocabulary import CommitOid

REVIEW_BODY = "What the review of this change leaves for you to decide. None of it blocks; commit a suggestion, answer, or resolve it."
_SILENT = "not every test could be run; "
"""Begins the title of a check whose proof is not about the whole suite; its summary begins with what that is."""


def run(task: NodeTask, ports: NodePorts) -> Outcome:
    """Open the pull request of a change that passed its review."""
    item = planned_item(task)
    code, review = output_of(task, "code"), output_of(task, "review")
    if not review["passed"]:
        return Failed(
            reason=f"integration: the review of {item.key} did not pass, so no pull request is opened. "
            "Check the edge from `review` to `integration` in the pipeline.",
            category="escalated",
        )
    slug = f"swi-{task.sub_item.ordinal}" if task.sub_item else task.slug
    if not slug:
        return Failed(
            reason="integration has no branch to open a pull request from; give its node the `slug` of Code Generation "
            "in the pipeline.",
            category="escalated",
        )
    ports.say(f"opening the pull request of {item.key}")
    workspace = ports.workspace()
    words = item.title if task.sub_item else str(code["summary"])
    title = titled_at(workspace, words, task.kind, [file["path"] for file in code["files"]])
    template = template_among(workspace.files())
    remarks = _remarks(task, workspace, code, review)
    left = {**review, "findings": remarks.elsewhere}
    effect = OpenPullRequest(
        slug=slug,
        head=task.branch,
        base=task.base_branch,
        title=title,
        body=change_body(
            task,
            item,
            code,
            left,
            (workspace.read(template) or "") if template else "",
            at_lines=len(remarks.at_lines),
            specification=specification_text(task, workspace) if task.is_last and is_shown_only(task) else "",
        ),
    )
    count = len(review["findings"])
    return Succeeded(
        output={"sub_item": item.key, "head": task.branch, "base": task.base_branch, "title": title},
        effects=(effect, *_review(task, workspace, remarks), *_check(task, code)),
        summary=f"pull request from {task.branch} into {task.base_branch}, {count} remark(s)",
        caution=caution(Summary.model_validate(code["proof"])) if "proof" in code else "",
    )


def _remarks(
    task: NodeTask, workspace: Workspace, code: Mapping[str, Any], review: Mapping[str, Any]
) -> Remarks:
    """What the review leaves for people; all of it in the body where nobody wants it at its lines, or they are others by now."""
    findings = tuple(review["findings"])
    is_asked = task.conventions.remarks_at_lines and any(each["line"] for each in findings)
    if not is_asked or workspace.head != code["head"]:
        return Remarks((), findings)
    return placed(review, parse_diff(workspace.diff(task.base_branch)).diff)


def _review(task: NodeTask, workspace: Workspace, remarks: Remarks) -> tuple[PostReview, ...]:
    if not remarks.at_lines:
        return ()
    return (
        PostReview(
            branch=task.branch,
            base=task.base_branch,
            head=workspace.head,
            body=REVIEW_BODY,
            remarks=remarks.at_lines,
            visit_key=task.visit.visit_key,
        ),
    )


def _check(task: NodeTask, code: Mapping[str, Any]) -> tuple[ReportCheck, ...]:
    """The proof beside the commit it is about; none from before there were proofs."""
    if "proof" not in code:
        return ()
    proof = Summary.model_validate(code["proof"])
    fixed, new = proof.counts.get("fail_to_pass", 0), proof.counts.get("new_and_passes", 0)
    return (
        ReportCheck(
            name=OWN_CHECK,
            head=CommitOid(code["head"]),
            # What people should look at is not what a machine should hold up.
            conclusion="success" if proof.is_proven else "neutral",
            title=f"{_SILENT if caution(proof) else ''}{fixed} test(s) fail before and pass after, {new} new one(s) pass",
            summary=markdown(proof),
            visit_key=task.visit.visit_key,
        ),
    )


NODE = BuiltIn(run=run)
