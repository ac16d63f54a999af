"""`cogworks doctor` before a real hub."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cogworks.cli.main import cli
from cogworks.hub.seeding import create_repository
from cogworks.hub.world import World
from tests import plain_http
from tests.hub.apps import app_id, app_key, with_app
from tests.hub.running import OWNER_TOKEN, READER_TOKEN, RunningHub, running_hub, seeded

KEY = {"ANTHROPIC_API_KEY": "sk-secret"}


WEB = {
    "Package.swift": "// swift-tools-version: 5.9\n",
    "Sources/add.swift": "func add(a: Int, b: Int) -> Int { a - b }\n",
    ".cogworks/config.toml": '[llm]\nmodel = "claude-sonnet-5-5"\n',
}


PACKS = ".cogworks/context-packs"
PACKED = {
    "shop.py": "TAX = 2\n",
    ".cogworks/config.toml": '[llm]\nmodel = "claude-sonnet-5-5"\n[context_packs]\nshipped = ["python-library"]\n',
    f"{PACKS}/careful/trigger.toml": '[trigger]\nlanguages = ["python"]\n',
    f"{PACKS}/careful/anti-patterns.md": "Never guess.\n",
    f"{PACKS}/untold/anti-patterns.md": "Never.\n",
}
BROKEN = {**PACKED, f"{PACKS}/careful/deep/notes.md": "x\n"}


def with_web(directory: Path) -> Path:
    """With octo/web, a repository in Swift, and two with context packs."""
    world = World(directory)
    for name, files in (("web", WEB), ("packed", PACKED), ("broken", BROKEN)):
        tree = directory.parent / f"{name}-files"
        for path, text in files.items():
            file = tree / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        create_repository(world, f"octo/{name}", tree=tree)
    world.close()
    return directory


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    with running_hub(with_web(with_app(seeded(tmp_path_factory.mktemp("doctor") / "hub")))) as running:
        write = {"message": "Configure", "content": "W2xsbV0KbW9kZWwgPSAiY2xhdWRlLXNvbm5ldC01LTUiCg=="}
        answer = plain_http.put(
            f"{running.api_url}/repos/octo/demo/contents/.cogworks/config.toml",
            json=write,
            headers={"Authorization": f"token {OWNER_TOKEN}"},
        )
        assert answer.status_code == 201, answer.text
        yield running


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str | None]:
    """Without whatever credential the machine that runs the tests has."""
    names = ("COGWORKS_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COGWORKS_LLM_API_KEY", "ANTHROPIC_API_KEY")
    nothing = dict.fromkeys((*names, "GITHUB_SERVER_URL", "COGWORKS_LLM_PROVIDER"), None)
    # No test asks an index of the world.
    return {**nothing, "COGWORKS_WORK_DIR": str(tmp_path / "work"), "PIP_NO_INDEX": "1"}


def doctor(environment: Mapping[str, str | None], *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["doctor", *arguments], env=environment, standalone_mode=False)


def checks(result: Result) -> dict[str, str]:
    told: dict[str, Any] = json.loads(result.stdout)
    return {check["name"]: check["status"] for check in told["checks"]}


def test_a_healthy_repository_passes_every_check(hub: RunningHub, environment: dict[str, str | None]) -> None:
    result = doctor(
        {**environment, **KEY, "GH_TOKEN": OWNER_TOKEN}, f"{hub.url}/octo/demo/issues/1", "--json"
    )

    assert result.return_value == 0
    # How well tests can be walled in is a matter of the machine that runs this.
    of_the_machine = ("isolation", "service python")
    assert {status for name, status in checks(result).items() if name not in of_the_machine} == {"ok"}
    names = [
        "python",
        "git",
        "work directory",
        "isolation",
        "environments",
        "package index",
        "token",
        "clock",
        "repository",
        "permission",
        "workflows",
        "rules",
        "configuration",
    ]
    assert list(checks(result)) == [*names, "service python", "nodes", "model", "languages"]
    assert json.loads(result.stdout)["requests"] == {"graphql": 1, "rest": 3, "git": 0}


def test_a_language_without_a_service_is_found_here_and_told_to_whoever_sets_the_label(
    hub: RunningHub, environment: dict[str, str | None]
) -> None:
    here = {**environment, "COGWORKS_LLM_PROVIDER": "cassette", "GH_TOKEN": OWNER_TOKEN}
    here |= {"GITHUB_SERVER_URL": hub.url, "GITHUB_API_URL": hub.api_url}
    here |= {"GITHUB_GRAPHQL_URL": f"{hub.url}/api/graphql"}
    owner = plain_http.Client(
        base_url=f"{hub.api_url}/repos/octo/web", headers={"Authorization": f"token {OWNER_TOKEN}"}
    )
    with owner:
        issue = {"title": "add() subtracts", "body": "It should add.", "labels": ["cogworks:run"]}
        url = owner.post("/issues", json=issue).json()["html_url"]
        examined = doctor(here, f"{hub.url}/octo/web", "--json")
        refused = [
            CliRunner().invoke(cli, ["process", url, "--json"], env=here, standalone_mode=False)
            for _ in range(2)
        ]
        comments = owner.get("/issues/1/comments").json()

    assert (examined.return_value, checks(examined)["languages"]) == (1, "failed")
    told = [json.loads(each.stdout) for each in refused]
    assert [(each.return_value, each.stdout != "") for each in refused] == [(2, True)] * 2
    assert "written in Swift (100 %) (seen: Package.swift)" in told[0]["message"]
    assert (told[1]["requests"], told[1]["cost_usd"]) == ({"graphql": 1, "rest": 0, "git": 0}, 0.0)
    assert len(comments) == 1
    assert told[0]["message"] in comments[0]["body"]


def test_what_is_wrong_is_printed_with_its_remedy(
    hub: RunningHub, environment: dict[str, str | None]
) -> None:
    result = doctor({**environment, "GH_TOKEN": READER_TOKEN}, f"{hub.url}/octo/demo")

    assert result.return_value == 1
    assert "FAILED   permission     READ on octo/demo" in result.stdout
    assert "-> Give the token's owner the role Write" in result.stdout
    assert "FAILED   model          there is no key for the model provider" in result.stdout
    assert "skipped  workflows" in result.stdout


@pytest.mark.slow
def test_an_app_is_examined_as_its_installation(hub: RunningHub, environment: dict[str, str | None]) -> None:
    app = {
        "COGWORKS_GITHUB_APP_ID": str(app_id(hub.directory)),
        "COGWORKS_GITHUB_APP_PRIVATE_KEY": app_key()[0],
    }
    result = doctor({**environment, **KEY, **app}, f"{hub.url}/octo/demo", "--json")

    assert result.return_value == 0, result.stdout
    assert checks(result)["workflows"] == "skipped"
    token = next(check for check in json.loads(result.stdout)["checks"] if check["name"] == "token")
    assert token["found"] == f"GitHub App {app_id(hub.directory)}, speaks for helper[bot]"
    again = doctor({**environment, **KEY, **app}, f"{hub.url}/octo/demo", "--json")
    assert json.loads(again.stdout)["requests"]["rest"] == json.loads(result.stdout)["requests"]["rest"] - 2


@pytest.mark.parametrize(
    ("token", "path", "failing", "words"),
    [
        ("wrong", "/octo/demo", "token", "not valid"),
        (OWNER_TOKEN, "/octo/nothing", "repository", "is not there, or the token cannot see it"),
    ],
    ids=["token", "repository"],
)
def test_a_token_or_repository_that_does_not_fit_is_told(
    hub: RunningHub, environment: dict[str, str | None], *, token: str, path: str, failing: str, words: str
) -> None:
    result = doctor({**environment, "GH_TOKEN": token}, hub.url + path, "--json")

    assert result.return_value == 1
    found = {check["name"]: check for check in json.loads(result.stdout)["checks"]}
    assert found[failing]["status"] == "failed"
    assert words in found[failing]["found"]


def test_without_a_url_only_this_machine_and_the_token_are_looked_at(
    hub: RunningHub, environment: dict[str, str | None]
) -> None:
    here = {**environment, **KEY, "GH_TOKEN": OWNER_TOKEN, "GITHUB_SERVER_URL": hub.url}
    result = doctor(here, "--json")

    assert result.return_value == 0
    assert list(checks(result)) == [
        "python",
        "git",
        "work directory",
        "isolation",
        "environments",
        "package index",
        "token",
        "clock",
        "service python",
        "model",
    ]


def test_nothing_configured_is_told_without_a_request(environment: dict[str, str | None]) -> None:
    result = doctor({**environment, "PATH": "/nowhere"}, "--json")

    assert result.return_value == 1
    found = checks(result)
    assert found.pop("isolation") in ("ok", "warning")
    assert found.pop("service python") in ("ok", "warning")
    assert found == {
        "python": "ok",
        "git": "failed",
        "work directory": "ok",
        "environments": "ok",
        "package index": "ok",
        "token": "failed",
        "model": "failed",
    }
    assert json.loads(result.stdout)["requests"]["graphql"] == 0


def test_the_token_never_goes_to_a_server_that_nobody_named(environment: dict[str, str | None]) -> None:
    result = doctor({**environment, "GH_TOKEN": "secret"}, "https://evil.example/o/r")

    assert result.return_value == 1
    assert "GITHUB_SERVER_URL=https://evil.example" in result.stdout


SERVICES = """
[[services]]
name = "lost"
command = ["no-such-program-of-anybody"]

