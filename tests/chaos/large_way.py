"""The lane `large` on the demonstration's stage, with the replies that are recorded for its scenario."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cogworks.demo.scenarios import SCENARIOS, recorded_replies
from tests.chaos.timeline import Theatre, theatre

_SCENARIO = SCENARIOS["large"]
_REJECTION = _SCENARIO.acts[0].says


def _decides(opened: Theatre, paste: str) -> None:
    """The person rejects the first proposal and approves the next; what was said before stands on the issue."""
    opened.person.say(paste if _REJECTION in opened.person.said() else _REJECTION)


@contextmanager
def large_way(directory: Path) -> Iterator[Theatre]:
    """An issue that is divided into four, played until each of them is started."""
    with theatre(directory) as opened, recorded_replies(_SCENARIO) as replies:
        opened.environment["COGWORKS_CASSETTE_DIR"] = replies
        opened.issue, opened.decide = _SCENARIO.issue, _decides
        (opened.lane,) = _SCENARIO.labels
        opened.play()
        yield opened
