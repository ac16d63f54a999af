"""`scripts/train-injection`: learn the weights of the statistical layer of the detector, and write them where the program reads them.

It learns from the corpus of `tests/data/injection` but for what is held out, and, with `--public REPOSITORY…`, from commit messages,
documents and lines of the code of those repositories as harmless texts. With `--cross-validate` it writes nothing: it learns from all writers but one, measures with that
one, and prints how many attacks are found at some rates of false alarms; the thresholds stand there as well. Equal texts give equal weights.
"""

import json
import math
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import click

from cogworks.injection.signatures import KINDS
from cogworks.injection.weighing import Features, features_of, together
from scripts.benchmarks.injection import documents_of, excerpts_of, messages_of
from tests.injection.corpus import WRITERS, tuned, written_by

TARGET = Path(__file__).parents[2] / "cogworks" / "injection" / "weights.json"
VERSION = "2026-11-28.4"
RATES = (0.005, 0.01, 0.02, 0.05)
_GROUPS = (1.0, 1.0, 0.7, 0.7)
"""How much the groups of features may say, in their order."""
_EPOCHS, _STEP, _SHRINK = 8, 0.5, 2e-5
_FEWEST = 2
"""A feature of a single text says more of the text than of attacks."""
_SCALE = 0.02
_MOST_MESSAGES, _MOST_DOCUMENTS, _MOST_EXCERPTS, _MOST_CHARS = 80, 8, 20, 12_000
"""Of each public repository, and of each document."""


@dataclass(frozen=True)
class Text:
    """One text to learn from."""

    windows: tuple[Features, ...]
    is_attack: bool
    weight: float
    kind: str = ""


@dataclass
class Model:
    """Weights by feature, a group's name before each."""

    weights: dict[str, float]
    bias: float

    def score(self, window: Features) -> float:
        """How much a window reads like an attack."""
        return self.bias + sum(self.weights.get(name, 0.0) * value for name, value in vector(window))


def vector(window: Features) -> Iterator[tuple[str, float]]:
    """Every feature and its value, as `Weights.sum_of` has it."""
    for group, share, found in zip(Features._fields, _GROUPS, window, strict=True):
        for name in sorted(found):
            yield f"{group} {name}", share / math.sqrt(len(found))


def learn(texts: Sequence[Text]) -> Model:
    """Logistic regression; of an attack the window counts that reads most like one, in a second pass."""
    first = _fitted([(window, each) for each in texts for window in each.windows])
    return _fitted([pair for each in texts for pair in _counted(each, first)])


def _counted(text: Text, model: Model) -> Iterator[tuple[Features, Text]]:
    if text.is_attack and text.windows:
        yield max(text.windows, key=model.score), text
    else:
        yield from ((window, text) for window in text.windows)


def _fitted(pairs: Sequence[tuple[Features, Text]]) -> Model:
    frequent = Counter(name for window, _ in pairs for name, _ in vector(window))
    # Each group of a window has one value, so that a row is short.
    index = {
        name: at for at, name in enumerate(sorted(n for n, count in frequent.items() if count >= _FEWEST))
    }
    rows = [
        (tuple((index[name], value) for name, value in vector(window) if name in index), each)
        for window, each in pairs
    ]
    weights, seen = [0.0] * len(index), [1e-3] * len(index)
    bias, seen_bias = 0.0, 1e-3
    order = random.Random(1)  # noqa: S311 - the same order each time is what is wanted
    for _ in range(_EPOCHS):
        order.shuffle(rows)
        for row, each in rows:
            total = bias + sum(weights[at] * value for at, value in row)
            slope = (1 / (1 + math.exp(-max(-30.0, min(30.0, total)))) - each.is_attack) * each.weight
            seen_bias += slope * slope
            bias -= _STEP * slope / math.sqrt(seen_bias)
            for at, value in row:
                pull = slope * value + _SHRINK * weights[at]
                seen[at] += pull * pull
                weights[at] -= _STEP * pull / math.sqrt(seen[at])
    return Model({name: weights[at] for name, at in index.items()}, bias)


def texts_of_writer(name: str) -> list[Text]:
    return [Text(tuple(features_of(each.text)), each.is_attack, 1.0, each.kind) for each in written_by(name)]


def texts_of_signatures() -> list[Text]:
    return [Text(tuple(features_of(each.text)), each.is_attack, 0.25, each.kind) for each in tuned()]


def public_texts(folders: Iterable[Path]) -> dict[Path, list[Text]]:
    """Some commit messages, documents and excerpts of code of each repository."""
    return {
        folder: [
            *(_harmless(text, 0.3) for text in sorted(set(messages_of(folder)))[:_MOST_MESSAGES]),
            *(_harmless(text[:_MOST_CHARS], 0.15) for text in islice(documents_of(folder), _MOST_DOCUMENTS)),
            *(_harmless(text, 0.15) for text in islice(excerpts_of(folder), _MOST_EXCERPTS)),
        ]
        for folder in folders
    }


def _harmless(text: str, weight: float) -> Text:
    return Text(tuple(features_of(text)), False, weight)


