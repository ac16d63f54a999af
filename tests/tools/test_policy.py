"""Denied unless allowed; a repository only tightens; what is wrong is told with its key or its path."""

from itertools import product
from typing import Any

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.errors import ConfigurationError
from cogworks.tools.policy import MAX_COST, Denial, Enforcer, Policy, Rule, parse_policy
from cogworks.tools.registry import Effects, Tool
from tests.exhaustive import examples
from tests.tools.tooling import Handler, allowing, strings

BUILT_IN = Policy(
    profile="coding",
    effects=("read", "write"),
    max_steps=10,
    max_cost=20.0,
    metadata_schema=strings("request_id"),
    tools={
        "test": Rule(timeout_s=60.0),
        "push": Rule(requires_approval=True, input_schema=strings("branch")),
    },
)


def tool(name: str = "test", **declared: Any) -> Tool:
    return Tool(name=name, handler=Handler(), **{"profile": "coding", "effects": "read", **declared})


def parsed(text: str, *, built_in: Policy | None = None, name: str = "coding") -> Policy:
    return parse_policy(text, source=f".cogworks/policies/{name}.toml", built_in=built_in)


def problems(text: str, *, built_in: Policy | None = BUILT_IN, name: str = "coding") -> tuple[str, ...]:
    with pytest.raises(ConfigurationError) as refused:
        parsed(text, built_in=built_in, name=name)
    assert refused.value.source == f".cogworks/policies/{name}.toml"
    return refused.value.problems


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('effects = ["read", "external"]', "`effects` adds external; the built-in policy allows read, write"),
        ("approval_for = []", "`approval_for` leaves out external; a repository can only add to it"),
        ("max_steps = 11", "`max_steps` is 11; the built-in limit is 10"),
        ("max_cost = 20.5", "`max_cost` is 20.5; the built-in limit is 20"),
        ("[tools.deploy]", "`tools.deploy` is no tool of the built-in policy; it has test, push"),
        ("[tools.push]\nrequires_approval = false", "`tools.push.requires_approval` is false; the built-in policy wants a person"),
        ("[tools.test]\ntimeout_s = 61", "`tools.test.timeout_s` is 61; the limit is 60"),
    ],
    ids=["effects", "approval", "steps", "cost", "tool", "person", "time"],
)  # fmt: skip
def test_loosening_the_built_in_policy_is_refused_with_the_key(text: str, problem: str) -> None:
    assert problems(f'profile = "coding"\n{text}') == (problem,)


def test_all_that_loosens_is_told_at_once() -> None:
    assert len(problems('profile = "coding"\neffects = ["external"]\nmax_steps = 50\n[tools.deploy]')) == 3


def test_a_repository_tightens_and_the_rest_stays() -> None:
    policy = parsed(
        'profile = "coding"\neffects = ["read"]\nmax_steps = 3\n[tools.test]\nrequires_approval = true\n'
        "[tools.test.input_schema]\nmaxProperties = 0",
        built_in=BUILT_IN,
    )

    assert (policy.effects, policy.max_steps, policy.max_cost) == (("read",), 3, 20.0)
    assert policy.metadata_schema == BUILT_IN.metadata_schema
    assert policy.tools == {
        "test": Rule(requires_approval=True, timeout_s=60.0, input_schema={"maxProperties": 0})
    }


def test_a_policy_may_say_what_it_is_for_and_what_metadata_a_run_has_to_have() -> None:
    policy = parsed(
        'profile = "local"\nsummary = "Looks."\n[metadata_schema]\nrequired = ["ticket"]', name="local"
    )

    denial = Enforcer([policy]).metadata_denial("local", {})
    assert denial is not None
    assert "'ticket' is wanted and missing" in denial.message
    assert policy.summary == "Looks."


def test_a_narrower_schema_never_widens_the_first() -> None:
    text = 'profile = "coding"\n[metadata_schema]\n[tools.push.input_schema]\nproperties = { tag = { type = "string" } }'
    enforcer = Enforcer([parsed(text, built_in=BUILT_IN)])

    denial = enforcer.call_denial(tool("push"), {"tag": "v1"}, metadata={"request_id": "1"})

    assert denial is not None
    assert denial.details == ("$: 'branch' is wanted and missing",)
    assert enforcer.metadata_denial("coding", {}) is not None


