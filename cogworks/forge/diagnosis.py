"""What is wrong with a machine, a token or a repository, and what to do about each."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

from cogworks.errors import CogworksError, ConfigurationError
from cogworks.pipeline.parser import parse_pipelines
from cogworks.settings.config import PIPELINE_FILE, Config, require_config
from cogworks.vocabulary import Value

MAX_SKEW = timedelta(minutes=5)
OLDEST_PYTHON = (3, 11)
OLDEST_GIT = (2, 31)
"""The first that takes configuration from its environment."""
_FORBIDDING = frozenset(
    {
        "creation",
        "update",
        "pull_request",
        "required_status_checks",
        "merge_queue",
        "required_deployments",
        "workflows",
    }
)
_HARMLESS = frozenset({"deletion", "non_fast_forward", "required_linear_history"})
"""What cogworks never does, or always does."""


class Check(Value):
    """One thing that was looked at."""

    name: str
    status: Literal["ok", "warning", "failed", "skipped"]
    found: str
    remedy: str = ""
    """What to do; empty where nothing has to be done, or `found` says it."""


def failed(name: str, error: CogworksError) -> Check:
    """The check that an error kept from passing; its message says what to do."""
    return Check(name=name, status="failed", found=str(error))


def skipped(name: str, why: str) -> Check:
    return Check(name=name, status="skipped", found=why)


def python_check(version: tuple[int, int, int]) -> Check:
    number = ".".join(map(str, version))
    if version[:2] >= OLDEST_PYTHON:
        return Check(name="python", status="ok", found=number)
    return Check(name="python", status="failed", found=number, remedy="Install Python 3.11 or newer.")


def git_check(version_line: str) -> Check:
    """Args:
    version_line: printed by `git --version`; empty when there is no git.
    """
    words = [*version_line.split(), "", "", ""]
    numbers = [part for part in words[2].split(".") if part.isdigit()]
    version = tuple(int(part) for part in numbers[:2])
    if version >= OLDEST_GIT:
        return Check(name="git", status="ok", found=version_line)
    return Check(
        name="git",
        status="failed",
        found=version_line or "no git on PATH",
        remedy="Install git 2.31 or newer.",
    )


def clock_check(server_date: datetime, now: datetime) -> Check:
    """This machine's clock against GitHub's; only the signature of an App depends on it."""
    skew_s = (now - server_date).total_seconds()
    skew = f"{abs(skew_s):.0f} s {'ahead of' if skew_s > 0 else 'behind'} GitHub"
    if abs(skew_s) <= MAX_SKEW.total_seconds():
        return Check(name="clock", status="ok", found=skew)
    return Check(
        name="clock",
        status="warning",
        found=skew,
        remedy="Set the clock (e.g. `timedatectl set-ntp true`); a GitHub App cannot sign in with a wrong one.",
    )


def permission_check(viewer_permission: str | None, pushes: Callable[[], bool], repository: str) -> Check:
    """Whether the token may write.

    Args:
        viewer_permission: as GraphQL says; None for an installation.
        pushes: asked only then.
    """
    may_write = viewer_permission in ("ADMIN", "MAINTAIN", "WRITE") if viewer_permission else pushes()
    role = viewer_permission or (
        "an installation that may write" if may_write else "an installation that may only read"
    )
    if may_write:
        return Check(name="permission", status="ok", found=f"{role} on {repository}")
    return Check(
        name="permission",
        status="failed",
        found=f"{role} on {repository}",
        remedy="Give the token's owner the role Write, and the token `contents`, `issues` and `pull requests`: write.",
    )


def repository_check(*, is_archived: bool, has_issues: bool, repository: str) -> Check:
    if is_archived:
        return Check(
            name="repository", status="failed", found=f"{repository} is archived", remedy="Unarchive it."
        )
    if not has_issues:
        return Check(
            name="repository",
            status="failed",
            found=f"issues are switched off in {repository}",
            remedy="Switch them on in the repository's settings.",
        )
    return Check(name="repository", status="ok", found=repository)


def workflow_check(may_open_pull_requests: bool, *, token_source: str) -> Check:
    """Matters only to steps that run with the token of a workflow."""
    if may_open_pull_requests:
        return Check(name="workflows", status="ok", found="workflows may open pull requests")
    is_needed = "`GITHUB_TOKEN`" in token_source
    return Check(
        name="workflows",
        status="warning" if is_needed else "ok",
        found="workflows may not open pull requests with `GITHUB_TOKEN`",
        remedy="Settings > Actions > General > Allow GitHub Actions to create and approve pull requests, or use an App."
        if is_needed
        else "",
    )


def rules_check(rules: Mapping[str, Sequence[str]]) -> Check:
    """Args:
    rules: branch -> kinds of the rules that hold for it.
    """
    forbidding = [
        f"{branch}: {kind}" for branch, kinds in rules.items() for kind in kinds if kind in _FORBIDDING
    ]
    doubtful = [
        f"{branch}: {kind}"
        for branch, kinds in rules.items()
        for kind in kinds
        if kind not in _FORBIDDING | _HARMLESS
    ]
    remedy = (
        "Exempt `cogworks/**` from the ruleset (Settings > Rules > Rulesets > Target branches > Exclude), or let the "
        "token's owner bypass it."
    )
    if forbidding:
        return Check(
            name="rules", status="failed", found=f"rules forbid {', '.join(forbidding)}", remedy=remedy
        )
    if doubtful:
        doubts = f"rules may get in the way of {', '.join(doubtful)}"
        return Check(name="rules", status="warning", found=doubts, remedy=remedy)
    return Check(name="rules", status="ok", found="no rule forbids `cogworks/ledger/*` or work branches")


def configuration_check(files: Mapping[str, str], *, where: str) -> tuple[Check, Config | None]:
    """Whether the files of the default branch can be understood; the configuration if they can."""
    try:
        config = require_config(files, where=where)
        if "pipeline.toml" in files:
            parse_pipelines(files["pipeline.toml"], source=PIPELINE_FILE)
    except ConfigurationError as error:
        return (
            Check(
                name="configuration",
                status="failed",
                found=str(error),
                remedy="Correct the file on the default branch.",
            ),
            None,
        )
    except CogworksError as error:
        return failed("configuration", error), None
    files_read = (
        "config.toml, pipeline.toml" if "pipeline.toml" in files else "config.toml, the built-in pipeline"
    )
    return Check(name="configuration", status="ok", found=f"{files_read}; model {config.llm.model}"), config
