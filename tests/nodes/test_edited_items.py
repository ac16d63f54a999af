"""What people write into a sub-issue goes before what the plan says."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cogworks.forge.wordings import EditedText
from cogworks.nodes.artifacts import as_edited
from cogworks.nodes.pull_request_texts import sub_issue_body
from cogworks.nodes.replies import PlannedItem
from tests.nodes.examples import planned, task

BODY = """Part of #7. Sub-work-item A; depends on nothing.

Let add() add, for floats too.

### Why

Money.

### Done when

- [x] add(2, 2) is 4
- [ ] add(0.1, 0.2) is
  0.3 to the last digit
* nothing else changes

### Tests

Use decimals.

```python
### Files
```

### files ###

- `src/adder/exact.py`
- ../../etc/passwd
"""


def edited(body: str, title: str = "Add exactly") -> PlannedItem:
    return as_edited(planned(), EditedText(title=title, body=body))


def test_each_part_is_read_back_from_under_its_heading() -> None:
    assert edited(BODY) == planned().model_copy(
        update={
            "title": "Add exactly",
            "description": "Let add() add, for floats too.\n\n### Why\n\nMoney.",
            "acceptance_criteria": (
                "add(2, 2) is 4",
                "add(0.1, 0.2) is 0.3 to the last digit",
                "nothing else changes",
            ),
            "test_specification": "Use decimals.\n\n```python\n### Files\n```",
            "interfaces": (),
            "files": ("src/adder/exact.py",),
        }
    )


def test_a_body_without_headings_is_the_description_and_nothing_of_the_plan_stays_but_its_files() -> None:
    found = edited("Use decimals, and nothing else.")

    assert found.description == "Use decimals, and nothing else."
    assert (found.acceptance_criteria, found.test_specification, found.interfaces) == ((), "", ())
    assert found.files == planned().files
    assert (found.key, found.depends_on) == (planned().key, planned().depends_on)


def test_an_empty_body_leaves_the_title() -> None:
    assert edited("", title="Add exactly").description == "Add exactly"


LINE = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=12)
NAMES = st.lists(LINE, min_size=1, max_size=3).map(tuple)


PLANNED = st.fixed_dictionaries(
    {
        "title": LINE,
        "description": LINE,
        "files": NAMES,
        "interfaces": NAMES,
        "test_specification": LINE,
        "acceptance_criteria": NAMES,
    }
)


@given(PLANNED)
def test_what_we_write_ourselves_is_read_back_as_it_was(parts: dict[str, Any]) -> None:
    item = planned(**parts)
    body = sub_issue_body(task("planning"), item)

    assert as_edited(planned(), EditedText(title=item.title, body=body)) == item
