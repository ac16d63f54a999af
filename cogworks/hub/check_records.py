"""What the hub keeps of checks: check runs, the logs of their jobs and commit statuses, one frozen record each."""

from datetime import datetime
from typing import Literal

from cogworks.hub.node_ids import Record
from cogworks.vocabulary import Value


class Annotation(Value):
    """What a check run says of some lines of a file."""

    path: str
    start_line: int
    end_line: int
    start_column: int | None = None
    end_column: int | None = None
    level: Literal["notice", "warning", "failure"]
    message: str
    title: str | None = None
    raw_details: str | None = None


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
    annotations: tuple[Annotation, ...] = ()
    started_at: datetime
    completed_at: datetime | None = None

    @property
    def parent(self) -> int:
        return self.repository_id

    @property
    def tag(self) -> str:
        return self.oid


class JobLog(Record):
    """What a job wrote; it has the id of the check run that shows the job, as jobs of GitHub Actions have."""

    type_name = "JobLog"
    text: str


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
