"""What is wrong with the folders of visits, and what only an earlier version wrote otherwise."""

import json

from cogworks.ledger.visit_folders import check_folders
from tests.step_fakes import Runner
from tests.world import World


def kept_files(world: World) -> dict[str, str]:
    return {path: text for path, text in world.files.items() if path.startswith("visits/")}


def test_a_record_without_what_later_versions_say_is_sound() -> None:
    world = World()
    Runner(world).step()
    files = kept_files(world)
    [path] = [path for path in files if path.endswith("/visit.json")]
    record = json.loads(files[path])
    for later in ("looked", "contaminated", "is_empty"):
        del record[later]

    assert list(check_folders(world.state, {**files, path: json.dumps(record)})) == []


def test_a_record_that_says_otherwise_than_the_state_is_named_with_what_differs() -> None:
    world = World()
    Runner(world).step()
    files = kept_files(world)
    [path] = [path for path in files if path.endswith("/visit.json")]
    record = {**json.loads(files[path]), "attempt": 2, "looked": [{"path": "a", "version": "b", "lines": []}]}

    [finding] = check_folders(world.state, {**files, path: json.dumps(record)})

    assert (finding.object, finding.problem) == (path, "differs from the state in attempt, looked")
