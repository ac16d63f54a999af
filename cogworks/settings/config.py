"""What the operator configured: the process environment and `.cogworks/config.toml` as frozen values."""

import difflib
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from cogworks.errors import ConfigurationError, UsageError
from cogworks.settings.credentials import (
    Credential,
    first_credential,
    unusable_credentials,
    unusable_proxies,
)
from cogworks.settings.for_services import SERVICES_VARIABLE, environments_in, work_folder
from cogworks.settings.sections import (
    ASKED_ABOUT,
    AuditConfig,
    CodegenConfig,
    ContextPackConfig,
    EnvironmentConfig,
    IsolationConfig,
    LabelConfig,
    LaneConfig,
    LlmConfig,
    PathConfig,
    Price,
    SecurityConfig,
    SightConfig,
    label_clashes,
)
from cogworks.toml_text import tables_in
from cogworks.vocabulary import Value

CONFIG_FILE = ".cogworks/config.toml"
PIPELINE_FILE = ".cogworks/pipeline.toml"
WaivableCheck = Literal["TEST_HASH_CHANGED", "TEST_SYNTAX", "TEST_EMPTY", "TEST_NOT_RED"]
"""That a test file is there and lies inside the repository is always required."""


class BudgetConfig(Value):
    """`[budgets]`: what one work item may cost, and how often it may try."""

    pipeline_max_cost_dollars: float = Field(default=10.0, gt=0, allow_inf_nan=False)
    small_max_cost_dollars: float = Field(default=3.0, gt=0, allow_inf_nan=False)
    """Of an item on the built-in pipeline `small`; never more than `pipeline_max_cost_dollars`."""
    pipeline_max_tokens: int = Field(default=500_000, gt=0)
    sub_work_item_max_retries: int = Field(default=5, ge=0, le=20)


class LedgerConfig(Value):
    """`[ledger]`: how much model spend may be unrecorded at any moment, and how long a finished ledger stays a branch."""

    checkpoint_usd: float = Field(default=0.50, gt=0, allow_inf_nan=False)
    keep_days: int = Field(default=30, ge=0, le=3650)
    """Days after its issue was closed; `cogworks gc` puts the ledger away then."""
    writers: tuple[str, ...] = ()
    """Whose commits a ledger may consist of, by login; empty: anybody's who may push."""


class CommandConfig(Value):
    """`[commands]`: whose comments and labels are obeyed besides those of people with write permission."""

    allowed_apps: tuple[str, ...] = ()
    """Logins of GitHub Apps, with or without `[bot]`."""


class DependencyConfig(Value):
    """`[dependencies]`: whether a model may change what is installed and how tests run."""

    changes: Literal["ask", "allow"] = "ask"
    """`ask`: a proposed change to a manifest or to the configuration of tests ends the node, and a person decides."""
    manifests: tuple[str, ...] = ()
    """Patterns, as for protected paths, of more files that say what is installed or how tests run."""

    @property
    def asked_about(self) -> tuple[str, ...]:
        """Patterns of the files that only a person changes."""
        return (*ASKED_ABOUT, *self.manifests) if self.changes == "ask" else ()


class CodingConfig(Value):
    """`[coding]`: how Code Generation comes to its decisions."""

    memory: bool = False
    """Whether what became of earlier visits weighs on what is tried; three requests more for each visit."""


Baseline = Literal["require", "allow-failing", "none"]
"""What is wanted of the tests that are there before a change."""


class TestsConfig(Value):
    """`[tests]`: what is wanted of those that are there, who writes those of a sub-work-item, and which checks of them only warn."""

    __test__ = False
    baseline: Baseline = "require"
    """`require`: all of them can be loaded; `allow-failing`: what cannot be is named first in every proof; `none`: they are
    not run at all, only those that are handed over."""
    command: str = ""
    """The command that runs the tests, as `cogworks fix --test-command` takes it; empty: found from the repository."""
    timeout_s: float = Field(default=600.0, gt=0, le=86_400)
    """Of one run of the suite; a longer suite is run in parts."""
    writer: Literal["separate", "none"] = "separate"
    """`separate`: tests are written, checked and committed before the code; `none`: they come with the code."""
    warn_only: tuple[WaivableCheck, ...] = ()
    semantic_check: bool = False
    """Whether a model looks once whether the tests assert what is wanted, before they are handed over."""


class ApprovalConfig(Value):
    """`[approvals]`: how long somebody's `/cogworks approve` is good for."""

    valid_hours: int = Field(default=168, ge=0, le=87_600)
    """From when GitHub says that it was written; 0 = for ever."""


