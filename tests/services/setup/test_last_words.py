"""What is shown of a long output: the lines that name the error, whichever package manager wrote them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.services.setup.last_words import LAST_CHARS, failure_lines, failure_text, names_error

NODE_STACK = (
    "    at ClientRequest.<anonymous> (.yarn/releases/yarn-4.12.0.cjs:146:14258)\n"
    "    at Object.onceWrapper (node:events:639:26)\n"
    "    at GetAddrInfoReqWrap.onlookupall [as oncomplete] (node:dns:122:26)\n"
    "    at async Promise.all (index 3)\n"
)
YARN_4 = (
    "➤ YN0000: · Yarn 4.12.0\n➤ YN0000: ┌ Resolution step\n➤ YN0000: └ Completed in 2s 375ms\n➤ YN0000: ┌ Fetch step\n"
    + f"➤ YN0001: │ RequestError: getaddrinfo EAI_AGAIN npm.jsr.example.com\n{NODE_STACK}" * 300
    + "".join(f"➤ YN0013: │ package-{number}@npm:1.0.0 was fetched\n" for number in range(40))
    + "➤ YN0000: └ Completed in 6m 8s\n➤ YN0000: · Failed with errors in 6m 10s\n"
)
YARN_1 = (
    "yarn install v1.22.22\n[1/4] Resolving packages...\n"
    + "info There appears to be trouble with your network connection. Retrying...\n" * 30
    + f"error Error: getaddrinfo ENOTFOUND npm.jsr.example.com\n{NODE_STACK}"
    + "".join(f"info line {number} of what followed\n" for number in range(20))
    + "info Visit https://yarnpkg.com/en/docs/cli/install for documentation about this command.\n"
)
NPM = (
    "".join(
        f"npm warn deprecated old-{number}@1.0.0: could not be supported any longer\n" for number in range(20)
    )
    + "npm error code ENOTFOUND\nnpm error syscall getaddrinfo\nnpm error errno ENOTFOUND\n"
    "npm error network request to https://npm.jsr.example.com/is-odd failed, reason: getaddrinfo ENOTFOUND npm.jsr.example.com\n"
    + "".join(f"npm error network What may be done about that, part {number}.\n" for number in range(20))
    + "npm error A complete log of this run can be found in: /home/x/.npm/_logs/debug-0.log\n"
)
PNPM = (
    "".join(f"Progress: resolved {number}, reused 0, downloaded 0, added 0\n" for number in range(60))
    + " ERR_PNPM_META_FETCH_FAIL  GET https://npm.jsr.example.com/is-odd: request to https://npm.jsr.example.com/is-odd failed, reason: getaddrinfo ENOTFOUND\n"
    "\nThis error happened while installing a direct dependency of /x\n"
    + "".join(f"Progress: resolved {number}, reused 0, downloaded 1, added 0\n" for number in range(60))
)  # fmt: skip
PIP = (
    "".join(f"Collecting package-{number}\n     ━━━━━━━━━━━━━━━ 1.0/1.0 MB\n" for number in range(30))
    + "      Traceback (most recent call last):\n"
    + "".join(
        f'        File "<string>", line {number}, in run\n          call_{number}()\n                ^^^^^^\n'
        for number in range(30)
    )
    + "      urllib.error.URLError: cannot reach the host npm.jsr.example.com\n      [end of output]\n"
    + "".join(f"  note: line {number} of advice\n" for number in range(30))
)
BUNDLER = (
    "".join(f"Fetching gem-{number} 1.0.0\nInstalling gem-{number} 1.0.0\n" for number in range(30))
    + "Could not reach host npm.jsr.example.com. Check your network connection and try again.\n"
    + "".join(f"  from /usr/lib/ruby/bundler/cli.rb:{number}:in `block in run'\n" for number in range(30))
    + "".join(f"Advice {number}\n" for number in range(20))
)
OUTPUTS = {"yarn 4": YARN_4, "yarn 1": YARN_1, "npm": NPM, "pnpm": PNPM, "pip": PIP, "bundler": BUNDLER}


@pytest.mark.parametrize("most", [12, 4])
@pytest.mark.parametrize("name", OUTPUTS)
def test_the_line_that_names_the_host_is_among_the_few_that_are_shown(name: str, most: int) -> None:
    shown = failure_text(OUTPUTS[name], most)

    assert "npm.jsr.example.com" in shown
    assert len(shown.splitlines()) <= most
    assert len(shown) <= LAST_CHARS
    assert not [sign for sign in ("    at ", "━", "from /usr", "Progress:", "^^^", "_logs") if sign in shown]


def test_an_error_is_said_once_before_a_mark_of_what_is_left_out_and_the_end_as_it_was_said() -> None:
    shown = failure_lines(YARN_4, 12)

    assert shown[:2] == ["➤ YN0001: │ RequestError: getaddrinfo EAI_AGAIN npm.jsr.example.com", "…"]
    assert shown[-2:] == ["➤ YN0000: └ Completed in 6m 8s", "➤ YN0000: · Failed with errors in 6m 10s"]


def test_what_is_short_enough_is_shown_as_it_was_said() -> None:
    said = f"Error: it broke\n{NODE_STACK}\n\nend\n"

    assert failure_text(said, 12) == f"Error: it broke\n{NODE_STACK}end"
    assert failure_text("\x1b[31mred\x1b[0m\r\n \n", 12) == "red"
    assert failure_text(" \n", 12) == ""


def test_what_npm_says_of_every_install_makes_room_for_why_it_failed() -> None:
    old = "".join(f"npm warn deprecated old-{number}@1.0.0: do not use it\n" for number in range(3))
    error = "npm error code E403\nnpm error 403 403 Forbidden - GET https://npm.jsr.example.com/x"
    advice = (
        "npm error 403 In most cases, you or one of your dependencies are requesting a package version.\n"
    )

    assert failure_text(f"{old}{error}\n{advice}", 4) == error


def test_of_an_output_that_names_no_error_the_last_lines_are_shown() -> None:
    said = "".join(f"step {number}\n" for number in range(30))

    assert failure_lines(said, 4) == ["step 26", "step 27", "step 28", "step 29"]


def test_the_first_errors_are_shown_in_their_order_and_those_of_a_host_before_others() -> None:
    errors = [f"error: part {number} failed" for number in range(9)]
    end = [f"step {number}" for number in range(9)]
    host = "error: https://npm.example.com/x answers with 404"

    assert failure_lines("\n".join([*errors, *end]), 6) == [*errors[:3], "…", *end[-2:]]
    assert failure_lines("\n".join([*errors, host, *end]), 6) == [*errors[:2], host, "…", *end[-2:]]


@pytest.mark.parametrize(
    ("line", "is_error"),
    [
        ("TypeError: x is not a function", True),
        ("ERROR: No matching distribution found for x", True),
        ("fatal: unable to access", True),
        ("sh: 1: foo: not found", True),
        ("Bundler::GemNotFound", True),
        ("npm error code ERESOLVE", True),
        ("npm error syscall getaddrinfo", False),
        ("npm warn ERESOLVE overriding peer dependency", False),
        ("warning: x could not be found", False),
        ("Found 0 errors", False),
        ("built without errors", False),
        ("Copied errors.txt.js", True),
        ("ENABLED features", False),
        ("Done", False),
    ],
)
def test_a_line_names_an_error_or_it_does_not(line: str, is_error: bool) -> None:
    assert names_error(line) is is_error


@given(st.lists(st.sampled_from([*"".join(OUTPUTS.values()).splitlines()[:400], "", "\r", "\x1b[0m", "x" * 3000])), st.integers(2, 14))  # fmt: skip
def test_never_more_than_was_asked_for_and_nothing_that_was_not_said(lines: list[str], most: int) -> None:
    said = "\n".join(lines)
    shown = failure_lines(said, most)

    assert len(shown) <= most
    assert len(failure_text(said, most)) <= LAST_CHARS
    assert all(line == "…" or line in said for line in shown)
    assert bool(shown) == bool("".join(lines).replace("\x1b[0m", "").strip())
