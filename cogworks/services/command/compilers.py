"""What compilers and linters print: a place and a sentence."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from cogworks.services.command.reports.cases import Problem, plain

_MAX_LINES = 20_000
_FORMS = tuple(
    re.compile(form)
    for form in (
        # gcc, clang, go, rubocop, phpcs, eslint --format unix
        r"^\s{0,8}(?P<file>[^\s:()\[\]]{1,300}):(?P<line>\d{1,7})(?::\d{1,7})?: ?(?P<message>\S.{0,1000})$",
        # tsc, csc
        r"^\s{0,8}(?P<file>[^\s:()]{1,300})\((?P<line>\d{1,7}),\d{1,7}\): (?P<message>\S.{0,1000})$",
        # javac by Maven
        r"^\[(?:ERROR|WARNING)\] (?P<file>[^\s:\[]{1,300}):\[(?P<line>\d{1,7}),\d{1,7}\] (?P<message>\S.{0,1000})$",
    )
)
_NODE = re.compile(r"^(?:file://)?(?P<file>[^\s:]{1,300}\.[cm]?[jt]sx?):(?P<line>\d{1,7})$")
_NODE_ERROR = re.compile(r"^\w{0,40}Error(?: \[\w{1,60}\])?: .{1,1000}$")
_RUST_ERROR = re.compile(r"^error(?:\[E\d{1,5}\])?: (?P<message>.{1,1000})$")
_RUST_PLACE = re.compile(r"^\s{0,20}--> (?P<file>[^\s:]{1,300}):(?P<line>\d{1,7}):\d{1,7}$")
_ERROR = re.compile(r"^(?:fatal )?error\b|^syntax error\b|\berror TS\d", re.IGNORECASE)
_WARNING = re.compile(r"^(?:\w{0,20} )?(?:warning|note|hint)\b", re.IGNORECASE)
_COMPILER = "vet: "
"""With which `go vet` marks what does not compile."""


class Finding(NamedTuple):
    """A place and what is said of it."""

    file: str
    line: int
    message: str
    is_error: bool = False
    """Whether the tool says that nothing can be made of the file, rather than what it would like better."""


def findings_in(output: str) -> tuple[Finding, ...]:
    """Every place that is named with a sentence, in order, each once."""
    return tuple(dict.fromkeys(_found(plain_lines(output))))


def plain_lines(output: str) -> list[str]:
    """The first lines of what was printed, without colours."""
    return [plain(line) if "\x1b" in line else line for line in output.splitlines()[:_MAX_LINES]]


def errors_in(output: str) -> tuple[Problem, ...]:
    """The same as problems, without what is said to be a warning."""
    found = findings_in(output)
    return tuple(
        Problem(each.message, file=each.file, line=each.line)
        for each in found
        if not _WARNING.match(each.message)
    )


def _found(lines: list[str]) -> Iterator[Finding]:
    place: tuple[str, int] | None = None
    error = ""
    for line in lines:
        text = line.removeprefix(_COMPILER)
        if found := _NODE.match(line):
            place = (found["file"], int(found["line"]))
        elif place and _NODE_ERROR.match(line):
            yield Finding(*place, line, is_error=True)
            place = None
        elif found := _RUST_ERROR.match(line):
            error = found["message"]
        elif error and (found := _RUST_PLACE.match(line)):
            yield Finding(found["file"], int(found["line"]), error, is_error=True)
            error = ""
        elif match := next((match for form in _FORMS if (match := form.match(text))), None):
            is_error = text != line or bool(_ERROR.search(match["message"])) or line.startswith("[ERROR]")
            yield Finding(match["file"], int(match["line"]), match["message"], is_error)
