"""How the labels cogworks creates look in a repository, and which labels people speak with."""

from collections.abc import Collection
from typing import Protocol

from cogworks.pipeline.people import InputLabel
from cogworks.settings.labels import LabelConfig


class LabelSource(Protocol):
    """Makes labels; GraphQL cannot."""

    def ensure_label(self, name: str, color: str, description: str) -> str:
        """Create the label unless it exists; its node id."""


LANE_LABEL = "cogworks:lane:"
"""Begins the labels by which people choose among the built-in pipelines."""

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
