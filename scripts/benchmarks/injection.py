"""`scripts/bench injection`: what the detector of injections finds in the corpus of `tests/data/injection`, and what it takes for one.

Below them stands what came of the held-out texts where a model had read them as Intake's does and its reports were kept
(`tests/data/injection/reported.json`). With `--missed` it names each text that it gets wrong in the parts that signatures are tuned with and weights learned from. `--public REPOSITORY…` counts instead what it
finds in texts that nobody wrote for it: the newest commit messages, the documents and workflows and some lines of the code of those repositories.
"""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click

from cogworks.injection.detecting import Scan, scan
from tests.injection.corpus import PARTS, Part, Sample, is_reported, samples

Read = tuple[Sample, Scan]
"""A text, and what the detector says of it."""


def rows(part: Part, read: list[Read]) -> list[tuple[str, str, int, int]]:
    """Kind, what it is, how many of them are held, of how many."""
    all_of = Counter((each.is_attack, each.kind) for each, _ in read if each.part == part)
    held = Counter(
        (each.is_attack, each.kind) for each, scan in read if each.part == part and scan.is_injection
    )
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


def beside(read: list[Read]) -> list[str]:
    """Of the held-out part, the lines of a table: the detector, its signatures, the reports of a model, and what holds an issue."""
    mine = [each for each in read if each[0].part == "held out"]
    ways: Mapping[str, Callable[[Sample, Scan], bool]] = {
        "detector": lambda _, scan: scan.is_injection,
        "its signatures alone": lambda _, scan: scan.is_injection and not scan.is_statistical,
        "reports of a model": lambda sample, _: is_reported(sample),
        "an issue: signatures or reports": lambda sample, scan: (
            is_reported(sample) or (scan.is_injection and not scan.is_statistical)
        ),
    }
    return [
        f"| {name} | "
        + " | ".join(_share(mine, way, is_attack=is_attack) for is_attack in (True, False))
        + " |"
        for name, way in ways.items()
    ]


def _share(read: list[Read], way: Callable[[Sample, Scan], bool], *, is_attack: bool) -> str:
    held = [way(sample, scan) for sample, scan in read if sample.is_attack == is_attack]
    return f"{sum(held)} of {len(held)} ({sum(held) / max(1, len(held)):.1%})"


def main() -> None:
    if "--public" in sys.argv:
        public([Path(each) for each in sys.argv[sys.argv.index("--public") + 1 :]])
        return
    read = [(each, scan(each.text)) for each in samples()]
    for part in PARTS:
        click.echo(f"\n{part}\n\n| texts | | held | of |\n|---|---|---|---|")
        click.echo("\n".join(table(rows(part, read))))
    click.echo("\nheld out, by what holds them\n\n| | attacks held | harmless texts held |\n|---|---|---|")
    click.echo("\n".join(beside(read)))
    if "--missed" in sys.argv:
        for each, scanned in read:
            if each.part in ("tuned", "learned") and scanned.is_injection != each.is_attack:
                click.echo(
                    f"\n{'MISSED' if each.is_attack else 'HELD'} {each.kind}, {each.carrier}: {each.text[:400]!r}"
                )


_MESSAGES, _FILES, _FEWEST_CHARS, _MOST_CHARS = 1_500, 80, 60, 60_000
_ENDINGS = (".md", ".rst", ".txt", ".yml", ".yaml")
_CODE, _EXCERPTS = (".c", ".go", ".java", ".js", ".php", ".py", ".rb", ".rs", ".ts"), 60
_FIRST_LINE, _LAST_LINE = 21, 45


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, check=False, timeout=120
    )
    return done.stdout.decode(errors="replace")


def messages_of(folder: Path) -> Iterator[str]:
    """The newest commit messages of a repository that say something."""
    told = _git(folder, "log", "--no-merges", f"--max-count={_MESSAGES}", "--format=%B%x00", "HEAD")
    yield from (each for text in told.split("\0") if len(each := text.strip()) >= _FEWEST_CHARS)


def documents_of(folder: Path) -> Iterator[str]:
    """The first documents and workflows of a repository, unless they are long."""
    names = _git(folder, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
    for name in [each for each in names if each.endswith(_ENDINGS)][:_FILES]:
        text = _git(folder, "show", f"HEAD:{name}")
        if text.strip() and len(text) <= _MOST_CHARS:
            yield text


def excerpts_of(folder: Path) -> Iterator[str]:
    """Some lines of source files all over a repository, as a look shows them."""
    names = [
        each
        for each in _git(folder, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
        if each.endswith(_CODE)
    ]
    for name in names[:: max(1, len(names) // _EXCERPTS)]:
        lines = _git(folder, "show", f"HEAD:{name}").splitlines()
        if shown := lines[_FIRST_LINE - 1 : _LAST_LINE]:
            numbered = "\n".join(f"{number:5}| {line}" for number, line in enumerate(shown, _FIRST_LINE))
            yield f"{name}, lines {_FIRST_LINE} to {_FIRST_LINE + len(shown) - 1} of {len(lines)}:\n{numbered}"


def public(folders: list[Path]) -> None:
    """What is held of texts of other repositories, and what is marked of their code."""
    for what, read in (("commit messages", messages_of), ("documents and workflows", documents_of)):
        held = [scan(text).is_injection for folder in folders for text in read(folder)]
        click.echo(f"{what}: {sum(held)} of {len(held)} held ({sum(held) / max(1, len(held)):.2%})")
    marked = [scan(text) for folder in folders for text in excerpts_of(folder)]
    suspect, by_layer = sum(each.is_suspect for each in marked), sum(each.is_statistical for each in marked)
    click.echo(
        f"excerpts of code: {suspect} of {len(marked)} marked ({suspect / max(1, len(marked)):.2%}), {by_layer} by statistics"
    )


if __name__ == "__main__":
    main()
