"""Which commands a script of `package.json` comes to, with those of the scripts that it calls in their place; pure rules from texts."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_MOST_LEVELS = 5
_MOST_CALLS = 200
"""Of one script, all levels together."""
_MOST_CHARS = 20_000
"""A longer text is one command, as it stands."""
_PART = re.compile(r"""(?:[^&;'"\\]|\\.|(?<!&)&(?!&)|'[^']*'|"(?:\\.|[^"\\])*"|['"\\])++""", re.DOTALL)
"""What stands between `&&` and `;`, which are no joints where they are quoted."""
_MANAGER = r"(?:npm|pnpm|yarn|bun)"
_MANAGER_FLAG = r"(?:-s|--silent|--parallel|--sequential|--stream|--aggregate-output|--no-bail|--if-present|--color|run|run-script)"
_NAME = r"\w[\w:.-]{0,79}"
_PATTERN = r"[\w:][\w:.*-]{0,79}"
_CALL = re.compile(
    rf"^(?:{_MANAGER}(?: {_MANAGER_FLAG}){{0,4}}|node --run) (?P<name>{_NAME})(?: (?:-s|--silent))?(?: --(?P<given>(?: [\w./:=@,+-]{{1,80}}){{1,10}}))?$"
)
_CALL_OF_MANY = re.compile(
    rf"^{_MANAGER}(?P<flags>(?: {_MANAGER_FLAG}){{0,4}}) (?P<quote>[\"']?)(?:/(?P<expression>[\w:.^$|()*+-]{{1,80}})/|(?P<pattern>{_PATTERN}))(?P=quote)$"
)
"""pnpm takes an expression, others a pattern; both come to the scripts of these names, in their order."""
_EXPRESSION = re.compile(r"\^?[\w:|()-]*(?:\.[*+][\w:|()-]*)?\$?")
"""What is looked for with `re`: with one repetition at most it takes no time."""
_RUN_ALL = re.compile(
    r"^(?P<program>npm-run-all2?|run-s|run-p)(?P<flags>(?: (?:-[sclnp]{1,5}|--(?:silent|sequential|serial|parallel|print-label|print-name|"
    rf"continue-on-error|aggregate-output)))*)(?P<names>(?: [\"']?{_PATTERN}[\"']?)+)$"
)
_CONCURRENTLY = re.compile(r"^(?:concurrently|conc) (?P<rest>.{1,2000})$")
_OF_CONCURRENTLY = frozenset(
    {"-r", "--raw", "--no-color", "-g", "--group", "--timings", "--kill-others-on-fail"}
)
_WITH_VALUE = frozenset(
    {
        "-n",
        "--names",
        "-c",
        "--prefix-colors",
        "-p",
        "--prefix",
        "-m",
        "--max-processes",
        "-l",
        "--prefix-length",
    }
)
"""Of concurrently. With whatever else it takes, the end of one command may be that of another, as with a server."""
_SHORT = re.compile(rf"{_MANAGER}:(?P<pattern>{_PATTERN})")
"""How it is told to run scripts."""
_SET = r"\w+=[\w.,:/@+-]* "
_PLAIN_SETS = re.compile(rf"(?:{_SET})+")
_SETS = re.compile(rf"(?:cross-env )?(?:{_SET})+")
_MEASURES = re.compile(r"(?:nyc|c8) (?:(?:--reporter|-r|--include|-n|--exclude|-x) [\w./-]{1,80} |-\S+ )*")
"""What may stand before the call of a script; values that a shell reads in its own way are left to it."""


class Step(NamedTuple):
    """One command of a script, and what stands before it."""

    variables: str
    """As `sh` sets them, with a space behind each; empty: none."""
    measures: str
    """The program that measures coverage meanwhile, with its options and a space; empty: none."""
    command: str
    script: str = ""
    """The innermost script that it stands in; empty: the one that was asked for."""
    branches: tuple[tuple[int, int], ...] = ()
    """Of each group of commands that run beside each other the group and the place in it, the outermost first."""

    @property
    def plain(self) -> str:
        """Without what measures it."""
        return f"{self.variables}{self.command}"

    def running(self, command: str, starter: str) -> str:
        """Another command in its place: tests may need what measures them, which loads modules in its own way."""
        own = f"{self.measures}{command}"
        return f"{self.variables}{own if own.startswith('yarn ') else f'{starter}{own}'}"

    def around(self, inner: "Step") -> "Step":
        """One of the commands that this one calls, with what stands before both."""
        variables, measures = f"{self.variables}{inner.variables}", f"{self.measures}{inner.measures}"
        return inner._replace(variables=variables, measures=measures)

    def is_beside(self, other: "Step") -> bool:
        """Whether both run at the same time, so that neither needs what the other leaves."""
        places = dict(other.branches)
        return any(places.get(group, place) != place for group, place in self.branches)


def steps_of(script: str, scripts: Mapping[str, str], name: str) -> list[Step]:
    """The commands of a script in their order; what cannot be read is a command as it stands.

    Args:
        scripts: of the manifest, by name.
        name: of the script.
    """
    return _Reading(scripts).steps(script, (name,))


class _Several(NamedTuple):
    """What a command runs that is made to run others."""

    commands: tuple[str, ...]
    is_beside: bool
    """Whether they run at the same time."""


class _Reading:
    """Reads one script; ends, however scripts call each other."""

    def __init__(self, scripts: Mapping[str, str]) -> None:
        self._scripts = scripts
        self._calls_left = _MOST_CALLS
        self._groups = 0

    def steps(self, script: str, callers: tuple[str, ...]) -> list[Step]:
        """Of a text that stands in the last of the callers."""
        steps: list[Step] = []
        if len(script) > _MOST_CHARS:
            return [Step("", "", script)]
        for part in filter(None, (each.strip() for each in _PART.findall(script))):
            calling = _parted(part)
            inner = self._called(calling.command, callers)
            if inner is None:
                variables = _leading(_PLAIN_SETS, part)
                name = callers[-1] if len(callers) > 1 else ""
                steps.append(Step(variables, "", part.removeprefix(variables), name))
            else:
                steps += [calling.around(each) for each in inner]
        return steps

    def _called(self, command: str, callers: tuple[str, ...]) -> list[Step] | None:
        """The commands of what a command calls; None: it calls nothing that is known."""
        if len(callers) > _MOST_LEVELS or self._calls_left <= 0:
            return None
        if (one := _CALL.match(command)) and one["name"] in self._scripts and one["name"] not in callers:
            self._calls_left -= 1
            return self._script(one["name"], one["given"] or "", callers)
        others = [name for name in self._scripts if name not in callers]
        several = _several(command, others)
        return self._members(several, callers) if several else None

    def _script(self, name: str, given: str, callers: tuple[str, ...]) -> list[Step]:
        texts = {f"pre{name}": "", name: given, f"post{name}": ""}
        return [
            step
            for each, more in texts.items()
            for step in self.steps(f"{self._scripts.get(each, '')}{more}", (*callers, each))
        ]

    def _members(self, several: _Several, callers: tuple[str, ...]) -> list[Step]:
        self._groups += 1
        group = self._groups
        steps = []
        for place, command in enumerate(several.commands):
            branch = ((group, place),) if several.is_beside else ()
            inner = self.steps(command, callers)
            steps += [each._replace(branches=(*branch, *each.branches)) for each in inner]
        return steps


def _several(command: str, names: Sequence[str]) -> _Several | None:
    """What a command runs that runs scripts by pattern, or several; None where it is none, or where one of them is not there.

    Args:
        names: of the scripts that it may mean.
    """
    if match := _CALL_OF_MANY.match(command):
        of_expression = match["expression"] is not None
        chosen = (
            _by_expression(match["expression"], names)
            if of_expression
            else _by_pattern(match["pattern"], names)
        )
        return _running(chosen, is_beside=of_expression and "--sequential" not in match["flags"])
    if match := _RUN_ALL.match(command):
        flags = match["flags"]
        is_beside = match["program"] == "run-p" or "--parallel" in flags or bool(re.search(r" -\w*p", flags))
        parts = [_by_pattern(each.strip("\"'"), names) for each in match["names"].split()]
        return _running([name for part in parts for name in part] if all(parts) else [], is_beside=is_beside)
    match = _CONCURRENTLY.match(command)
    return _of_concurrently(match["rest"], names) if match else None


def _running(names: Sequence[str], *, is_beside: bool) -> _Several | None:
    return _Several(tuple(f"npm run {name}" for name in dict.fromkeys(names)), is_beside) if names else None


def _by_expression(expression: str, names: Sequence[str]) -> list[str]:
    if not _EXPRESSION.fullmatch(expression):
        return []
    try:
        pattern = re.compile(expression)
    except re.error:
        return []
    return [name for name in names if pattern.search(name)]


def _by_pattern(pattern: str, names: Sequence[str]) -> list[str]:
    """Like paths whose parts a colon divides: `*` stays within one part, `**` does not."""
    if "*" not in pattern:
        return [name for name in names if name == pattern]
    parts = re.split(r"(\*\*?)", pattern)
    if len(parts) > 2 * 2 + 1:
        return []
    kinds = {"*": "[^:]*", "**": ".*"}
    fits = re.compile("".join(kinds.get(part, re.escape(part)) for part in parts))
    return [name for name in names if fits.fullmatch(name)]


def _of_concurrently(rest: str, names: Sequence[str]) -> _Several | None:
    try:
        words = shlex.split(rest)
    except ValueError:
        return None
    commands: list[str] = []
    is_value = False
    for word in words:
        if is_value or word in _OF_CONCURRENTLY:
            is_value = False
        elif word in _WITH_VALUE:
            is_value = True
        elif word.startswith("-"):
            if word.partition("=")[0] not in _WITH_VALUE:
                return None
        elif short := _SHORT.fullmatch(word):
            chosen = _by_pattern(short["pattern"], names)
            if not chosen:
                return None
            commands += [f"npm run {name}" for name in chosen]
        else:
            commands.append(word)
    return _Several(tuple(commands), is_beside=True) if commands else None


def _parted(step: str) -> Step:
    """A command that may call scripts."""
    sets = _leading(_SETS, step)
    measures = _leading(_MEASURES, step.removeprefix(sets))
    more = _leading(_SETS, step.removeprefix(sets).removeprefix(measures))
    variables = "".join(each.removeprefix("cross-env ") for each in (sets, more))
    return Step(variables, measures, step[len(f"{sets}{measures}{more}") :])


def _leading(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.match(text)
    return match[0] if match else ""
