"""What a command that reported no test says of it, and whether it began at all; pure rules from texts."""

import re

from cogworks.services.command.compilers import plain_lines
from cogworks.services.setup.last_words import failure_lines, names_error

_NOT_STARTED = (126, 127)
"""With which `sh`, and package managers after it, say that a program may not be run, or is nowhere."""
_LAST_LINES = 20
_LAST_CHARS = 8_000
_SHOWN_LINES = 12
_LINE_CHARS = 400
_COMMAND_CHARS = 80
_MOST_CHARS = 2_000
_WORDS = re.compile(
    r"^(?:\S{0,40}sh: )?(?:line )?(?:\d{1,6}: )?\S{1,200}: (?:command )?not found$"
    r"|^\W{0,4}ERR_PNPM_(?:NO_SCRIPT|RECURSIVE_EXEC_FIRST_FAIL|NO_IMPORTER_MANIFEST_FOUND|BAD_PM_VERSION|UNSUPPORTED_ENGINE)\b"
    r"|^npm (?:error|ERR!) (?:Missing script: |missing script: |could not determine executable to run)"
    r"|^error Command \"[^\"]{1,200}\" not found\.?$|^Usage Error: Couldn't find a script named "
    r"|^make(?:\[\d{1,3}\])?: \*\*\* (?:No rule to make target|\[.{1,200}\] Error 12[67]$)"
)
"""Of shells, npm, pnpm, Yarn and make: no program of the tests has begun."""


_FIRST_ERROR = re.compile(r"^(?:error: |CMake Error|\[ERROR\] (?!COMPILATION)\S|\* What went wrong)")
"""Of cargo, CMake, Maven and Gradle; what follows explains it."""
_ADVICE = re.compile(r"^As a reminder, you're using offline mode")
_THROWN = re.compile(
    r"^\s{0,8}(?:Uncaught )?\w{0,60}(?:Error|Exception)(?: \[\w{1,60}\])?: \S|^\s{0,8}(?:error during \w{1,20} )?browserType\.launch: \S"
)
"""What an exception says that nobody caught, or Playwright of a browser; what is printed around it may be long."""
_ONLY_THE_END = re.compile(
    r"\bexit(?:ed)?(?: |-)(?:with |code|status)|\bELIFECYCLE\b|\bCommand failed\b|\bnon-zero\b|\bchild process\b",
    re.IGNORECASE,
)
"""What starts another program says of that one's failure."""


def _tells_only_the_end(line: str) -> bool:
    return _ONLY_THE_END.search(line) is not None


def said_last(code: int | None, output: str) -> str:
    """What a command printed from the first line on that says so of itself, else the last of it."""
    lines = plain_lines(output)
    first = next((place for place, line in enumerate(lines) if _FIRST_ERROR.match(line)), None)
    if first is None:
        last = failure_lines("\n".join(lines), _SHOWN_LINES)
        # The last one counts as the reason, and many end with what says nothing: a bracket, the version of the program.
        thrown = [line for line in lines if _THROWN.match(line)][-1:]
        named = [*thrown, *sorted((line for line in last if names_error(line)), key=_tells_only_the_end)]
        text = "\n".join([*(line for line in last if line not in named[:1]), *named[:1]])[
            -_MOST_CHARS:
        ].strip()
    else:
        # In one line: of several the last one counts as the reason, and these tools say theirs first.
        words = (line.strip() for line in lines[first : first + _SHOWN_LINES] if not _ADVICE.match(line))
        text = " ".join(filter(None, words))[:_MOST_CHARS]
    return text or f"the test command ended with {code} and said nothing"


def why_not_begun(command: str, code: int | None, output: str) -> str:
    """What to say of a command that ended before any test, the reason in the last line; empty where tests may have run.

    Args:
        code: its exit status; None: it was ended.
        output: everything it printed.
    """
    lines = [line[:_LINE_CHARS] for line in failure_lines(output, _LAST_LINES)]
    # A suite of which some tests ran may have said so long before its end.
    last = (line.strip()[:_LINE_CHARS] for line in plain_lines(output[-_LAST_CHARS:])[-_LAST_LINES:])
    saying = [line for line in last if _WORDS.match(line)]
    if not code or (code not in _NOT_STARTED and not saying):
        return ""
    reason = next(iter([*saying, *(line.strip() for line in reversed(lines) if names_error(line))]), "")
    named = command if len(command) <= _COMMAND_CHARS else f"{command[:_COMMAND_CHARS]}[…]"
    words = f"the suite did not run: `{named}` ended with {code}{f': {reason}' if reason else ''}"
    return "\n".join([*lines[-_SHOWN_LINES:], words])[-_MOST_CHARS:]
