"""How the labels cogworks creates look in a repository, and what of a broken configuration still says how they are called."""

import tomllib
from collections.abc import Mapping
from typing import Protocol

from pydantic import ValidationError

from cogworks.errors import CogworksError
from cogworks.settings.config import Config, require_config
from cogworks.settings.sections import LabelConfig, LlmConfig, label_clashes
from cogworks.toml_text import tables_in


class LabelSource(Protocol):
    """Makes labels; GraphQL cannot."""

    def ensure_label(self, name: str, color: str, description: str) -> str:
        """Create the label unless it exists; its node id."""


LANE_LABEL = "cogworks:lane:"
"""Begins the labels by which people choose among the built-in pipelines."""

# The first that fits counts, so the whole name stands before the prefix that it begins with.
# GitHub takes a colour without `#` and at most 100 characters of description
# (https://docs.github.com/en/rest/issues/labels).
_APPEARANCES = (
    ("cogworks:node:failed", "b60205", "A node of the pipeline gave up; the status comment says why"),
    ("cogworks:node:", "1d76db", "Where the pipeline stands (a view; removing it changes nothing)"),
    ("cogworks:kind:", "c5def5", "What the pipeline takes this issue for"),
    ("cogworks:awaiting-review", "fbca04", "The pipeline waits for a person"),
    ("cogworks:run", "0e8a16", "Add to start the pipeline on this issue"),
    ("cogworks:hold", "d93f0b", "Add to pause the pipeline, remove to go on"),
    ("cogworks:cancel", "b60205", "Add to stop the pipeline for good"),
    ("cogworks:restart", "5319e7", "Add to start the pipeline anew"),
    (LANE_LABEL, "bfdadc", "Add before the pipeline starts to choose how far the issue has to go"),
    ("cogworks:safety-critical", "e99695", "Every node that writes code waits for a person"),
)
_OTHER = ("ededed", "Used by cogworks")


def appearance(name: str) -> tuple[str, str]:
    """Colour (six hex digits) and description of a label."""
    for prefix, color, description in _APPEARANCES:
        if name == prefix or (prefix.endswith(":") and name.startswith(prefix)):
            return color, description
    return _OTHER


_NO_MODEL = LlmConfig(model="unknown")


def legible_config(files: Mapping[str, str]) -> Config:
    """The configuration; where it cannot be understood, its labels if those can, and the defaults for everything else.

    Only for telling people what is wrong: nothing runs on it. By the defaults no App is obeyed.

    Args:
        files: below `.cogworks`: path -> text.
    """
    try:
        return require_config(files, where="the repository")
    except CogworksError:
        return Config(llm=_NO_MODEL, labels=_labels(files.get("config.toml", "")))


def _labels(text: str) -> LabelConfig:
    try:
        labels = LabelConfig.model_validate(tables_in(text).get("labels", {}))
    except (tomllib.TOMLDecodeError, ValidationError):
        return LabelConfig()
    return LabelConfig() if label_clashes(labels) else labels
