"""`cogworks log --events`: every decision inside the coding visits of a work item, one event a line."""

import json
from typing import Any

import click

from cogworks.cli.looking import Look
from cogworks.cli.tables import Column, show_line, show_table
from cogworks.cli.visit_logs import VisitLog, visit_logs
from cogworks.cycle.eventlog import event_fields

COLUMNS = [
    Column("event", is_number=True),
    Column("cycle", is_number=True),
    Column("ms", is_number=True),
    Column("kind"),
    Column("what"),
]


def show_events(source: str, visit: int | None, look: Look, *, as_json: bool) -> int:
    """Print the logs; 1 when one of them is damaged."""
    logs = visit_logs(source, visit=visit, meter=look.meter)
    damaged = [log for log in logs if log.damage is not None]
    if as_json:
        click.echo(json.dumps({"issue": source, "visits": [_as_object(log) for log in logs], **look.used()}))
        return 1 if damaged else 0
    for log in logs:
        show_line(f"{log.folder}:")
        if log.damage is None:
            show_table(COLUMNS, [_cells(event_fields(event)) for event in log.events])
        else:
            show_line(f"    {log.damage}")
    return 1 if damaged else 0


def _as_object(log: VisitLog) -> dict[str, Any]:
    return {
        "visit": log.visit,
        "folder": log.folder,
        "problem": str(log.damage) if log.damage else None,
        "events": [event_fields(event) for event in log.events],
    }


def _cells(event: dict[str, Any]) -> tuple[str, ...]:
    at_ms = event["wall"].get("at_ms", 0.0)
    return str(event["seq"]), str(event["cycle"]), f"{at_ms:.0f}", event["event"], _what(event["payload"])


def _what(payload: dict[str, Any]) -> str:
    """The most telling of what an event says."""
    if result := payload.get("result"):
        return f"{result['outcome']} {result['summary'] or result['error_code']}".strip()
    if "score" in payload and "slot_id" in payload:
        score = payload["score"]
        return f"{payload['slot_id']} {'forced' if score is None else f'{score / 1_000_000:.3f}'}"
    if decisions := payload.get("decisions"):
        return f"{payload['layer']}: {', '.join(map(_weighing, decisions))}"
    named = [payload.get(name) for name in ("slot_id", "source", "action", "reason", "error_type", "item")]
    return " ".join(str(value) for value in named if value)


def _weighing(decision: dict[str, Any]) -> str:
    """One proposal and its saliency before and after."""
    if decision["is_blocked"]:
        return f"{decision['slot_id']} left out"
    return f"{decision['slot_id']} {decision['before']:.3f} → {decision['after']:.3f}"
