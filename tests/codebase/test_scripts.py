import sys

import pytest

from cogworks.codebase.scripts import MAX_OUTPUT_BYTES, ScriptRun, run_script
from cogworks.errors import CogworksError


def run(code: str, *, limit_s: float | None = 60, stdin: str = "", **environment: str) -> ScriptRun:
    return run_script(
        [sys.executable, "-I", "-S", "-c", code], stdin=stdin, environment=environment, limit_s=limit_s
    )


def test_both_outputs_and_the_exit_code_are_kept() -> None:
    code = "import sys; print(sys.stdin.read().upper()); print('no', file=sys.stderr); sys.exit(3)"

    assert run(code, stdin="told") == ScriptRun(exit_code=3, stdout="TOLD\n", stderr="no\n")


def test_no_secret_of_the_environment_reaches_a_script() -> None:
    done = run("import os; print(sorted(os.environ))", PATH="/bin", COGWORKS_GITHUB_TOKEN="secret")

    assert "TOKEN" not in done.stdout
    assert "'PATH'" in done.stdout


def test_a_script_that_hangs_is_killed_with_what_it_started() -> None:
    code = (
        "import subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(600)'])\n"
        "time.sleep(600)"
    )

    assert run(code, limit_s=0.5).exit_code is None


def test_what_stays_in_the_background_does_not_hold_up_the_end() -> None:
    code = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(600)'])\n"
        "print('done')"
    )

    assert run(code).stdout == "done\n"


def test_endless_output_is_cut() -> None:
    assert len(run(f"print('x' * {2 * MAX_OUTPUT_BYTES})").stdout) == MAX_OUTPUT_BYTES


def test_what_cannot_be_started_is_named() -> None:
    with pytest.raises(CogworksError, match="script /no/such cannot be started"):
        run_script(["/no/such"], stdin="", environment={}, limit_s=1)
