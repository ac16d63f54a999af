"""Which of the built-in pipelines people ask for."""

from collections.abc import Collection
from typing import Literal, get_args

from cogworks.forge.inbox import newest_event
from cogworks.forge.labels import LANE_LABEL
from cogworks.forge.snapshot import Snapshot
from cogworks.pipeline.people import IgnoredLabel
from cogworks.settings.config import Config
from cogworks.settings.lanes import AskedLane, Lane


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
