"""`process --dry-run` and `--staged` on the real hub: they say what would happen, and nothing happens."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.scene import Scene, open_scene

# Seconds on a busy machine; usually a tenth of that.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
LEDGER = "cogworks/ledger/1"


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with open_scene(tmp_path_factory.mktemp("rehearsal") / "scene") as opened:
        opened.person.set_trigger()
        yield opened


def test_a_dry_run_says_what_the_next_step_does_and_writes_nothing(scene: Scene) -> None:
    before = scene.everything()

    told = scene.cogworks("process", "--dry-run", "--json")
    line = scene.cogworks("process", "--dry-run")

    assert (told.code, told.told["outcome"], told.told["next"]) == (0, "ready", "run intake (visit 1)")
    assert told.told["tokens"] == {"input": 0, "output": 0}
    assert (line.out, line.err) == ("would: run intake (visit 1)\n", "")
    assert scene.everything() == before


def test_a_staged_step_asks_the_model_and_prints_the_effects_it_does_not_have(scene: Scene) -> None:
    before = scene.everything()

    first = scene.cogworks("process", "--staged", "--json")

    assert (first.code, first.told["outcome"], first.told["node"]) == (0, "succeeded", "intake"), first.err
    assert [effect["kind"] for effect in first.told["effects"]] == [
        "post_comment",
        "set_labels",
        "edit_comment",
    ]
    assert first.told["tokens"]["input"] > 0
    assert scene.everything() == before


def test_a_staged_step_of_a_later_node_reads_its_inputs_from_the_ledger(scene: Scene) -> None:
    assert scene.cogworks("process").code == 0
    before = scene.everything()

    told = scene.cogworks("process", "--staged")

    assert told.code == 0, told.err
    assert told.out.splitlines()[0].startswith("staged succeeded: architecture: ")
    assert "  would commit 1 file(s) to branch 'cogworks/1/spec'" in told.out
    assert scene.everything() == before
    assert scene.cogworks("process", "--json").told["node"] == "architecture"


def test_what_the_next_question_would_show_is_told_without_asking_it(scene: Scene) -> None:
    before = scene.everything()

    told = scene.cogworks("context", "--json")
    page = scene.cogworks("context", "--node", "interface_design")

    assert told.code == page.code == 0, told.err + page.err
    assert told.told["asks"] or told.told["outcome"] == "waiting"
    assert "prompt" not in told.told
    assert scene.everything() == before


def test_what_the_first_question_shows_is_what_the_ledger_keeps_beside_its_reply(tmp_path: Path) -> None:
    with open_scene(tmp_path / "scene") as fresh:
        fresh.person.set_trigger()

        ended = fresh.cogworks("context", "--json")
        assert ended.code == 0, ended.out + ended.err
        told = ended.told
        assert (told["asks"], told["purpose"]) == (True, "intake-1")
        assert {"path", "level", "tokens", "score", "reasons"} <= set(told["shown"][0])
        page = fresh.cogworks("context")
        assert told["shown"][0]["path"] in page.out
        assert fresh.cogworks("process").code == 0
        kept = fresh.git("show", f"{LEDGER}:visits/0001-intake/manifest-1.json")

    assert json.loads(kept)["shown"] == told["shown"]


def test_what_a_question_would_show_is_told_without_a_key_for_the_model(tmp_path: Path) -> None:
    with open_scene(tmp_path / "scene") as fresh:
        fresh.person.set_trigger()
        without = {"COGWORKS_LLM_PROVIDER": "anthropic", "COGWORKS_LLM_API_KEY": "", "ANTHROPIC_API_KEY": ""}

        ended = fresh.cogworks("context", "--json", **without)
        refused = fresh.cogworks("process", **without)

    assert ended.code == 0, ended.err
    assert (ended.told["asks"], ended.told["purpose"]) == (True, "intake-1")
    assert "there is no key" in refused.err + refused.out
