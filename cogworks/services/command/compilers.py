"""What compilers and linters print: a place and a sentence."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from cogworks.services.command.reports.cases import Problem, plain

_MAX_LINES = 20_000
_FORMS = tuple(
    re.compile(form)
    for form in (
        # gcc, clang, go, rubocop, phpcs, older eslint --format unix
        r"^\s{0,8}(?P<file>[^\s:()\[\]]{1,300}):(?P<line>\d{1,7})(?::\d{1,7})?: ?(?!\d{1,7}:?$)(?P<message>\S.{0,1000})$",
        # tsc, csc
        r"^\s{0,8}(?P<file>[^\s:()]{1,300})\((?P<line>\d{1,7}),\d{1,7}\): (?P<message>\S.{0,1000})$",
        # javac by Maven
        r"^\[(?:ERROR|WARNING)\] (?P<file>[^\s:\[]{1,300}):\[(?P<line>\d{1,7}),\d{1,7}\] (?P<message>\S.{0,1000})$",
    )
)
_NODE = re.compile(r"^(?:file://)?(?P<file>[^\s:]{1,300}\.[cm]?[jt]sx?):(?P<line>\d{1,7})$")
_THROWN = re.compile(r"^\w{0,40}Error(?: \[\w{1,60}\])?: .{1,1000}$")
_FRAME = re.compile(
    r"^ {4}at (?:.{0,300} \()?(?:file://)?(?P<file>/[^\s:()]{1,300}):(?P<line>\d{1,7}):\d{1,7}\)?$"
)
_PHP = re.compile(
    r"^(?:PHP )?(?:Fatal|Parse) error: {1,4}(?:Uncaught )?(?P<message>.{1,1000}?) in (?P<file>/[^\s:]{1,300})(?::| on line )(?P<line>\d{1,7})$"
)
_RUBY_RAISED = re.compile(r"^\S.{0,400}:\d{1,7}:in .{1,200}?: (?P<message>.{1,1000} \(\w[\w:]{0,80}\))$")
_RUBY_FRAME = re.compile(r"^\s{1,8}(?:\d{1,4}: )?from (?P<file>[^\s:<]{1,300}):(?P<line>\d{1,7}):in ")
_RUBYS_OWN = re.compile(r"^/usr/|/gems/|/ruby/")
_NOT_OWN = "/node_modules/"
_BUNDLING = re.compile(r"^\s{0,8}\u2718 \[ERROR\] (?P<message>\S.{0,1000})$")
"""Of esbuild, which Vite, Vitest and tsup bundle with."""
_BUNDLED = re.compile(r"^\s{2,8}(?P<file>[^\s:]{1,300}):(?P<line>\d{1,7}):\d{1,7}:$")
_RUST_ERROR = re.compile(r"^error(?:\[E\d{1,5}\])?: (?P<message>.{1,1000})$")
_RUST_PLACE = re.compile(r"^\s{0,20}--> (?P<file>[^\s:]{1,300}):(?P<line>\d{1,7}):\d{1,7}$")
_ERROR = re.compile(r"^(?:fatal )?error\b|^syntax error\b|\berror TS\d", re.IGNORECASE)
_WARNING = re.compile(r"^(?:\w{0,20} )?(?:warning|note|hint)\b", re.IGNORECASE)
_MISTAKE = 2
"""ESLint's number for what it does not let pass."""
_ESLINT = '[{"filePath":'
"""With which the report of ESLint begins that every version of it writes."""
_COMPILER = "vet: "
"""With which `go vet` marks what does not compile."""
_RUN = " Exception during run: "
"""With which mocha begins what ended it before any test."""


class Finding(NamedTuple):
    """A place and what is said of it."""

    file: str
    line: int
    message: str
    is_error: bool = False
    """Whether the tool says that nothing can be made of the file, rather than what it would like better."""


def findings_in(output: str) -> tuple[Finding, ...]:
    """Every place that is named with a sentence, in order, each once."""
    lines = plain_lines(output)
    by_eslint = (finding for line in lines if line.startswith(_ESLINT) for finding in _of_eslint(line))
    return tuple(
        dict.fromkeys([*by_eslint, *_of_scripts(lines), *_of_bundlers(lines), *_of_compilers(lines)])
    )


def plain_lines(output: str) -> list[str]:
    """The first lines of what was printed, without colours."""
    return [plain(line) if "\x1b" in line else line for line in output.splitlines()[:_MAX_LINES]]


def errors_in(output: str) -> tuple[Problem, ...]:
    """The same as problems, without what is said to be a warning."""
    findings = findings_in(output)
    return tuple(
        Problem(each.message, file=each.file, line=each.line)
        for each in findings
        if not _WARNING.match(each.message)
    )


def _of_eslint(report: str) -> Iterator[Finding]:
    try:
        files = json.loads(report)
    except (ValueError, RecursionError):
        return
    for file in filter(_is_table, files):
        messages = file.get("messages")
        for entry in filter(_is_table, messages if isinstance(messages, list) else ()):
            kind = "Error" if entry.get("severity") == _MISTAKE else "Warning"
            words = " ".join(str(entry.get("message", "")).split())
            text = f"{words} [{kind}/{entry['ruleId']}]" if entry.get("ruleId") else words
            line = entry["line"] if isinstance(entry.get("line"), int) else 1
            yield Finding(str(file.get("filePath", "")), line, text, bool(entry.get("fatal")))


def _of_scripts(lines: list[str]) -> Iterator[Finding]:
    """What PHP and Ruby end with: Ruby may give the place of the repository only among those that called."""
    raised = ""
    for line in lines:
        if match := _PHP.match(line):
            yield Finding(match["file"], int(match["line"]), match["message"], is_error=True)
        elif match := _RUBY_RAISED.match(line):
            raised = match["message"]
        elif raised and (match := _RUBY_FRAME.match(line)) and not _RUBYS_OWN.search(match["file"]):
            yield Finding(match["file"], int(match["line"]), raised, is_error=True)
            raised = ""


def _of_bundlers(lines: list[str]) -> Iterator[Finding]:
    """The first place behind each error; further ones are of whoever asked for it."""
    error = ""
    for line in lines:
        if match := _BUNDLING.match(line):
            error = match["message"]
        elif error and (match := _BUNDLED.match(line)):
            if _NOT_OWN not in f"/{match['file']}":
                yield Finding(match["file"], int(match["line"]), error, is_error=True)
            error = ""


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


def _of_compilers(lines: list[str]) -> Iterator[Finding]:
    place: tuple[str, int] | None = None
    error = thrown = ""
    for line in (each.removeprefix(_RUN) for each in lines):
        text = line.removeprefix(_COMPILER)
        if match := _NODE.match(line):
            place = (match["file"], int(match["line"]))
        elif place and _THROWN.match(line):
            yield Finding(*place, line, is_error=True)
            place = None
        elif _THROWN.match(line):
            thrown = line
        elif thrown and (match := _FRAME.match(line)) and _NOT_OWN not in line:
            yield Finding(match["file"], int(match["line"]), thrown, is_error=True)
            thrown = ""
        elif match := _RUST_ERROR.match(line):
            error = match["message"]
        elif error and (match := _RUST_PLACE.match(line)):
            yield Finding(match["file"], int(match["line"]), error, is_error=True)
            error = ""
        elif match := next((match for form in _FORMS if (match := form.match(text))), None):
            is_error = text != line or bool(_ERROR.search(match["message"])) or line.startswith("[ERROR]")
            yield Finding(match["file"], int(match["line"]), match["message"], is_error)
