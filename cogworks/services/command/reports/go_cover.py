"""What runs of single Go tests leave: the profile of each, or where its process stood when it ended.

Between `cogworks begin N` and `cogworks end N` stand the lines of a profile of Go, or, after `| `, what the process said last.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from cogworks.domain_services.exploring import Lines, merged
from cogworks.services.command.reports.cases import text_of

BEGINS, ENDS, SAID = "cogworks begin ", "cogworks end ", "| "
_BLOCK = re.compile(r"(\d{1,7})\.\d{1,7},(\d{1,7})\.\d{1,7} \d{1,9} (\d{1,20})")
_NUMBER = re.compile(r"\d{1,7}")
_ENDED = re.compile(r"^(?:panic: |fatal error: |SIG[A-Z]{2,8}: |runtime: )")
"""How Go begins to say why a process ends."""


class Measured(NamedTuple):
    """What one run executed."""

    number: int
    """As the order had it."""
    lines: Mapping[str, tuple[Lines, ...]]
    """File, as Go names it -> stretches in ascending order. Of a process that ended early only the calls it was in, by absolute paths."""


def parse_runs(data: bytes) -> tuple[Measured, ...]:
    """The runs that were written to their end, in their order; one that left nothing is not among them."""
    runs: list[Measured] = []
    number, body = "", list[str]()
    for line in text_of(data).split("\n"):
        if line.startswith(BEGINS):
            number, body = line[len(BEGINS) :], []
        elif line.startswith(ENDS):
            if line[len(ENDS) :] == number and _NUMBER.fullmatch(number) and (lines := _lines(body)):
                runs.append(Measured(int(number), lines))
            number, body = "", []
        else:
            body.append(line)
    return tuple(runs)


def _lines(body: list[str]) -> dict[str, tuple[Lines, ...]]:
    by_file: dict[str, set[Lines]] = {}
    for file, lines in (*_executed(body), *_standing(body)):
        by_file.setdefault(file, set()).add(lines)
    return {file: tuple(merged(stretches)) for file, stretches in sorted(by_file.items())}


def _executed(body: Iterable[str]) -> Iterator[tuple[str, Lines]]:
    """The blocks of a profile that ran."""
    for line in body:
        file, _, rest = line.rpartition(":")
        block = _BLOCK.fullmatch(rest) if file and not line.startswith(SAID) else None
        if block and int(block[3]) and 0 < int(block[1]) <= int(block[2]):
            yield file, (int(block[1]), int(block[2]))


def _standing(body: Iterable[str]) -> Iterator[tuple[str, Lines]]:
    """The places on the stacks that Go prints when it ends a process."""
    is_ending = False
    for line in body:
        text = line.removeprefix(SAID)
        is_ending = is_ending or bool(_ENDED.match(text))
        if not is_ending or not line.startswith(f"{SAID}\t/"):
            continue
        file, _, number = text.strip().partition(" +0x")[0].rpartition(":")
        if file.endswith(".go") and _NUMBER.fullmatch(number) and int(number):
            yield file, (int(number), int(number))
