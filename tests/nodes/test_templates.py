"""What of a repository's template of pull requests is filled in, and that no box is ever ticked."""

import pytest

from cogworks.nodes.customs import BOXES_ARE_YOURS, Part, filled, template_among

PARTS = (
    Part("summary", "", "Zero is no longer lost."),
    Part("issue", "", "#7"),
    Part("changes", "Changes", "- `src/a.py` (changed)"),
    Part("notes", "Notes for the reviewer", "One character."),
    Part("tests", "Tests", "- 2 tests pass."),
)


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (("README.md",), ""),
        ((".github/PULL_REQUEST_TEMPLATE.md", "README.md"), ".github/PULL_REQUEST_TEMPLATE.md"),
        (("docs/pull_request_template.md",), "docs/pull_request_template.md"),
        (("PULL_REQUEST_TEMPLATE",), "PULL_REQUEST_TEMPLATE"),
        (
            (".github/pull_request_template.txt", "pull_request_template.md"),
            ".github/pull_request_template.txt",
        ),
        ((".github/PULL_REQUEST_TEMPLATE/bug.md", ".github/PULL_REQUEST_TEMPLATE/feature.md"), ""),
    ],
    ids=["none", "github", "docs", "no-ending", "the-folder-counts-first", "several"],
)
def test_the_template_is_the_one_that_github_offers(paths: tuple[str, ...], found: str) -> None:
    assert template_among(paths) == found


def test_sections_take_what_they_ask_for() -> None:
    template = (
        "<!-- Thanks! -->\n## Description\n<!-- What and why? -->\n\n## Related issue\nFixes #(issue)\n\n"
        "## How has this been tested?\nSay how.\n\n## Further comments\n"
    )

    form, placed = filled(template, PARTS)

    assert form == (
        "## Description\n\nZero is no longer lost.\n\n## Related issue\n\n#7\n\n## How has this been tested?\n\n- 2 tests pass."
        "\n\n## Further comments\n\nOne character."
    )
    assert placed == {"summary", "issue", "tests", "notes"}


def test_a_section_with_boxes_is_left_to_people_and_none_is_ticked() -> None:
    form, placed = filled(
        "## Type of change\n- [x] Bug fix\n- [ ] Feature\n\n### Tests\n1. [X] I ran them\n", PARTS
    )

    assert form == (
        f"## Type of change\n\n- [ ] Bug fix\n- [ ] Feature\n\n{BOXES_ARE_YOURS}\n\n### Tests\n\n1. [ ] I ran them\n\n{BOXES_ARE_YOURS}"
    )
    assert placed == frozenset()


def test_what_nothing_fits_stays_and_a_part_is_placed_once() -> None:
    form, placed = filled("Read CONTRIBUTING first.\n\n# What\n# What changed\n# Screenshots\nnone\n", PARTS)

    assert form == (
        "Read CONTRIBUTING first.\n\n# What\n\nZero is no longer lost.\n\n# What changed\n\n- `src/a.py` (changed)\n\n# Screenshots\n\nnone"
    )
    assert placed == {"summary", "changes"}


def test_a_heading_inside_a_fence_is_none() -> None:
    form, placed = filled("# Log\n```\n# Tests\n```\n", PARTS)

    assert (form, placed) == ("# Log\n\n```\n# Tests\n```", frozenset())


def test_the_words_of_a_template_call_nobody_and_close_nothing() -> None:
    form, _ = filled("@octo-org/core, this closes #12 ![x](https://example.org/x.png)\n", PARTS)

    assert "@octo" not in form
    assert "closes #12" not in form
    assert "![" not in form


def test_a_template_of_absurd_length_is_no_form() -> None:
    assert filled("# Tests\n" + "x" * 20_000, PARTS) == ("", frozenset())
