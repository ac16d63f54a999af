"""Programs of this machine that are older than a repository asks for."""

from pathlib import Path

import pytest

from cogworks.services.command.toolchains import too_old
from tests.services.asking import laid_out
from tests.services.command.commanding import ask, needs, report_of
from tests.services.command.test_own_setup import committed


@pytest.mark.parametrize(
    ("manifests", "versions", "told"),
    [
        ({"go.mod": "module x\n\ngo 1.21\n"}, {"go": "1.19.8"}, "go.mod asks for go 1.21 or newer, and this machine has 1.19.8: install Go 1.21 or newer (https://go.dev/dl"),
        ({"go.mod": "module x\n\ngo 1.21.3\n"}, {"go": "1.21.4"}, ""),
        ({"go.mod": "module x\n"}, {"go": "1.19.8"}, ""),
        ({"package.json": '{"engines": {"node": ">=22.12.0"}}'}, {"node": "20.20.2"}, "package.json asks for node 22.12.0 or newer, and this machine has 20.20.2: install Node.js 22.12.0 or newer ("),
        ({"package.json": '{"engines": {"node": ">= 18"}}'}, {"node": "20.20.2"}, ""),
        ({"package.json": '{"engines": {"node": "^18 || >=22"}}'}, {"node": "20.20.2"}, ""),
        ({"package.json": '{"engines": ["node"]}'}, {"node": "4.0.0"}, ""),
        ({"package.json": "["}, {"node": "4.0.0"}, ""),
        ({"package.json": "[]"}, {"node": "4.0.0"}, ""),
    ],
    ids=["go", "go-new-enough", "go-unsaid", "node", "node-new-enough", "node-ranges", "no-engines", "no-json", "a-list"],
)  # fmt: skip
def test_a_program_that_is_older_than_a_manifest_asks_for_is_named(
    manifests: dict[str, str], versions: dict[str, str], told: str
) -> None:
    found = " ".join(too_old(manifests, versions))

    assert found.startswith(told)
    assert bool(found) == bool(told)


@pytest.mark.slow
@needs("go")
@pytest.mark.parametrize("method", ["prepare", "simulate"])
def test_a_setup_that_fails_under_an_older_program_names_the_program(tmp_path: Path, method: str) -> None:
    files = {"go.mod": "module x\n\ngo 1.99.0\n", "a_test.go": "package x\n", "go.sum": "y v1.0.0 h1:A=\n"}
    base = committed(tmp_path / "repository", files)

    error = ask(method, tmp_path / "repository", base=base, settings={"setup": ["go mod download"]}).error

    assert error is not None
    assert "go.mod asks for go 1.99.0 or newer, and this machine has 1." in error.message
    assert "Mend it on the base branch" not in error.message


@pytest.mark.slow
@needs("go")
def test_the_remedy_for_what_a_newer_go_knows_is_a_newer_go(tmp_path: Path) -> None:
    files = {"go.mod": "module x\n\ngo 1.99\n", "a_test.go": "package x\n\nvar a = missing\n"}
    report = report_of(laid_out(tmp_path, files))

    assert report.collection_errors
    assert report.remedies[0].startswith("go.mod asks for go 1.99 or newer, and this machine has 1.")
