"""`cogworks doctor`: what would stop a work item on this machine or in a repository, and what to do about it."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cogworks.cli.tables import show_line
from cogworks.errors import CogworksError, Interrupted
from cogworks.forge.addresses import parse_repository_url
from cogworks.github.meter import Requests

if TYPE_CHECKING:
    from cogworks.forge.diagnosis import Check
    from cogworks.github.examination import Examined
    from cogworks.services.sandbox.isolation import Isolation
    from cogworks.settings.config import Environment

GITHUB = "https://github.com"


@click.command("doctor")
@click.argument("target", required=False, metavar="[PATH|URL]")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def doctor(target: str | None, as_json: bool) -> int:
    """Find what would stop cogworks here, by trying it as a run would.

    With a PATH, makes the environment of that checkout and runs its tests once, in isolation. Prints the result, the
    time it took, what a work item would do there, and the configuration to write where cogworks guessed. Needs no token
    and no key, and no network but the package index. Uncommitted files count, files that git ignores do not. Writes
    nothing into the checkout, and keeps what it installed for the next time.

    Without a PATH, checks Python, git, the work directory, the package index, the token, and the domain services of the
    repository in this directory. With the URL of a repository or an issue, also checks its permissions, rules, clock,
    configuration, services, context packs, languages and the model's price. Leaves nothing behind.

    Exits with 1 when you have something to do.

    \b
    Examples:
      cogworks doctor .
      cogworks doctor ~/src/shop --json
      cogworks doctor https://github.com/octo-org/hello
    """
    if target is not None and "://" not in target:
        return _of_checkout(Path(target), as_json=as_json)
    return _of_machine(target, as_json=as_json)


def _of_checkout(folder: Path, *, as_json: bool) -> int:
    from cogworks.checkup.outlook import things_to_do
    from cogworks.cli.checkup_pages import as_object, show
    from cogworks.cli.progress import progress_line, ticking
    from cogworks.settings.config import read_environment
    from cogworks.stopping import ended_by_signal
    from cogworks.wiring.checkup import look_at

    try:
        with ended_by_signal():
            checkup = look_at(folder, read_environment(), during=ticking(progress_line()))
    except KeyboardInterrupt:
        raise Interrupted("interrupted; nothing was changed. Run the same command again.") from None
    is_interrupted = checkup.suite is not None and checkup.suite.is_interrupted
    if not as_json:
        show(checkup)
    elif not is_interrupted:
        click.echo(json.dumps(as_object(checkup)))
    if is_interrupted:
        raise Interrupted("interrupted while the suite ran; nothing was changed. Run the same command again.")
    return 1 if things_to_do(checkup) else 0


def _of_machine(url: str | None, *, as_json: bool) -> int:
    from cogworks.cli.service_checks import service_checks
    from cogworks.forge import diagnosis
    from cogworks.readiness import examined
    from cogworks.settings.config import read_environment
    from cogworks.wiring.readiness import machine_trials, slow_trials

    environment, meter = read_environment(), Requests()
    checks = [
        diagnosis.python_check(sys.version_info[:3]),
        *examined(machine_trials(environment)),
        isolation_check(_tried()),
        *examined(slow_trials(environment)),
    ]
    examined_repository = _github(environment, url, meter)
    checks += [
        *examined_repository.checks,
        *service_checks(
            environment, _service_files(url, examined_repository), _root_names(url, examined_repository)
        ),
        *_work(environment, examined_repository),
    ]
    is_well = all(check.status != "failed" for check in checks)
    if as_json:
        report = {
            "outcome": "succeeded" if is_well else "failed",
            "checks": [check.model_dump(mode="json") for check in checks],
            "requests": {"graphql": meter.graphql, "rest": meter.rest, "git": meter.git},
        }
        click.echo(json.dumps(report))
    else:
        _print(checks)
    return 0 if is_well else 1


def _tried() -> "Isolation":
    """What keeps the tests of a repository from this machine: each wall is built and tried."""
    from cogworks.services.sandbox.probing import strongest
    from cogworks.settings.config import child_environment

    return strongest(child_environment().get("PATH", os.defpath))


def isolation_check(isolation: "Isolation") -> "Check":
    """The isolation as a check, with what to do where it is not complete."""
    from cogworks.forge.diagnosis import Check

    lines = [f"code of a repository runs with: {', '.join(isolation.layers)}"]
    lines += list(_limits(isolation))
    lines += [f"not kept from it: {'; '.join(isolation.unprotected)}"] if isolation.unprotected else []
    lines += [f"no {each.wall}: {each.why}" for each in isolation.lacking]
    remedies = " ".join(each.remedy for each in isolation.lacking if each.remedy)
    if not isolation.is_complete:
        refused = "items that are safety-critical, or from somebody without write permission, are refused"
        lines.append("no code of a repository runs, because you are root" if isolation.is_root else refused)
    return Check(
        name="isolation",
        status="warning" if isolation.lacking else "ok",
        found="\n".join(lines),
        remedy=remedies,
    )


def _limits(isolation: "Isolation") -> tuple[str, ...]:
    """What holds the limits of a run."""
    if isolation.group:
        limit = f"memory and threads of a run are limited by a control group in {isolation.group}"
        return (f"{limit}; processes and disk are checked many times a second",)
    counted = (
        "memory, processes and disk of a run are checked many times a second; no control group limits them"
    )
    without = isolation.ungrouped
    return (f"{counted}: {without.why}. {without.remedy}" if without else counted,)


def _work(environment: "Environment", repository: "Examined") -> "list[Check]":
    """Whether a step would begin: what it tries before it claims anything."""
    from cogworks.readiness import examined
    from cogworks.wiring.readiness import packs_check, provider_trial, repository_trials

    if repository.config is None or repository.files is None:
        return examined([provider_trial(environment)])
    packs = packs_check(repository.packs, repository.config)
    return [
        *([packs] if packs else []),
        *examined(repository_trials(repository.config, repository.files, repository.contents, environment)),
    ]


def _root_names(url: str | None, repository: "Examined") -> Sequence[str]:
    """What lies at the root of the repository, which shows its languages."""
    return repository.contents.root_names if url else tuple(sorted(each.name for each in Path().iterdir()))


def _service_files(url: str | None, repository: "Examined") -> Mapping[str, str] | None:
    """The repository's own files that say which services it has; None: they are not known."""
    from cogworks.domain_services.configuration import SERVICES_FILE

    if url:
        return repository.files
    file = Path(SERVICES_FILE)
    return {file.name: file.read_text(encoding="utf-8", errors="replace")} if file.is_file() else {}


