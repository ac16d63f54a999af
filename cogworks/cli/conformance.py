"""`cogworks service conformance`: does a domain service keep to the Extension API?"""

import json
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cogworks.cli.tables import show_line
from cogworks.errors import UsageError

if TYPE_CHECKING:
    from cogworks.domain_services.configuration import ServiceConfig
    from cogworks.domain_services.conformance.examination import Conformance, Exam, Sample
    from cogworks.domain_services.messages import Handshake

_MAX_SAMPLE_FILES = 20
PROFILE_NAMES = ("code", "firmware", "repair", "review")
"""Those of `cogworks.domain_services.operations`, for the help, which does without importing that."""


@click.command("conformance")
@click.argument("service", metavar="NAME|URL|SOCKET")
@click.option(
    "--profile", type=click.Choice(PROFILE_NAMES), help="Also want what this kind of service offers."
)
@click.option(
    "--repository",
    type=click.Path(path_type=Path, file_okay=False, exists=True, resolve_path=True),
    help="A sample to ask about; for the domain `python` there is one built in.",
)
@click.option(
    "--artifact", "artifacts", multiple=True, help="A file of the sample that is in order (repeatable)."
)
@click.option("--broken", default="", help="A file of the sample in which `validate` must find something.")
@click.option("--failing-test", default="", help="A test of the sample that must fail.")
@click.option(
    "--limit",
    "limit_s",
    type=click.FloatRange(0.1),
    default=60.0,
    show_default=True,
    help="Seconds per call.",
)
@click.option(
    "--token-env", default="", help="For a URL: the variable that holds the token, COGWORKS_SERVICE_…"
)
@click.option(
    "--only", multiple=True, metavar="CHECK", help="Run only this check besides the handshake (repeatable)."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def conformance(
    service: str,
    profile: str | None,
    repository: Path | None,
    artifacts: tuple[str, ...],
    broken: str,
    failing_test: str,
    limit_s: float,
    token_env: str,
    only: tuple[str, ...],
    as_json: bool,
) -> int:
    """Examine a domain service.

    Name one of .cogworks/services.toml, `python` for the bundled one, or give any by its URL or socket. Prints each
    finding with what to do about it. Exits with 1 when there is a finding.

    \b
    Example:
      cogworks service conformance /run/user/1000/rust.sock --repository sample --artifact src/lib.rs
    """
    from cogworks.domain_services.conformance.examination import Exam, Sample, Subject
    from cogworks.domain_services.conformance.suite import examine
    from cogworks.domain_services.opening import open_transport
    from cogworks.domain_services.operations import PROFILES
    from cogworks.settings.config import child_environment

    config = _subject(service, token_env)
    sample = (
        Sample(folder=repository, artifacts=artifacts, broken=broken, failing_test=failing_test)
        if repository
        else None
    )
    with (
        _built_in_sample() as built_in,
        closing(Subject(config, lambda: open_transport(config, child_environment()))) as subject,
    ):
        exam = Exam(subject, limit_s=limit_s, sample=sample, profile=PROFILES[profile] if profile else None)
        report = examine(exam, before_methods=lambda exam: _choose_sample(exam, built_in), only=only)
    if as_json:
        outcome = "succeeded" if report.is_conformant else "failed"
        click.echo(json.dumps({"outcome": outcome, **report.model_dump(mode="json")}))
    else:
        _show(report)
    return 0 if report.is_conformant else 1


def _subject(service: str, token_env: str) -> "ServiceConfig":
    from cogworks.cli.health import chosen_services
    from cogworks.domain_services.configuration import ServiceConfig, address_problem
    from cogworks.settings.config import read_environment

    if service.startswith(("http://", "https://")):
        if reason := address_problem(service, has_token=bool(token_env)):
            raise UsageError(f"{service!r} {reason}")
        return ServiceConfig(name="subject", url=service, token_env=token_env)
    if "/" in service:
        return ServiceConfig(name="subject", socket=str(Path(service).resolve()))
    return chosen_services(read_environment(), Path(), service)[0]


@contextmanager
def _built_in_sample() -> "Iterator[Sample]":
    from cogworks.domain_services.conformance.examination import Sample
    from cogworks.services.python import sample

    with tempfile.TemporaryDirectory(prefix="cogworks-sample-") as folder:
        for path, text in sample.FILES.items():
            (Path(folder) / path).write_text(text, encoding="utf-8")
        yield Sample(
            folder=Path(folder),
            artifacts=sample.ARTIFACTS,
            broken=sample.BROKEN,
            failing_test=sample.FAILING_TEST,
        )


def _choose_sample(exam: "Exam", built_in: "Sample") -> None:
    from cogworks.domain_services.conformance.examination import Sample

    handshake = exam.handshake
    if handshake is None:
        return
    if exam.sample is None:
        exam.sample = built_in if handshake.domain == "python" else None
    elif not exam.sample.artifacts:
        folder = exam.sample.folder
        exam.sample = Sample(
            folder=folder,
            artifacts=_artifacts(folder, handshake, but=exam.sample.broken),
            broken=exam.sample.broken,
            failing_test=exam.sample.failing_test,
        )


def _artifacts(folder: Path, handshake: "Handshake", *, but: str) -> tuple[str, ...]:
    patterns = handshake.artifact_patterns or ("*",)
    paths = {
        path.relative_to(folder).as_posix()
        for pattern in patterns
        for path in folder.rglob(pattern)
        if path.is_file() and ".git" not in path.parts
    }
    return tuple(sorted(paths - {but})[:_MAX_SAMPLE_FILES])


def _show(report: "Conformance") -> None:
    from cogworks.cli.tables import Column, show_table

    words = {"passed": "ok", "failed": "FAILED", "skipped": "skipped"}
    rows = []
    for result in report.results:
        rows.append([words[result.status], result.check, result.reason or result.title])
        for finding in result.findings:
            rows.append(["", "", finding.found])
            rows.append(["", "", f"-> {finding.remedy}"])
    show_table([Column("result"), Column("check"), Column("finding, and what to do")], rows)
    passed = sum(result.status == "passed" for result in report.results)
    show_line(f"\n{report.service}: {passed} passed, {len(report.failed)} failed, of {len(report.results)}")
