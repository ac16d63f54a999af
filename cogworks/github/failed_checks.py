"""What failed checks say: their summaries, their remarks in files, and the end of the log where a job of GitHub Actions is behind one."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from cogworks.forge.facts import FailedCheck, Remarked
from cogworks.forge.failing_checks import MAX_CHECKS, Failing
from cogworks.forge.snapshot import Snapshot
from cogworks.github.answers import Answer, as_error, is_forbidden
from cogworks.github.documents import document
from cogworks.github.pulls import check_seen
from cogworks.unexpected import Node, each, expecting

_JOB = re.compile(r"/actions/runs/\d+/job/(?P<job>\d{1,19})(?:[/?#]|$)")
_LEVELS: Mapping[str, int] = {"FAILURE": 0, "WARNING": 1}

ReadsLog = Callable[[int], str]
"""The end of the log of a job; empty where it cannot be read."""


class Queries(Protocol):
    """GitHub, as far as it is read."""

    def query(self, document: str, variables: Mapping[str, Any]) -> Answer: ...


def read_failed_checks(
    client: Queries, snapshot: Snapshot, failing: Failing, log_of: ReadsLog
) -> tuple[FailedCheck, ...]:
    """What the checks say that failed at a head, in their order; one request, and one for each log.

    Raises:
        CogworksError: they cannot be read.
    """
    owner, _, name = snapshot.repository.name_with_owner.partition("/")
    pull = failing.pull
    ids = [check.node_id for check in failing.checks]
    variables = {"owner": owner, "name": name, "base": pull.base_oid, "ids": ids}
    answer = client.query(document("failed-checks"), variables)
    for problem in answer.errors:
        # Without what fails on the base, and without what is gone since, the rest can be told.
        if not (problem.type == "NOT_FOUND" or is_forbidden(problem)):
            raise as_error(problem, doing=f"read the checks of {pull.url}")
    with expecting("nodes"):
        on_base = _failed_names(answer.data.get("repository") or {})
        nodes = [node for node in answer.data.get("nodes") or () if node]
        found = [_told(node, on_base) for node in nodes]
        jobs = [_job_of(node) for node in nodes]
    wanted = [place for place, check in enumerate(found) if not check.fails_on_base][:MAX_CHECKS]
    return tuple(
        check.model_copy(update={"log_tail": log_of(job)})
        if place in wanted and (job := jobs[place]) is not None
        else check
        for place, check in enumerate(found)
    )


def _failed_names(repository: Node) -> frozenset[str]:
    rollup = (repository.get("object") or {}).get("statusCheckRollup") or {}
    nodes = (rollup.get("contexts") or {}).get("nodes") or []
    return frozenset(check.name for check in each(nodes, "contexts.nodes", check_seen) if check.is_failed)


def _told(node: Node, on_base: frozenset[str]) -> FailedCheck:
    if node["__typename"] == "StatusContext":
        name = node["context"]
        return FailedCheck(name=name, summary=node["description"] or "", fails_on_base=name in on_base)
    listed = (node.get("annotations") or {}).get("nodes") or ()
    worst = sorted(listed, key=lambda entry: _LEVELS.get(entry["annotationLevel"], 2))
    return FailedCheck(
        name=node["name"],
        summary="\n".join(filter(None, [node["title"], node["summary"]])),
        remarks=each(worst, "annotations.nodes", _remarked),
        fails_on_base=node["name"] in on_base,
    )


def _remarked(node: Node) -> Remarked:
    text = ": ".join(filter(None, [node["title"], node["message"]]))
    return Remarked(path=node["path"], line=node["location"]["start"]["line"], text=text)


def _job_of(node: Node) -> int | None:
    found = _JOB.search(node.get("detailsUrl") or "")
    return int(found["job"]) if found else None
