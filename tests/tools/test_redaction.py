"""No secret is kept or shown, wherever it stands."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.leaving import HIDDEN
from cogworks.tools.plans import Goal
from cogworks.tools.records import Redactor, line_of
from cogworks.tools.registry import ToolRegistry
from tests.tools.tooling import PROFILE, Handler, World, allowing, failing, reading

SHAPES = [
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2_" * 6,
    "sk-ant-" + "a1B2" * 6,
    "AKIA" + "ABCD" * 4,
    "xoxb-" + "1234567890",
    "glpat-" + "a1B2" * 5,
    "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSM",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", SHAPES, ids=lambda secret: secret[:6])
def test_a_text_of_the_shape_of_a_token_is_hidden(secret: str) -> None:
    assert Redactor().text(f"before {secret} behind") == f"before {HIDDEN} behind"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer ***"),
        ("https://me:hunter2@host/x", "https://***@host/x"),
        ("nothing to hide, a token of esteem", "nothing to hide, a token of esteem"),
    ],
)
def test_a_secret_is_known_by_its_surroundings(text: str, hidden: str) -> None:
    assert Redactor().text(text) == hidden


@pytest.mark.parametrize(
    "key",
    ["secret", "client_secret", "token", "accessToken", "password", "passwd", "API_KEY", "api-key", "Authorization", "Set-Cookie"],
)  # fmt: skip
def test_whatever_stands_under_a_telling_key_is_hidden(key: str) -> None:
    data = {"deep": [{key: "x"}, {key: {"a": ["b"]}}, {key: 12345}]}

    assert Redactor().data(data) == {"deep": [{key: HIDDEN}] * 3}


def test_counts_and_answers_under_such_a_key_are_no_secrets() -> None:
    data = {"max_tokens": 500, "has_secret": True, "token": None}

    assert Redactor().data(data) == data


def test_known_values_are_hidden_everywhere_the_longest_first() -> None:
    redactor = Redactor(["hunter2", "hunter2-long", "no"])

    assert redactor.data({"hunter2": ["no hunter2-long", 1]}) == {HIDDEN: [f"no {HIDDEN}", 1]}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(SHAPES),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text() | st.sampled_from(["token", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(JSON)
def test_hiding_twice_changes_nothing_and_leaves_no_shape(data: Any) -> None:
    redactor = Redactor(["hunter2-hunter2"])

    once = redactor.data(data)

    assert redactor.data(once) == once
    assert not any(json.dumps(secret)[1:-1] in json.dumps(once) for secret in SHAPES)


def test_planted_secrets_reach_no_record_no_log_and_no_result() -> None:
    env_secret, token = "correct-horse-battery", "ghp_" + "Z9" * 18
    registry = ToolRegistry()
    reading(registry, "a", Handler({"said": f"got {token}", "password": "open sesame"}))
    reading(registry, "b", Handler(failing("exit_code", f"{env_secret} was refused, so was {token}")))
    world = World(registry, [allowing("a", "b")], secrets=[env_secret])
    inputs = {"api_key": "top-secret-key", "url": f"https://me:{env_secret}@host"}

    result = world.controller.run(
        Goal(text=f"a b for {token}", inputs=inputs), PROFILE, metadata={"cookie": "chocolate-chip"}
    )

    written = "\n".join(line_of(record) for record in world.trail.records)
    shown = written + "\n".join(result.logs) + result.message + str(result.steps[-1].error)
    assert result.steps[-1].error is not None
    for secret in (env_secret, token, "open sesame", "top-secret-key", "chocolate-chip"):
        assert secret not in shown
    assert "*** was refused, so was ***" in shown
