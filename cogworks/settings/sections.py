"""Tables of `.cogworks/config.toml` as frozen values; `config` has the rest of them, and reads the file."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from pydantic import Field, model_validator

from cogworks.settings.providers import USUAL, ProviderName
from cogworks.vocabulary import Value

_SHOWN_BELOW = "docs/specs", "specifications"


class PathConfig(Value):
    """`[paths]`: where artifacts are written in the repository."""

    specs: str = Field(default="", pattern=r"^(?:[A-Za-z0-9_][A-Za-z0-9_./-]*)?$")
    """Empty: specifications are read in their pull request and kept in the ledger, and no file of them is merged."""

    @property
    def merges_specs(self) -> bool:
        """Whether specifications become files of the repository."""
        return bool(self.specs)

    @property
    def spec_folders(self) -> tuple[str, ...]:
        """Where specifications may be written, without a trailing slash: the first that git does not ignore counts.

        Where none is merged, it is where the file stands in the pull request.
        """
        # Many repositories ignore `docs`, which their tools make.
        return (self.specs.rstrip("/"),) if self.merges_specs else _SHOWN_BELOW


Lane = Literal["default", "small", "large"]
"""A built-in pipeline, by its name."""
AskedLane = Literal["large", "default", "auto", "small"]
"""What people may ask for; the longer way stands first."""


class LaneConfig(Value):
    """`[pipelines]`: which of the built-in pipelines an item takes, unless a label of the issue says otherwise."""

    lane: AskedLane = "auto"
    """`auto`: a rule chooses by what Intake found."""

    @property
    def named(self) -> AskedLane | Literal[""]:
        """The lane that somebody wrote down; empty: nobody did."""
        return self.lane if "lane" in self.model_fields_set else ""


class ChangeLimits(Value):
    """`[codegen.limits]`: how much one change of a sub-work-item may do to files that are there; new ones do not count."""

    max_loc_changes: int = Field(default=200, ge=1, le=500)
    """Lines added and removed."""
    max_files_per_diff: int = Field(default=5, ge=1, le=15)
    max_files_beyond_plan: int = Field(default=5, ge=0, le=15)
    """Of a sub-work-item in all its visits: files that the plan does not list, where the coder says why; tests do not count."""
    max_total_churn: float = Field(default=2_000.0, ge=1, le=10_000)
    """Of everything a visit keeps, new files included: half of the lines that were added or removed, weighed by kind."""
    mistakes_s: float = Field(default=20.0, ge=0, le=600)
    """So long mistakes are put into a proven change to see whether its tests notice them; 0: none is."""


class ProbeConfig(Value):
    """`[codegen.search]`: whether suspects are probed when tests of a sub-work-item fail, and how much."""

    investigations_enabled: bool = False
    """Whether suspects are probed before anybody is told of them."""
    max_probes: int = Field(default=7, ge=1, le=100)
    """Of one analysis."""
    probe_pool: int = Field(default=3, ge=1, le=16)
    """Probes that run at the same time; what they find out does not depend on it."""
    probe_seconds: float = Field(default=60.0, ge=1, le=3600)
    """Time limit of one probe."""


class CodegenConfig(Value):
    """`[codegen]`: how a change is tried before it is kept, and looked for when it is not."""

    limits: ChangeLimits = ChangeLimits()
    search: ProbeConfig = ProbeConfig()


DEFAULT_TURNS: Mapping[str, int] = MappingProxyType(
    {
        "intake": 4,
        "architecture": 8,
        "interface_design": 8,
        "planning": 4,
        "code_generation": 24,
        "review": 6,
    }
)
"""By node; one that a repository wrote has `OTHER_TURNS`."""
OTHER_TURNS = 6


class SightConfig(Value):
    """`[sight]`: what a prompt shows of the repository, and how often its reader may look further."""

    first_view_tokens: int = Field(default=12_000, ge=1_000, le=200_000)
    """The room of the files in the first prompt of a question."""
    max_turns: dict[str, int] = Field(default_factory=dict)
    """Node -> how many turns of looks its questions have together in one visit; 0: it answers at once."""
    max_tokens: int = Field(default=300_000, ge=1_000)
    """Input of one visit, cached input included; beyond it the model is told to answer with what it knows."""

    def turns(self, node: str) -> int:
        """How many turns of looks a visit of a node has."""
        return self.max_turns.get(node, DEFAULT_TURNS.get(node, OTHER_TURNS))


ShippedPack = Literal["python-library", "rust-embedded-safety"]


class ContextPackConfig(Value):
    """`[context_packs]`; the repository's own are in `.cogworks/context-packs/`."""

    shipped: tuple[ShippedPack, ...] = ()
    """Packs that ship with cogworks and are considered, too."""
    max_tokens: int = Field(default=6_000, ge=500, le=50_000)
    """Of their texts in one prompt, at four characters each; documents beyond are left out whole."""


