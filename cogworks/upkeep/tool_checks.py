"""Are the audits of governed calls whole, and do those of finished visits have their end?"""

import re
from collections.abc import Iterable, Mapping

from cogworks.ledger.invariants import REVERT, Finding
from cogworks.tools.records import AuditDamaged, is_closed, read_records

_AUDIT = re.compile(r"(.*)/tools-[1-9][0-9]*\.ndjson")


def check_tool_audits(files: Mapping[str, str | None]) -> Iterable[Finding]:
    """What is wrong with the audits among a ledger's files.

    Args:
        files: path -> text; None where GitHub gives none.
    """
    for path in sorted(files):
        if (found := _AUDIT.fullmatch(path)) is None:
            continue
        if problem := _problem(files[path], has_output=f"{found[1]}/output.json" in files):
            yield Finding(kind="ledger", rule="tools", object=path, problem=problem, remedy=REVERT)


def _problem(text: str | None, *, has_output: bool) -> str:
    if text is None:
        return "is not given as text by GitHub"
    try:
        records = read_records(text)
    except AuditDamaged as damage:
        return str(damage)
    if has_output and not is_closed(records):
        # The chain alone does not show that its end is missing; the visit came to an end, so has its audit.
        return "has no end, though the visit has an output: its last lines were taken away"
    return ""