class PullRequestConfig(Value):
    """`[pull_requests]`: what the pull requests of an item say."""

    closes_issue: bool = True
    """Whether the merge of the last one closes the issue."""
    remarks_at_lines: bool = True
    """Whether remarks of the review that do not block stand at their lines; false: all of them stand in the body."""
    ci_repairs: int = Field(default=2, ge=0, le=20)
    """How often failed checks of one pull request start its work again before a person is asked; 0 = never."""
    conflict_repairs: int = Field(default=2, ge=0, le=20)
    """How often the base branch is merged into a pull request that GitHub cannot merge before a person is asked; 0 = never."""


class Config(Value):
    """`.cogworks/config.toml`, validated."""

    llm: LlmConfig
    budgets: BudgetConfig = BudgetConfig()
    labels: LabelConfig = LabelConfig()
    paths: PathConfig = PathConfig()
    ledger: LedgerConfig = LedgerConfig()
    commands: CommandConfig = CommandConfig()
    isolation: IsolationConfig = IsolationConfig()
    security: SecurityConfig = SecurityConfig()
    dependencies: DependencyConfig = DependencyConfig()
    coding: CodingConfig = CodingConfig()
    tests: TestsConfig = TestsConfig()
    environment: EnvironmentConfig = EnvironmentConfig()
    audit: AuditConfig = AuditConfig()
    context_packs: ContextPackConfig = ContextPackConfig()
    codegen: CodegenConfig = CodegenConfig()
    sight: SightConfig = SightConfig()
    approvals: ApprovalConfig = ApprovalConfig()
    pull_requests: PullRequestConfig = PullRequestConfig()
    pipelines: LaneConfig = LaneConfig()


class Environment(Value):
    """Everything cogworks takes from the process environment; secrets are never shown by `repr`."""

    github_token: str = Field(default="", repr=False)
    github_token_source: str = ""
    github_app_id: str = ""
    github_app_private_key: str = Field(default="", repr=False)
    """PEM, or the path of a file that holds it."""
    github_app_installation_id: str = ""
    unusable: Mapping[str, str] = {}
    """Variable -> why the credential for GitHub in it cannot be sent, or the proxy not be used; a credential's field is empty then."""
    llm_provider: str = ""
    llm_model: str = ""
    """Asked by `fix` instead of the model that is configured."""
    variables: Mapping[str, str] = Field(default={}, repr=False)
    """All variables: a provider of models reads its own."""
    github_api_url: str = ""
    github_graphql_url: str = ""
    github_server_url: str = ""
    cassette_dir: str = ""
    cassette_mode: str = ""
    """Whether replies are recorded into that directory while a model is asked; empty: they are not."""
    work_dir: str = ""
    services_config: str = ""
    """A `services.toml` of this machine, read instead of the repository's."""
    host: str = ""
    """What identifies this runner in a lease besides its process id, e.g. the Actions run."""
    color: bool = True
    is_ci: bool = False

    def refuse_unusable(self, *variables: str, credential: Credential | None = None) -> None:
        """Nothing, unless a credential that is needed now cannot be sent.

        Args:
            variables: those that are needed.
            credential: one more that is needed, which somebody else has read.

        Raises:
            ConfigurationError: each such variable and why, never what it holds.
        """
        unusable = {**unusable_credentials(*filter(None, [credential])), **self.unusable}
        needed = dict.fromkeys((*([credential.variable] if credential else []), *variables))
        problems = [f"`{name}` {unusable[name]}" for name in needed if name in unusable]
        if problems:
            raise ConfigurationError("the environment", problems)


APP_VARIABLES = ("COGWORKS_GITHUB_APP_ID", "COGWORKS_GITHUB_APP_INSTALLATION_ID")
"""What goes into requests as it is; the App's key does not, it signs."""


