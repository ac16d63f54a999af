"""The instances of an evaluation, and what all of them together may cost."""

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_DOWN, Decimal
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from typing import Any

from cogworks.codebase.changes import path_problem
from cogworks.errors import ConfigurationError, UsageError
from cogworks.repair.instance import Instance, parse_instance
from cogworks.vocabulary import Value

_OWN = ("repo_archive", "environment_cmd")
SUFFIXES = (".json", ".jsonl")


class Case(Value):
    """One instance and where its repository is."""

    instance: Instance
    source: str
    """File, and line where that is one of many."""
    repo: str = ""
    """`owner/name`, or a folder beside the file."""
    repo_archive: str = ""
    """A bundle of git or a tar archive of plain files, beside the file."""
    environment_cmd: str = ""
    """Run before the repair, where the operator allows it."""

    @property
    def id(self) -> str:
        return self.instance.instance_id


def parse_cases(text: str, *, source: str) -> tuple[Case, ...]:
    """The instances of one file: an object, a list of objects, or JSONL.

    Raises:
        ConfigurationError: every problem of all of them at once.
    """
    problems: list[str] = []
    cases = []
    for place, data in _objects(text, source):
        try:
            cases.append(_case(data, place))
        except ConfigurationError as error:
            problems += [
                problem if place == source else f"{place.removeprefix(f'{source}, ')}: {problem}"
                for problem in error.problems
            ]
    if problems:
        raise ConfigurationError(source, problems)
    return tuple(cases)


def in_order(cases: Sequence[Case]) -> tuple[Case, ...]:
    """All cases by their id, each of which names one.

    Raises:
        UsageError: there is none, or an id is taken twice.
    """
    if not cases:
        raise UsageError("there is no instance: no *.json and no *.jsonl file holds one.")
    places: dict[str, str] = {}
    for case in cases:
        if case.id in places:
            raise UsageError(
                f"instance {case.id!r} is in {places[case.id]} and in {case.source}; name each of its own."
            )
        places[case.id] = case.source
    return tuple(sorted(cases, key=lambda case: case.id))


def chosen(cases: Sequence[Case], wanted: Sequence[str]) -> tuple[Case, ...]:
    """Those with the wanted ids; all of them when none is wanted.

    Raises:
        UsageError: an id is nobody's.
    """
    if unknown := sorted({*wanted} - {case.id for case in cases}):
        raise UsageError(
            f"no instance is called {', '.join(map(repr, unknown))}; there are {', '.join(case.id for case in cases)}."
        )
    return tuple(case for case in cases if not wanted or case.id in wanted)


def places_of(case: Case) -> tuple[str, ...]:
    """Paths below a folder of repositories at which a case's repository is looked for, first one first."""
    owner, _, name = case.repo.rpartition("/")
    stems = [f"{owner.replace('/', '__')}__{name}", case.repo, name] if owner else [case.repo]
    return tuple(f"{stem}{suffix}" for stem in stems for suffix in ("", ".git", ".bundle"))


def _objects(text: str, source: str) -> list[tuple[str, Any]]:
    if PurePosixPath(source).suffix == ".jsonl":
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        return [(f"{source}, line {number}", _json(line, source, number)) for number, line in lines]
    data = _json(text, source)
    if isinstance(data, list):
        return [(f"{source}, entry {number}", each) for number, each in enumerate(data, 1)]
    return [(source, data)]


def _json(text: str, source: str, line: int = 0) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(source, [f"{f'line {line} ' if line else ''}is not JSON: {error}"]) from None


def _case(data: Any, place: str) -> Case:
    if not isinstance(data, dict):
        raise ConfigurationError(place, [f"is {type(data).__name__}, wanted an object"])
    rest = {key: value for key, value in data.items() if key not in _OWN}
    texts = {key: data.get(key, "") for key in ("repo", *_OWN)}
    problems = _problems(texts)
    try:
        instance = parse_instance(json.dumps(rest), source=place)
    except ConfigurationError as error:
        raise ConfigurationError(place, [*problems, *error.problems]) from None
    if problems:
        raise ConfigurationError(place, problems)
    return Case(instance=instance, source=place, **texts)


