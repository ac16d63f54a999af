"""What a work item looks like, now or at an earlier moment, for the commands that only read it."""

import time
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cogworks.cli.admission import admitted
from cogworks.errors import UsageError
from cogworks.forge.addresses import IssueAddress, parse_issue_url
from cogworks.github.meter import Requests

if TYPE_CHECKING:
    from cogworks.engine.consider import Considered, ReadItem, Wanted

AT_HELP = "Show an earlier moment: a commit of the ledger (see `cogworks log`), or a time like 2026-01-31T12:00:00Z."


@dataclass
class Look:
    """What one look at GitHub costs."""

    meter: Requests = field(default_factory=Requests)
    started_s: float = field(default_factory=time.monotonic)

    def used(self) -> dict[str, Any]:
        """The keys that end every JSON object."""
        meter = self.meter
        return {
            "requests": {"graphql": meter.graphql, "rest": meter.rest, "git": meter.git},
            "duration_s": round(time.monotonic() - self.started_s, 3),
        }


def look_at(issue_url: str, meter: Requests, *, at: str = "", wanted: "Wanted | None" = None) -> "Considered":
    """Everything that `process` would decide by; one read, no write.

    Args:
        at: `--at` as it was given: one more read, of the ledger and the facts of that moment. The configuration and
            the pipeline are those of now.
        wanted: what the operator asks of the step; None: nothing in particular.

    Raises:
        CogworksError: the URL names no issue, GitHub refuses, or a file of the repository cannot be understood.
        UsageError: `at` names no moment of the item.
    """
    address = parse_issue_url(issue_url)
    environment = admitted(address.repository)
    from cogworks.engine.consider import ReadItem, Wanted, consider, read_item, refuse_lost_ledger
    from cogworks.github.moments import parse_when
    from cogworks.vocabulary import RunId
    from cogworks.wiring.upkeep import open_item

    when = parse_when(at) if at else None
    with open_item(environment, address, meter=meter) as item:
        seen = read_item(item)
        if when is not None:
            # Another ledger, so nothing that was read of this one goes along.
            seen = ReadItem(item.at(seen.snapshot, when))
            _require_own(seen, at)
        else:
            # An earlier moment is behind the status comment of now, and that is no defect.
            refuse_lost_ledger(seen)
    return consider(seen, wanted or Wanted(), new_run_id=lambda: RunId(str(uuid.uuid4())))


def refuse_lost(address: IssueAddress, meter: Requests) -> None:
    """Nothing, unless the item shows that it once had a ledger; one read.

    Raises:
        SafetyHalt: its ledger is gone.
    """
    from cogworks.engine.consider import ReadItem, refuse_lost_ledger
    from cogworks.settings.config import read_environment
    from cogworks.wiring.upkeep import open_item

    with open_item(read_environment(), address, meter=meter) as item:
        refuse_lost_ledger(ReadItem(item.read()))


def moment_of(seen: "Considered", at: str) -> dict[str, Any] | None:
    """Which moment is shown, for the JSON object; None = now."""
    ledger = seen.snapshot.ledger
    if not at or ledger is None:
        return None
    return {"oid": ledger.oid, "time": seen.snapshot.server_date.isoformat()}


def _require_own(seen: "ReadItem", at: str) -> None:
    snapshot, ledger = seen.snapshot, seen.snapshot.ledger
    if ledger is not None and ledger.state_text is None and ledger.oid != snapshot.root_oid:
        raise UsageError(
            f"`--at {at}` is a commit without a state, so it is not on this item's ledger. `cogworks log` lists "
            "the commits that are."
        )
    state = seen.known
    if state is not None and state.issue != snapshot.issue.number:
        raise UsageError(
            f"`--at {at}` is a commit of issue #{state.issue}. Give one of #{snapshot.issue.number}."
        )