def read_environment(environ: Mapping[str, str] | None = None) -> Environment:
    """The environment as a value; `COGWORKS_GITHUB_TOKEN`, `GH_TOKEN`, `GITHUB_TOKEN` in that order."""
    env = os.environ if environ is None else environ
    github = first_credential(env, "COGWORKS_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")
    app, installation = (first_credential(env, name) for name in APP_VARIABLES)
    mode = env.get("COGWORKS_CASSETTE_MODE", "")
    run = "/".join(env[n] for n in ("GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT") if env.get(n))
    return Environment(
        github_token=github.value,
        github_token_source=github.variable,
        github_app_id=app.value,
        github_app_private_key=env.get("COGWORKS_GITHUB_APP_PRIVATE_KEY", ""),
        github_app_installation_id=installation.value,
        unusable=unusable_credentials(github, app, installation) | unusable_proxies(env),
        # To replay is to ask a cassette, no matter who is asked otherwise.
        llm_provider="cassette" if mode == "replay" else env.get("COGWORKS_LLM_PROVIDER", ""),
        llm_model=env.get("COGWORKS_LLM_MODEL", ""),
        variables=dict(env),
        github_api_url=env.get("GITHUB_API_URL", ""),
        github_graphql_url=env.get("GITHUB_GRAPHQL_URL", ""),
        github_server_url=env.get("GITHUB_SERVER_URL", ""),
        cassette_dir=env.get("COGWORKS_CASSETTE_DIR", ""),
        cassette_mode="" if mode == "replay" else mode,
        work_dir=work_folder(env),
        services_config=env.get(SERVICES_VARIABLE, ""),
        host=f"actions:{run}" if run else "",
        color="NO_COLOR" not in env,
        is_ci=bool(env.get("CI")),
    )


def environments_folder(environment: Environment) -> Path:
    """Where the bundled services keep what they install for repositories."""
    return environments_in(environment.work_dir)


def child_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for a `cogworks` process of our own, with `extra` on top."""
    return {**os.environ, **(extra or {})}


def parse_config(text: str, *, source: str = CONFIG_FILE) -> Config:
    """Read `config.toml`.

    Raises:
        ConfigurationError: every problem at once, each with its table and key.
    """
    try:
        data = tables_in(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(source, [f"not TOML: {error}"]) from None
    try:
        config = Config.model_validate(data)
    except ValidationError as error:
        raise ConfigurationError(source, [*_problems(error), *_clashes_in(data)]) from None
    if clashes := label_clashes(config.labels):
        raise ConfigurationError(source, clashes)
    return config


def parse_surroundings(text: str, *, source: str = CONFIG_FILE) -> tuple[EnvironmentConfig, TestsConfig]:
    """The tables `[environment]` and `[tests]` of a `config.toml`, whatever else is in it or missing there.

    Raises:
        ConfigurationError: every problem of these tables.
    """
    try:
        data = tables_in(text)
        environment = EnvironmentConfig.model_validate(data.get("environment", {}))
        tests = TestsConfig.model_validate(data.get("tests", {}))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(source, [f"not TOML: {error}"]) from None
    except ValidationError as error:
        raise ConfigurationError(source, _problems(error)) from None
    return environment, tests


def _clashes_in(data: Mapping[str, Any]) -> list[str]:
    """The clashes of a `[labels]` table that has the right shape while something else is wrong."""
    try:
        return label_clashes(LabelConfig.model_validate(data.get("labels", {})))
    except ValidationError:
        return []


def require_config(files: Mapping[str, str], *, where: str) -> Config:
    """The configuration among a repository's files (path below `.cogworks` -> text); a missing one is an error."""
    text = files.get("config.toml")
    if text is None:
        hidden = "with `git add -f .cogworks` where `.gitignore` hides that folder"
        message = f'{where} has no `{CONFIG_FILE}` on its default branch. Commit one ({hidden}) with at least:\n\n[llm]\nmodel = "claude-sonnet-5-5"\n'
        raise UsageError(message)
    return parse_config(text, source=CONFIG_FILE)


def _problems(error: ValidationError) -> list[str]:
    return [_problem(dict(item)) for item in error.errors()]


def unknown_key(place: str, known: Sequence[str], *, to: str) -> str:
    """A complaint about a key, with the one that may have been meant.

    Args:
        place: with the tables it stands in, `table.key`.
        to: who does not know it.
    """
    close = difflib.get_close_matches(place.rpartition(".")[2], known, n=1)
    hint = f"did you mean `{close[0]}`?" if close else f"known here: {', '.join(known)}"
    return f"`{place}` is not a key {to} knows; {hint}"


def _problem(item: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        return unknown_key(place, _known_keys(item["loc"][:-1]), to="cogworks")
    if item["type"] == "missing":
        return f"`{place}` is missing"
    return f"`{place}` is {item['input']!r}: {item['msg']}"


def _known_keys(table: tuple[Any, ...]) -> list[str]:
    model: Any = Config
    for part in table:
        field = getattr(model, "model_fields", {}).get(part)
        if field is None:
            return sorted(Price.model_fields)
        model = field.annotation
    return sorted(getattr(model, "model_fields", {}))