def test_what_a_repository_says_of_a_tool_leaves_a_person_before_it() -> None:
    policy = parsed('profile = "coding"\n[tools.push]\ntimeout_s = 5', built_in=BUILT_IN)

    assert policy.tools["push"].requires_approval is True
    assert Enforcer([policy]).needs_approval(tool("push"))


def test_a_policy_of_the_repositorys_own_profile_allows_what_it_lists_and_no_more() -> None:
    policy = parsed('profile = "local"\n[tools.lint]\n', name="local")

    assert policy == Policy(profile="local", effects=("read",), tools={"lint": Rule()})
    assert "`max_cost` is 101; the built-in limit is 100" in problems(
        'profile = "local"\nmax_cost = 101', built_in=None, name="local"
    )
    assert policy.max_cost == MAX_COST


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("profile =", "not TOML"),
        ("", "`profile` is missing"),
        ('profile = "other"', "`profile` is 'other'; it has to be the file's name"),
        ('profile = "coding"\nefects = ["read"]', "`efects` is not a key cogworks knows; did you mean `effects`?"),
        ('profile = "coding"\n[tools.test]\ntimout_s = 1', "`tools.test.timout_s` is not a key cogworks knows; did you mean `timeout_s`?"),
        ('profile = "coding"\nmax_steps = 0', "`max_steps` is 0: Input should be greater than or equal to 1"),
        ('profile = "coding"\n[metadata_schema]\ntype = "objekt"', "`metadata_schema`: not a schema: $.type"),
        ('profile = "coding"\n[tools.test]\ntimeout_s = nan', "`tools.test.timeout_s` is nan"),
    ],
    ids=["toml", "no-profile", "other-name", "key", "key-of-tool", "steps", "schema", "nan"],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_named_by_its_key(text: str, problem: str) -> None:
    (found,) = problems(text)

    assert found.startswith(problem)


@pytest.mark.parametrize(
    "profile", ["other", "", "..", "../coding", "/etc/passwd", "coding.toml", "CODING", "a\0b"]
)
def test_a_profile_without_a_policy_may_do_nothing(profile: str) -> None:
    enforcer = Enforcer([BUILT_IN, allowing("test", profile="default")])

    denial = enforcer.metadata_denial(profile, {"request_id": "1"})

    assert denial is not None
    assert denial.code == "policy_not_found"


def test_metadata_is_checked_by_the_profile_and_by_the_tool() -> None:
    rule = Rule(metadata_schema={"properties": {"request_id": {"maxLength": 3}}})
    policy = BUILT_IN.model_copy(update={"tools": {"test": rule}})
    enforcer = Enforcer([policy])

    assert enforcer.metadata_denial("coding", {"request_id": "long"}) is None
    denial = enforcer.call_denial(tool(), {}, metadata={"request_id": "long"})
    assert denial is not None
    assert (denial.code, denial.tool) == ("metadata_validation_failed", "test")
    refused = enforcer.metadata_denial("coding", {})
    assert refused is not None
    assert refused.message == (
        "profile 'coding': the metadata does not fit: $: 'request_id' is wanted and missing."
    )


def test_a_tool_that_is_not_listed_is_refused_with_those_that_are() -> None:
    denial = Enforcer([BUILT_IN]).tool_denial(tool("deploy"))

    assert denial == Denial(
        code="tool_not_allowed",
        message="profile 'coding' does not allow tool 'deploy'; it allows push, test.",
        profile="coding",
        tool="deploy",
        details=("push", "test"),
    )


def test_a_tool_whose_effects_are_not_allowed_is_refused_though_it_is_listed() -> None:
    denial = Enforcer([BUILT_IN]).tool_denial(tool(effects="external"))

    assert denial is not None
    assert denial.code == "effect_not_allowed"


