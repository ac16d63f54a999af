"""Which rules a review applies, and how much each of them matters."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import tomli_w
from pydantic import ConfigDict, Field

from cogworks.domain_services.checking import ReviewRulesParams
from cogworks.domain_services.messages import Diagnostic, Message
from cogworks.services.python.code.repository import is_test_file
from cogworks.services.python.ruff_rules import severity_of
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

    def applies(self, found: Diagnostic) -> bool:
        """Whether a finding is one where it is."""
        code = code_of(found)
        return code not in NOT_FOR_TESTS or code in self.named or not is_test_file(found.artifact)


def code_of(found: Diagnostic) -> str:
    """The rule that found it."""
    return found.message.split(":", maxsplit=1)[0]


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
