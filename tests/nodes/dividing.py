"""An issue that asks for three things, and how it may be divided."""

from typing import Any

from cogworks.nodes.replies import DividedPart, Division
from tests.nodes.examples import ITEM

BODY = """\
We keep our hours by hand. Three things are missing.

1. `adder report` prints the hours of a week. It takes `--week 2026-W05`.
2. `adder export` writes a report as CSV.

```csv
day,hours
```

- The README tells of both.
"""
LARGE = ITEM.model_copy(update={"title": "Reports, and their export", "body": BODY})
"""Its statements: 1, 2 motives; 3, 4 the report; 5, 6 the export with its form; 7 the README."""


def part(key: str = "A", **changes: Any) -> DividedPart:
    return DividedPart.model_validate(
        {
            "key": key,
            "title": f"Part {key} works",
            "body": f"What is wanted of {key}.",
            "done_when": (f"{key} can be called.",),
            "depends_on": (),
            "covers": (3, 4, 7),
            **changes,
        }
    )


EXPORT = part("B", depends_on=("A",), covers=(5, 6, 7))


def division(*parts: DividedPart, **changes: Any) -> Division:
    """A sound division in two, unless it says otherwise."""
    return Division.model_validate(
        {
            "parts": parts or (part(), EXPORT),
            "background": (1, 2),
            "rationale": "Each is of use without the other.",
            **changes,
        }
    )
