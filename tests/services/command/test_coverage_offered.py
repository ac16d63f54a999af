"""Where the service of commands announces `coverage`, and what it says elsewhere."""

from pathlib import Path
from typing import Any

import pytest

from cogworks.domain_services.messages import ErrorCode
from cogworks.services.command.ground import Commands
from tests.services.asking import laid_out
from tests.services.command.commanding import ask

GO = Commands(language="go")


@pytest.mark.parametrize(
    ("commands", "offers"),
    [
        (Commands(), False),
        (Commands(language="go"), True),
        (Commands(root_language="go"), True),
        (Commands(language="rust", root_language="go"), False),
        (Commands(root_language="typescript"), False),
        (Commands(language="go", test="go test -tags x ./..."), True),
        (Commands(language="go", test="make test"), False),
    ],
)
def test_coverage_is_announced_where_it_can_be_measured_and_refused_elsewhere(
    tmp_path: Path, commands: Commands, offers: bool
) -> None:
    told = ask("handshake", tmp_path, commands=commands).result["capabilities"]

    assert ("coverage" in told) is offers
    if not offers:
        refused = ask("coverage", tmp_path, commands=commands).error
        assert refused is not None
        assert refused.code is ErrorCode.UNSUPPORTED_METHOD


@pytest.mark.parametrize("asked", [{}, {"command": ["make", "test"]}], ids=["root", "command"])
def test_a_root_whose_tests_go_does_not_run_is_refused(tmp_path: Path, asked: dict[str, Any]) -> None:
    files = {"go.mod": "module a\n"} if asked else {"Cargo.toml": "[package]\n"}
    laid_out(tmp_path, files)

    response = ask("coverage", tmp_path, commands=Commands(root_language="go"), **asked)

    assert response.error is not None
    assert response.error.code is ErrorCode.UNSUPPORTED_METHOD
    assert "go test" in response.error.message


def test_a_path_outside_of_the_repository_is_refused(tmp_path: Path) -> None:
    response = ask("coverage", tmp_path, commands=GO, artifacts=["../a.go"])

    assert response.error is not None
    assert response.error.code is ErrorCode.INVALID_REQUEST
