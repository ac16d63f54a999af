"""What an installer said when it failed, in one line."""

import pytest

from cogworks.services.python.install_complaints import complaint, of_other_python

IGNORED = (
    "ERROR: Ignored the following versions that require a different python version: 1.18.0 Requires-Python >=3.12; "
    "9.1.0 Requires-Python >=3.12; 9.2.0 Requires-Python >=3.13\n"
)
MISSING = (
    "ERROR: Could not find a version that satisfies the requirement sphinx{0} (from versions: 0.1, 9.0.4)\n"
    "ERROR: No matching distribution found for sphinx{0}\n"
)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("==9.1.0", "no version for this Python fits sphinx==9.1.0: 9.1.0 wants >=3.12."),
        (">9.0.4", "no version for this Python fits sphinx>9.0.4: 9.2.0 wants >=3.13."),
        (
            "==9.5",
            "Could not find a version that satisfies the requirement sphinx==9.5 No matching distribution found for sphinx==9.5.",
        ),
    ],
    ids=["pinned", "range", "nowhere"],
)
def test_of_what_pip_could_not_have_the_cause_is_told_and_not_the_versions_it_passed_over(
    wanted: str, said: str
) -> None:
    output = f"Looking in indexes: https://a\n{IGNORED}{MISSING.format(wanted)}"

    assert complaint(output) == said
    assert bool(of_other_python(output)) == ("wants" in said)


def test_what_cannot_be_read_as_a_requirement_is_told_in_the_words_of_pip() -> None:
    output = f"{IGNORED}ERROR: No matching distribution found for ???\n"

    assert complaint(output) == "No matching distribution found for ???"
