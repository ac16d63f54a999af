"""What a profile may do: denied unless a policy allows it, and a repository's policy only tightens ours."""

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeVar, get_args

from pydantic import BaseModel, Field, ValidationError, field_validator

from cogworks.errors import ConfigurationError
from cogworks.toml_text import tables_in
from cogworks.tools.registry import MAX_TIMEOUT_S, PROFILE_NAME, Effects, Tool, usable_schema
from cogworks.tools.schemas import both, misfits, scope_problems, without
from cogworks.vocabulary import Value

Declared = TypeVar("Declared", bound=Value)


def read_declaration(text: str, kind: type[Declared], *, source: str) -> Declared:
    """The value that a file declares.

    Raises:
        ConfigurationError: every problem at once.
    """
    try:
        data = tables_in(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(source, [f"not TOML: {error}"]) from None
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise ConfigurationError(source, [_problem(dict(each), kind) for each in error.errors()]) from None


def _problem(error: dict[str, Any], kind: type[BaseModel]) -> str:
    place = ".".join(str(part) for part in error["loc"])
    match error["type"]:
        case "extra_forbidden":
            known = _known(kind, error["loc"])
            close = difflib.get_close_matches(str(error["loc"][-1]), known, n=1)
            hint = f"did you mean `{close[0]}`?" if close else f"known here: {', '.join(known)}"
            return f"`{place}` is not a key cogworks knows; {hint}"
        case "missing":
            return f"`{place}` is missing"
        case "value_error":
            reason = error["msg"].removeprefix("Value error, ")
            return f"`{place}`: {reason}" if place else reason
        case _:
            return f"`{place}` is {error['input']!r}: {error['msg']}"


def _known(kind: type[BaseModel], place: tuple[Any, ...]) -> list[str]:
    models = [kind]
    if len(place) > 1 and (field := kind.model_fields.get(str(place[0]))):
        # A table of tables, e.g. `tools.<name>`.
        models = list(_models(field.annotation)) or models
    return sorted(models[0].model_fields)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


POLICY_FOLDER = ".cogworks/policies"
MAX_STEPS = 50
MAX_COST = 100.0
Decision = Literal["metadata_validated", "allowed", "denied", "approval_required", "approved", "rejected"]


class Rule(Value):
    """What holds for one allowed tool besides its own declaration; None says nothing."""

    input_schema: dict[str, Any] | None = None
    """Narrows the tool's own."""
    metadata_schema: dict[str, Any] | None = None
    """Holds besides the profile's."""
    scope: dict[str, Any] = Field(default_factory=dict)
    requires_approval: bool | None = None
    timeout_s: float | None = Field(default=None, gt=0, le=MAX_TIMEOUT_S, allow_inf_nan=False)

    @field_validator("input_schema", "metadata_schema")
    @classmethod
    def _is_schema(cls, schema: dict[str, Any] | None) -> dict[str, Any] | None:
        return None if schema is None else usable_schema(schema)


class PolicyFile(Value):
    """`.cogworks/policies/<profile>.toml` as it is written; what it does not say stays as it is."""

    profile: str
    summary: str = ""
    effects: tuple[Effects, ...] | None = None
    approval_for: tuple[Effects, ...] | None = None
    max_steps: int | None = Field(default=None, ge=1)
    max_cost: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    metadata_schema: dict[str, Any] | None = None
    tools: dict[str, Rule] | None = None

    @field_validator("metadata_schema")
    @classmethod
    def _is_schema(cls, schema: dict[str, Any] | None) -> dict[str, Any] | None:
        return None if schema is None else usable_schema(schema)


class Policy(Value):
    """What one profile may do."""

    profile: str
    summary: str = ""
    effects: tuple[Effects, ...] = ("read",)
    approval_for: tuple[Effects, ...] = ("external",)
    """Whatever has these effects waits for a person."""
    max_steps: int = Field(default=MAX_STEPS, ge=1, le=MAX_STEPS)
    max_cost: float = Field(default=MAX_COST, ge=0, le=MAX_COST)
    metadata_schema: dict[str, Any] | None = None
    tools: Mapping[str, Rule] = Field(default_factory=dict)
    """The allowed ones."""


class Denial(Value):
    """Why something may not be done."""

    code: str
    message: str
    profile: str
    tool: str = ""
    details: tuple[str, ...] = ()


class Enforcer:
    """Answers for all profiles; one for the controller and its executor, so that both know the same rules."""

    def __init__(self, policies: Iterable[Policy]) -> None:
        self._policies = {policy.profile: policy for policy in policies}

    def policy(self, profile: str) -> Policy | Denial:
        """The policy of a profile, or the refusal because it has none: nobody gets a default."""
        if policy := self._policies.get(profile):
            return policy
        where = f"write {POLICY_FOLDER}/{profile}.toml"
        if re.fullmatch(PROFILE_NAME, profile) is None:
            where = "a name has lower-case letters, digits, `.`, `_` and `-`"
        return Denial(
            code="policy_not_found",
            message=f"there is no policy for profile {profile[:64]!r}, and without one nothing is allowed; {where}.",
            profile=profile[:64],
        )

    def metadata_denial(self, profile: str, metadata: Mapping[str, Any]) -> Denial | None:
        """Why a run may not begin with this metadata."""
        policy = self.policy(profile)
        if isinstance(policy, Denial):
            return policy
        return _metadata(policy, policy.metadata_schema, metadata)

    def tool_denial(self, tool: Tool) -> Denial | None:
        """Why a tool may not be used at all, whatever its input."""
        policy = self.policy(tool.profile)
        if isinstance(policy, Denial):
            return policy
        rule = policy.tools.get(tool.name)
        if rule is None:
            return not_allowed(policy, tool.name)
        if tool.effects not in policy.effects:
            allowed = ", ".join(policy.effects) or "none"
            return Denial(
                code="effect_not_allowed",
                message=f"tool {tool.name!r} has the effect `{tool.effects}`; profile {policy.profile!r} allows {allowed}.",
                profile=policy.profile,
                tool=tool.name,
            )
        if problems := misfits(rule.scope, tool.scope_schema):
            return _denial("scope_violation", policy, tool, problems, about="the scope in the policy")
        return None

    def call_denial(
        self,
        tool: Tool,
        parameters: Mapping[str, Any],
        *,
        metadata: Mapping[str, Any],
        pending: frozenset[str] = frozenset(),
    ) -> Denial | None:
        """Why a call may not be made.

        Args:
            pending: keys of the input that an earlier step will give; they are looked at when they are there.
        """
        if denial := self.tool_denial(tool):
            return denial
        policy = self._policies[tool.profile]
        rule = policy.tools[tool.name]
        if denial := _metadata(
            policy, both(policy.metadata_schema, rule.metadata_schema), metadata, tool.name
        ):
            return denial
        schema = both(tool.input_schema, rule.input_schema) or {}
        if problems := misfits(dict(parameters), without(schema, pending)):
            return _denial("input_validation_failed", policy, tool, problems, about="the input")
        if problems := scope_problems(parameters, tool.input_schema, rule.scope):
            return _denial("scope_violation", policy, tool, problems, about="the input")
        return None

    def needs_approval(self, tool: Tool) -> bool:
        """Whether a person has to agree to each call of an allowed tool."""
        policy = self._policies[tool.profile]
        return (
            tool.requires_approval
            or policy.tools[tool.name].requires_approval is True
            or tool.effects in policy.approval_for
        )

    def scope(self, tool: Tool) -> Mapping[str, Any]:
        """What the policy says about an allowed tool's reach."""
        return self._policies[tool.profile].tools[tool.name].scope

    def timeout_s(self, tool: Tool) -> float:
        """How long one call of an allowed tool may take."""
        limit_s = self._policies[tool.profile].tools[tool.name].timeout_s
        return tool.timeout_s if limit_s is None else min(limit_s, tool.timeout_s)


def parse_policy(text: str, *, source: str, built_in: Policy | None = None) -> Policy:
    """The policy of a repository's file, on top of the built-in one of that profile where there is one.

    Raises:
        ConfigurationError: every problem at once; what would loosen the built-in policy is named by its key.
    """
    written = read_declaration(text, PolicyFile, source=source)
    problems = []
    name = source.rpartition("/")[2].removesuffix(".toml")
    if written.profile != name or re.fullmatch(PROFILE_NAME, name) is None:
        problems.append(
            f"`profile` is {written.profile!r}; it has to be the file's name, lower-case letters, digits, `.`, `_` and `-`"
        )
    base = built_in or Policy(profile=written.profile, effects=("read", "write", "external"))
    problems += _loosened(written, base, names_are_fixed=built_in is not None)
    if problems:
        raise ConfigurationError(source, problems)
    return _tightened(written, base, unsaid_effects=base.effects if built_in else ("read",))


def not_allowed(policy: Policy, tool: str) -> Denial:
    """The refusal of a tool that a policy does not list."""
    listed = ", ".join(sorted(policy.tools)) or "none"
    return Denial(
        code="tool_not_allowed",
        message=f"profile {policy.profile!r} does not allow tool {tool!r}; it allows {listed}.",
        profile=policy.profile,
        tool=tool,
        details=tuple(sorted(policy.tools)),
    )


def _loosened(written: PolicyFile, base: Policy, *, names_are_fixed: bool) -> list[str]:
    problems = []
    if more := sorted(set(written.effects or ()) - set(base.effects)):
        problems.append(
            f"`effects` adds {', '.join(more)}; the built-in policy allows {_words(base.effects)}"
        )
    if written.approval_for is not None and (less := set(base.approval_for) - set(written.approval_for)):
        problems.append(f"`approval_for` leaves out {_words(sorted(less))}; a repository can only add to it")
    for key in ("max_steps", "max_cost"):
        value, most = getattr(written, key), getattr(base, key)
        if value is not None and value > most:
            problems.append(f"`{key}` is {value:g}; the built-in limit is {most:g}")
    for name, rule in (written.tools or {}).items():
        own = base.tools.get(name)
        if own is None:
            if names_are_fixed:
                problems.append(
                    f"`tools.{name}` is no tool of the built-in policy; it has {_words(base.tools)}"
                )
            continue
        if own.requires_approval and rule.requires_approval is False:
            problems.append(f"`tools.{name}.requires_approval` is false; the built-in policy wants a person")
        if own.timeout_s is not None and (rule.timeout_s or 0) > own.timeout_s:
            problems.append(f"`tools.{name}.timeout_s` is {rule.timeout_s:g}; the limit is {own.timeout_s:g}")
    return problems


def _tightened(written: PolicyFile, base: Policy, *, unsaid_effects: tuple[Effects, ...]) -> Policy:
    tools = base.tools
    if written.tools is not None:
        tools = {name: _stricter(base.tools.get(name), rule) for name, rule in written.tools.items()}
    return Policy(
        profile=base.profile,
        summary=written.summary or base.summary,
        effects=unsaid_effects if written.effects is None else written.effects,
        approval_for=base.approval_for if written.approval_for is None else written.approval_for,
        max_steps=base.max_steps if written.max_steps is None else written.max_steps,
        max_cost=base.max_cost if written.max_cost is None else written.max_cost,
        metadata_schema=both(base.metadata_schema, written.metadata_schema),
        tools=tools,
    )


def _stricter(base: Rule | None, rule: Rule) -> Rule:
    if base is None:
        return rule
    return Rule(
        input_schema=both(base.input_schema, rule.input_schema),
        metadata_schema=both(base.metadata_schema, rule.metadata_schema),
        scope={**rule.scope, **base.scope},
        requires_approval=base.requires_approval or rule.requires_approval,
        timeout_s=base.timeout_s if rule.timeout_s is None else rule.timeout_s,
    )


def _metadata(
    policy: Policy, schema: Mapping[str, Any] | None, metadata: Mapping[str, Any], tool: str = ""
) -> Denial | None:
    problems = misfits(dict(metadata), schema) if schema is not None else ()
    if not problems:
        return None
    return Denial(
        code="metadata_validation_failed",
        message=f"profile {policy.profile!r}: the metadata does not fit: {'; '.join(problems)}.",
        profile=policy.profile,
        tool=tool,
        details=problems,
    )


def _denial(code: str, policy: Policy, tool: Tool, problems: tuple[str, ...], *, about: str) -> Denial:
    return Denial(
        code=code,
        message=f"tool {tool.name!r} of profile {policy.profile!r}: {about} does not fit: {'; '.join(problems)}.",
        profile=policy.profile,
        tool=tool.name,
        details=problems,
    )


def _words(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
