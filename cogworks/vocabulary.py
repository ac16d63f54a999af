"""The words every package shares: identifiers, severities and the frozen base of all values."""

from enum import StrEnum
from typing import Literal, NewType

from pydantic import BaseModel, ConfigDict

IssueNumber = NewType("IssueNumber", int)
NodeId = NewType("NodeId", str)
"""A node of the pipeline graph, snake_case, e.g. `code_generation`."""
SubItemKey = NewType("SubItemKey", str)
"""The planner's own name of a sub-work-item, e.g. `A`; stable before and after the sub-issue exists."""
VisitKey = NewType("VisitKey", str)
"""64 hex digits naming one visit of one node; the same after a restart, different on rework."""
CommitOid = NewType("CommitOid", str)
BranchName = NewType("BranchName", str)
RunId = NewType("RunId", str)
Login = NewType("Login", str)


ScopeCode = Literal[
    "", "SCOPE_UNDERSPECIFIED", "SCOPE_AMBIGUOUS", "PROTECTED_PATH_VIOLATION", "SCOPE_VIOLATION"
]
"""In which way work left its bounds; empty: in none. docs/failures.md says what follows from each."""


class Severity(StrEnum):
    """How much a finding or diagnostic matters; only `blocking` stops a change."""

    BLOCKING = "blocking"
    WARNING = "warning"
    INFORMATIONAL = "informational"


class Value(BaseModel):
    """A frozen value that rejects unknown fields; equal when its fields are equal."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False, ser_json_inf_nan="constants")


VISIT_TRAILER = "Cogworks-Visit: "
"""How the line of a commit's message begins that names the visit which made it."""
