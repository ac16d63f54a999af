"""Whoever may write to a repository may write its ledgers, and must not write elsewhere by the hand of the runner."""

import base64
import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cogworks.demo.facts import AUTHOR
from cogworks.demo.stage import RUNNER
from cogworks.hub.seeding import add_collaborator, add_user, create_repository
from cogworks.hub.world import World
from tests import plain_http
from tests.end_to_end.scene import Scene, open_scene

# Seconds on a busy machine; usually a tenth of that.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

LEDGER = "cogworks/ledger/1"
VAULT = "bank/vault"


@dataclass(frozen=True)
class Vault:
    """A private repository in which only the runner may write, with what an attacker would like to have changed."""

    scene: Scene
    comment: Mapping[str, Any]
    issue: Mapping[str, Any]
    merged: Mapping[str, Any]
    open: Mapping[str, Any]

    def everything(self) -> Mapping[str, Any]:
        """All that the runner can see there."""
        paths = (
            "issues?state=all",
            "issues/comments",
            "pulls?state=all",
            "labels",
            "git/matching-refs/heads/",
        )
        return {path: as_runner(self.scene, "GET", path) for path in paths} | {
            "parent": as_runner(self.scene, "GET", f"issues/{self.issue['number']}").get("parent_issue_url")
        }


def as_runner(scene: Scene, verb: str, path: str, **payload: Any) -> Any:
    answer = plain_http.request(
        verb,
        f"{scene.stage.api_url}/repos/{VAULT}/{path}",
        json=payload or None,
        headers={"Authorization": f"Bearer {scene.stage.runner_token}"},
        timeout=30,
    )
    answer.raise_for_status()
    return answer.json()


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    """The sample item while it waits for the merge of its specification, and the other repository."""
    home = tmp_path_factory.mktemp("forged")
    with open_scene(home) as scene:
        with closing(World(scene.hub)) as world:
            owner = add_user(world, VAULT.partition("/")[0], kind="Organization")
            assert owner is not None
            tree = home / "tree"
            tree.mkdir()
            (tree / "README.md").write_text("Secret plans.\n")
            repository = create_repository(world, VAULT, tree=tree)
            add_collaborator(world, repository, add_user(world, RUNNER), "write")
        scene.person.set_trigger()
        assert scene.cogworks("run").code == 0
        yield _filled(scene)


def _filled(scene: Scene) -> Vault:
    issue = as_runner(scene, "POST", "issues", title="Plans", body="For our eyes only.")
    comment = as_runner(
        scene, "POST", f"issues/{issue['number']}/comments", body="The combination is 12-34-56."
    )
    main = as_runner(scene, "GET", "git/ref/heads/main")["object"]["sha"]
    pulls = []
    for head, base in (("first", "main"), ("second", "first")):
        as_runner(scene, "POST", "git/refs", ref=f"refs/heads/{head}", sha=main)
        as_runner(scene, "PUT", f"contents/{head}.txt", message=head, branch=head, content="eA==")
        pulls.append(as_runner(scene, "POST", "pulls", title=head, head=head, base=base, body=head))
    as_runner(scene, "PUT", f"pulls/{pulls[0]['number']}/merge")
    return Vault(scene, comment, issue, *pulls)


@pytest.fixture
def honest(vault: Vault) -> Iterator[dict[str, Any]]:
    """The state as it is, which is put back after the test."""
    before = vault.scene.git("show", f"{LEDGER}:state.json")
    yield json.loads(before)
    if vault.scene.git("show", f"{LEDGER}:state.json") != before:
        vault.scene.write("state.json", before, branch=LEDGER)


def forge(scene: Scene, state: Mapping[str, Any], *, escaped: str = "") -> None:
    """Push a state as somebody who may write to the repository of the item.

    Args:
        escaped: this text is spelled with escapes, so that nobody finds it by its letters.
    """
    spelled = "".join(f"\\u{ord(letter):04x}" for letter in escaped)
    text = json.dumps(state)
    scene.write("state.json", text.replace(escaped, spelled) if escaped else text, branch=LEDGER)


def status_comments(scene: Scene) -> list[str]:
    return [
        comment.body
        for comment in scene.repository.get_issue(1).get_comments()
        if " t=status " in comment.body
    ]


@pytest.mark.parametrize("is_escaped", [False, True], ids=["plain", "escaped"])
def test_a_comment_of_another_repository_is_never_taken_for_the_status_comment(
    vault: Vault, honest: dict[str, Any], is_escaped: bool
) -> None:
    scene, theirs = vault.scene, str(vault.comment["node_id"])
    before = vault.everything()
    ref = {**honest["status_comment"], "node_id": theirs, "database_id": vault.comment["id"]}
    forge(scene, {**honest, "status_comment": ref}, escaped=theirs if is_escaped else "")

    step = scene.cogworks("process")

    assert vault.everything() == before
    assert step.code == 0
    assert f"the status comment that the ledger names ({theirs}) is not on this issue" in step.err
    assert len(status_comments(scene)) == 1
    assert scene.state()["status_comment"]["node_id"] == honest["status_comment"]["node_id"]


