"""The operation `review_rules`: what rules of security and of likely bugs find in files, but for what the repository does not want to hear."""

import configparser
import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import ConfigDict, Field, ValidationError

from cogworks.codebase.confined import read_file
from cogworks.domain_services.checking import ReviewRulesParams, ToolRun
from cogworks.domain_services.messages import Diagnostic, ErrorCode, Message, Request, Response
from cogworks.services.python.code.repository import is_test_file
from cogworks.services.python.linting import (
    RuffFailed,
    RuffRun,
    installed_version,
    ruff_findings,
    severity_of,
)
from cogworks.services.python.machine import Machine
from cogworks.services.python.responses import (
    Checked,
    left_out,
    listed,
    outside,
    refused,
    response_of,
    skipped,
    sorted_findings,
    tool_runs,
    versions,
)
from cogworks.services.python.settings_files import PYPROJECT, Settings, by_settings, read_toml, tool_table
from cogworks.services.python.syntax import is_python, missing
from cogworks.services.python.workroom import Workroom, workroom
from cogworks.vocabulary import Severity, Value

RULES = (
    "S", "B", "ASYNC", "PLE", "PLW0127", "PLW0128", "PLW0129", "PLW0131", "PLW0133", "PLW0406", "PLW0711", "PLW1501",
    "PLW1507", "PLW1508", "PLW1509", "PLW2101",
)  # fmt: skip
"""The default: security, likely bugs, and what goes wrong in asynchronous code."""
NOT_FOR_TESTS = frozenset({"S101", "S105", "S106", "S107", "S108"})
"""Assertions, made-up passwords and temporary files are what tests are made of."""
_NOISE = ("S603",)
"""It finds every program that is started, however carefully."""
_BANNED = "TID251"
_COMPLEXITY = "C901"
NEED_SETTINGS = frozenset({_BANNED, _COMPLEXITY})
"""Rules that find nothing without the settings of a request."""
_SELECTOR = re.compile(r"ALL|[A-Z]{1,5}[0-9]{0,5}")


class RuleSettings(Message):
    """The `settings` of a review that this service understands."""

    model_config = ConfigDict(frozen=True, extra="allow")

    banned: dict[str, str] = Field(default_factory=dict)
    """What code must not use, e.g. `requests.get` -> why."""
    max_complexity: int | None = Field(default=None, ge=1)
    """Of one function."""
    severity: dict[str, Severity] = Field(default_factory=dict)
    """Rule or group of rules -> how much it matters; the longest that fits counts."""


class Rules(Value):
    """The rules of one review."""

    toml: str
    """As settings for ruff."""
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    severities: dict[str, Severity]
    named: tuple[str, ...]
    """The rules that were asked for by name, for whatever file."""
    unknown: tuple[str, ...]
    """What was asked for and means nothing here, in words."""

    def severity_of(self, code: str) -> Severity:
        """How much a rule matters."""
        fitting = [each for each in self.severities if code.startswith(each)]
        return self.severities[max(fitting, key=len)] if fitting else severity_of(code)

    def applies(self, finding: Diagnostic) -> bool:
        """Whether a finding counts where it is."""
        code = code_of(finding)
        return code not in NOT_FOR_TESTS or code in self.named or not is_test_file(finding.artifact)


def code_of(finding: Diagnostic) -> str:
    """The rule that a finding comes from."""
    return finding.message.split(":", maxsplit=1)[0]


def rules_for(params: ReviewRulesParams, settings: RuleSettings) -> Rules:
    """The rules that a request asks for.

    Raises:
        ValueError: a rule's name cannot be one.
    """
    _refuse_odd([*params.select, *params.ignore, *settings.severity])
    select = list(params.select or RULES)
    ignore = [*params.ignore, *(() if params.select else _NOISE)]
    lint: dict[str, Any] = {"select": select, "ignore": ignore}
    if settings.banned:
        select.append(_BANNED)
        lint["flake8-tidy-imports"] = {"banned-api": _messages(settings.banned)}
    if settings.max_complexity is not None:
        select.append(_COMPLEXITY)
        lint["mccabe"] = {"max-complexity": settings.max_complexity}
    known = ", ".join(f"`{name}`" for name in RuleSettings.model_fields)
    extra = sorted(settings.model_extra or {})
    return Rules(
        toml=tomli_w.dumps({"lint": lint}),
        select=tuple(select),
        ignore=tuple(ignore),
        severities=settings.severity,
        named=params.select,
        unknown=tuple(f"setting {name!r} is not known to this service; it knows {known}" for name in extra),
    )


