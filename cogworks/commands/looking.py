"""What a work item looks like now, for the commands that only read it."""

import uuid

from cogworks.github.addresses import parse_issue_url
from cogworks.github.meter import Requests
from cogworks.nodes.considering import Considered, Wanted, consider, read_item
from cogworks.settings import read_environment
from cogworks.vocabulary import RunId
from cogworks.wiring import open_shell

EVERYTHING = Wanted()


def look_at(issue_url: str, meter: Requests, wanted: Wanted = EVERYTHING) -> Considered:
    """Everything that `process` would decide by; one read, no write.

    Raises:
        CogworksError: the URL names no issue, GitHub refuses, or a file of the repository cannot be understood.
    """
    address = parse_issue_url(issue_url)
    with open_shell(read_environment(), address, meter=meter, say=lambda _: None) as shell:
        return consider(read_item(shell.tracker), wanted, new_run_id=lambda: RunId(str(uuid.uuid4())))
