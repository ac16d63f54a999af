"""How the labels cogworks creates look in a repository, which labels people speak with, and what of a broken configuration says so."""

import tomllib
from collections.abc import Collection, Mapping
from typing import Literal, Protocol, get_args

from pydantic import ValidationError

from cogworks.errors import CogworksError
from cogworks.forge.facts import LabelEvent
from cogworks.forge.snapshot import Snapshot
from cogworks.pipeline.people import IgnoredLabel, InputLabel
from cogworks.settings.config import Config, require_config
from cogworks.settings.sections import AskedLane, LabelConfig, Lane, LlmConfig, label_clashes
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


def present_inputs(labels: Collection[str], names: LabelConfig) -> tuple[InputLabel, ...]:
    """The input labels among these names, beside the trigger, in a fixed order."""
    called: dict[InputLabel, str] = {
        "hold": names.hold,
        "cancel": names.cancel,
        "restart": names.restart,
        "safety_critical": names.safety_critical,
    }
    return tuple(label for label, name in called.items() if name in labels)


def appearance(name: str) -> tuple[str, str]:
    """Colour (six hex digits) and description of a label."""
    for prefix, color, description in _APPEARANCES:
        if name == prefix or (prefix.endswith(":") and name.startswith(prefix)):
            return color, description
    return _OTHER


def newest_event(snapshot: Snapshot, label: str) -> LabelEvent | None:
    """Who put a label on the issue that is there now; None when it is not there or too long ago to be seen."""
    if label not in snapshot.issue.labels:
        return None
    events = [event for event in snapshot.issue.label_events if event.label == label]
    # What was taken off since was set by nobody who still counts.
    return events[-1] if events and events[-1].added else None


def counting_labels(snapshot: Snapshot, ignored: Collection[IgnoredLabel]) -> frozenset[str]:
    """The labels of the issue without those that count as not there because of who set them."""
    ignored_events = {label.event_id for label in ignored}

    def counts(label: str) -> bool:
        event = newest_event(snapshot, label)
        return event is None or event.id not in ignored_events

    return frozenset(filter(counts, snapshot.issue.labels))


def asked_lane(snapshot: Snapshot, config: Config, labels: Collection[str]) -> AskedLane | Literal[""]:
    """The lane that the label names, or else the configuration; empty where the repository has pipelines of its own.

    Of two labels the one for the longer way counts. What is a part of another issue is divided again where its own label says
    so, and not because the repository divides all its issues.

    Args:
        labels: those that count.
    """
    if "pipeline.toml" in snapshot.repository.config_files:
        return ""
    lanes: tuple[AskedLane, ...] = get_args(AskedLane)
    # `AskedLane` names the longer way first, and the first of these counts.
    named = (lane for lane in lanes if f"{LANE_LABEL}{lane}" in labels)
    is_part = snapshot.issue.parent is not None
    configured = config.pipelines.lane
    return next(named, "auto" if configured == "large" and is_part else configured)


def first_lane(snapshot: Snapshot, config: Config, ignored: Collection[IgnoredLabel]) -> Lane | None:
    """The lane that a new run begins on, never `small` where safety is at stake; None: its repository has none.

    With `auto` it is `default`: the rule needs what Intake finds (`pipeline/lane_choice`).
    """
    labels = counting_labels(snapshot, ignored)
    asked = asked_lane(snapshot, config, labels)
    if not asked:
        return None
    if asked == "large":
        return "large"
    return "small" if asked == "small" and config.labels.safety_critical not in labels else "default"


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
