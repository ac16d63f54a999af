"""What a program reports that loads tests of Node's own runner, as a whole and one file at a time."""

import json
from pathlib import Path

import pytest

from tests.services.asking import laid_out
from tests.services.command.commanding import needs, outcomes, report_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120), needs("node")]

PREPARED = {"mode": "prepared"}
SCRIPTS = {
    "test-dev": "node --conditions development test/index.js",
    "test-prod": "node --conditions production test/index.js",
    "test": "npm run test-dev && npm run test-prod",
}
A = "import test from 'node:test'\ntest('adds', async (t) => { await t.test('twice', () => {}) })\n"
B = "import assert from 'node:assert'\nimport test from 'node:test'\ntest('differs', () => assert.equal(1, 2))\n"
FILES = {
    "package.json": json.dumps({"type": "module", "scripts": SCRIPTS}),
    "test/index.js": "import './a.js'\nimport './in/b.js'\n",
    "test/a.js": A,
    "test/in/b.js": B,
}


def test_tests_belong_to_their_files_and_run_one_file_at_a_time(tmp_path: Path) -> None:
    place = laid_out(tmp_path, FILES)
    whole = report_of(place, settings=PREPARED)
    file = report_of(place, settings=PREPARED, tests=["test/a.js"])

    assert outcomes(whole) == {
        "test/a.js::adds > twice": "passed",
        "test/in/b.js::differs": "failed",
    }
    assert whole.commands == (SCRIPTS["test-dev"],)
    assert outcomes(file) == {"test/a.js::adds > twice": "passed"}
    assert file.commands == ("node --conditions development test/a.js",)


def test_a_program_that_cannot_be_loaded_is_no_failing_test(tmp_path: Path) -> None:
    report = report_of(
        laid_out(tmp_path, FILES | {"test/a.js": A + "import './gone.js'\n"}), settings=PREPARED
    )

    assert report.cases == ()
    assert "gone.js" in report.collection_errors[0]