class AuditConfig(Value):
    """`[audit]`: what the ledger keeps of the questions to the model besides their digests."""

    prompts: Literal["digest", "full"] = "digest"
    """`full`: the words of every prompt, without secrets."""
    max_prompt_tokens: int = Field(default=20_000, ge=1, le=25_000)
    """Of one text that is kept, at four characters each; what is beyond is cut."""


class IsolationConfig(Value):
    """`[isolation]`: whose items run code of the repository only in complete isolation."""

    require: Literal["untrusted", "always"] = "untrusted"
    """`untrusted`: safety-critical items, and those whose author may not write here."""


class SecurityConfig(Value):
    """`[security]`: what happens where a text of people gives orders to the model."""

    injection: Literal["hold", "mark"] = "hold"
    """`hold`: the item waits until somebody with write permission says why the text may be used; `mark`: it is only marked where a
    model reads it."""


INTERNAL_LABEL_PREFIX = "cogworks:node:"
MAX_LABEL_CHARS = 50


class LabelConfig(Value):
    """`[labels]`: names of the labels that people set or that the team may rename."""

    trigger: str = "cogworks:run"
    hold: str = "cogworks:hold"
    cancel: str = "cogworks:cancel"
    restart: str = "cogworks:restart"
    safety_critical: str = "cogworks:safety-critical"
    awaiting_review: str = "cogworks:awaiting-review"
    sub_work_item: str = "cogworks:sub-work-item"


def label_clashes(labels: LabelConfig) -> list[str]:
    """Workflow labels that share one name, or take a name that cogworks keeps for itself."""
    names: dict[str, str] = {}
    problems = []
    for key, name in labels.model_dump().items():
        if not name.strip() or len(name) > MAX_LABEL_CHARS:
            problems.append(
                f"`labels.{key}` is {name!r}; GitHub wants a name of 1 to {MAX_LABEL_CHARS} characters"
            )
        elif name.casefold().startswith(INTERNAL_LABEL_PREFIX):
            problems.append(
                f"`labels.{key}` is {name!r}, but `{INTERNAL_LABEL_PREFIX}*` is kept for views; choose another name"
            )
        elif name.casefold() in names:
            problems.append(
                f"`labels.{key}` and `labels.{names[name.casefold()]}` are both {name!r}; give each its own name"
            )
        names.setdefault(name.casefold(), key)
    return problems


class Price(Value):
    """US dollars per million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_write: float = Field(ge=0)
    cache_read: float = Field(ge=0)


class ModelChoice(Value):
    """`[llm.nodes.<node>]` and `[llm.lanes.<lane>]`: who is asked in the place of `[llm] model`."""

    model: str = Field(min_length=1)


class LlmConfig(Value):
    """`[llm]`: which model is asked."""

    model: str = Field(min_length=1)
    """An exact model id, e.g. `claude-sonnet-5-5`; no "latest" alias."""
    provider: ProviderName = USUAL
    api: Literal["auto", "responses", "chat"] = "auto"
    """How the provider `openai` is spoken to; `auto`: the Responses API at OpenAI, Chat Completions anywhere else."""
    max_output_tokens: int = Field(default=16_000, ge=256, le=128_000)
    stall_timeout_s: float = Field(default=300.0, ge=1, le=3600)
    """How long one waits for the next part of a reply."""
    nodes: Mapping[str, ModelChoice] = Field(default_factory=dict)
    """By node; goes before the lane's."""
    lanes: Mapping[str, ModelChoice] = Field(default_factory=dict)
    """By pipeline, built in or declared."""
    fallback_model: str = ""
    """Who is asked where a model is overloaded; empty: nobody."""
    prices: Mapping[str, Price] = Field(default_factory=dict)
    """Additions to and corrections of the built-in price table."""

    @property
    def named(self) -> tuple[str, ...]:
        """Every model that may be asked, the usual one first."""
        others = [choice.model for choice in (*self.nodes.values(), *self.lanes.values())]
        return tuple(dict.fromkeys(name for name in (self.model, *others, self.fallback_model) if name))

    def visiting(self, node: str, lane: str) -> "LlmConfig":
        """The same, with the model that is asked in a visit of a node as the usual one."""
        choice = self.nodes.get(node) or self.lanes.get(lane)
        return self.model_copy(update={"model": choice.model}) if choice else self


