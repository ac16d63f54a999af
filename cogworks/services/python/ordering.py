"""What our own reporters are told, see `inside/cogworks_unittest.py`: a file, for ids may be longer than a variable."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from cogworks.services.python.wanted import Wanted

VARIABLE = "COGWORKS_TESTS"
"""Names the file."""
FILE = "order.json"


def lay_out_order(folder: Path, wanted: Wanted, descriptor: int, reach: Mapping[str, Sequence[str]]) -> None:
    """Write the file; the folder need not be there.

    Args:
        descriptor: of the open report.
        reach: the folders that the tests may read and write.
    """
    lines = [plugin.readable[0].parent for plugin in wanted.plugins if plugin.name == "cogworks_lines"]
    order = {
        "descriptor": descriptor,
        "tests": list(wanted.tests),
        "groups": [list(group) for group in wanted.groups],
        "seed": wanted.seed,
        "until_s": wanted.ends_s,
        "test_timeout_s": wanted.test_timeout_s,
        "reach": reach,
        "lines": str(lines[0]) if lines else "",
    }
    folder.mkdir(exist_ok=True)
    (folder / FILE).write_text(json.dumps(order), encoding="utf-8")
