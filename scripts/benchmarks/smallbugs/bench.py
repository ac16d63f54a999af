"""`scripts/bench smallbugs`: small programs with one bug each, repaired by `cogworks fix` from true and wrong diffs."""

import compileall
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import click

import cogworks
from scripts.benchmarks.smallbugs import heldback
from scripts.benchmarks.smallbugs.heldback import warned
from scripts.benchmarks.smallbugs.playing import Played, played
from scripts.benchmarks.smallbugs.programs import in_order, programs


def play(only: str = "", numbers: Sequence[int] | None = None, *, tests: int = 0) -> list[Played]:
    """What became of the programs, or of those with these numbers.

    Args:
        tests: so many has each suite then, and the fix is offered first: what is compared is a repair of one bug with the same by
            hand, which is two runs of all tests. 0: the suites are as they are, and the fix stands anywhere among the others.
    """
    _compiled()
    found = []
    for number, program in enumerate(programs(only)):
        if numbers is None or number in numbers:
            if tests:
                result = played(program.with_tests(tests), (program.fix, *program.wrong))
            else:
                result = played(program, in_order(program, number))
            click.echo(
                f"{result.name}: {result.end}, {result.tried} tried, {result.ratio:.1f}, "
                f"{result.processor_s:.2f} / {result.by_hand_processor_s:.2f} = {result.processor_ratio:.1f}; {result.said}",
                err=True,
            )
            found.append(result)
    return found


def _compiled() -> None:
    """As an installation leaves the package; pytest, which the loop by hand loads, is compiled as well."""
    compileall.compile_dir(str(Path(cogworks.__file__).parent), quiet=2)


def report(found: Sequence[Played]) -> str:
    """The sums, and one row for each program."""
    fixed, wrong = (sum(each.end == end for each in found) for end in ("fixed", "wrong"))
    untouched = sum(each.is_untouched for each in found)
    rows = [
        f"| {each.name} | {each.kind} | {each.end} | {each.tried} | {each.ratio:.1f} | {each.processor_ratio:.1f} | {_warned(each)} |"
        for each in found
    ]
    ratio = median(each.ratio for each in found)
    processor = median(each.processor_ratio for each in found)
    warned = sum(bool(each.warnings) for each in found)
    return "\n".join(
        (
            "| what | count |",
            "|---|---|",
            f"| fixed by the true diff | {fixed} of {len(found)} |",
            f"| wrong diffs kept | {wrong} |",
            f"| checkout untouched | {untouched} of {len(found)} |",
            f"| time, as a multiple of the loop by hand (median) | {ratio:.1f} |",
            f"| the same in processor time (median) | {processor:.1f} |",
            f"| true fixes that are kept with a warning | {warned} |",
            "",
            "| program | kind | end | tried | time | processor time | warned |",
            "|---|---|---|---|---|---|---|",
            *rows,
        )
    )


def _warned(found: Played) -> str:
    return str(len(found.warnings)) if found.warnings else "–"


def is_met(found: Sequence[Played]) -> bool:
    """Whether every program ended fixed and its checkout as it was."""
    return all(each.end == "fixed" and each.is_untouched for each in found)


@click.command()
@click.option("--only", default="", help="Programs whose name begins so; all of them otherwise.")
@click.option(
    "--tests", default=0, help="Make each suite so many tests long, and offer the fix first; 0: as they are."
)
@click.option(
    "--held-back", "only_held_back", is_flag=True, help="Only count how often the held-back checks warn."
)
def main(only: str, tests: int, *, only_held_back: bool) -> None:
    """Print what became of each program; exit with 1 unless all are fixed and nothing wrong was kept."""
    if only_held_back:
        told = []
        for program in programs(only):
            told.append(warned(program))
            click.echo(str(told[-1]), err=True)
        click.echo(heldback.report(told))
        return
    found = play(only, tests=tests)
    click.echo(report(found))
    if not is_met(found):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
