"""The configuration of the patch loop: TOML tables `[codegen.*]`, or the same keys in YAML."""

import tomllib
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, ValidationError

from cogworks.errors import ConfigurationError
from cogworks.settings.config import unknown_key
from cogworks.settings.providers import ProviderName
from cogworks.settings.sections import ProbeConfig
from cogworks.toml_text import tables_in
from cogworks.vocabulary import Value

_SUFFIXES = (".toml", ".yaml", ".yml")


class Search(ProbeConfig):
    """`search`: how long and how widely is looked."""

    max_steps: int = Field(default=3, ge=1, le=4)
    """RepairTargets of one plan that are followed."""
    diffs_per_step: int = Field(default=3, ge=1, le=10)
    finalists: int = Field(default=3, ge=1, le=10)
    """As many as are asked for: what is valid is tried before anything is asked again."""
    retries_per_step: int = Field(default=1, ge=0, le=5)
    """Further requests for diffs after one that gave nothing valid."""
    investigations_enabled: bool = True
    model_probes: int = Field(default=0, ge=0, le=20)
    """Changes the model may propose to find something out with, which costs two more questions for each analysis."""
    use_landmarks: bool = True
    """False: the model is asked for diffs only, place by place in the order of suspicion."""
    judge: bool = False
    """Whether the model may put the finalists into another order."""


class Sizes(Value):
    """`limits`: how large one diff, and all together, may be."""

    max_loc_changes: int = Field(default=12, ge=1, le=500)
    max_files_per_diff: int = Field(default=2, ge=1, le=15)
    slice_padding_lines: int = Field(default=60, ge=0, le=400)
    max_total_churn: float = Field(default=500.0, ge=1, le=10_000)


class Transactions(Value):
    """`tnr`: the transaction."""

    actions_per_txn: int = Field(default=3, ge=1, le=10)
    require_mu_nonworsening: Literal[True] = True
    """What makes anything worse is never kept."""


class Gates(Value):
    """`gates`: what a change passes before it is kept."""

    static: bool = True
    """Whether what the static checks find anew stops a change; what does not parse is refused all the same."""
    targeted_tests: bool = True
    """Whether the last change of a plan needs all failing tests to pass, rather than fewer to fail."""
    smoke: tuple[str, ...] | Literal[False] = False
    """Ids of tests that always run as well."""
    regression: bool = True
    """Whether the tests that reach what is touched run in each transaction, not only at the end."""
    test_timeout_s: float = Field(default=0.0, ge=0, le=3600)
    """Of one test; 0: derived from the slowest that passes before any change."""
    held_back_s: float = Field(default=20.0, ge=0, le=600)
    """Of the two runs, side by side, that try inputs beside those of the tests, and mistakes that tests should notice, on a change that
    is proven; 0: none."""
    full_before_finalize: bool = True
    """Whether the whole suite runs before the end, rather than the tests that reach what was touched."""


class Logging(Value):
    """`logging`: where artifacts go, and whether events are shown as they come."""

    dir: str = ""
    stream: bool = False
    prompts: Literal["digest", "full"] = "digest"
    """Whether artifacts hold the words that were sent to the model and came back, or only what names them."""
    max_prompt_tokens: int = Field(default=20_000, ge=1)
    """Of one kept prompt or answer, at four characters each; what is beyond is cut."""


class ModelChoice(Value):
    """`model`: who is asked; empty: as the repository's `.cogworks/config.toml` says."""

    provider: Literal["", ProviderName] = ""
    name: str = ""


class Options(Value):
    """All of it."""

    search: Search = Search()
    limits: Sizes = Sizes()
    tnr: Transactions = Transactions()
    gates: Gates = Gates()
    logging: Logging = Logging()
    model: ModelChoice = ModelChoice()


def parse_options(text: str, *, source: str) -> Options:
    """Read a configuration; the name's suffix says in which form.

    Raises:
        ConfigurationError: every problem at once.
    """
    data = _read(text, source)
    if not isinstance(data, dict):
        raise ConfigurationError(source, [f"is {type(data).__name__}, wanted tables"])
    if set(data) == {"codegen"} and isinstance(data["codegen"], dict):
        data = data["codegen"]
    try:
        return Options.model_validate(data)
    except ValidationError as error:
        problems = dict.fromkeys(_problem(dict(item)) for item in error.errors())
        raise ConfigurationError(source, list(problems)) from None


def _read(text: str, source: str) -> Any:
    if not source.endswith(_SUFFIXES):
        raise ConfigurationError(source, [f"ends with none of {', '.join(_SUFFIXES)}"])
    return _toml_in(text, source) if source.endswith(".toml") else _yaml_in(text, source)


def _toml_in(text: str, source: str) -> Any:
    try:
        return tables_in(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigurationError(source, [f"is not TOML: {' '.join(str(error).split())}"]) from None


def _yaml_in(text: str, source: str) -> Any:
    import yaml  # noqa: PLC0415 - slow, and seldom needed

    try:
        return yaml.safe_load(text) or {}
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigurationError(source, [f"is not YAML: {' '.join(str(error).split())}"]) from None


def _problem(item: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        return unknown_key(place, _keys(item["loc"][:-1]), to="the patch loop")
    if item["loc"][0] == "gates" and "smoke" in item["loc"]:
        return f"`gates.smoke` is {item['input']!r}; name the tests in a list, or leave it out"
    if item["type"] == "literal_error":
        return f"`{place}` is {item['input']!r}; only {item['ctx']['expected']} is possible"
    return f"`{place}` is {item['input']!r}: {item['msg']}"


def _keys(tables: tuple[Any, ...]) -> list[str]:
    model: Any = Options
    for table in tables:
        model = model.model_fields[table].annotation
    return sorted(model.model_fields)


Budget = Literal["finalists", "actions_per_txn"]


class Budgets(Value):
    """Two limits, of which the smaller one counts; a diff that breaks a rule reaches no tree and uses up nothing."""

    finalists: int = Field(ge=1)
    actions_per_txn: int = Field(ge=1)

    @property
    def most(self) -> int:
        return min(self.finalists, self.actions_per_txn)

    @property
    def reached(self) -> tuple[Budget, ...]:
        """The names of those that `most` diffs use up."""
        limits: tuple[tuple[Budget, int], ...] = (
            ("finalists", self.finalists),
            ("actions_per_txn", self.actions_per_txn),
        )
        return tuple(name for name, limit in limits if limit == self.most)
