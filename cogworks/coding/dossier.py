"""What a repair leaves behind for people and programs: the text of each artifact by its name."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from cogworks.coding.eventlog import segments
from cogworks.coding.events import Event
from cogworks.coding.repair_job import Notes
from cogworks.coding.results import TraceEntry
from cogworks.coding.runlog import record_line, run_log
from cogworks.repair.branches import Course
from cogworks.repair.investigating import Findings
from cogworks.repair.proof import markdown, summarised


def dossier(
    events: Sequence[Event], notes: Notes, *, patch: str, untold: Sequence[TraceEntry] = ()
) -> Mapping[str, str]:
    """File name -> text; what a run did not come to is not there.

    Args:
        untold: what happened in the action that broke the run off.
    """
    found = {
        **{f"events-{number}.ndjson": text for number, text in enumerate(segments(events), 1)},
        "events.ndjson": "".join(f"{record_line(record)}\n" for record in run_log(events, untold)),
        "final_patch.txt": patch,
    }
    if notes.localised is not None:
        ranking = notes.localised.ranking
        found["candidates.json"] = _json(
            {
                "suspects": [each.model_dump(mode="json") for each in notes.localised.suspects],
                "weights": dict(ranking.weights),
                "missing": list(ranking.missing),
                "diffs": [each.model_dump(mode="json") for each in notes.proposals],
                "refused": notes.refused,
                "recalled": [each.model_dump(mode="json") for each in notes.recalled],
                "probed": probed(notes.findings),
            }
        )
    if notes.findings is not None:
        found["blackboard.json"] = _json(blackboard_of(notes.findings))
    if notes.planned is not None:
        pattern = notes.planned.pattern
        found["failure_pattern.json"] = _json(pattern.model_dump(mode="json"))
    if notes.understanding is not None:
        found["understanding.json"] = _json(notes.understanding.model_dump(mode="json"))
    if notes.landmarks:
        found["landmarks.json"] = _json([each.model_dump(mode="json") for each in notes.landmarks])
    if notes.courses:
        found["plan.json"] = _json([_course(each) for each in notes.courses])
    if notes.tried:
        found["transactions.json"] = _json([each.model_dump(mode="json") for each in notes.tried])
    if notes.proof is not None:
        found["proof.json"] = _json(notes.proof.model_dump(mode="json"))
        found["proof.md"] = markdown(summarised(notes.proof), whole="`proof.json`")
    return found


def _course(course: Course) -> dict[str, Any]:
    """One turn among the branches: what was followed, what else there was and what was believed of each."""
    branches = [
        {**each.model_dump(mode="json"), "expected_utility": round(each.expected_utility, 6)}
        for each in course.branches
    ]
    left = [[landmark.id for landmark in unit] for unit in course.units]
    told = course.model_dump(mode="json", exclude={"branches", "units"})
    return {**told, "units": left, "branches": branches}


def probed(findings: Findings | None) -> list[dict[str, Any]]:
    """Each suspect that was probed, with what is believed of it and the probes."""
    if findings is None:
        return []
    reports = findings.reports
    return [
        {
            "suspect": name,
            "before": findings.before[name],
            "belief": belief,
            "probes": [each.id for each in reports if each.suspect == name],
        }
        for name, belief in findings.beliefs.items()
    ]


def blackboard_of(findings: Findings) -> dict[str, Any]:
    """The content of `blackboard.json`."""
    return {
        "suspects": [{"id": name, "belief": belief} for name, belief in sorted(findings.beliefs.items())],
        "observables": [fact.model_dump(mode="json") for fact in findings.board.facts],
        "probe_patches": [patch.model_dump(mode="json") for patch in findings.patches],
        "invariants": list(findings.invariants),
        "evidence": [report.model_dump(mode="json") for report in findings.reports],
    }


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, sort_keys=True) + "\n"
