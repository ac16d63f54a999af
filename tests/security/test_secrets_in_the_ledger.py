"""A model writes secrets into its replies, and people into their words: the ledger, which everybody may read, holds none."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cogworks.secretforms import WITHHELD
from tests.codebase.test_secretlines import DRAWN, TOKEN
from tests.end_to_end.scene import open_scene
from tests.end_to_end.test_example_pipelines import (
    FIXED,
    HOURS,
    IMPLEMENTED,
    PARSING,
    PASSED,
    Stand,
    classified,
    standing,
    written,
)
from tests.forking import Cogworks
from tests.limits import ENDS_WITHIN_S
from tests.model_server import Answer, ModelServer, Seen, replied
from tests.security.pictures import objects

# Plays a whole item.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

PLANTED = f"The token is {TOKEN},\n{TOKEN} once more, and api_key = '{DRAWN}'."
LEAKING = {
    **IMPLEMENTED,
    "notes": PLANTED,
    "files": [{"path": PARSING, "action": "modify", "content": f"{FIXED}\nTOKEN = '{TOKEN}'\n"}],
}
TESTED = {**written(HOURS), "notes": PLANTED}


def kept_by(stand: Stand) -> str:
    """Every git object of the repository."""
    return objects(stand.scene.hub / "repos" / "octo-org" / "hourglass.git").decode("utf-8", "replace")


def killed(stand: Stand) -> None:
    """A run whose process dies while its third question of Code Generation is answered."""
    running: list[Any] = []

    def kills(_: Seen) -> Answer:
        os.killpg(running[0].pid, signal.SIGKILL)
        return replied(json.dumps(IMPLEMENTED))

    stand.server.answers(*(replied(json.dumps(each)) for each in (TESTED, LEAKING)), kills)
    with Cogworks(
        ["run", stand.scene.issue_url],
        env=stand.scene.environment(**stand.model),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        running.append(process)
        assert process.wait(timeout=ENDS_WITHIN_S) == -signal.SIGKILL


def test_a_token_in_replies_reaches_no_ledger_and_whoever_takes_over_pays_nothing_again(
    tmp_path: Path,
) -> None:
    first = {**classified(), "rationale": PLANTED}
    with open_scene(tmp_path) as scene, ModelServer() as server:
        stand = Stand(scene, server)
        scene.write(".cogworks/pipeline.toml", None)
        scene.person.set_trigger()
        server.answers(replied(json.dumps(first)))
        stand.scene.repository.get_issue(1).add_to_labels("cogworks:lane:small")
        assert stand.scene.cogworks("process", **stand.model).code == 0
        killed(stand)
        asked = [seen.body for seen in stand.server.seen]
        stand.server.answers(replied(json.dumps(IMPLEMENTED)), replied(json.dumps(PASSED)))

        heir = stand.scene.cogworks("run", "--take-over", "--json", **stand.model)

        assert heir.code == 0, heir.err
        bodies = [seen.body for seen in stand.server.seen]
        # Intake, the tests, the change that leaks, the one whose runner died; that question again, and the review.
        assert len(bodies) == 6
        assert bodies[4] == asked[3]
        assert WITHHELD in json.dumps(bodies[4])
        assert not [at for at, body in enumerate(bodies) if TOKEN in json.dumps(body)]
        told = kept_by(stand)
        assert (TOKEN in told, DRAWN in told) == (False, False)
        assert told.count(WITHHELD) >= 3
        assert stand.scene.file(PARSING, branch="cogworks/1/change") == FIXED
        assert stand.scene.cogworks("fsck").code == 0


def test_a_token_that_people_wrote_stays_on_the_issue_and_reaches_no_ledger(tmp_path: Path) -> None:
    with standing(tmp_path, "", classified(), written(HOURS), IMPLEMENTED, PASSED, tests_first=True) as stand:
        issue = stand.scene.repository.get_issue(1)
        issue.add_to_labels("cogworks:lane:small")
        other = stand.scene.repository.create_issue(f"{issue.title} again", f"{issue.body}\n\n{TOKEN}")
        stand.play()

        assert "neighbours.json" in stand.scene.git("ls-tree", "-r", "--name-only", "cogworks/ledger/1")
        assert TOKEN in other.body
        assert TOKEN not in kept_by(stand)
        assert stand.visited == ["intake", "code_generation", "review", "integration"]
