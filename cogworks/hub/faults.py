"""Which fault a request meets: plans as text, rules in order, each with what it matches and when it strikes."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from cogworks.errors import ConfigurationError
from cogworks.hub.journal import Asked
from cogworks.vocabulary import Value

FaultKind = Literal[
    "refuse",
    "error_before",
    "error_after",
    "cut_after",
    "redirect",
    "rate_limited",
    "rate_limited_200",
    "partial",
    "stale",
    "missing",
    "latency",
    "hold_before",
    "hold_after",
]

_OPTIONS: dict[str, frozenset[str]] = {
    "refuse": frozenset(),
    "error_before": frozenset({"status", "message"}),
    "error_after": frozenset({"status", "message"}),
    "cut_after": frozenset(),
    "redirect": frozenset({"status", "location"}),
    "rate_limited": frozenset({"status", "limit", "retry_after_s", "reset_in_s", "message"}),
    "rate_limited_200": frozenset({"reset_in_s", "message"}),
    "partial": frozenset({"at", "type", "message"}),
    "stale": frozenset({"lists", "lag"}),
    "missing": frozenset(),
    "latency": frozenset({"latency_ms"}),
    "hold_before": frozenset(),
    "hold_after": frozenset(),
}
"""Kind -> the options that mean something to it."""
_REQUIRED = {"redirect": "location", "partial": "at", "latency": "latency_ms"}
_STATUSES = {
    "error_before": range(500, 600),
    "error_after": range(500, 600),
    "redirect": range(301, 309),
    "rate_limited": (403, 429),
}


class Match(Value):
    """What a request must be; every pattern is a shell glob, an empty one fits everything."""

    method: str = ""
    path: str = ""
    """Without `/api/v3`: `/graphql`, `/repos/*/issues`, `*/git-receive-pack`."""
    operation: str = ""
    """The name of a GraphQL operation."""
    field: str = ""
    """One of the root fields of a GraphQL document, e.g. `createCommitOnBranch`."""
    is_write: bool | None = None
    """Only what may change something, or only what cannot."""

    def fits(self, request: Asked) -> bool:
        pairs = (
            (self.method, request.method),
            (self.path, request.path),
            (self.operation, request.operation),
        )
        if not all(not pattern or fnmatchcase(value, pattern) for pattern, value in pairs):
            return False
        if self.field and not any(fnmatchcase(name, self.field) for name in request.fields):
            return False
        return self.is_write in (None, request.is_write)


class Rule(Match):
    """One fault: what it strikes, when, and what happens then.

    The occurrences of a rule are the requests it fits. It strikes at the `nth` of them, and then at each `every`-th
    one, at most `times` times. With `nth` alone it strikes once; with neither, at every occurrence.
    """

    kind: FaultKind
    nth: int | None = Field(default=None, ge=1)
    every: int | None = Field(default=None, ge=1)
    times: int | None = Field(default=None, ge=1)
    after: Match | None = None
    """Occurrences count only once a request that fits this was handled."""
    status: int | None = None
    message: str = ""
    retry_after_s: int | None = Field(default=None, ge=0)
    """The `Retry-After` header; None: there is none."""
    limit: Literal["primary", "secondary"] = "secondary"
    """primary: the headers say that nothing is left."""
    reset_in_s: int = Field(default=300, ge=0)
    """When a used-up budget is full again."""
    location: str = ""
    at: str = ""
    """The place of a partial error in the answer's data: `repository.issue.comments`."""
    type: str = "FORBIDDEN"
    lists: tuple[str, ...] = ("comments", "subIssues", "sub_issues")
    """Names of lists, as they stand in the answer (REST: the last word of the path)."""
    lag: int = Field(default=1, ge=1)
    """How many reads of a list a new entry is missing from."""
    latency_ms: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _fits_its_kind(self) -> "Rule":
        own = (
            set(type(self).model_fields)
            - set(Match.model_fields)
            - {"kind", "nth", "every", "times", "after"}
        )
        strange = sorted((self.model_fields_set & own) - _OPTIONS[self.kind])
        if strange:
            known = ", ".join(sorted(_OPTIONS[self.kind])) or "none"
            raise ValueError(
                f"{', '.join(strange)} means nothing to kind {self.kind!r}; its options: {known}"
            )
        needed = _REQUIRED.get(self.kind)
        if needed and needed not in self.model_fields_set:
            raise ValueError(f"kind {self.kind!r} needs {needed}")
        allowed = _STATUSES.get(self.kind, ())
        if self.status is not None and self.status not in allowed:
            raise ValueError(
                f"status {self.status} is none of kind {self.kind!r}: {min(allowed)} to {max(allowed)}"
            )
        return self

    def strikes_at(self, occurrence: int) -> bool:
        """Whether it strikes at this occurrence, counted from 1, were it not for `times`."""
        first = self.nth or self.every or 1
        step = self.every or (0 if self.nth else 1)
        if occurrence < first:
            return False
        return (occurrence - first) % step == 0 if step else self._is_in_first_run(occurrence - first)

    def _is_in_first_run(self, beyond: int) -> bool:
        return beyond < (self.times or 1)


