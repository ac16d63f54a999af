"""How ruff is started: by itself where it lies beside this interpreter, for each start of Python takes longer than its work."""

import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogworks.services.python.linting import ruff_program


@pytest.fixture(autouse=True)
def _asked_anew() -> Iterator[None]:
    ruff_program.cache_clear()
    yield
    ruff_program.cache_clear()


def test_ruff_is_started_without_a_python_around_it() -> None:
    (program,) = ruff_program()

    assert Path(program).parent == Path(sysconfig.get_path("scripts"))


@pytest.mark.parametrize("inside", [True, False])
def test_where_it_lies_elsewhere_its_package_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: bool
) -> None:
    """A place beyond this environment is out of sight in isolation; the package's own name in the working copy is not taken."""
    if not inside:
        (tmp_path / "ruff").write_text("#!/bin/sh\n")
        (tmp_path / "ruff").chmod(0o755)
    else:
        monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))

    assert ruff_program() == (sys.executable, "-I", "-m", "ruff")