SETUP_SCRIPT = "setup.sh"
"""Below `.cogworks` on the default branch: run as the last of the setup commands."""
EnvironmentMode = Literal["made", "prepared"]


class EnvironmentConfig(Value):
    """`[environment]`; `environment = "prepared"` is short for `mode = "prepared"`."""

    mode: EnvironmentMode = "made"
    """`made`: cogworks installs what the repository declares; `prepared`: an earlier step of this machine did."""
    python: str = ""
    """The version of Python to use, e.g. `3.12`; in `prepared` mode the path of the interpreter. Empty: found."""
    install: Literal["auto", "never"] = "auto"
    """Whether the project itself is built and installed where it declares how."""
    extras: tuple[str, ...] | None = None
    """Extras of the project to install; None: those that its tests use."""
    groups: tuple[str, ...] | None = None
    """Dependency groups to install (PEP 735, Poetry, PDM, Hatch); None: those that its tests use."""
    requirements: tuple[str, ...] | None = None
    """Requirements files to install; None: those that its tests use."""
    packages: tuple[str, ...] = ()
    """Packages to install besides, as requirements (PEP 508)."""
    setup: tuple[str, ...] = ()
    """Commands, each a line for `sh`, run once for each content of setup, manifests and lock files."""
    variables: Mapping[str, str] = Field(default_factory=dict)
    """Variables for setup and tests."""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        return {"mode": value} if isinstance(value, str) else value


MANIFESTS = (
    "**/pyproject.toml", "**/setup.py", "**/setup.cfg", "**/requirements*.txt", "**/*requirements.txt", "requirements/**",
    "**/requirements/*.txt", "**/constraints*.txt", "**/Pipfile", "**/Pipfile.lock", "**/poetry.lock", "**/pdm.lock",
    "**/uv.lock", "**/pylock.toml", "**/Cargo.toml", "**/Cargo.lock", "**/package.json", "**/package-lock.json",
    "**/go.mod", "**/go.sum",
    "**/npm-shrinkwrap.json", "**/yarn.lock", "**/pnpm-lock.yaml", "**/pnpm-workspace.yaml", "**/.npmrc", "**/.yarnrc*",
    "**/pip.conf", "**/Gemfile", "**/Gemfile.lock", "**/*.gemspec", "**/composer.json", "**/composer.lock", "**/pom.xml",
    "**/build.gradle", "**/build.gradle.kts", "**/settings.gradle", "**/settings.gradle.kts", "**/libs.versions.toml",
    "**/gradle.lockfile", "**/gradle-wrapper.properties", "**/*.csproj", "**/packages.config", "**/packages.lock.json",
    "**/Directory.Packages.props",
)  # fmt: skip
"""What says what is installed, in whatever folder."""

TEST_CONFIGURATION = (
    "**/pytest.ini", "**/.pytest.ini", "**/tox.ini", "**/noxfile.py", "**/conftest.py", "**/Makefile", "**/GNUmakefile",
    "**/jest.config.*", "**/vitest.config.*",
)  # fmt: skip
"""What says which tests run, and how."""

ASKED_ABOUT = (*MANIFESTS, *TEST_CONFIGURATION)
"""Always among the patterns; configuration adds to them."""
