"""A model of this machine, behind a server that speaks Chat Completions, works on an issue of a real hub."""

from pathlib import Path

import pytest

from tests.end_to_end.scene import open_scene
from tests.local_model import LocalModel
from tests.model_server import ModelServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def test_a_local_model_does_intake_on_the_hub_without_a_key(tmp_path: Path) -> None:
    with ModelServer() as server, open_scene(tmp_path / "scene") as scene:
        server.answers(*[LocalModel().answer] * 10)
        scene.person.set_trigger()

        done = scene.cogworks(
            "process",
            "--json",
            COGWORKS_LLM_PROVIDER="openai",
            OPENAI_BASE_URL=server.url,
        )

        assert done.code == 0, done.out + done.err
        [intake] = scene.visits()
        cost = scene.cogworks("cost", "--json").told["total"]

    assert intake[:4] == ("intake", None, 1, "succeeded")
    [seen] = server.seen
    assert seen.path == "/v1/chat/completions"
    assert "authorization" not in seen.headers
    assert seen.body["stream"] is True
    assert (cost["model_calls"], cost["output_tokens"] > 0) == (1, True)
