from datetime import UTC, datetime, timedelta

import pytest

from cogworks.forge.diagnosis import (
    clock_check,
    configuration_check,
    git_check,
    permission_check,
    python_check,
    repository_check,
    rules_check,
    workflow_check,
)

NOW = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)
CONFIG = '[llm]\nmodel = "claude-sonnet-5-5"\n'


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("git version 2.39.5", "ok"),
        ("git version 2.39.5 (Apple Git-154)", "ok"),
        ("git version 2.31.0.windows.1", "ok"),
        ("git version 3.0", "ok"),
        ("git version 2.30.9", "failed"),
        ("", "failed"),
        ("what?", "failed"),
    ],
)
def test_git_is_told_by_its_version(said: str, status: str) -> None:
    check = git_check(said)

    assert check.status == status
    assert bool(check.remedy) == (status == "failed")


@pytest.mark.parametrize(("version", "status"), [((3, 11, 0), "ok"), ((3, 10, 14), "failed")])
def test_python_is_told_by_its_version(version: tuple[int, int, int], status: str) -> None:
    assert python_check(version).status == status


@pytest.mark.parametrize(
    ("skew", "status", "found"),
    [
        (timedelta(minutes=5), "ok", "300 s ahead of GitHub"),
        (timedelta(minutes=-5), "ok", "300 s behind GitHub"),
        (timedelta(seconds=301), "warning", "301 s ahead of GitHub"),
        (timedelta(hours=-2), "warning", "7200 s behind GitHub"),
    ],
)
def test_a_clock_more_than_five_minutes_off_is_a_warning(skew: timedelta, status: str, found: str) -> None:
    check = clock_check(NOW, NOW + skew)

    assert (check.status, check.found) == (status, found)


@pytest.mark.parametrize(
    ("permission", "pushes", "status"),
    [
        ("ADMIN", False, "ok"),
        ("MAINTAIN", False, "ok"),
        ("WRITE", False, "ok"),
        ("TRIAGE", True, "failed"),
        ("READ", True, "failed"),
        (None, True, "ok"),
        (None, False, "failed"),
    ],
)
def test_an_installation_is_asked_another_way(permission: str | None, pushes: bool, status: str) -> None:
    assert permission_check(permission, lambda: pushes, "o/r").status == status


@pytest.mark.parametrize(
    ("archived", "issues", "status"), [(False, True, "ok"), (True, True, "failed"), (False, False, "failed")]
)
def test_a_repository_has_to_be_alive_and_take_issues(archived: bool, issues: bool, status: str) -> None:
    assert repository_check(is_archived=archived, has_issues=issues, repository="o/r").status == status


@pytest.mark.parametrize(
    ("allowed", "source", "status"),
    [(True, "`GITHUB_TOKEN`", "ok"), (False, "`GITHUB_TOKEN`", "warning"), (False, "`GH_TOKEN`", "ok")],
)
def test_the_switch_for_workflows_matters_to_their_own_token_only(
    allowed: bool, source: str, status: str
) -> None:
    assert workflow_check(allowed, token_source=source).status == status


@pytest.mark.parametrize(
    ("kinds", "status", "words"),
    [
        ((), "ok", "no rule forbids"),
        (("deletion", "non_fast_forward", "required_linear_history"), "ok", "no rule forbids"),
        (("creation", "deletion"), "failed", "rules forbid cogworks/ledger/1: creation"),
        (("pull_request",), "failed", "pull_request"),
        (
            ("commit_message_pattern",),
            "warning",
            "may get in the way of cogworks/ledger/1: commit_message_pattern",
        ),
        (("something_new",), "warning", "something_new"),
    ],
)
def test_rules_are_told_by_what_they_would_do_to_our_branches(
    kinds: tuple[str, ...], status: str, words: str
) -> None:
    check = rules_check({"cogworks/ledger/1": kinds})

    assert check.status == status
    assert words in check.found


@pytest.mark.parametrize(
    ("files", "status", "words"),
    [
        ({"config.toml": CONFIG}, "ok", "the built-in pipeline; model claude-sonnet-5-5"),
        ({}, "failed", "has no `.cogworks/config.toml`"),
        ({"config.toml": "[llm]\n"}, "failed", "`llm.model` is missing"),
        ({"config.toml": CONFIG, "pipeline.toml": "nodes = 1"}, "failed", ".cogworks/pipeline.toml has"),
    ],
    ids=["good", "missing", "incomplete", "pipeline"],
)
def test_every_file_of_the_configuration_is_read(files: dict[str, str], status: str, words: str) -> None:
    check, config = configuration_check(files, where="o/r")

    assert check.status == status
    assert words in check.found
    assert (config is not None) == (status == "ok")
