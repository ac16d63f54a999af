import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RENDER = """
import cogworks
from cogworks.llm.package_data import shipped_prompts, shipped_schemas
assert cogworks.__file__.startswith({folder!r}), cogworks.__file__
told = dict(failures=[], suspects=[], windows=[], reasons=[], evidence=["seen"], ids=[], candidates=[], most=2, changed_lines=12)
for stem in ("recall", "probe_patches"):
    assert "## What probes found out" in shipped_prompts().render(stem, told).user
    assert '"properties"' in shipped_schemas()[stem]
print("rendered")
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_prompts_and_schemas_come_with_an_installed_wheel(tmp_path: Path) -> None:
    wheels, folder = tmp_path / "wheels", tmp_path / "elsewhere"
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "build", "--quiet", "--wheel", "--out-dir", str(wheels), str(ROOT)], check=True)
    (wheel,) = wheels.glob("*.whl")
    subprocess.run(
        [*uv, "pip", "install", "--quiet", "--no-deps", "--target", str(folder), str(wheel)], check=True
    )

    done = subprocess.run(
        [sys.executable, "-c", RENDER.format(folder=str(folder))],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout, done.stderr) == ("rendered\n", "")
