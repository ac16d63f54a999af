"""Whether two ways of running a suite say the same of each test."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from cogworks.vocabulary import Value
from scripts.benchmarks.zoo.animals import Animal
from scripts.benchmarks.zoo.ourway import OurRun
from scripts.benchmarks.zoo.ownway import OwnRun

_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_TIME = re.compile(r"\d{4}-\d\d-\d\d|\d\d-\d\d-\d{4}|\d\d:\d\d:\d\d(?:\.\d+)?")


class Compared(Value):
    """One package."""

    animal: Animal
    agree: int
    differ: Mapping[str, str]
    """Test -> how: `own: passed, here: failed`."""
    reasons: Mapping[str, str]
    """Test -> why it does not pass here, of those that differ."""
    only_own: tuple[str, ...]
    missing: tuple[str, ...]
    """Those of them that pass there; of what is skipped or fails there nothing is lost."""
    only_here: tuple[str, ...]
    unloaded: tuple[str, ...]
    refusal: str
    problem: str
    """Why the project's own way came to nothing; there is nothing to compare with then."""
    cold_s: float
    warm_s: float
    disk_bytes: int

    @property
    def works(self) -> bool:
        """Every test that passes in the project's own way passes here, and none of them is missing."""
        return not (self.refusal or self.problem or self.lost or not self.agree)

    @property
    def lost(self) -> tuple[str, ...]:
        """The tests that pass in its own way alone; one that its maintainers mark as flaky or failing may go either way."""
        return (*(test for test, how in self.differ.items() if how.startswith("own: passed")), *self.missing)

    @property
    def is_rightly_refused(self) -> bool:
        """Whether the refusal says what was to be said, of the whole or of each test that cannot pass in isolation."""
        if self.refusal:
            return bool(self.animal.refusal) and self.animal.refusal in self.refusal
        return bool(self.agree and self.held) and len(self.held) == len(self.lost)

    @property
    def held(self) -> tuple[str, ...]:
        """The tests of which it is told, in the right words, that they cannot pass in isolation."""
        return tuple(
            test
            for test in self.lost
            if any(words in self.reasons.get(test, "") for words in self.animal.held)
        )


def compared(animal: Animal, own: OwnRun, here: OurRun) -> Compared:
    """Compare test by test, whatever the runners call the tests."""
    script = animal.test.rpartition(" ")[2].removesuffix(".py")
    told = {test.replace("__main__.", f"{script}.", 1): outcome for test, outcome in own.outcomes.items()}
    ours = {_name(test): outcome for test, outcome in here.outcomes.items()}
    named = _from_root({_name(test) for test, outcome in told.items() if outcome != "unloaded"}, ours)
    theirs = {named[_name(test)]: outcome for test, outcome in told.items() if outcome != "unloaded"}
    both = theirs.keys() & ours.keys()
    differ = {
        test: f"own: {theirs[test]}, here: {ours[test]}"
        for test in sorted(both)
        if theirs[test] != ours[test] and (theirs[test], ours[test]) != ("unsure", "passed")
    }
    return Compared(
        animal=animal,
        agree=len(both) - len(differ),
        differ=differ,
        reasons={_name(test): why for test, why in here.reasons.items() if _name(test) in differ},
        only_own=tuple(sorted(theirs.keys() - ours.keys())),
        missing=tuple(sorted(test for test in theirs.keys() - ours.keys() if theirs[test] == "passed")),
        only_here=tuple(sorted(ours.keys() - theirs.keys())),
        unloaded=here.unloaded,
        refusal=here.refusal,
        problem=own.problem or ("" if theirs else "its own run loaded no test"),
        cold_s=here.cold_s,
        warm_s=here.warm_s,
        disk_bytes=here.disk_bytes,
    )


def _from_root(theirs: Collection[str], ours: Collection[str]) -> dict[str, str]:
    """Each name as it is here: discovery that begins in a folder leaves that out of the names of its tests."""
    ends = {each: name for name in ours if name not in theirs for each in _endings(name)}
    counts = Counter(each for name in ours if name not in theirs for each in _endings(name))
    found = {name: ends[name] if counts[name] == 1 and name not in ours else name for name in theirs}
    return {**found, **_by_class([name for name in theirs if found[name] not in ours], ours)}


def _by_class(theirs: Collection[str], ours: Collection[str]) -> dict[str, str]:
    """A test case is found here in the file that imports it, and named there by the one that defines it."""
    told, known = Counter(map(_in_class, theirs)), Counter(map(_in_class, ours))
    named = {_in_class(name): name for name in ours}
    return {name: named[end] for name in theirs if told[end := _in_class(name)] == known[end] == 1}


def _in_class(name: str) -> str:
    place, bracket, parameters = name.partition("[")
    return f"{'.'.join(place.split('.')[-2:])}{bracket}{parameters}"


def _endings(name: str) -> Iterator[str]:
    place, bracket, parameters = name.partition("[")
    parts = place.split(".")
    return (f"{'.'.join(parts[at:])}{bracket}{parameters}" for at in range(1, len(parts) - 1))


def _name(test: str) -> str:
    """The same for `tests/test_a.py::Case::test_b` and `tests.test_a.Case.test_b`; addresses and times differ from run to run."""
    place, bracket, parameters = test.partition("[")
    dotted = place.replace(".py::", ".").replace("::", ".").replace("/", ".").removeprefix("src.")
    return _TIME.sub("now", _ADDRESS.sub("0x", f"{dotted}{bracket}{parameters}"))
