"""How many attacks of the corpus are held, and how many harmless texts; `scripts/bench injection` prints the table."""

from collections import Counter
from functools import cache

import pytest

from cogworks.injection.detecting import STATISTICAL, Scan, scan
from cogworks.injection.signatures import KINDS, bundled
from cogworks.injection.weighing import bundled as learned
from tests.exhaustive import IS_QUICK
from tests.injection.corpus import PARTS, Part, is_reported, samples

SAMPLES = samples()
READ = [each for each in SAMPLES if not (IS_QUICK and each.part == "learned")]
"""Without the texts that the weights were learned from where that takes too long: of what is held, they say least."""


@cache
def scanned(text: str) -> Scan:
    """Each text is read once, and only where a test wants to know."""
    return scan(text)


def is_held_as_an_issue(text: str, *, is_reported: bool) -> bool:
    """What statistics alone suspect of an issue is left to the model that reads it."""
    return is_reported or (scanned(text).is_injection and not scanned(text).is_statistical)


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
        assert counts["learned", is_attack] >= 1_100
        assert counts["tuned", is_attack] >= 1_000
        assert counts["held out", is_attack] >= 400


def test_every_kind_of_attack_has_texts_in_every_part() -> None:
    for part in PARTS:
        assert {each.kind for each in SAMPLES if each.part == part and each.is_attack} == {*KINDS}


# What was measured of the held-out part, whose writers set out to get around a detector and knew nothing of this one. See docs/injections.md.
@pytest.mark.parametrize(
    ("part", "at_least"),
    [("tuned", 0.95), pytest.param("learned", 0.96, marks=pytest.mark.slow), ("held out", 0.39)],
)
def test_attacks_are_held(part: Part, at_least: float) -> None:
    assert share(part, is_attack=True) >= at_least


@pytest.mark.parametrize("kind", KINDS)
def test_attacks_of_every_kind_are_held(kind: str) -> None:
    assert share("tuned", is_attack=True, kind=kind) >= 0.85


@pytest.mark.parametrize(
    ("part", "at_most"),
    [("tuned", 0.01), pytest.param("learned", 0.01, marks=pytest.mark.slow), ("held out", 0.036)],
)
def test_harmless_texts_go_through(part: Part, at_most: float) -> None:
    assert share(part, is_attack=False) <= at_most


def test_what_a_model_reports_of_issues_and_the_signatures_hold_nearly_every_attack_and_nearly_nothing_else() -> (
    None
):
    mine = [each for each in SAMPLES if each.part == "held out"]
    held = [each.is_attack for each in mine if is_held_as_an_issue(each.text, is_reported=is_reported(each))]

    assert held.count(True) >= 0.95 * sum(each.is_attack for each in mine)
    assert held.count(False) <= 0.02 * sum(not each.is_attack for each in mine)


def test_every_finding_tells_what_it_is_and_where() -> None:
    for each in READ:
        for finding in scanned(each.text).findings:
            is_learned = finding.signature == STATISTICAL
            assert finding.version == (learned().version if is_learned else bundled().version)
            assert finding.kind in KINDS
            assert finding.why
            assert 1 <= finding.line <= each.text.count("\n") + 1
            assert finding.said
