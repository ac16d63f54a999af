"""Packages as they are published: every operation answers, and their own tests come out as plain pytest says.

Sources come from the index that pip is configured for, by name, version and hash; they and their environments are kept in a
cache of this machine. Run with `-s` to see the table.
"""

import json
import os
import shutil
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cogworks.domain_services import operations
from cogworks.domain_services.answers import Answer
from cogworks.domain_services.checking import (
    Artifacts,
    PrepareParams,
    ReviewRulesParams,
    SimulateParams,
    ValidateDepsParams,
    ValidateParams,
)
from cogworks.domain_services.client import ServiceClient
from cogworks.domain_services.exploring import (
    BesideParams,
    CallGraphParams,
    CoverageParams,
    ExploreParams,
    InstrumentParams,
    TraceParams,
)
from cogworks.domain_services.messages import Message, Request, TestReport
from cogworks.domain_services.opening import BUNDLED, open_client
from cogworks.services.python.choosing import interpreter_for
from cogworks.services.python.environments import Environments
from cogworks.services.python.machine import Machine
from cogworks.services.python.pythons import Interpreter
from scripts.benchmarks.published import CACHE, Release, source_of
from tests.services.pythons import HERE, WITH_UV

HERE_LIE = Path(__file__).parent
LIMIT_S = 240.0


class Package(NamedTuple):
    """One published package; how it is known is in `real_packages.toml`."""

    release: Release
    differ: dict[str, str]
    """Test -> why it comes out otherwise in isolation."""
    options: tuple[str, ...]
    """What the package's own configuration of tox gives pytest."""


PACKAGES = [
    Package(
        Release(each["name"], each["version"], each["sha256"]),
        each.get("differ", {}),
        tuple(each.get("options", ())),
    )
    for each in tomllib.loads((HERE_LIE / "real_packages.toml").read_text(encoding="utf-8"))["packages"]
]


class Copy:
    def __init__(self, path: Path) -> None:
        self.path = path


@pytest.fixture(scope="module")
def client() -> Iterator[ServiceClient]:
    service = BUNDLED.model_copy(
        update={
            "command": (*BUNDLED.command, "--environments", str(CACHE / "environments")),
            "timeouts": {"simulate": LIMIT_S, "coverage": LIMIT_S, "trace": LIMIT_S},
        }
    )
    with open_client(service, environment={**os.environ, "PATH": WITH_UV}) as opened:
        yield opened


def interpreter_of(root: Path) -> Interpreter:
    """The one that the service takes."""
    environments = Environments(CACHE / "environments", settings=dict(os.environ))
    request = Request(request_id="1", method="simulate")
    return interpreter_for(request, root, Machine(WITH_UV, HERE, environments), limit_s=LIMIT_S)


def plain_run(root: Path, interpreter: Interpreter, options: tuple[str, ...]) -> dict[str, str]:
    """The outcome of every test as pytest itself reports it, without cogworks."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy, report = folder / "copy", folder / "report.json"
        shutil.copytree(root, copy, symlinks=True)
        sources = copy / "src" if (copy / "src").is_dir() else copy
        environment = {
            "PATH": os.pathsep.join([*map(str, interpreter.programs), os.environ["PATH"]]),
            "HOME": name,
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": os.pathsep.join([str(HERE_LIE), str(sources)]),
            "PLAIN_REPORT": str(report),
        }
        command: list[str | Path] = [
            interpreter.python,
            "-m",
            "pytest",
            "-q",
            "-p",
            "plain_report",
            "-p",
            "no:cacheprovider",
            *options,
        ]
        done = subprocess.run(
            command, check=False, cwd=copy, env=environment, capture_output=True, text=True, timeout=LIMIT_S
        )
        assert report.is_file(), done.stdout + done.stderr
        found: dict[str, str] = json.loads(report.read_text(encoding="utf-8"))
    return found


def params_of(root: Path, report: TestReport) -> dict[str, Message]:
    """What each operation is asked of a package."""
    files = tuple(sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py")))
    test = next(case.id for case in report.cases if case.outcome == "passed")
    return {
        "prepare": PrepareParams(timeout_s=LIMIT_S),
        "validate": ValidateParams(artifacts=files),
        "normalise": Artifacts(artifacts=files),
        "review_rules": ReviewRulesParams(artifacts=files),
        "validate_deps": ValidateDepsParams(),
        "extract_interfaces": Artifacts(artifacts=files),
        "dependency_graph": Artifacts(artifacts=files),
        "index": ExploreParams(),
        "call_graph": CallGraphParams(seeds=(f"{files[0]}:1",)),
        "coverage": CoverageParams(tests=(test,)),
        "trace": TraceParams(test=test),
        "instrument": InstrumentParams(artifact=files[0], line=1, mode="note"),
        "signatures": ExploreParams(),
        "beside": BesideParams(tests=(test,), lines={files[0]: ((1, 1),)}),
    }


def simulated(client: ServiceClient, root: Path) -> Answer[TestReport]:
    answer = client.call(operations.SIMULATE, Copy(root), SimulateParams(timeout_s=LIMIT_S))
    assert isinstance(answer, Answer)
    return answer


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("package", PACKAGES, ids=[each.release.name for each in PACKAGES])
def test_a_published_package_is_understood_and_its_tests_come_out_as_plain_pytest_says(
    package: Package, client: ServiceClient, tmp_path: Path, record_property: Any
) -> None:
    root = source_of(package.release, tmp_path)

    started_s = time.monotonic()
    report = simulated(client, root).result
    taken_s = time.monotonic() - started_s
    plain = plain_run(root, interpreter_of(root), package.options)
    answers = {
        method: client.call(operations.OPERATIONS[method], Copy(root), params)
        for method, params in params_of(root, report).items()
        if client.offers(method)
    }

    ours = {case.id: case.outcome for case in report.cases}
    differ = {test for test in ours.keys() | plain.keys() if ours.get(test) != plain.get(test)}
    agree = len(ours.keys() | plain.keys()) - len(differ)
    row = f"{package.release.name} {package.release.version}: {len(ours)} tests, {agree} agree, {len(differ)} differ, {taken_s:.1f} s"
    record_property("package", row)
    print(f"\n{row}; also answered: {', '.join(answers)}")  # noqa: T201  # the table that `-s` shows
    assert report.collection_errors == ()
    assert differ == package.differ.keys()
    assert all(isinstance(answer, Answer) for answer in answers.values())
    assert {"simulate", *answers} == set(client.handshake().capabilities)


def test_enough_packages_are_tried_and_hardly_any_test_is_excused() -> None:
    assert len(PACKAGES) >= 10
    assert sum(len(package.differ) for package in PACKAGES) <= 5
    assert all(reason for package in PACKAGES for reason in package.differ.values())
