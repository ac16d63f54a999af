"""What GitHub Actions says to a run of the Action, as a frozen value."""

import os
from collections.abc import Mapping

from pydantic import Field

from cogworks.settings.sections import LabelConfig
from cogworks.vocabulary import Value


class ActionEnvironment(Value):
    """What GitHub Actions and `action.yml` put into the environment of `cogworks action`."""

    event: str = ""
    event_path: str = ""
    server_url: str = "https://github.com"
    repository: str = ""
    output_path: str = ""
    summary_path: str = ""
    issue_url: str = ""
    node: str = ""
    mode: str = "step"
    trigger: str = LabelConfig().trigger
    max_jobs: int = Field(default=256, ge=1, le=256)
    """GitHub takes no larger matrix."""


def read_action_environment(environ: Mapping[str, str] | None = None) -> ActionEnvironment:
    """The environment of one run of the Action; inputs that are left out have their defaults."""
    env = os.environ if environ is None else environ
    names = {
        "event": "GITHUB_EVENT_NAME",
        "event_path": "GITHUB_EVENT_PATH",
        "server_url": "GITHUB_SERVER_URL",
        "repository": "GITHUB_REPOSITORY",
        "output_path": "GITHUB_OUTPUT",
        "summary_path": "GITHUB_STEP_SUMMARY",
        "issue_url": "COGWORKS_ACTION_ISSUE_URL",
        "node": "COGWORKS_ACTION_NODE",
        "mode": "COGWORKS_ACTION_MODE",
        "trigger": "COGWORKS_ACTION_TRIGGER",
        "max_jobs": "COGWORKS_ACTION_MAX_JOBS",
    }
    return ActionEnvironment.model_validate(
        {field: env[name] for field, name in names.items() if env.get(name)}
    )
