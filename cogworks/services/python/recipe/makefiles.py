"""What a target of a Makefile runs, as far as it is clear without running make."""

import re
from collections.abc import Iterator, Sequence

_RULE = re.compile(
    r"(?P<targets>[^\s:=#](?:[^\s:=#]|\s++(?!:))*+)\s*+::?(?!=)\s*+(?P<needs>[^=#;]*)(?:;(?P<first>.*))?(?:#.*)?"
)
_VARIABLE = re.compile(r"(?:export\s+)?(?P<name>[\w.]+)\s*(?P<how>[:?+]?:?=)\s*(?P<value>.*)")
_USED = re.compile(r"\$(?:\((?P<round>[^()]*)\)|\{(?P<curly>[^{}]*)\})")
_DIRECTIVE = re.compile(r"\s*(?:ifeq|ifneq|ifdef|ifndef|else|endif|define|endef)\b")
_VALUED = ("-C", "-f", "--file", "--directory", "-I")
_DEEPEST = 8
_MOST_CHARS = 4_000
"""Of one line."""


class Unclear(Exception):
    """What a file says is unclear."""


class _Rules:
    def __init__(self, text: str) -> None:
        self.variables: dict[str, str] = {"MAKE": "make", "PYTHON": "python", "CURDIR": "."}
        self.needs: dict[str, list[str]] = {}
        self.lines: dict[str, list[str]] = {}
        self.default = ""
        current: list[str] = []
        for line in text.replace("\\\n", " ").splitlines():
            if len(line) > _MOST_CHARS:
                raise Unclear
            if line.startswith("\t"):
                for target in current:
                    self.lines[target].append(line.strip())
            elif _DIRECTIVE.match(line):
                # Whether a variable is set so is unknown; so is a recipe with a condition.
                for target in current:
                    self.lines[target].append("$(condition )")
            elif line.strip() and not line.lstrip().startswith("#"):
                current = self._top_line(line)

    def _top_line(self, line: str) -> list[str]:
        if (set_ := _VARIABLE.fullmatch(line.strip())) is not None:
            name, value = set_["name"], set_["value"].split(" #")[0].strip()
            if set_["how"] == "+=":
                value = f"{self.variables.get(name, '')} {value}".strip()
            if set_["how"] != "?=" or name not in self.variables or name == "PYTHON":
                self.variables[name] = value
            return []
        rule = _RULE.fullmatch(line.rstrip())
        targets = rule["targets"].split() if rule else []
        for target in targets:
            self.needs.setdefault(target, []).extend(rule["needs"].split() if rule else [])
            self.lines.setdefault(target, []).extend(
                [rule["first"].strip()] if rule and rule["first"] else []
            )
            if not self.default and not target.startswith("."):
                self.default = target
        return targets


def recipe_lines(text: str, words: Sequence[str]) -> list[str]:
    """The command lines that `make` with these words runs, in their order.

    Raises:
        Unclear: that depends on what only make knows.
    """
    rules = _Rules(text)
    targets: list[str] = []
    for word in words:
        name, equals, value = word.partition("=")
        if word in _VALUED:
            raise Unclear
        if equals and not word.startswith("-"):
            rules.variables[name] = value
        elif not word.startswith("-"):
            targets.append(word)
    seen: set[str] = set()
    return [line for target in targets or [rules.default] for line in _of_target(rules, target, seen)]


def _of_target(rules: _Rules, target: str, seen: set[str]) -> Iterator[str]:
    if target in seen:
        return
    seen.add(target)
    if target not in rules.lines:
        if any("%" in each for each in rules.lines):
            raise Unclear
        return
    for need in rules.needs[target]:
        yield from _of_target(rules, _expanded(need, rules.variables), seen)
    for line in rules.lines[target]:
        yield _expanded(line, rules.variables).lstrip("@+-").strip()


def _expanded(text: str, variables: dict[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        name = match["round"] if match["round"] is not None else match["curly"]
        if not re.fullmatch(r"[\w.]+", name):
            raise Unclear
        return variables.get(name, "")

    hidden = text.replace("$$", "\0")
    for _ in range(_DEEPEST):
        if not _USED.search(hidden):
            break
        hidden = _USED.sub(value, hidden)
        if len(hidden) > _MOST_CHARS:
            raise Unclear
    if "$" in hidden:
        raise Unclear
    return hidden.replace("\0", "$")
