"""What the hub keeps of checks: check runs and commit statuses, one frozen record each."""

from datetime import datetime
from typing import Literal

from cogworks.hub.node_ids import Record


class CheckRun(Record):
    type_name = "CheckRun"
    repository_id: int
    oid: str
    name: str
    creator_id: int
    status: Literal["queued", "in_progress", "completed", "waiting", "requested", "pending"] = "queued"
    conclusion: str | None = None
    external_id: str | None = None
    details_url: str | None = None
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    started_at: datetime
    completed_at: datetime | None = None

    @property
    def parent(self) -> int:
        return self.repository_id

    @property
    def tag(self) -> str:
        return self.oid


class Status(Record):
    type_name = "StatusContext"
    repository_id: int
    oid: str
    context: str
    state: Literal["error", "failure", "pending", "success"]
    description: str | None = None
    target_url: str | None = None
    creator_id: int
    created_at: datetime

    @property
    def parent(self) -> int:
        return self.repository_id

    @property
    def tag(self) -> str:
        return self.oid