class FaultPlan(Value):
    """The faults of a hub, in the order of precedence: a request meets every latency and at most one other fault."""

    faults: tuple[Rule, ...] = ()


@dataclass
class _Count:
    seen: int = 0
    struck: int = 0
    is_armed: bool = True


@dataclass
class Faults:
    """A plan being played: counts occurrences. Not safe for several threads; the hub asks from its event loop."""

    plan: FaultPlan = field(default_factory=FaultPlan)
    _counts: list[_Count] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._counts = [_Count(is_armed=rule.after is None) for rule in self.plan.faults]

    def meets(self, request: Asked) -> tuple[Rule, ...]:
        """The faults that a request meets now; asking counts as an occurrence of every rule it fits."""
        struck: list[Rule] = []
        for rule, count in zip(self.plan.faults, self._counts, strict=True):
            if not count.is_armed or not rule.fits(request):
                continue
            count.seen += 1
            is_spent = rule.times is not None and count.struck >= rule.times
            is_taken = rule.kind != "latency" and any(each.kind != "latency" for each in struck)
            if rule.strikes_at(count.seen) and not is_spent and not is_taken:
                count.struck += 1
                struck.append(rule)
        return tuple(struck)

    def handled(self, request: Asked) -> None:
        """A request was carried out: rules that waited for one like it count from now on."""
        for rule, count in zip(self.plan.faults, self._counts, strict=True):
            count.is_armed = count.is_armed or (rule.after is not None and rule.after.fits(request))

    def standing(self) -> Sequence[tuple[int, int]]:
        """Of each rule, how often it was met and how often it struck."""
        return [(count.seen, count.struck) for count in self._counts]


def plan_from_toml(text: str, *, source: str) -> FaultPlan:
    """The plan of a file with `[[fault]]` tables.

    Raises:
        ConfigurationError: everything that is wrong with it, by table and key.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(source, [f"it is no TOML: {error}"]) from error
    return plan_from_object(content, source=source, name="fault")


def plan_from_object(content: Any, *, source: str, name: str = "faults") -> FaultPlan:
    """The plan of `{name: [rule, …]}`. Raises `ConfigurationError` as `plan_from_toml`."""
    if not isinstance(content, Mapping):
        raise ConfigurationError(source, [f"wanted an object with {name!r}, found {type(content).__name__}"])
    problems = [f"{key}: there is only {name!r}" for key in content if key != name]
    tables = content.get(name, [])
    if not isinstance(tables, list):
        problems.append(f"{name}: wanted a list of tables, found {type(tables).__name__}")
        tables = []
    rules: list[Rule] = []
    for number, table in enumerate(tables, start=1):
        try:
            rules.append(Rule.model_validate(table))
        except ValidationError as error:
            problems += [_problem(f"{name} {number}", each) for each in error.errors()]
    if problems:
        raise ConfigurationError(source, problems)
    return FaultPlan(faults=tuple(rules))


def _problem(where: str, error: Any) -> str:
    place = ".".join(str(part) for part in error["loc"])
    message = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        message = f"there is no such key; there are {', '.join(sorted(Rule.model_fields))}"
    return f"{where}{', ' + place if place else ''}: {message}"
