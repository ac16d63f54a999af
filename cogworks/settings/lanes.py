"""Which of the built-in pipelines the items of a repository take."""

from typing import Literal

from cogworks.vocabulary import Value

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
