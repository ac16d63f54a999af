"""Nothing secret is sent in the clear, nothing unusable is sent at all, and no message repeats either."""

import json
from pathlib import Path

import pytest

from tests import forking
from tests.end_to_end.scene import HOST_ENVIRONMENT, Ended

SECRET = "ghp_s3cretS3cretS3cretS3cretS3cret"
WORDS = ("s3cret", "hunter2")
ISSUE = "https://ghe.example/o/r/issues/1"


def cogworks(home: Path, *words: str, **changed: str) -> Ended:
    environment = {**HOST_ENVIRONMENT, "HOME": str(home), "GH_TOKEN": SECRET, **changed}
    done = forking.cogworks(*words, env=environment, timeout=60)
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    "command",
    [
        "process",
        "poll",
        "doctor",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("run", "status", "log", "fsck", "gc")),
    ],
)
def test_an_address_without_encryption_is_refused_with_the_one_to_use(tmp_path: Path, command: str) -> None:
    where = "http://ghe.example/o/r" + ("" if command in ("poll", "gc") else "/issues/1")

    ended = cogworks(tmp_path, command, where, GITHUB_SERVER_URL="http://ghe.example")

    assert ended.code == 2
    assert f"\n  {where.replace('http://', 'https://')}\n" in ended.err
    assert not any(word in ended.out + ended.err for word in WORDS)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"GITHUB_API_URL": "http://ghe.example/api"},
            "GITHUB_API_URL has 1 problem(s):\n  - would carry the token to",
        ),
        pytest.param(
            {"GITHUB_GRAPHQL_URL": "http://ghe.example/g"},
            "GITHUB_GRAPHQL_URL has 1 problem(s):\n  - would carry the",
            marks=pytest.mark.slow,
        ),
        (
            {"GITHUB_API_URL": "https://me:hunter2@ghe.example"},
            "GITHUB_API_URL has 1 problem(s):\n  - carries a user",
        ),
        pytest.param(
            {"GH_TOKEN": f"{SECRET} \n"}, "`GH_TOKEN` begins or ends with a blank", marks=pytest.mark.slow
        ),
        ({"GH_TOKEN": f"{SECRET}\nx"}, "`GH_TOKEN` holds a blank or a line break"),
        ({"HTTPS_PROXY": "http://me:hun/hunter2@proxy:1"}, "`HTTPS_PROXY` is no address of a proxy"),
        pytest.param(
            {"https_proxy": "http://me:hunter2#@proxy:1"},
            "`https_proxy` is no address of a proxy",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"ALL_PROXY": "socks5://me:hunter2@proxy:1"},
            "`ALL_PROXY` is of a kind of proxy that cogworks does not speak",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["api", "graphql", "password", "blank", "line", "proxy-slash", "proxy-hash", "socks"],
)
def test_what_the_environment_holds_of_no_use_is_told_by_name_before_any_request(
    tmp_path: Path, changed: dict[str, str], told: str
) -> None:
    environment = {"GITHUB_SERVER_URL": "https://ghe.example", **changed}

    step = cogworks(tmp_path, "process", ISSUE, "--json", **environment)
    doctor = cogworks(tmp_path, "doctor", ISSUE, "--json", **environment)

    assert (step.code, json.loads(step.out)["outcome"]) == (2, "configuration_error")
    assert told in step.err
    [token] = [check for check in json.loads(doctor.out)["checks"] if check["name"] == "token"]
    assert (doctor.code, token["status"]) == (1, "failed")
    assert told in token["found"]
    assert not any(word in text for text in (*step, *doctor) for word in WORDS if isinstance(text, str))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"ANTHROPIC_API_KEY": "s3cret key"}, "`ANTHROPIC_API_KEY` holds a blank or a line break"),
        (
            {"COGWORKS_LLM_API_KEY": "k", "COGWORKS_LLM_BASE_URL": "http://llm"},
            "unencrypted to 'llm'; use https://llm",
        ),
    ],
    ids=["key", "address"],
)
def test_doctor_says_why_a_model_would_not_be_asked(
    tmp_path: Path, changed: dict[str, str], told: str
) -> None:
    ended = cogworks(
        tmp_path, "doctor", "--json", GITHUB_SERVER_URL="http://127.0.0.1:1", GH_TOKEN=" ", **changed
    )

    [model] = [check for check in json.loads(ended.out)["checks"] if check["name"] == "model"]
    assert model["status"] == "failed"
    assert told in model["found"]
    assert "s3cret" not in ended.out + ended.err