[[services]]
name = "locked"
url = "https://checks.example.com"
token_env = "COGWORKS_SERVICE_LOCKED_TOKEN"

[[services]]
name = "silent"
role = "secondary"
socket = "/nowhere/silent.sock"
"""


def examined(folder: Path, text: str, environment: Mapping[str, str | None]) -> tuple[int, dict[str, Any]]:
    file = folder / "services.toml"
    file.write_text(text)
    result = doctor({**environment, **KEY, "COGWORKS_DOMAIN_SERVICES_CONFIG": str(file)}, "--json")
    told = json.loads(result.stdout)["checks"]
    return result.return_value, {each["name"]: each for each in told if each["name"].startswith("service")}


def test_each_service_is_tried_as_a_step_would(tmp_path: Path, environment: dict[str, str | None]) -> None:
    code, found = examined(tmp_path, SERVICES, environment)

    assert code == 1
    assert {name: check["status"] for name, check in found.items()} == {
        "service lost": "failed",
        "service locked": "failed",
        "service silent": "warning",
    }
    assert "no-such-program-of-anybody cannot be started" in found["service lost"]["found"]
    assert "COGWORKS_SERVICE_LOCKED_TOKEN is not set" in found["service locked"]["found"]
    assert "nothing answers at /nowhere/silent.sock" in found["service silent"]["found"]
    assert "left out with a warning" in found["service silent"]["found"]


def test_every_problem_of_the_services_file_is_told(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    code, found = examined(tmp_path, "[[services]]\nname = 'x'\n[[services]]\n", environment)

    assert code == 1
    assert list(found) == ["services"]
    assert "2 problem(s)" in found["services"]["found"]


def test_the_services_file_of_this_directory_is_read_without_a_url(
    tmp_path: Path, environment: dict[str, str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".cogworks").mkdir()
    (tmp_path / ".cogworks" / "services.toml").write_text("[[services]]\nname = 'x'\nsocket = '/nowhere/s'\n")
    monkeypatch.chdir(tmp_path)

    assert checks(doctor(environment, "--json"))["service x"] == "failed"


def test_services_of_a_repository_that_cannot_be_read_are_not_guessed(
    hub: RunningHub, environment: dict[str, str | None]
) -> None:
    result = doctor({**environment, "GH_TOKEN": "wrong"}, f"{hub.url}/octo/demo", "--json")

    assert checks(result)["services"] == "skipped"


def test_the_context_packs_of_a_repository_are_told_with_when_they_apply(
    hub: RunningHub, environment: dict[str, str | None]
) -> None:
    here = {**environment, **KEY, "GH_TOKEN": OWNER_TOKEN}

    result = doctor(here, f"{hub.url}/octo/packed", "--json")
    page = doctor(here, f"{hub.url}/octo/packed").stdout

    told = json.loads(result.stdout)
    [packs] = [each for each in told["checks"] if each["name"] == "context packs"]
    careful, shipped, untold = packs["found"].splitlines()
    assert (result.return_value, packs["status"], told["requests"]["graphql"]) == (0, "warning", 1)
    assert careful == (
        "`careful` (of this repository) applies where the language is python; tells 1 document(s), about 4 tokens; requires nothing"
    )
    assert shipped.startswith(
        "`python-library` (ships with cogworks) applies where the language is python; tells 3"
    )
    assert untold == "`untold` is left out: it has no `trigger.toml`"
    assert f"warning  context packs  {careful}" in page
    assert "-> Fix what is left out, or remove it" in page


def test_context_packs_that_would_stop_a_run_fail_the_examination_with_the_words_of_the_run(
    hub: RunningHub, environment: dict[str, str | None]
) -> None:
    result = doctor({**environment, **KEY, "GH_TOKEN": OWNER_TOKEN}, f"{hub.url}/octo/broken", "--json")

    [packs] = [each for each in json.loads(result.stdout)["checks"] if each["name"] == "context packs"]
    assert (result.return_value, packs["status"]) == (1, "failed")
    assert "`deep/notes.md` is no file of a pack" in packs["found"]
