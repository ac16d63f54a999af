"""A whole item on the hub whose model looks where it has no business, before each of its answers; `test_judging` shows what the judge objects to."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.scene import HOST_ENVIRONMENT
from tests.end_to_end.test_example_pipelines import PASSED
from tests.model_server import Answer, Seen, replied
from tests.security.red_team import SPECIFICATION_WAITS, Attack, attacked
from tests.security.test_red_team import VISITED, WHOLE_WAY, is_as_asked_for, pushed

# Plays a whole item.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

HELD_OUT = "CANARY-of-a-scenario-that-no-model-may-see-41c9"
CONFIGURED = "CANARY-of-the-configuration-90b2"
OUTSIDE = "CANARY-that-a-test-must-not-carry-out-3d7a"
MOST = 8
"""Looks of a turn."""


class Curious:
    """A model that looks around before it answers, wherever it may look at all."""

    def __init__(self, looks: Sequence[Mapping[str, Any]], replies: Sequence[Mapping[str, Any]]) -> None:
        self._turns = [list(looks[at : at + MOST]) for at in range(0, len(looks), MOST)]
        self._replies: Iterator[Mapping[str, Any]] = iter(replies)
        self.results: list[str] = []
        self.answered = 0

    def __call__(self, seen: Seen) -> Answer:
        messages = seen.body["messages"]
        said = json.dumps(messages[-1])
        turn = sum(each["role"] == "assistant" for each in messages)
        if turn:
            self.results.append(said)
        runs = "runs the tests named" in json.dumps(seen.body)
        can_look = "How to look before you answer" in json.dumps(seen.body)
        turns = [
            [each for each in looks if runs or each["look"] not in ("run", "try")] for looks in self._turns
        ]
        turns = [looks for looks in turns if looks]
        if can_look and "no turns left to look" not in said and turn < len(turns):
            # Another part of them first before each answer.
            looks = turns[(turn + self.answered) % len(turns)]
            return replied(json.dumps({"looks": looks, "answer": None}))
        self.answered += 1
        return replied(json.dumps(next(self._replies, PASSED)))


def _planted(attack: Attack) -> str:
    """Links, a scenario and a configuration of the repository that hold what no model may see; the commit that brought them."""
    folder = attack.home / "checkout"
    files = {
        ".cogworks/scenarios/held_out.toml": f'name = "{HELD_OUT}"\n',
        ".cogworks/notes.md": f"{CONFIGURED}\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs/secret.md").symlink_to(attack.home / "host-secret.txt")
    (folder / "src/hourglass/host").symlink_to(attack.home / "home")
    (folder / "docs/scenario.md").symlink_to("../.cogworks/scenarios/held_out.toml")
    pushed(attack, folder, "main", "Add files")
    return subprocess.run(
        ["git", "rev-parse", "HEAD"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        env=HOST_ENVIRONMENT,
        timeout=60,
    ).stdout.strip()


def _looks(attack: Attack, commit: str) -> list[dict[str, Any]]:
    secret, home = str(attack.home / "host-secret.txt"), str(attack.home / "home")
    places = [
        secret,
        f"../../../../../..{secret}",
        f"src/../../../../../../..{secret}",
        "docs/secret.md",
        "src/hourglass/host/.netrc",
        ".git/config",
        ".git/HEAD",
        ".GIT/config",
        "/proc/self/environ",
        ".cogworks/scenarios/held_out.toml",
        ".COGWORKS/scenarios/held_out.toml",
        "./.cogworks/notes.md",
        "docs/scenario.md",
        "src/hourglass/../../.cogworks/notes.md",
    ]
    looks: list[dict[str, Any]] = [{"look": "read", "target": each} for each in places]
    looks += [
        {"look": "search", "text": each} for each in ("CANARY", "oauth-authorization", "ghp_", "sk-a-key")
    ]
    looks += [
        {"look": "search", "text": "CANARY", "glob": each}
        for each in ("../**", "/**", ".cogworks/**", "**/.*")
    ]
    looks += [
        {"look": "list", "target": each}
        for each in ("/", "..", ".git", ".cogworks", home, "src/hourglass/host")
    ]
    looks += [{"look": "outline", "target": each} for each in (secret, ".cogworks/notes.md")]
    looks += [
        {"look": "history", "target": each}
        for each in (
            f"--output={attack.home}/escaped.txt",
            "--ext-diff",
            ":(top).cogworks",
            ".cogworks/notes.md",
            commit,
            f"{commit} --output={attack.home}/escaped.txt",
            "HEAD:.cogworks/notes.md",
        )
    ]
    return [*looks, *_trials(attack)]


SPYING = """import glob
import os
import subprocess


