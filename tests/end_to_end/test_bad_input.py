"""Bad input on a real hub: one message that says what and what next, and at most one edit of the status comment."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.resources import as_file
from pathlib import Path
from typing import Any

import pytest

from cogworks.demo.facts import FULL_NAME, TRIGGER, cassette_folder
from tests.end_to_end.scene import (
    READ_ONLY_TOKEN,
    STRANGER_TOKEN,
    Ended,
    Scene,
    admit_others,
    copy_of,
    open_scene,
)

# The steps of a whole item lead to each moment. What is refused, and in which words, faster tests of the engine check as well.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
]  # seconds on a busy machine; usually a tenth of that

Spoiled = AbstractContextManager[dict[str, str]]
"""Something is wrong inside the block; yields how the command is called: `issue_url`, environment variables."""


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Scene]]:
    """The sample item before its first step, and while it waits for the merge of its specification."""
    home = tmp_path_factory.mktemp("bad-input")
    with open_scene(home / "waiting") as waiting:
        admit_others(waiting)
        waiting.person.set_trigger()
        with open_scene(copy_of(home / "waiting", home / "new")) as new:
            assert waiting.cogworks("run").code == 0
            yield {"new": new, "waiting": waiting}


def _url(text: str) -> Callable[[Scene], Spoiled]:
    return lambda scene: nullcontext({"issue_url": f"{scene.stage.repository_url}{text}"})


def _token(text: str) -> Callable[[Scene], Spoiled]:
    return lambda _: nullcontext({"COGWORKS_GITHUB_TOKEN": text})


@contextmanager
def _no_label(scene: Scene) -> Iterator[dict[str, str]]:
    scene.repository.get_issue(1).remove_from_labels(TRIGGER)
    yield {}
    scene.person.set_trigger()


@contextmanager
def _closed(scene: Scene) -> Iterator[dict[str, str]]:
    scene.repository.get_issue(1).edit(state="closed")
    yield {}
    scene.repository.get_issue(1).edit(state="open")


def _file(path: str, text: str | None) -> Callable[[Scene], Spoiled]:
    @contextmanager
    def spoiled(scene: Scene) -> Iterator[dict[str, str]]:
        before = scene.file(path)
        scene.write(path, text)
        yield {}
        scene.write(path, before)

    return spoiled


CONFIG = ".cogworks/config.toml"
PIPELINE = ".cogworks/pipeline.toml"
BAD_CONFIG = '[llm]\nmodle = "m"\n[budgets]\npipeline_max_tokens = -1\n'
BAD_PIPELINE = '[pipelines.x]\nstart = "a"\nnodes = [{ id = "a", type = "lm" }]\nedges = [{ source = "a", target = "q" }]\n'


REFUSALS = {
    "not-an-issue": (_url("/wiki"), (2, "usage_error"), ["/wiki", "not the URL of an issue", "/issues/42"]),
    "no-such-issue": (_url("/issues/999"), (2, "usage_error"), ["/issues/999"]),
    "pull-request-url": (_url("/pull/2"), (2, "usage_error"), ["/pull/2", "issue"]),
    "pull-request-number": (_url("/issues/2"), (2, "usage_error"), ["/issues/2", "issue"]),
    # GitHub does not tell a stranger whether a private repository is there.
    "stranger": (_token(STRANGER_TOKEN), (2, "usage_error"), [FULL_NAME, "the token cannot see it"]),
    "unknown-token": (_token("nobody"), (4, "permission_refused"), ["token"]),
    "no-token": (_token(""), (4, "permission_refused"), ["COGWORKS_GITHUB_TOKEN", FULL_NAME]),
    "no-label": (_no_label, (2, "usage_error"), ["/issues/1", "'cogworks:run'", "Set the label"]),
    "closed": (_closed, (2, "usage_error"), ["/issues/1", "closed", "Reopen"]),
    "no-config": (
        _file(CONFIG, None),
        (2, "usage_error"),
        [CONFIG, FULL_NAME, "Commit one", "`git add -f .cogworks`"],
    ),
    "bad-config": (
        _file(CONFIG, BAD_CONFIG),
        (2, "configuration_error"),
        [CONFIG, "did you mean `model`?", "max_tokens"],
    ),
    "bad-pipeline": (
        _file(PIPELINE, BAD_PIPELINE),
        (2, "configuration_error"),
        [PIPELINE, "did you mean 'llm'?", "'q'"],
    ),
    "not-toml": (_file(PIPELINE, "[[["), (2, "configuration_error"), [PIPELINE, "line 1"]),
}
"""What is wrong -> how it gets wrong, exit code and outcome, words of the message."""
BEFORE_THE_FIRST_STEP = ["no-label", "closed"]
AS_OTHERS = frozenset({"not-an-issue", "pull-request-number", "unknown-token", "no-config", "bad-pipeline"})
"""Seconds each, and on the way of another one: with the slow tests."""


def _case(which: str, wrong: str) -> Any:
    return pytest.param(which, wrong, marks=[pytest.mark.slow] if wrong in AS_OTHERS else [])


@pytest.mark.parametrize(
    ("which", "wrong"),
    [
        *(_case("waiting", wrong) for wrong in REFUSALS),
        *(_case("new", wrong) for wrong in BEFORE_THE_FIRST_STEP),
    ],
)
def test_bad_input_is_one_clear_message_and_at_most_one_edit(
    scenes: dict[str, Scene], which: str, wrong: str
) -> None:
    spoiled, refusal, words = REFUSALS[wrong]
    scene = scenes[which]
    if which == "waiting":
        # What another test put right was seen, so that only what is wrong here shows.
        scene.cogworks("process")
    with spoiled(scene) as call:
        before = scene.everything()

        first = scene.cogworks("process", "--json", **call)
        after = scene.everything()
        second = scene.cogworks("process", **call)

        _is_refusal(first, refusal, words)
        assert (second.code, second.out) == (refusal[0], "")
        assert [word for word in words if word not in second.err] == []
        # Whoever cannot be told on GitHub, because the address or the token is wrong, is told here alone.
        has_edit = which == "waiting" and not call
        assert _changed(before, after) - {"Issue"} == ({"IssueComment"} if has_edit else set())
        assert scene.everything() == after


def _malformed(path: str, text: str, *words: str) -> tuple[Callable[[Scene], Spoiled], list[str]]:
    return _file(path, text), [path, *words]


TO_BE_MENDED = {
    **{name: (REFUSALS[name][0], REFUSALS[name][2]) for name in ("bad-config", "no-config", "bad-pipeline")},
    "malformed-prompt": _malformed(".cogworks/prompts/intake.md.j2", "--- user ---\n{% if %}", "intake"),
    "malformed-services": _malformed(
        ".cogworks/services.toml", '[[services]]\nname = "x"\ncomand = ["y"]\n', "did you mean `command`?"
    ),
}
"""What keeps an item from its first node until somebody mends the repository -> words of what is told."""


def _told_what_to_mend(scene: Scene, name: str) -> None:
    """A step tells it, a second one only reads."""
    spoiled, words = TO_BE_MENDED[name]
    with spoiled(scene):
        first = scene.cogworks("process", "--json")
        told, after = _status_comment(scene), scene.everything()
        second = scene.cogworks("process", "--json")

        assert first.code == 2
        assert [word for word in words if word not in told] == []
        assert (second.code, second.told["requests"]) == (2, {"graphql": 1, "rest": 0, "git": 0})
        assert scene.everything() == after


def test_whoever_asked_is_told_in_one_comment_what_to_mend_and_the_item_begins_in_it(
    scenes: dict[str, Scene], tmp_path: Path
) -> None:
    with open_scene(copy_of(scenes["new"].stage.directory, tmp_path / "scene")) as scene:
        _told_what_to_mend(scene, "bad-config")
        sound = scene.cogworks("fsck", "--json")
        begun = scene.cogworks("process", "--json")

        assert (sound.code, sound.told["findings"]) == (0, [])
        assert begun.told["outcome"] == "succeeded"
        assert "stopped before it could decide" not in _status_comment(scene)


@pytest.mark.slow
def test_the_comment_follows_one_problem_after_the_other_and_a_sweep_wakes_up_when_it_is_mended(
    scenes: dict[str, Scene], tmp_path: Path
) -> None:
    with open_scene(copy_of(scenes["new"].stage.directory, tmp_path / "scene")) as scene:

        def swept() -> tuple[int, dict[str, Any]]:
            ended = scene.cogworks("poll", "--json", issue_url=scene.stage.repository_url)
            return ended.code, ended.told["items"][0]

        for name in TO_BE_MENDED:
            _told_what_to_mend(scene, name)
        with _file(CONFIG, BAD_CONFIG)(scene):
            (code, found), (_, resting) = swept(), swept()
        _, mended = swept()

        assert (code, found["action"], found["reason"]) == (2, "stepped", "the configuration was changed")
        assert resting["reason"] == "waits until its configuration is fixed"
        assert mended["step"]["outcome"] == "succeeded"
        assert "stopped before it could decide" not in _status_comment(scene)
        assert scene.cogworks("fsck").code == 0


@pytest.mark.parametrize("which", ["new", "waiting"])
def test_a_token_that_may_only_read_is_refused_before_anything_is_written(
    scenes: dict[str, Scene], tmp_path: Path, which: str
) -> None:
    copy = copy_of(scenes[which].stage.directory, tmp_path / "scene")
    with open_scene(copy) as scene:
        if which == "waiting":
            scene.person.merge(2)
        before = scene.everything()

        for _ in range(2):
            refused = scene.cogworks("process", "--json", COGWORKS_GITHUB_TOKEN=READ_ONLY_TOKEN)
            _is_refusal(refused, (4, "permission_refused"), ["the token"])

        assert scene.everything() == before


def test_a_ledger_of_another_version_is_left_alone(scenes: dict[str, Scene], tmp_path: Path) -> None:
    with open_scene(copy_of(scenes["waiting"].stage.directory, tmp_path / "scene")) as scene:
        changed = {**scene.state(), "schema_version": "99"}
        scene.write("state.json", json.dumps(changed), branch="cogworks/ledger/1")
        before = scene.everything()

        words = ["`state.json`", "`cogworks/ledger/1`", "'99'", "Run the version"]
        for command in ("process", "run"):
            _is_refusal(scene.cogworks(command, "--json"), (2, "ledger_unreadable"), words)

        assert scene.everything() == before


def test_what_was_wrong_is_forgotten_once_it_is_put_right(scenes: dict[str, Scene]) -> None:
    scene = scenes["waiting"]
    scene.cogworks("process")
    comment = _status_comment(scene)
    with _no_label(scene):
        scene.cogworks("process")
        stopped = _status_comment(scene)

    again = scene.cogworks("process", "--json")

    assert again.told["outcome"] == "waiting"
    assert "stopped before it could decide" in stopped
    assert _status_comment(scene) == comment


@pytest.mark.slow
def test_a_changed_prompt_is_a_clear_error_and_gives_the_lease_back(
    scenes: dict[str, Scene], tmp_path: Path
) -> None:
    prompt = ".cogworks/prompts/intake.md.j2"
    shipped = (Path(__file__).parents[2] / "prompts" / "intake.md.j2").read_text()
    with open_scene(copy_of(scenes["new"].stage.directory, tmp_path / "scene")) as scene:
        with _file(prompt, f"{shipped}\nAnswer in verse.\n")(scene):
            for _ in range(2):
                refused = scene.cogworks("process", "--json", COGWORKS_CASSETTE_DIR=str(_cassettes(tmp_path)))
                _is_refusal(refused, (2, "usage_error"), ["intake", "cogworks cassette rekey"])
                assert scene.state()["leases"] == []

        assert (tmp_path / "cassettes" / "misses").is_dir()
        assert scene.cogworks("process", "--json").told["outcome"] == "succeeded"


NO_KEY = {"COGWORKS_LLM_PROVIDER": "anthropic", "COGWORKS_LLM_API_KEY": "", "ANTHROPIC_API_KEY": ""}


def _without_key(scene: Scene) -> Spoiled:
    return nullcontext(NO_KEY)


@pytest.mark.parametrize(
    ("spoiled", "refusal", "words"),
    [(_without_key, (4, "permission_refused"), ["COGWORKS_LLM_API_KEY"])],
    ids=["no-model-key"],
)
def test_what_is_wrong_with_the_machine_is_found_before_anything_is_claimed_and_said_there_alone(
    scenes: dict[str, Scene],
    spoiled: Callable[[Scene], Spoiled],
    refusal: tuple[int, str],
    words: list[str],
) -> None:
    scene = scenes["new"]
    with spoiled(scene) as call:
        before = scene.everything()

        _is_refusal(scene.cogworks("process", "--json", **call), refusal, words)

        assert scene.everything() == before


def _cassettes(tmp_path: Path) -> Path:
    target = tmp_path / "cassettes"
    if not target.exists():
        with as_file(cassette_folder()) as shipped:
            copy_of(shipped, target)
    return target


def _is_refusal(ended: Ended, refusal: tuple[int, str], words: list[str]) -> None:
    told = ended.told
    assert (ended.code, told["outcome"]) == refusal, ended
    assert [word for word in words if word not in told["message"]] == [], told["message"]
    assert told["cost_usd"] == 0.0
    assert "Traceback" not in ended.err


def _changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    """Kinds of the records and refs that are not as before."""
    names = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    return {re.sub(r" [0-9]+$", "", name) for name in names}


def _status_comment(scene: Scene) -> str:
    comments = scene.seen()["issues"]["nodes"][0]["comments"]["nodes"]
    assert len(comments) == 1
    # That it saw the label go and come back is a revision of its own, in the marker too.
    return re.sub(r"Revision \d+", "Revision <n>", str(comments[0]["body"]).partition("\n")[2])
