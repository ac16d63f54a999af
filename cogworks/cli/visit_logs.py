"""The event logs of coding visits: from a work item's ledger, or from a directory that holds a copy of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cogworks.cycle.eventlog import LogDamaged, read_events, segment_names, text_of
from cogworks.cycle.events import Event
from cogworks.errors import UsageError
from cogworks.forge.addresses import IssueAddress, parse_issue_url
from cogworks.github.meter import Requests
from cogworks.ledger.record import ledger_branch, read_state
from cogworks.pipeline.graph import Instance
from cogworks.settings.config import read_environment
from cogworks.wiring.upkeep import open_ledger

_FOLDER = re.compile(r"(?:.*/)?([0-9]{4,})-[^/]+")


@dataclass(frozen=True)
class VisitLog:
    """The log of one visit, or what is wrong with it."""

    folder: str
    """e.g. `visits/0007-code_generation@57`"""
    events: tuple[Event, ...] = ()
    damage: LogDamaged | None = None

    @property
    def visit(self) -> int | None:
        """The visit's number; None for a folder that does not say."""
        match = _FOLDER.fullmatch(self.folder)
        return int(match[1]) if match else None


def visit_logs(source: str, *, visit: int | None, meter: Requests) -> tuple[VisitLog, ...]:
    """The logs at a work item's URL (two requests) or below a directory, in the order of their visits.

    Args:
        visit: only this one.

    Raises:
        UsageError: there is no such directory or issue, or no log in it.
        CogworksError: GitHub or the ledger cannot be read.
    """
    files = _on_github(source, meter) if "://" in source else _below(Path(source))
    folders = sorted({name.rpartition("/")[0] for name in segment_names(files)})
    logs = [_log(folder, files) for folder in folders]
    chosen = tuple(log for log in logs if visit is None or log.visit == visit)
    if not chosen:
        known = ", ".join(str(log.visit or log.folder) for log in logs) or "none"
        wanted = "" if visit is None else f" of visit {visit}"
        raise UsageError(f"{source}: there is no event log{wanted}; visits with one: {known}.")
    return chosen


def _log(folder: str, files: Mapping[str, str]) -> VisitLog:
    names = segment_names(name for name in files if name.rpartition("/")[0] == folder)
    try:
        return VisitLog(folder, events=read_events(text_of(files[name] for name in names)))
    except LogDamaged as damage:
        return VisitLog(folder, damage=damage)


def _below(directory: Path) -> dict[str, str]:
    if not directory.is_dir():
        raise UsageError(f"{directory}: there is no such directory; give one, or the URL of an issue.")
    files = {}
    for path in sorted(directory.rglob("events-*.ndjson")):
        name = path.relative_to(directory).as_posix()
        # A visit's own folder was given: its name is the visit's.
        name = name if "/" in name else f"{directory.resolve().name}/{name}"
        # Bytes that are no UTF-8 are damage, and found as such by their line.
        files[name] = path.read_bytes().decode(errors="replace")
    return files


def _on_github(url: str, meter: Requests) -> Mapping[str, str]:
    return visit_files(url, meter)[1]


def visit_files(url: str, meter: Requests) -> tuple[Mapping[str, Instance], Mapping[str, str]]:
    """The folder of each visit of a work item, in their order, and the files in all of them: path -> text; two requests.

    Raises:
        UsageError: the item has no ledger.
        CogworksError: GitHub or the ledger cannot be read.
    """
    address = parse_issue_url(url)
    with open_ledger(read_environment(), address, meter=meter) as ledger:
        tip = ledger.tip()
        if tip is None:
            raise UsageError(_where_it_may_be(address))
        state = read_state(tip.state_text, branch=ledger_branch(address.number))
        instances = [*state.finished()]
        instances += [(lease.index, lease.instance) for lease in (*state.leases, *state.given_back)]
        known = {None, *(item.key for item in state.sub_items or ())}
        folders = {state.folder(*each): each[1] for each in sorted(instances) if each[1].sub_item in known}
        return folders, ledger.files(sorted(folders)) if folders else {}


def _where_it_may_be(address: IssueAddress) -> str:
    # GitHub's GraphQL shows branches and tags alone, so only git reaches what was put away.
    number, folder = address.number, f"ledger-{address.number}"
    return (
        f"{address.url}: the item has no ledger; nothing has happened yet, or `cogworks gc` put it away. In that case:\n"
        f"  git init {folder}\n"
        f"  git -C {folder} fetch {address.server_url}/{address.repository}.git refs/cogworks/archive/{number}\n"
        f"  git -C {folder} checkout FETCH_HEAD\n"
        f"  cogworks replay {folder}"
    )
