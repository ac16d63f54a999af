"""`scripts/bench injection`: what the detector of injections finds in the corpus of `tests/data/injection`, and what it takes for one.

With `--missed` it names each text that it gets wrong in the part that signatures may be tuned with.
"""

import sys
from collections import Counter

import click

from cogworks.injection.detecting import scan
from tests.injection.corpus import Part, Sample, samples


def rows(part: Part, found: list[tuple[Sample, bool]]) -> list[tuple[str, str, int, int]]:
    """Kind, what it is, how many of them are held, of how many."""
    all_of = Counter((each.is_attack, each.kind) for each, _ in found if each.part == part)
    held = Counter((each.is_attack, each.kind) for each, is_held in found if each.part == part and is_held)
    return [
        (kind, "attack" if is_attack else "harmless", held[is_attack, kind], count)
        for (is_attack, kind), count in all_of.items()
    ]


def table(made: list[tuple[str, str, int, int]]) -> list[str]:
    """The lines of a table, with a sum for attacks and one for harmless texts."""
    lines = [f"| {kind} | {what} | {held} | {count} |" for kind, what, held, count in made]
    for what in ("attack", "harmless"):
        mine = [row for row in made if row[1] == what]
        held, count = sum(row[2] for row in mine), sum(row[3] for row in mine)
        lines.append(f"| all | {what} | {held} ({held / count:.1%}) | {count} |")
    return lines


def main() -> None:
    found = [(each, scan(each.text).is_injection) for each in samples()]
    parts: tuple[Part, ...] = ("tuned", "held out")
    for part in parts:
        click.echo(f"\n{part}\n\n| texts | | held | of |\n|---|---|---|---|")
        click.echo("\n".join(table(rows(part, found))))
    if "--missed" in sys.argv:
        for each, is_held in found:
            if each.part == "tuned" and is_held != each.is_attack:
                click.echo(
                    f"\n{'MISSED' if each.is_attack else 'HELD'} {each.kind}, {each.carrier}: {each.text[:400]!r}"
                )


if __name__ == "__main__":
    main()