def _problems(texts: Mapping[str, Any]) -> list[str]:
    problems = [
        f"`{key}` is {texts[key]!r}, wanted a text" for key in _OWN if not isinstance(texts[key], str)
    ]
    if not (texts["repo"] or texts["repo_archive"]):
        problems.append("wants `repo` (`owner/name`, or a folder beside this file) or `repo_archive`")
    for key in ("repo", "repo_archive"):
        value = texts[key]
        if isinstance(value, str) and value and (why := path_problem(value)) is not None:
            # What a data set names is looked for beside it and nowhere else.
            problems.append(f"`{key}` is {value!r}: {why}")
    return problems


_LEFT_BEHIND = frozenset({"__pycache__", ".pytest_cache", "misses"})


def sample_repositories() -> Mapping[str, Mapping[str, str]]:
    """Name -> every file of that library: path -> text."""
    repositories: dict[str, dict[str, str]] = {}
    for path, text in _texts(_folder() / "repositories"):
        name, _, rest = path.partition("/")
        repositories.setdefault(name, {})[rest] = text
    return repositories


def sample_cases() -> Mapping[str, Mapping[str, Any]]:
    """File name -> instance, as SWE-bench writes it, without the commit it starts from."""
    return {path: json.loads(text) for path, text in _texts(_folder() / "instances")}


def sample_recordings() -> Mapping[str, str]:
    """`<instance>/<file>` -> text of the recorded replies."""
    return dict(_texts(_folder() / "cassettes"))


def _folder() -> Traversable:
    return files("cogworks.evaluation") / "bundled"


def _texts(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, str]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name in _LEFT_BEHIND:
            continue
        if entry.is_dir():
            yield from _texts(entry, f"{prefix}{entry.name}/")
        else:
            # Bytes: what was recorded is compared to the last character.
            yield f"{prefix}{entry.name}", entry.read_bytes().decode()


_SMALLEST = Decimal("0.000001")


class Purse(Value):
    """A limit, what is spent of it, and what instances under way may still use."""

    limit_usd: Decimal | None = None
    """None: no limit but that of each instance."""
    spent_usd: Decimal = Decimal(0)
    lent_usd: Decimal = Decimal(0)

    too_little_usd: Decimal = Decimal(0)
    """The largest share that did not suffice for an instance; nobody is lent that little again."""

    @property
    def left_usd(self) -> Decimal | None:
        """What nobody has been lent; None: no limit."""
        if self.limit_usd is None:
            return None
        return max(Decimal(0), self.limit_usd - self.spent_usd - self.lent_usd)

    def share_usd(self, begins: int) -> Decimal | None:
        """What the next of so many instances that could begin now may use; 0: it cannot begin, None: no limit.

        Fewer begin, with more each, rather than all with what was too little before.
        """
        left = self.left_usd
        if left is None:
            return None
        shares = ((left / number).quantize(_SMALLEST, ROUND_DOWN) for number in range(begins, 0, -1))
        return next((share for share in shares if share > self.too_little_usd), Decimal(0))

    def lending(self, share_usd: Decimal | None) -> "Purse":
        """The purse while an instance is under way."""
        return self.model_copy(update={"lent_usd": self.lent_usd + (share_usd or 0)})

    def paying(self, cost_usd: float, *, share_usd: Decimal | None = None, sufficed: bool = True) -> "Purse":
        """The purse when an instance has ended: its share is back, less what it cost.

        Args:
            sufficed: whether the share was enough for it.
        """
        too_little = self.too_little_usd if sufficed else max(self.too_little_usd, share_usd or Decimal(0))
        return self.model_copy(
            update={
                "spent_usd": self.spent_usd + Decimal(str(cost_usd)),
                "lent_usd": self.lent_usd - (share_usd or 0),
                "too_little_usd": too_little,
            }
        )
