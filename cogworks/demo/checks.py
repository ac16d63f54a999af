"""The checks of the sample repository: an App that looks at what a pull request adds, as a job of GitHub Actions would."""

import secrets
from collections.abc import Iterator
from typing import NamedTuple

import github as pygithub

from cogworks.demo.facts import FULL_NAME
from cogworks.demo.person import Person
from cogworks.demo.stage import Stage
from cogworks.hub.actions.access import Actor, authenticate
from cogworks.hub.actions.checks import check_runs, create_check_run, keep_job_log, update_check_run
from cogworks.hub.check_records import Annotation
from cogworks.hub.records import Repository
from cogworks.hub.seeding import add_collaborator, add_token, add_user, create_repository
from cogworks.hub.world import World

BOT = "hourglass-ci[bot]"
NAME = "lint"
MAX_WIDTH = 100


class Long(NamedTuple):
    """A line of Python that a pull request adds and that is too long."""

    path: str
    line: int
    width: int


def look_at_heads(stage: Stage, person: Person) -> tuple[str, ...]:
    """Check the head of every open pull request that was not checked yet; the results, in one line each."""
    lines: list[str] = []
    world = World(stage.directory / "hub")
    try:
        actor, repository = _signed_in(world)
        for pull in person.repository.get_pulls(state="open", sort="created", direction="asc"):
            if check_runs(world, repository.id, pull.head.sha):
                continue
            problems = tuple(too_long(pull.get_files()))
            _report(world, actor, repository, pull.head.sha, problems, page=stage.repository_url)
            words = f"fails: {len(problems)} line(s) too long" if problems else "passes"
            lines.append(f"`{NAME}` {words} on pull request #{pull.number}")
    finally:
        world.close()
    return tuple(lines)


def too_long(files: "pygithub.PaginatedList.PaginatedList[pygithub.File.File]") -> Iterator[Long]:
    """The added lines of Python that are wider than `MAX_WIDTH`."""
    for file in files:
        if not file.filename.endswith(".py"):
            continue
        number = 0
        for line in (file.patch or "").splitlines():
            if line.startswith("@@"):
                number = int(line.split("+")[1].split(",")[0].split(" ")[0])
                continue
            if line.startswith("+") and len(line) - 1 > MAX_WIDTH:
                yield Long(file.filename, number, len(line) - 1)
            number += not line.startswith("-")


def _signed_in(world: World) -> tuple[Actor, Repository]:
    bot, token = add_user(world, BOT, kind="Bot"), secrets.token_hex(20)
    add_token(world, bot, token)
    actor = authenticate(world, token)
    repository = create_repository(world, FULL_NAME)
    add_collaborator(world, repository, bot, "write")
    return actor, repository


def _report(
    world: World, actor: Actor, repository: Repository, oid: str, problems: tuple[Long, ...], *, page: str
) -> None:
    run = create_check_run(world, actor, repository, oid=oid, name=NAME, fields={"status": "in_progress"})
    lines = [
        f"{each.path}:{each.line}: {each.width} characters, {MAX_WIDTH} are allowed" for each in problems
    ]
    ending = ["##[error]Process completed with exit code 1."] if problems else []
    keep_job_log(world, run, "\n".join(["lint: lines that this pull request adds", *lines, *ending, ""]))
    update_check_run(
        world,
        actor,
        repository,
        run,
        {
            "conclusion": "failure" if problems else "success",
            "details_url": f"{page}/actions/runs/1/job/{run.id}",
            "title": f"{len(problems)} line(s) too long",
            "summary": f"Lines of Python have at most {MAX_WIDTH} characters.",
            "annotations": tuple(
                Annotation(
                    path=each.path,
                    start_line=each.line,
                    end_line=each.line,
                    level="failure",
                    title="line too long",
                    message=f"{each.width} characters, {MAX_WIDTH} are allowed",
                )
                for each in problems
            ),
        },
    )
