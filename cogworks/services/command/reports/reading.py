"""Which module reads which format."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from cogworks.services.command.reports import cargo, go_json, jest_json, junit, node_test, tap, tape, trx
from cogworks.services.command.reports.cases import Parsed

READERS: Mapping[str, Callable[[bytes], Parsed]] = MappingProxyType(
    {
        "junit": junit.parse,
        "tap": tap.parse,
        "tape": tape.parse,
        "go-json": go_json.parse,
        "cargo": cargo.parse,
        "libtest-json": cargo.parse_json,
        "node-test": node_test.parse,
        "jest-json": jest_json.parse,
        "vitest-json": jest_json.parse,
        "trx": trx.parse,
    }
)
"""By format; `exit-code` has no report, and `tape` is what our listener writes."""


def read_all(kind: str, reports: Sequence[bytes]) -> Parsed:
    """What several reports of a run say together."""
    parsed = [READERS[kind](report) for report in reports]
    return Parsed(
        tuple(case for each in parsed for case in each.cases),
        tuple(problem for each in parsed for problem in each.problems),
        not parsed or any(each.is_cut for each in parsed),
    )
