"""Which commands ended before any test."""

import pytest

from cogworks.services.command.starting import said_last, why_not_begun


@pytest.mark.parametrize(
    ("code", "output", "reason"),
    [
        (127, "sh: 1: pnpm: not found", "sh: 1: pnpm: not found"),
        (127, "/bin/sh: line 1: uvu: command not found\n", "/bin/sh: line 1: uvu: command not found"),
        (126, "sh: 1: ./check: Permission denied", "sh: 1: ./check: Permission denied"),
        (1, " ERR_PNPM_NO_SCRIPT  Missing script: unit\n\nHint: none", "ERR_PNPM_NO_SCRIPT  Missing script: unit"),
        (1, 'error Command "unit" not found.\ninfo Visit https://yarnpkg.com', 'error Command "unit" not found.'),
        (2, "make: *** [Makefile:2: test] Error 127", "make: *** [Makefile:2: test] Error 127"),
        (127, "", ""),
    ],
)  # fmt: skip
def test_how_a_command_ended_or_what_it_said_last_shows_that_no_test_began(
    code: int, output: str, reason: str
) -> None:
    last = why_not_begun("npm test", code, output).splitlines()[-1]

    assert last == f"the suite did not run: `npm test` ended with {code}{': ' * bool(reason)}{reason}"


@pytest.mark.parametrize(
    ("code", "output"),
    [
        (0, "sh: 1: git: not found"),
        (None, "sh: 1: pnpm: not found"),
        (1, "1 of 3 tests failed: the page /a was not found"),
        (1, "Error: expected 'npm error Missing script: x' to be thrown"),
        (1, "\n".join(["sh: 1: git: not found", *(f"case {n} passed" for n in range(30)), "1 failed"])),
    ],
)
def test_a_command_that_passed_was_ended_or_failed_in_other_words_may_have_run_tests(
    code: int | None, output: str
) -> None:
    assert why_not_begun("npm test", code, output) == ""


def test_a_long_command_leaves_room_for_the_reason() -> None:
    said = why_not_begun("x" * 500, 127, "sh: 1: pnpm: not found")

    assert len(said.splitlines()[-1]) < 200
    assert said.endswith("pnpm: not found")


def test_what_a_program_says_of_another_one_it_started_is_no_reason_beside_that_ones_own_words() -> None:
    own = "Error: ENOENT: no such file or directory, scandir 'spec/shared/'"
    starting = "Fatal error: Child process failed with exit-code 1"

    assert said_last(1, f"{starting}\nRunning env\n{own}\n    at a.js:1:2\n").splitlines()[-1] == own
    assert said_last(1, f"Running env\n{starting}\n").splitlines()[-1] == starting


def test_what_was_thrown_is_the_reason_however_much_is_printed_around_it() -> None:
    own = "Error: ENOENT: no such file or directory, scandir 'spec/shared/'"
    before = "\n".join(f"error in module {number}: left out" for number in range(20))
    after = "\n".join(["  code: 'ENOENT',", "}", *(f"ERROR: coverage {number} %" for number in range(20))])

    assert said_last(1, f"{before}\n{own}\n{after}\n").splitlines()[-1] == own


def test_a_browser_that_does_not_start_is_the_reason_whatever_was_thrown_before() -> None:
    own = "error during close browserType.launch: Executable doesn't exist at /root/.cache/chromium/headless_shell"
    before = "Error:   Failed to scan for dependencies from entries:\n    at scan (/a/b.js:1:2)"
    after = (
        "Looks like Playwright was just installed or updated.\n    at c (/a/d.js:1:2) {\n  name: 'Error',\n}"
    )

    assert said_last(1, f"{before}\n{own}\n{after}\n").splitlines()[-1] == own