def test_pull_requests_of_another_repository_pass_no_gate_and_are_never_changed(
    vault: Vault, honest: dict[str, Any]
) -> None:
    scene = vault.scene
    before = vault.everything()
    slug = honest["pull_requests"][0]["slug"]
    forged = [
        {
            "slug": name,
            "number": pull["number"],
            "node_id": pull["node_id"],
            "head": pull["head"]["ref"],
            "base": pull["base"]["ref"],
        }
        for name, pull in ((slug, vault.merged), ("other", vault.open))
    ]
    forge(scene, {**honest, "pull_requests": forged})

    step = scene.cogworks("process", "--json")

    assert vault.everything() == before
    assert (step.code, step.told["outcome"]) == (3, "halted")
    assert all(pull["node_id"] in step.told["message"] for pull in forged)


def test_an_issue_of_another_repository_is_never_put_below_ours(vault: Vault, honest: dict[str, Any]) -> None:
    scene = vault.scene
    before = vault.everything()
    item = {
        "key": "A",
        "ordinal": 1,
        "title": "x",
        "depends_on": [],
        "number": 99,
        "node_id": vault.issue["node_id"],
    }
    forge(scene, {**honest, "sub_items": [item]})

    scene.cogworks("fsck", "--repair")

    assert vault.everything() == before


@pytest.mark.parametrize("changed", [{"repository_id": "R_other"}, {"issue": 2}], ids=["repository", "issue"])
def test_the_ledger_of_another_item_is_refused(
    vault: Vault, honest: dict[str, Any], changed: dict[str, Any]
) -> None:
    scene = vault.scene
    forge(scene, {**honest, **changed})
    before = scene.everything()

    step = scene.cogworks("process", "--json")

    assert (step.code, step.told["outcome"]) == (3, "halted")
    assert scene.everything() == before


@pytest.fixture
def guarded(vault: Vault, honest: dict[str, Any]) -> Iterator[Scene]:
    """The item where the repository names the account of its runner as the one that writes ledgers."""
    scene, config = vault.scene, ".cogworks/config.toml"
    before = scene.file(config)
    scene.write(config, f'{before}\n[ledger]\nwriters = ["{RUNNER}"]\n')
    as_runner_writes(scene, "state.json", json.dumps(honest))
    yield scene
    scene.write(config, before)


def as_runner_writes(scene: Scene, path: str, text: str) -> None:
    """A commit on the ledger that the runner's own account asks the API for."""
    repository = scene.person.repository.full_name
    url = f"{scene.stage.api_url}/repos/{repository}/contents/{path}"
    payload = {
        "message": "Write",
        "branch": LEDGER,
        "sha": scene.git("rev-parse", f"{LEDGER}:{path}").strip(),
        "content": base64.b64encode(text.encode()).decode(),
    }
    headers = {"Authorization": f"Bearer {scene.stage.runner_token}"}
    plain_http.put(url, json=payload, headers=headers, timeout=30).raise_for_status()


def test_an_item_whose_ledger_only_its_runner_wrote_goes_on(guarded: Scene) -> None:
    step = guarded.cogworks("process", "--json")

    assert (step.code, step.told["outcome"]) == (0, "waiting")


def test_a_ledger_that_another_writer_changed_stops_the_item_where_its_writers_are_named(
    guarded: Scene, honest: dict[str, Any]
) -> None:
    forge(guarded, {**honest, "asked_by": "mallory"})
    before = guarded.everything()

    step = guarded.cogworks("process", "--json")

    assert (step.code, step.told["outcome"]) == (3, "halted")
    assert f"names `{AUTHOR}` as its author and is signed by the host" in step.told["message"]
    assert guarded.everything() == before


def test_a_commit_pushed_under_the_runner_s_name_is_not_taken_for_its_own(
    guarded: Scene, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    pushed_as_the_runner(guarded, clone)
    before = guarded.everything()

    step = guarded.cogworks("process", "--json")

    assert (step.code, step.told["outcome"]) == (3, "halted")
    assert f"names `{RUNNER}` as its author and is not signed by the host" in step.told["message"]
    assert guarded.everything() == before


def pushed_as_the_runner(scene: Scene, clone: Path) -> None:
    """Somebody with the right to push copies author and committer of the runner's newest commit."""
    url = f"{scene.stage.url}/{scene.person.repository.full_name}.git".replace(
        "://", f"://{AUTHOR}:{scene.stage.person_token}@"
    )
    name, email = scene.git("log", "-1", "--format=%an%n%ae", LEDGER).splitlines()
    run = ["git", "-c", f"user.name={name}", "-c", f"user.email={email}"]
    subprocess.run([*run, "clone", "-q", "-b", LEDGER, url, str(clone)], check=True, timeout=60)
    (clone / "notes.txt").write_text("x\n")
    for command in (["add", "-A"], ["commit", "-q", "-m", "Record"], ["push", "-q", "origin", LEDGER]):
        subprocess.run([*run, *command], cwd=clone, check=True, timeout=60)
