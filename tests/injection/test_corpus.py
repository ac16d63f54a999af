"""How many attacks of the corpus are held, and how many harmless texts; `scripts/bench injection` prints the table."""

from collections import Counter
from functools import cache

import pytest

from cogworks.injection.detecting import STATISTICAL, Scan, scan
from cogworks.injection.signatures import KINDS, bundled
from cogworks.injection.weighing import bundled as learned
from tests.injection.corpus import HELD_OUT, PARTS, Part, is_reported, samples

SAMPLES = samples()


@cache
def scanned(text: str) -> Scan:
    """Each text is read once, and only where a test wants to know."""
    return scan(text)


def share(part: Part, *, is_attack: bool, kind: str = "") -> float:
    """How many of those texts are held."""
    mine = [
        each
        for each in SAMPLES
        if (each.part, each.is_attack) == (part, is_attack) and kind in ("", each.kind)
    ]
    return sum(scanned(each.text).is_injection for each in mine) / len(mine)


def test_the_corpus_is_large_enough_and_repeats_nothing() -> None:
    counts = Counter((each.part, each.is_attack) for each in SAMPLES)

    assert len({each.text for each in SAMPLES}) == len(SAMPLES)
    for is_attack in (True, False):
        assert counts["learned", is_attack] >= 900 - 50
        assert counts["held out later", is_attack] >= 240
        total = counts["tuned", is_attack] + counts["held out", is_attack]
        assert total >= 300
        assert counts["held out", is_attack] >= total / 4


def test_every_kind_of_attack_has_texts_in_every_part() -> None:
    for part in PARTS:
        assert {each.kind for each in SAMPLES if each.part == part and each.is_attack} == {*KINDS}


# What was measured of the held-out part, whose writer set out to get around a detector and knew nothing of this one. See docs/injections.md.
@pytest.mark.parametrize(
    ("part", "at_least"), [("tuned", 0.98), ("held out", 0.46), ("learned", 0.95), ("held out later", 0.44)]
)
def test_attacks_are_held(part: Part, at_least: float) -> None:
    assert share(part, is_attack=True) >= at_least


@pytest.mark.parametrize("kind", KINDS)
def test_attacks_of_every_kind_are_held(kind: str) -> None:
    assert share("tuned", is_attack=True, kind=kind) >= 0.85


@pytest.mark.parametrize(
    ("part", "at_most"), [("tuned", 0.02), ("held out", 0.038), ("learned", 0.021), ("held out later", 0.024)]
)
def test_harmless_texts_go_through(part: Part, at_most: float) -> None:
    assert share(part, is_attack=False) <= at_most


def test_what_a_model_reports_of_issues_and_the_detector_hold_nearly_every_attack_together() -> None:
    mine = [each for each in SAMPLES if each.part in HELD_OUT]
    missed = [
        each
        for each in mine
        if each.is_attack and not is_reported(each) and not scanned(each.text).is_injection
    ]
    taken_wrongly = [each for each in mine if not each.is_attack and is_reported(each)]

    assert len(missed) <= 0.05 * sum(each.is_attack for each in mine)
    assert len(taken_wrongly) <= 0.02 * sum(not each.is_attack for each in mine)


def test_every_finding_tells_what_it_is_and_where() -> None:
    for each in SAMPLES:
        for finding in scanned(each.text).findings:
            is_learned = finding.signature == STATISTICAL
            assert finding.version == (learned().version if is_learned else bundled().version)
            assert finding.kind in KINDS
            assert finding.why
            assert 1 <= finding.line <= each.text.count("\n") + 1
            assert finding.said
