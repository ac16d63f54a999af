"""What visits looked at: recorded when one ends, and handed to those after it, which need not pay for the same looks."""

from itertools import islice

from cogworks.nodes.contract import NodePorts
from cogworks.pipeline.graph import Instance
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import LookedAt
from cogworks.sight.seen import version_of

MOST_FILES = 8
"""That a visit records, and that one is handed. A state is read by every step, so it stays short."""
MOST_STRETCHES = 6
"""Of one file; the longest."""
LEAST_LINES = 3
"""A shorter stretch tells nothing of a definition."""
_DIGITS = 12


def looked_in(ports: NodePorts) -> tuple[LookedAt, ...]:
    """What the model looked at in a visit, the latest look last. Files that changed since are left out."""
    looked: list[LookedAt] = []
    for path, stretches in ports.looked().items():
        long = [each for each in stretches if each[1] - each[0] + 1 >= LEAST_LINES]
        text = ports.workspace().read(path) if long else None
        if text is not None:
            lines = sorted(sorted(long, key=lambda each: each[0] - each[1])[:MOST_STRETCHES])
            looked.append(LookedAt(path=path, version=version_of(text)[:_DIGITS], lines=tuple(lines)))
    return tuple(looked[-MOST_FILES:])


def looked_before(state: RunState, instance: Instance) -> tuple[LookedAt, ...]:
    """What the visits before one of this instance looked at, each file as in the latest visit that did, the latest look last.

    Visits for other sub-work-items are left out. Visits that failed or no longer count are not: they looked at the same repository.
    """
    newest: dict[str, LookedAt] = {}
    for visit in reversed(state.visits):
        if visit.sub_item in (None, instance.sub_item):
            for each in reversed(visit.looked):
                newest.setdefault(each.path, each)
    return tuple(reversed([*islice(newest.values(), MOST_FILES)]))