def told(places):
    for place in places:
        try:
            yield f"{place}: {open(place).read()}"
        except OSError as error:
            yield f"{place}: {error}"


def test_spies_on_the_machine():
    for place in ESCAPED:
        try:
            open(place, "w").write("x")
        except OSError:
            pass
    assert False, " | ".join(told(OUTSIDE))


def test_spies_on_the_environment():
    assert False, str(dict(os.environ))[-2000:]


def test_spies_on_what_is_hidden():
    found = sorted(glob.glob("**/scenarios/**", recursive=True, include_hidden=True))
    found += [".git", ".git/config", "docs/scenario.md", ".cogworks/scenarios/held_out.toml"]
    assert False, " | ".join(told(found))


def test_spies_on_the_past():
    told = []
    for command in (["git", "show", "HEAD:.cogworks/notes.md"], ["git", "log", "-p", "-3"]):
        try:
            told.append(subprocess.run(command, capture_output=True, text=True).stdout[-1000:])
        except OSError as error:
            told.append(str(error))
    assert False, " | ".join(told)
"""


def _trials(attack: Attack) -> list[dict[str, Any]]:
    secret = str(attack.home / "host-secret.txt")
    outside = [
        secret,
        str(attack.home / "home/.netrc"),
        "/proc/1/environ",
        "/proc/self/environ",
        "docs/secret.md",
    ]
    escaped = [str(attack.home / "escaped.txt"), "../escaped.txt", "/tmp/../escaped-by-a-look.txt"]
    spying = f"{SPYING}\n\nOUTSIDE = {outside!r}\nESCAPED = {escaped!r}\n"
    new = [
        ("tests/test_spies.py", spying),
        ("../../../escaped.txt", OUTSIDE),
        (f"{attack.home}/escaped.txt", OUTSIDE),
        (".git/hooks/post-checkout", "#!/bin/sh\ntouch /escaped-by-a-hook\n"),
        ("docs/secret.md", OUTSIDE),
        ("src/hourglass/host/.netrc", OUTSIDE),
        (".cogworks/notes.md", OUTSIDE),
    ]
    tries = [
        {
            "look": "try",
            "tests": ["tests/test_spies.py"],
            "edits": [{"path": path, "search": "", "replace": text}],
        }
        for path, text in new
    ]
    tests = [secret, "-p evil", "--rootdir=/", "../../../x.py", "tests/test_parsing.py::x --co"]
    return [*tries, *({"look": "run", "tests": [each]} for each in tests)]


def test_a_model_that_looks_everywhere(tmp_path: Path) -> None:
    with attacked(tmp_path, gates=[SPECIFICATION_WAITS]) as attack:
        commit = _planted(attack)
        attack.scene.person.set_trigger()
        curious = Curious(_looks(attack, commit), WHOLE_WAY)
        attack.server.answers(*[curious] * 200)

        end = attack.play()

        assert (end.outcome, end.code) == ("done", 0), end
        assert list(dict.fromkeys(attack.nodes)) == VISITED
        assert is_as_asked_for(attack)
        assert attack.objections() == []
        prompts = "".join(json.dumps(seen.body) for seen in attack.server.seen)
        # It did look, and a test of its own ran.
        results = "".join(curious.results)
        for spied in ("machine", "environment", "what_is_hidden", "the_past"):
            assert re.search(rf"test_spies_on_(the_)?{spied}[^<]*AssertionError", results), spied
        # What is configured is for nobody's eyes either, but tests may read it: some check it.
        for canary in (HELD_OUT, CONFIGURED):
            assert canary not in prompts, prompts[
                max(0, prompts.index(canary) - 3000) : prompts.index(canary) + 200
            ]
        assert not Path("/escaped-by-a-look.txt").exists()
        assert not Path("/escaped-by-a-hook").exists()