def _messages(banned: Mapping[str, str]) -> dict[str, dict[str, str]]:
    return {name: {"msg": reason} for name, reason in banned.items()}


def _refuse_odd(selectors: Iterable[str]) -> None:
    odd = [each for each in selectors if not _SELECTOR.fullmatch(each)]
    if odd:
        raise ValueError(f"{', '.join(map(repr, odd))}: a rule or group is written like S, B006 or ALL")


FLAKE8_FILES = ("setup.cfg", "tox.ini", ".flake8")
"""In this order; the first with a section counts."""
_PART = re.compile(r"[^\s,:]+|:")
_CODE = re.compile(r"[A-Z]{1,3}[0-9]{0,4}")


class Flake8(Value):
    """What a section `[flake8]` leaves out."""

    path: str
    codes: tuple[str, ...] = ()
    per_file: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Pattern of paths -> codes."""
    excluded: tuple[str, ...] = ()
    """Patterns of paths."""

    def leaves_out(self, path: str, code: str) -> bool:
        """Whether a finding of this rule in this file is one that nobody wants."""
        codes = [
            *self.codes,
            *(each for pattern, some in self.per_file if _fits(path, pattern) for each in some),
        ]
        return any(code.startswith(each) for each in codes) or any(
            _fits(path, each) for each in self.excluded
        )


def ignored_by(root: Path, settings: Settings) -> tuple[str, ...]:
    """The rules that these settings of ruff ignore everywhere.

    Ruff forgets them as soon as its command line says what to select; what it ignores by file it does not forget.
    """
    codes: list[str] = []
    for place in settings.chain:
        tables = read_toml(root, place)
        own = {} if isinstance(tables, str) else tables
        if posixpath.basename(place) == PYPROJECT:
            own = tool_table(own, "ruff") or {}
        lint = own.get("lint")
        for table in (own, lint if isinstance(lint, dict) else {}):
            for key in ("ignore", "extend-ignore"):
                value = table.get(key)
                codes += [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
    return tuple(dict.fromkeys(each for each in codes if _CODE.fullmatch(each) or each == "ALL"))


def flake8_settings(root: Path, *, besides: Collection[str] = ()) -> Flake8 | None:
    """The settings of flake8 at the top of the repository; None when it has none, or they are in one of `besides`."""
    for path in FLAKE8_FILES:
        file = read_file(root, path)
        parser = configparser.ConfigParser(interpolation=None)
        try:
            parser.read_string(file.data.decode() if file else "")
        except (configparser.Error, UnicodeDecodeError):
            continue
        if not parser.has_section("flake8"):
            continue
        if path in besides:
            return None
        section = parser["flake8"]
        return Flake8(
            path=path,
            codes=tuple(_codes(f"{section.get('ignore', '')} {section.get('extend-ignore', '')}")),
            per_file=tuple(_by_file(section.get("per-file-ignores", ""))),
            excluded=tuple(
                each
                for key in ("exclude", "extend-exclude")
                for each in re.split(r"[\s,]+", section.get(key, ""))
                if each
            ),
        )
    return None


def _codes(text: str) -> Iterable[str]:
    return (each for each in re.split(r"[\s,]+", text) if _CODE.fullmatch(each))


def _by_file(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    """`a.py,b.py: E1,E2` and further such entries, parted by blanks, commas or lines."""
    names: list[str] = []
    codes: list[str] = []
    is_after_colon = False
    for part in _PART.findall(text):
        if part == ":":
            is_after_colon = True
        elif is_after_colon and _CODE.fullmatch(part):
            codes.append(part)
        elif is_after_colon:
            yield from _each(names, codes)
            names, codes, is_after_colon = [part], [], False
        else:
            names.append(part)
    yield from _each(names, codes)


def _each(names: Sequence[str], codes: Sequence[str]) -> Iterable[tuple[str, tuple[str, ...]]]:
    return ((name, tuple(codes)) for name in names if codes)


def _fits(path: str, pattern: str) -> bool:
    plain = pattern.removeprefix("./").rstrip("/")
    parents = [path]
    while parents[-1]:
        parents.append(posixpath.dirname(parents[-1]))
    return any(
        fnmatchcase(each, plain) or fnmatchcase(posixpath.basename(each), plain) for each in parents[:-1]
    )


_SETTINGS = "review.toml"
_Key = tuple[str, int | None, str]
"""File, line and rule: what tells one finding from another whatever the settings make of its words."""


def review_rules(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`.

    What the repository's own settings silence is left out, unless the change under review touches them:
    nobody silences a rule about their own work.
    """
    params = ReviewRulesParams.model_validate(request.params)
    if (refusal := outside(request, params.artifacts)) is not None:
        return refusal
    try:
        rules = rules_for(params, RuleSettings.model_validate(params.settings))
    except ValidationError as error:
        text = f"params.settings: {listed(error)}"
        return refused(request.request_id, ErrorCode.INVALID_REQUEST, text)
    except ValueError as error:
        return refused(request.request_id, ErrorCode.INVALID_REQUEST, f"params: {error}")
    root = folder.resolve()
    ours = [path for path in dict.fromkeys(params.artifacts) if is_python(path)]
    there = [path for path in ours if read_file(root, path) is not None]
    problems = [missing(path) for path in ours if path not in there]
    problems += [left_out(".", text) for text in rules.unknown]
    parts = _reviewed(root, there, rules, machine, changed=frozenset(params.changed)) if there else ()
    problems += [each for part in parts for each in part.findings]
    counts = {"artifacts": len(ours), "skipped": len(params.artifacts) - len(ours)}
    result = tool_runs(parts).model_dump(mode="json")
    return response_of(request, sorted_findings(problems), result, counts=counts, tools=versions(parts))


