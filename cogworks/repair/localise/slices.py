"""The windows of source text that a model is shown."""

from collections.abc import Mapping, Sequence

from cogworks.domain_services.exploring import Lines, merged
from cogworks.repair.localise.sources import lines_of
from cogworks.repair.localise.suspects import Suspect
from cogworks.vocabulary import Value

MOST_SLICES = 12
PADDING_LINES = 60


class Slice(Value):
    """A stretch of one file, whole lines."""

    artifact: str
    lines: Lines
    text: str

    def numbered(self) -> str:
        """The text with the number of each line before it."""
        first, last = self.lines
        width = len(str(last))
        return "".join(f"{number:>{width}} {line}" for number, line in enumerate(lines_of(self.text), first))


def slices_of(
    suspects: Sequence[Suspect], texts: Mapping[str, str], *, padding: int = PADDING_LINES
) -> tuple[Slice, ...]:
    """At most twelve windows around the suspects, in order of file and line; windows that touch are one.

    Suspects come best first: when there are too many windows, those of the least suspicious are left out.
    A suspect whose file is not among the texts has no window.
    """
    windows: dict[str, list[Lines]] = {}
    for suspect in suspects:
        artifact = suspect.symbol.artifact
        if artifact not in texts:
            continue
        wider = merged([*windows.get(artifact, []), _window(suspect.symbol.lines, texts[artifact], padding)])
        if sum(map(len, windows.values())) - len(windows.get(artifact, [])) + len(wider) <= MOST_SLICES:
            windows[artifact] = wider
    return tuple(
        _slice(artifact, lines, texts[artifact])
        for artifact in sorted(windows)
        for lines in windows[artifact]
    )


def _window(lines: Lines, text: str, padding: int) -> Lines:
    total = len(lines_of(text))
    return max(1, lines[0] - padding), min(total, lines[1] + padding)


def _slice(artifact: str, lines: Lines, text: str) -> Slice:
    kept = lines_of(text)[lines[0] - 1 : lines[1]]
    return Slice(artifact=artifact, lines=lines, text="".join(kept))