@pytest.mark.parametrize("given", [{}, {"count": True}, {"count": "1"}, {"count": 1, "more": 2}], ids=str)
def test_an_input_that_does_not_fit_the_tool_is_refused(given: dict[str, Any]) -> None:
    counting = tool(
        input_schema={"properties": {"count": {"type": "integer"}}, "required": ["count"], "additionalProperties": False}
    )  # fmt: skip

    denial = Enforcer([BUILT_IN]).call_denial(counting, given, metadata={"request_id": "1"})

    assert denial is not None
    assert denial.code == "input_validation_failed"


def test_a_scope_that_the_tool_does_not_know_is_refused() -> None:
    scoped = tool(scope_schema=strings("allowed_urls"))

    denial = Enforcer([BUILT_IN]).call_denial(scoped, {}, metadata={"request_id": "1"})

    assert denial is not None
    assert (denial.code, denial.details) == ("scope_violation", ("$: 'allowed_urls' is wanted and missing",))


@pytest.mark.parametrize(
    ("declared", "rule", "effects", "needs"),
    [
        ({}, {}, (), False),
        ({"requires_approval": True}, {}, (), True),
        ({"requires_approval": True}, {"requires_approval": False}, (), True),
        ({}, {"requires_approval": True}, (), True),
        ({"effects": "write"}, {}, ("write",), True),
    ],
    ids=["nobody", "tool", "tool-and-rule", "rule", "effects"],
)
def test_whoever_wants_a_person_gets_one(
    declared: dict[str, Any], rule: dict[str, Any], effects: tuple[Effects, ...], needs: bool
) -> None:
    policy = Policy(profile="coding", tools={"test": Rule(**rule)}, approval_for=effects)

    assert Enforcer([policy]).needs_approval(tool(**declared)) is needs


def test_the_shorter_time_limit_counts() -> None:
    enforcer = Enforcer([BUILT_IN])

    assert enforcer.timeout_s(tool(timeout_s=5.0)) == 5.0
    assert enforcer.timeout_s(tool(timeout_s=500.0)) == 60.0


def test_problems_come_in_the_same_order_every_time() -> None:
    wide = tool(input_schema=strings(*"hgfedcba"))
    enforcer = Enforcer([BUILT_IN])

    told = {str(enforcer.call_denial(wide, {}, metadata={"request_id": "1"})) for _ in range(5)}

    assert len(told) == 1


SCHEMAS = st.sampled_from([{"maxProperties": 0}, strings("branch"), strings("tag")])
RULES = st.fixed_dictionaries(
    {},
    optional={
        "input_schema": SCHEMAS,
        "metadata_schema": SCHEMAS,
        "requires_approval": st.just(True),
        "timeout_s": st.just(1.0),
    },
)
WRITTEN = st.fixed_dictionaries(
    {"profile": st.just("coding")},
    optional={
        "effects": st.sampled_from([[], ["read"], ["write", "read"]]),
        "approval_for": st.just(["external", "read"]),
        "metadata_schema": SCHEMAS,
        "tools": st.dictionaries(st.sampled_from(["test", "push"]), RULES),
    },
)
DOCUMENTS: tuple[dict[str, str], ...] = (
    {},
    {"branch": "x"},
    {"tag": "x"},
    {"request_id": "x"},
    {"branch": "x", "request_id": "x"},
)


@settings(deadline=None, max_examples=examples(50))
@given(written=WRITTEN)
def test_whatever_a_repository_writes_it_never_allows_more_than_the_built_in_policy(
    written: dict[str, Any],
) -> None:
    """What would loosen it is refused when it is read (above); this is about all the rest."""
    ours, theirs = Enforcer([BUILT_IN]), Enforcer([parsed(tomli_w.dumps(written), built_in=BUILT_IN)])

    for metadata in DOCUMENTS:
        allowed = theirs.metadata_denial("coding", metadata) is None
        assert not allowed or ours.metadata_denial("coding", metadata) is None
    for each, metadata, document in product(
        (tool("test"), tool("push", effects="write")), DOCUMENTS, DOCUMENTS
    ):
        if theirs.call_denial(each, document, metadata=metadata) is None:
            assert ours.call_denial(each, document, metadata=metadata) is None
            assert theirs.timeout_s(each) <= ours.timeout_s(each)
            assert theirs.needs_approval(each) or not ours.needs_approval(each)
