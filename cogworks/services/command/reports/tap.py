"""TAP 13 and 14, with subtests and YAML blocks."""

import re
from typing import NamedTuple

from cogworks.services.command.reports.cases import Case, Outcome, Parsed, Problem, bounded, text_of

_POINT = re.compile(r"^(not )?ok\b *(\d{0,9})(?: *- ?| +|$)(.{0,1000})$")
_DIRECTIVE = re.compile(r"(?:^|\s)#\s*(skip|todo)\b\S{0,20}\s*(.{0,300})$", re.IGNORECASE)
_TIME = re.compile(r"\s#\s*time=[\d.]{1,20}m?s\s*$")
"""How long a test took, as node-tap writes it behind its name: another name in every run."""
_PLAN = re.compile(r"^1\.\.(\d{1,9})(?:\s*#\s*(.{0,300}))?$")
_BAIL = re.compile(r"^Bail out!\s*(.{0,500})$")
_SUBTEST = re.compile(r"^# Subtest:? ?(.{0,500})$")
_LOCATION = re.compile(
    r"^\s{0,40}(?:location|at|file): ['\"]?([^'\"\n]{1,400}?)(?::(\d{1,7}))?(?::\d{1,7})?['\"]?$"
)
_VALUE = re.compile(r"^\s{0,40}(?P<key>name|message|assertion): (?P<value>(?![|>])\S.{0,400})$")
_INDENT = 4
_MOST_LEVELS = 50
_MOST_LINES = 100


class _Level(NamedTuple):
    point: Case
    parts: list[Case]


def parse(data: bytes) -> Parsed:
    """The innermost test points, each named with what it stands in; a plan that is not kept means the report was cut."""
    return _Reader().read(text_of(data))


class _Reader:
    def __init__(self) -> None:
        self._levels: dict[int, list[Case]] = {0: []}
        self._plan: int | None = None
        self._points = 0
        self._problems: list[Problem] = []
        self._block: list[str] | None = None
        self._block_level = 0

    def read(self, text: str) -> Parsed:
        for line in text.splitlines():
            self._line(line)
        self._close_block()
        cases = [case for level in sorted(self._levels) for case in self._levels[level]]
        is_cut = self._plan is None or self._points < self._plan
        return bounded(cases, self._problems, is_cut=is_cut)

    def _line(self, line: str) -> None:
        stripped = line.strip()
        level = min((len(line) - len(line.lstrip(" "))) // _INDENT, _MOST_LEVELS)
        if self._block is not None:
            self._in_block(stripped, line)
        elif stripped == "---":
            self._block, self._block_level = [], level
        elif match := _BAIL.match(stripped):
            self._problems.append(Problem(match[1] or "Bail out!"))
        elif match := _PLAN.match(stripped):
            self._plan = int(match[1]) if level == 0 else self._plan
        elif match := _POINT.match(stripped):
            self._point(match, level)

    def _in_block(self, stripped: str, line: str) -> None:
        if stripped == "...":
            self._close_block()
        elif self._block is not None and len(self._block) < _MOST_LINES:
            self._block.append(line)

    def _point(self, match: re.Match[str], level: int) -> None:
        if level == 0:
            self._points += 1
        outcome, name, reason = _read_point(match)
        inner = [case for deeper in sorted(self._levels) if deeper > level for case in self._levels[deeper]]
        for deeper in [each for each in self._levels if each > level]:
            del self._levels[deeper]
        own = self._levels.setdefault(level, [])
        if inner:
            own += [case._replace(name=f"{name} > {case.name}") for case in inner]
            if outcome == "failed" and not any(case.outcome in ("failed", "error") for case in inner):
                own.append(Case(name, outcome, reason))
        else:
            own.append(Case(name, outcome, reason))

    def _close_block(self) -> None:
        block, self._block = self._block, None
        points = self._levels.get(min(self._block_level, max(self._levels)), [])
        if not block or not points:
            return
        last = points[-1]
        place = next((match[1] for line in block if (match := _LOCATION.match(line))), "")
        if last.outcome != "passed":
            points[-1] = last._replace(message=last.message or _words(block), file=last.file or place)
        elif place:
            points[-1] = last._replace(file=last.file or place)


def _words(block: list[str]) -> str:
    """A block with the kind of the failure and what it says in one line before it, for AVA begins each with the same kind."""
    values: dict[str, str] = {}
    for match in filter(None, map(_VALUE.match, block)):
        values.setdefault(match["key"], match["value"].strip("'\""))
    says = values.get("message") or values.get("assertion")
    first = [f"{values['name']}: {says}"] if says and values.get("name") else []
    return "\n".join([*first, *block])


def _read_point(match: re.Match[str]) -> tuple[Outcome, str, str]:
    """Outcome, name and reason; a test that is to do fails nobody."""
    text = _TIME.sub("", match[3])
    directive = _DIRECTIVE.search(text)
    name = (text[: directive.start()] if directive else text).strip() or f"test {match[2]}".strip()
    if directive:
        return "skipped", name, directive[2].strip()
    return ("failed" if match[1] else "passed"), name, ""
