"""What the Action hands to its workflow: outputs, and a summary for people."""

import json
import re
from collections.abc import Mapping
from typing import Any

from cogworks.errors import CogworksError
from cogworks.leaving import on_terminal

MAX_MESSAGE = 20_000
_FENCE = re.compile(r"`{3,}")
_CELL = re.compile(r"[^\w@.:/#+ $-]")


def step_outputs(issue: int | None, report: Mapping[str, Any]) -> dict[str, str]:
    """The outputs of `action.yml` for a step's report; without an issue there was no step."""
    return {
        "issue": str(issue or ""),
        "outcome": str(report.get("outcome") or ("failed" if issue else "ignored")),
        "node": str(report.get("node") or ""),
        "waiting-for": json.dumps(report.get("waiting_for") or [], separators=(",", ":")),
        "cost-usd": f"{float(report.get('cost_usd') or 0.0):.6f}",
    }


def as_file(outputs: Mapping[str, str], *, delimiter: str) -> str:
    """Lines for `GITHUB_OUTPUT`, each value between two lines that nobody could foresee.

    Args:
        delimiter: drawn anew for every call.

    Raises:
        CogworksError: a value holds the delimiter, so it was foreseen.
    """
    if any(delimiter in value for value in outputs.values()):
        raise CogworksError("an output holds the delimiter that was just drawn; nothing was handed on.")
    return "".join(f"{name}<<{delimiter}\n{value}\n{delimiter}\n" for name, value in outputs.items())


def summary(issue_url: str, report: Mapping[str, Any]) -> str:
    """The step summary: what was done, what is waited for, what it cost. Texts of others stand in a code block."""
    requests, tokens = report.get("requests") or {}, report.get("tokens") or {}
    rows = [
        ("Outcome", report.get("outcome") or "failed"),
        ("Node", report.get("node") or "-"),
        (
            "Requests",
            f"{requests.get('graphql', 0)} GraphQL, {requests.get('rest', 0)} REST, {requests.get('git', 0)} git",
        ),
        ("Tokens", f"{tokens.get('input', 0)} in, {tokens.get('output', 0)} out"),
        ("Cost", f"${float(report.get('cost_usd') or 0.0):.4f}"),
    ]
    parts = [f"### cogworks: {_cell(issue_url)}", "| | |\n|---|---|"]
    parts[1] += "".join(f"\n| {name} | {_cell(str(value))} |" for name, value in rows)
    parts.append(_fenced(str(report.get("message") or "")))
    return "\n\n".join(parts) + "\n"


def ignored_summary(reason: str) -> str:
    """The step summary of an event that asked for nothing."""
    return f"### cogworks: nothing to do\n\n{_fenced(reason)}\n"


def _cell(text: str) -> str:
    return _CELL.sub(" ", text)


def _fenced(text: str) -> str:
    text = on_terminal(text)
    shown = text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]}…"
    longest = max((len(found) for found in _FENCE.findall(shown)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{shown}\n{fence}"