def recall_at(rate: float, scored: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    """The share of attacks above the threshold that this share of harmless texts exceeds, and the threshold."""
    harmless = sorted((score for score, is_attack in scored if not is_attack), reverse=True)
    threshold = harmless[int(rate * len(harmless))]
    attacks = [score for score, is_attack in scored if is_attack]
    return sum(score > threshold for score in attacks) / len(attacks), threshold


def score_of(model: Model, text: Text) -> float:
    return max((model.score(window) for window in text.windows), default=-99.0)


def cross_validate(
    by_writer: Mapping[str, Sequence[Text]], others: Sequence[Text], public: Sequence[Text]
) -> None:
    """Print what a model finds of a writer whom it has not seen."""
    made: list[list[tuple[float, float]]] = []
    for left_out in by_writer:
        model = learn([*(t for name, mine in by_writer.items() if name != left_out for t in mine), *others])
        scored = [(score_of(model, each), each.is_attack) for each in by_writer[left_out]]
        made.append([recall_at(rate, scored) for rate in RATES])
        quiet = [score_of(model, each) for each in public]
        for rate, (recall, threshold) in zip(RATES, made[-1], strict=True):
            held = sum(score > threshold for score in quiet) / max(1, len(quiet))
            click.echo(
                f"{left_out}: {recall:.1%} at {rate:.1%}, from {threshold:.2f} on; {held:.2%} of public texts"
            )
    for at, rate in enumerate(RATES):
        of_rate = [each[at] for each in made]
        recall, threshold = (sum(each[part] for each in of_rate) / len(of_rate) for part in (0, 1))
        click.echo(f"| {rate:.1%} | {recall:.1%} | {threshold:.2f} |")


def kinds_of(texts: Sequence[Text]) -> dict[str, dict[str, int]]:
    """How much each topic speaks for each kind of attack, in hundredths of a logarithm."""
    attacks = [each for each in texts if each.is_attack and each.windows]
    found = {kind: Counter[str]() for kind in KINDS}
    for each in attacks:
        found[each.kind].update(together(each.windows).topics)
    number = Counter(each.kind for each in attacks)
    overall = sum(found.values(), Counter[str]())
    return {
        kind: {"": round(100 * math.log(number[kind] / len(attacks)))}
        | {
            topic: round(
                100
                * math.log((found[kind][topic] + 1) / (number[kind] + 2) / ((count + 1) / (len(attacks) + 2)))
            )
            for topic, count in sorted(overall.items())
        }
        for kind in KINDS
    }


def written(
    model: Model,
    kinds: Mapping[str, Mapping[str, int]],
    *,
    hold_at: float,
    mark_at: float,
    trained_with: Sequence[str],
) -> str:
    """The file, one feature a line and the same for the same model."""
    data: dict[str, object] = {
        "version": VERSION, "hold_at": hold_at, "mark_at": mark_at, "bias": round(model.bias, 3), "scale": _SCALE, "trained_with": trained_with, "kinds": kinds,
    }  # fmt: skip
    for group, share in zip(Features._fields, _GROUPS, strict=True):
        mine = {
            name.removeprefix(f"{group} "): round(weight * share / _SCALE)
            for name, weight in sorted(model.weights.items())
            if name.startswith(f"{group} ")
        }
        data[group] = {name: weight for name, weight in mine.items() if abs(weight) >= _least(group)}
    return json.dumps(data, ensure_ascii=False, indent=0, separators=(",", ":")) + "\n"


def _least(group: str) -> int:
    """Weights nearer to zero are left out, so that the file stays small."""
    return {"neighbours": 32, "words": 16}.get(group, 6)


def _named(folder: Path) -> str:
    commit = subprocess.run(
        ["git", "-C", str(folder), "rev-parse", "HEAD"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    name = folder.parent.name if folder.name in ("repo", "src", ".git") else folder.name
    return f"{name.replace('+', '/')}@{commit.stdout.strip()}"


def main() -> None:
    given = sys.argv[1:]
    folders = [Path(each) for each in given[given.index("--public") + 1 :]] if "--public" in given else []
    public = public_texts(folders)
    by_writer = {name: texts_of_writer(name) for name in WRITERS}
    others = [*texts_of_writer("drafted"), *texts_of_writer("outputs"), *texts_of_signatures()]
    if "--cross-validate" in given:
        # Every fourth repository is not learned from, to count false alarms with.
        seen = [text for at, mine in enumerate(public.values()) if at % 4 for text in mine]
        unseen = [text for at, mine in enumerate(public.values()) if at % 4 == 0 for text in mine]
        cross_validate(by_writer, [*others, *seen], unseen)
        return
    texts = [*(text for mine in by_writer.values() for text in mine), *others]
    model = learn([*texts, *(text for mine in public.values() for text in mine)])
    hold_at, mark_at = (float(given[given.index(name) + 1]) for name in ("--hold-at", "--mark-at"))
    named = sorted(_named(folder) for folder in folders)
    TARGET.write_text(
        written(model, kinds_of(texts), hold_at=hold_at, mark_at=mark_at, trained_with=named), "utf-8"
    )
    click.echo(f"{TARGET.name}: {len(model.weights)} features, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