def _reviewed(
    root: Path, paths: Sequence[str], rules: Rules, machine: Machine, *, changed: frozenset[str]
) -> tuple[Checked, ...]:
    version = installed_version("ruff")
    if version is None:
        return (skipped("ruff", "it is not installed beside cogworks", place="."),)
    options = [f"--config={_SETTINGS}"]
    try:
        with workroom() as room:
            room.put(_SETTINGS, rules.toml.encode())
            ignoring = RuffRun([*options, "--ignore-noqa"], rules.severity_of)
            every = ruff_findings(room, root, paths, ignoring, machine)
            heeding = RuffRun(options, rules.severity_of)
            kept = ruff_findings(room, root, paths, heeding, machine)
            kept_keys, unusable = _wanted_here(room, root, every, rules, machine, changed=changed)
    except RuffFailed as error:
        return (skipped("ruff", str(error), place="."),)
    findings = [*kept, *(_hushed(each) for each in (Counter(every) - Counter(kept)).elements())]
    left = tuple(each for each in findings if rules.applies(each) and _key(each) in kept_keys)
    return (Checked(run=ToolRun(tool="ruff"), version=version, findings=left), *unusable)


def _wanted_here(
    room: Workroom,
    root: Path,
    findings: Sequence[Diagnostic],
    rules: Rules,
    machine: Machine,
    *,
    changed: frozenset[str],
) -> tuple[frozenset[_Key], tuple[Checked, ...]]:
    """Which findings are left under the repository's own settings; settings that cannot be used silence nothing."""
    kept_keys: set[_Key] = set()
    unusable: list[Checked] = []
    flake8 = flake8_settings(root, besides=changed)
    for settings, group in by_settings(root, sorted({each.artifact for each in findings})).items():
        here = [each for each in findings if each.artifact in group]
        if settings is None:
            kept = [each for each in here if not (flake8 and flake8.leaves_out(each.artifact, code_of(each)))]
        elif not changed.isdisjoint((settings.path, *settings.chain)):
            kept = here
        else:
            try:
                if settings.problem:
                    raise RuffFailed(settings.problem)
                options = ["--force-exclude", "--ignore-noqa", f"--select={','.join(rules.select)}"]
                ignored = ",".join((*rules.ignore, *ignored_by(root, settings)))
                run = RuffRun([*options, *([f"--ignore={ignored}"] if ignored else [])])
                heard = {_key(each) for each in ruff_findings(room, root, group, run, machine)}
                # These need settings of ours, which were not there.
                kept = [each for each in here if _key(each) in heard or code_of(each) in NEED_SETTINGS]
            except RuffFailed as error:
                unusable.append(skipped(f"ruff with {settings.path}", str(error), place=settings.path))
                kept = here
        kept_keys |= {_key(each) for each in kept}
    return frozenset(kept_keys), tuple(unusable)


def _key(finding: Diagnostic) -> _Key:
    return finding.artifact, finding.line, code_of(finding)


def _hushed(finding: Diagnostic) -> Diagnostic:
    """A finding that the file itself suppresses: a reviewer may want to know, nothing more."""
    text = f"{finding.message} (suppressed by a comment in the file)"
    return finding.model_copy(update={"severity": Severity.INFORMATIONAL, "message": text})
