"""What of a broken configuration can be read all the same: how the labels are called, and who is obeyed."""

import tomllib
from collections.abc import Mapping

from pydantic import ValidationError

from cogworks.errors import CogworksError
from cogworks.settings.config import Config, require_config
from cogworks.settings.sections import LabelConfig, LlmConfig, label_clashes
from cogworks.toml_text import tables_in

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
