"""`scripts/bench realbugs`: bugs that other people fixed, repaired from an adversarial source of diffs."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

from cogworks.domain_services import operations
from cogworks.domain_services.answers import Answer
from cogworks.domain_services.client import ServiceClient
from cogworks.domain_services.exploring import ExploreParams, Signatures
from cogworks.domain_services.opening import BUNDLED, open_client
from cogworks.errors import CogworksError
from cogworks.settings.config import child_environment, read_environment
from scripts.benchmarks.places import places
from scripts.benchmarks.published import CACHE, Release
from scripts.benchmarks.realbugs.harvesting import Harvest, harvested
from scripts.benchmarks.realbugs.keeping import RESULTS, harvests_in, ranks_in, repairs_in
from scripts.benchmarks.realbugs.plainruns import LIMIT_S, plain_suite
from scripts.benchmarks.realbugs.playing import Judges, Played, played
from scripts.benchmarks.realbugs.ranks import Located, ablations, located
from scripts.benchmarks.realbugs.report import excluded, is_met, report
from scripts.benchmarks.realbugs.sources import Opened, Pair, opened


class Tree(NamedTuple):
    """A folder, as far as a service needs one."""

    path: Path


RELEASES = Path(__file__).with_name("releases.toml")


def pairs(text: str) -> tuple[Pair, ...]:
    """The pairs of releases that a file names."""
    found = []
    for name, releases in tomllib.loads(text).items():
        for version, release in releases.items():
            if "after" in release:
                before = release["after"]
                found.append(
                    Pair(
                        Release(name, before, releases[before]["sha256"]),
                        Release(name, version, release["sha256"]),
                    )
                )
    return tuple(found)


def say(text: str) -> None:
    """Tell how far it is; the results alone go to standard output."""
    click.echo(text, err=True)


def client() -> ServiceClient:
    """The Python service with the environments of this machine's cache."""
    service = BUNDLED.model_copy(
        update={
            "command": (*BUNDLED.command, "--environments", str(CACHE / "environments")),
            "timeouts": {"simulate": LIMIT_S + 60},
        }
    )
    return open_client(service, environment=child_environment())


def harvest(wanted: Sequence[Pair], results: Path = RESULTS) -> list[Harvest]:
    """What the pairs give; what this code found before is read from the results."""
    folder = harvests_in(results)
    found = []
    with client() as opened_client:
        for pair in wanted:
            kept = folder / f"{pair.name}.json"
            if not kept.is_file():
                with opened(pair) as here, TemporaryDirectory(prefix="cogworks-bench-") as name:
                    tree = here.lay_out({}, Path(name, "tree"))
                    with plain_suite(tree, CACHE / "environments") as suite:
                        asked = partial(signatures, opened_client, here)
                        result = harvested(pair.name, here, suite, asked, say)
                kept.write_text(result.model_dump_json(indent=1), encoding="utf-8")
            found.append(Harvest.model_validate_json(kept.read_text(encoding="utf-8")))
    return found


def signatures(
    service: ServiceClient, pair: Opened, sources: Mapping[str, str], paths: Iterable[str]
) -> Signatures:
    """What callers may rely on in these files, as the service says."""
    with TemporaryDirectory(prefix="cogworks-bench-") as name:
        root = pair.lay_out(sources, Path(name, "tree"))
        asked = ExploreParams(artifacts=tuple(sorted(paths)))
        answer = service.call(operations.SIGNATURES, Tree(root), asked)
    if not isinstance(answer, Answer):
        raise CogworksError(f"the signatures cannot be read: {answer}")
    return answer.result


def play(wanted: Sequence[Pair], results: Path = RESULTS) -> list[Played]:
    """What became of each bug of the pairs; what this code repaired before is read from the results."""
    folder = repairs_in(results)
    environment = read_environment(
        {"COGWORKS_LLM_PROVIDER": "cassette", "COGWORKS_WORK_DIR": str(CACHE), "HOME": str(Path.home())}
    )
    found = []
    for pair, harvested_pair in zip(wanted, harvest(wanted, results), strict=True):
        kept = {bug.id: folder / f"{bug.id}.json" for bug in harvested_pair.bugs}
        missing = [bug for bug in harvested_pair.bugs if not kept[bug.id].is_file()]
        if missing:
            with opened(pair) as here, _judges(here) as judges:
                for bug in missing:
                    result = played(bug, here, judges, environment)
                    kept[bug.id].write_text(result.model_dump_json(indent=1), encoding="utf-8")
                    say(f"{bug.id}: {'the true fix' if result.is_true else 'not the true fix'}")
        found += [Played.model_validate_json(path.read_text(encoding="utf-8")) for path in kept.values()]
    return found


def rank(wanted: Sequence[Pair], results: Path = RESULTS) -> list[Located]:
    """At which rank each bug of the pairs stands; what this code ranked before is read from the results."""
    folder = ranks_in(results)
    environment = read_environment({"COGWORKS_WORK_DIR": str(CACHE), "HOME": str(Path.home())})
    found = []
    for pair, harvested_pair in zip(wanted, harvest(wanted, results), strict=True):
        kept = {bug.id: folder / f"{bug.id}.json" for bug in harvested_pair.bugs}
        missing = [bug for bug in harvested_pair.bugs if not kept[bug.id].is_file()]
        if missing:
            with opened(pair) as here:
                for bug in missing:
                    hunks = [here.hunks[number] for number in sorted(bug.hunks)]
                    with TemporaryDirectory(prefix="cogworks-bench-") as name:
                        base = here.lay_out(here.sides.older, Path(name, "base"))
                        result = located(bug.id, places(base, bug.tests, environment), hunks)
                    kept[bug.id].write_text(result.model_dump_json(indent=1), encoding="utf-8")
                    say(f"{bug.id}: {result.measured['all signals']}")
        found += [Located.model_validate_json(path.read_text(encoding="utf-8")) for path in kept.values()]
    return found


@contextmanager
def _judges(pair: Opened) -> Iterator[Judges]:
    with TemporaryDirectory(prefix="cogworks-bench-") as name:
        newer = pair.lay_out({}, Path(name, "newer"))
        older = pair.lay_out({}, Path(name, "older"), older_tests=True)
        environments = CACHE / "environments"
        with plain_suite(newer, environments) as one, plain_suite(older, environments) as other:
            yield Judges(one, other)


@click.command()
@click.option("--only", default="", help="Pairs of releases whose name begins so; all of them otherwise.")
@click.option("--find", is_flag=True, help="Only find the bugs.")
@click.option("--rank", "only_rank", is_flag=True, help="Only look for their places.")
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=RESULTS,
    show_default=True,
    help="Where results are kept; what the same code did before is not done again.",
)
def main(only: str, find: bool, only_rank: bool, results: Path) -> None:
    """Print what became of each bug; exit with 1 unless every true fix ended committed and nothing bad was kept."""
    wanted = [pair for pair in pairs(RELEASES.read_text(encoding="utf-8")) if pair.name.startswith(only)]
    found = harvest(wanted, results)
    if find:
        click.echo(excluded(found))
        return
    if only_rank:
        click.echo(ablations(rank(wanted, results)))
        return
    bugs = play(wanted, results)
    click.echo(report(found, bugs))
    if not is_met(bugs):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
