"""The demonstration's stage for a test: its hub runs as a child that the test ends."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.resources import as_file
from pathlib import Path

from cogworks.demo.facts import AUTHOR, DEFAULT_BRANCH, FULL_NAME, OWNER, sample_folder
from cogworks.demo.person import Person
from cogworks.demo.stage import FIRST_COMMIT, RUNNER, Stage
from cogworks.hub.seeding import add_collaborator, add_token, add_user, create_repository
from cogworks.hub.world import World
from tests.hub.running import running_hub

PERSON_TOKEN = "person-" + "a" * 30
RUNNER_TOKEN = "runner-" + "b" * 30


@contextmanager
def staged(directory: Path) -> Iterator[tuple[Stage, Person]]:
    """A hub with the sample repository, and the person who works there."""
    hub = directory / "hub"
    world = World(hub)
    add_user(world, OWNER, kind="Organization")
    person, runner = add_user(world, AUTHOR), add_user(world, RUNNER)
    add_token(world, person, PERSON_TOKEN)
    add_token(world, runner, RUNNER_TOKEN)
    with as_file(sample_folder() / "repository") as tree:
        repository = create_repository(
            world, FULL_NAME, tree=tree, date=FIRST_COMMIT, default_branch=DEFAULT_BRANCH
        )
    add_collaborator(world, repository, person, "admin")
    add_collaborator(world, repository, runner, "write")
    world.close()
    with running_hub(hub) as running:
        stage = Stage(
            url=running.url,
            directory=directory,
            person_token=PERSON_TOKEN,
            runner_token=RUNNER_TOKEN,
            process_id=running.process.pid,
        )
        with closing(Person(stage)) as someone:
            yield stage, someone
