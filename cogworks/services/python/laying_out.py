"""The directories of one run of tests: a copy of the repository, a home, what a setup made, and the order of our reporters."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cogworks.codebase.confined import StoredFile, delete_file, write_file
from cogworks.folders import copy_folder
from cogworks.services.laid_out import left_out
from cogworks.services.python.roots import whole_of
from cogworks.services.python.wanted import Wanted
from cogworks.services.sandbox.inside.order import Overlay
from cogworks.services.setup.layers import lay_home, lay_over, written_in

_GIT = ".gitconfig"
_GIT_SETTINGS = "[user]\n\tname = Tests\n\temail = tests@example.invalid\n"
"""Git commits nothing for somebody without a name."""


class Places(NamedTuple):
    """The directories of one run; all of them end with it."""

    whole: Path
    """The copy of the repository."""
    copy: Path
    """What of it is looked at: the folder of the service, or all."""
    home: Path
    temporary: Path
    scratch: Path
    """Out of the tests' reach."""
    reports: Path
    """Holds the report; within reach only of commands that hand on no open file."""
    programs: Path
    """Python and pytest by name, for commands that look for them; and the order of our own reporters."""
    overlays: tuple[Overlay, ...] = ()
    """What a setup installed, shown in these."""


def laid_out(folder: Path, repository: Path, wanted: Wanted, *, lays_over: bool) -> Places:
    """Make them in an empty folder.

    Args:
        lays_over: whether the isolation can show what a setup installed, so that it is not copied.

    Raises:
        OSError: one of the files that are wanted otherwise cannot be written, or lies behind a symbolic link.
    """
    interpreter, root = wanted.interpreter, wanted.root
    # Short, as are those of `basetemp`: a socket's path in a test's own folder has 108 bytes.
    whole, home, temporary, scratch, reports, programs = (
        folder / name for name in ("copy", "home", "t", "scratch", "reports", "programs")
    )
    places = Places(whole, whole / root, home, temporary, scratch, reports, programs)
    # Python takes what was compiled for that of a later text of as many bytes, if it was written within the same second.
    copy_folder(whole_of(repository, root), places.whole, left_out=left_out("__pycache__"))
    for path, data in wanted.instead.items():
        _put(places.whole, path, data)
    for place in (places.home, places.temporary, places.scratch, places.reports):
        place.mkdir()
    apart = folder / "apart" if lays_over else None
    overlays = lay_over(interpreter.layers, places.copy, apart=apart)
    if interpreter.home is not None:
        overlays += lay_home(interpreter.home, places.home, apart=apart)
    # What a setup left stays; a link of that name may lead anywhere, and nothing is written through it.
    if interpreter.home is None or not os.path.lexists(interpreter.home / _GIT):
        (written_in(places.home, overlays) / _GIT).write_text(_GIT_SETTINGS, encoding="utf-8")
    return places._replace(overlays=overlays)


def _put(folder: Path, path: str, data: bytes | None) -> None:
    if data is None:
        delete_file(folder, path)
    else:
        write_file(folder, path, StoredFile(data, 0o644))


def set_aside(copy: Path, folder: str) -> bool:
    """Let pytest begin without the `conftest.py` of a folder and pass over the tests there; False where that cannot be done.

    Its other files stay: tests elsewhere may need them.
    """
    # Where it is comes from what the tests printed, and links of the repository may lead anywhere.
    place = (copy / folder).resolve()
    if place == copy or not place.is_relative_to(copy):
        return False
    conftest = place / "conftest.py"
    try:
        conftest.unlink(missing_ok=True)
        conftest.write_text('collect_ignore_glob = ["*"]\n', encoding="utf-8")
    except OSError:
        # A folder that may not be written, or is none.
        return False
    return True


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
