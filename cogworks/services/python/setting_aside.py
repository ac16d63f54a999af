"""A folder of tests that pytest cannot begin with, put aside so that the others run."""

from pathlib import Path


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