def _github(environment: "Environment", url: str | None, meter: Requests) -> "Examined":
    from cogworks.forge import diagnosis
    from cogworks.github.examination import Examined, examine_repository, examine_token
    from cogworks.wiring.step import open_examination

    address = parse_repository_url(url) if url else None
    if address is None and environment.github_app_id and not environment.github_token_source:
        return Examined([diagnosis.skipped("token", "give the URL of a repository to try the GitHub App")])
    server_url = address.server_url if address else environment.github_server_url.rstrip("/") or GITHUB
    repository = address.full_name if address else ""
    try:
        with open_examination(environment, server_url, repository, meter=meter) as (client, rest, source):
            if address is None:
                return Examined(examine_token(client, source=source, now=_now))
            return examine_repository(client, rest, address, source=source, now=_now)
    except CogworksError as error:
        return Examined([diagnosis.failed("token", error)])


def _now() -> datetime:
    return datetime.now(UTC)


def _print(checks: "Sequence[Check]") -> None:
    words = {"ok": "ok", "warning": "warning", "failed": "FAILED", "skipped": "skipped"}
    for check in checks:
        lines = check.found.splitlines() or [""]
        show_line(f"{words[check.status]:<8} {check.name:<14} {lines[0]}")
        for line in lines[1:]:
            show_line(f"{'':<23} {line}")
        if check.remedy and check.status != "ok":
            show_line(f"{'':<23} -> {check.remedy}")
