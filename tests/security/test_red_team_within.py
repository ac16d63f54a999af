"""A whole item on the hub whose ledger is forged by somebody who may push; `test_judging` shows what the judge objects to."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cogworks.demo.facts import AUTHOR
from tests import plain_http
from tests.hub.administrator import Administrator
from tests.security.acting_words import FORGED_VISIT
from tests.security.red_team import SPECIFICATION_WAITS, VAULT, Attack, attacked, encoded
from tests.security.test_red_team import ACTS, VISITED, WHOLE_WAY, is_as_asked_for, says

# Each plays a whole item.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

LEDGER = "cogworks/ledger/1"
State = dict[str, Any]


def _foreign_ids(attack: Attack) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """An issue and a comment of the private repository, as somebody learnt them."""
    header = {"Authorization": f"Bearer {attack.scene.stage.runner_token}"}
    api = f"{attack.scene.stage.api_url}/repos/{VAULT}"
    issue, comment = (
        plain_http.get(f"{api}/{path}", headers=header, timeout=60).json()
        for path in ("issues/1", "issues/1/comments")
    )
    return issue, comment[0]


def _forgeries(attack: Attack, honest: State) -> Mapping[str, State]:
    """What somebody who may push writes into the ledger, so that the runner writes elsewhere or passes a gate."""
    issue, comment = _foreign_ids(attack)
    head = attack.scene.git("rev-parse", "cogworks/1/spec").strip()
    architecture = next(each for each in honest["visits"] if each["node"] == "architecture")
    approval = {"node": "architecture", "sub_item": None, "artifact": head, "by": AUTHOR, "comment_id": 1}
    passed = {"node": "architecture", "sub_item": None, "how": "merged", "by": AUTHOR, "oid": head}
    planned = {**architecture, "node": "planning", "index": architecture["index"] + 1}
    item = {
        "key": "A",
        "ordinal": 1,
        "title": ACTS,
        "depends_on": [],
        "number": 1,
        "node_id": issue["node_id"],
    }
    foreign = {"node_id": comment["node_id"], "database_id": comment["id"]}
    return {
        "a comment of another repository": {"status_comment": {**honest["status_comment"], **foreign}},
        "an approval": {"approvals": [approval]},
        "a gate that was passed": {"gates": [passed]},
        "a visit beyond the gate": {"visits": [*honest["visits"], planned]},
        "an issue of another repository": {"sub_items": [item]},
        "words that people are owed": {
            "owed": [{"topic": "reply-1", "body": ACTS, "visit_key": architecture["visit_key"]}]
        },
        "an end": {"status": "done"},
        "another item": {"issue": 2},
        "an edge beyond the gate": {
            "marks": {**honest["marks"], "architecture_to_interface_design": "taken"}
        },
    }


def _forge(attack: Attack, state: State | str, *, path: str = "state.json") -> None:
    text = state if isinstance(state, str) else json.dumps(state)
    there = attack.tried("bob", "GET", f"contents/{path}?ref={LEDGER}")
    sha = {"sha": there.json()["sha"]} if there.is_success else {}
    attack.by(
        "bob", "PUT", f"contents/{path}", message=f"cogworks: architecture succeeded [skip ci]\n\nVisit: {FORGED_VISIT}",
        branch=LEDGER, content=encoded(text), **sha,
    )  # fmt: skip


def ends_of(what: str) -> list[tuple[str, list[str]]]:
    """How a run may end that finds this forgery. Who says that the item is done stops it, and has nothing from it."""
    done: list[tuple[str, list[str]]] = [("done", [])] if what == "an end" else []
    return [("waiting", ["architecture"]), ("halted", []), *done]


def test_a_forged_ledger(tmp_path: Path) -> None:
    with attacked(tmp_path, gates=[SPECIFICATION_WAITS]) as attack:
        attack.scene.person.set_trigger()
        attack.server.answers(*says(*WHOLE_WAY))
        assert attack.play(answer=lambda _: False).waits == ("review architecture",)
        honest = json.loads(attack.scene.git("show", f"{LEDGER}:state.json"))
        with Administrator(attack.scene.stage.url, attack.scene.hub) as administrator:
            administrator.take("honest")
            for what, forged in _forgeries(attack, honest).items():
                _forge(attack, {**honest, **forged})
                _forge(attack, ACTS, path="visits/0002-architecture/notes.md")

                ended = attack.run()

                # It goes on waiting for a person, or says what is wrong with the ledger and writes nothing.
                told = ended.told
                waits = [each["node"] for each in told["waiting_for"]]
                assert (told["outcome"], waits) in ends_of(what), (
                    what,
                    told,
                )
                assert told["outcome"] != "halted" or "ledger" in told["message"], told
                assert attack.objections() == [], what
                # What is put back loses the commits that were judged.
                attack.judge.stretches.clear()
                administrator.restore("honest")
        asked = len(attack.server.seen)

        end = attack.play()

        assert (end.outcome, end.code, asked) == ("done", 0, 2), end
        assert attack.nodes == VISITED
        assert is_as_asked_for(attack)
        assert attack.objections() == []
