"""The packs that a visit's result chose, with the files of other repositories that they show."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from cogworks.engine.packs import exemplars_of
from cogworks.engine.record import Claimed, frozen_after
from cogworks.nodes.contract import Outcome
from cogworks.packs.choosing import ReadElsewhere
from cogworks.packs.declared import Exemplar
from cogworks.packs.telling import for_people


class ReadsElsewhere(Protocol):
    """GitHub as packs use it."""

    def read_elsewhere(self, exemplars: Sequence[Exemplar]) -> Mapping[Exemplar, ReadElsewhere]:
        """Files of other repositories, or why there are none; one request."""


def with_packs_chosen(
    claimed: Claimed, outcome: Outcome, tracker: ReadsElsewhere, say: Callable[[str], None]
) -> Claimed:
    """The visit together with the files that the packs it chose show; people are told of the choice.

    They are read now and kept: what is edited later acts on later runs, and no later visit asks for them.
    """
    if (frozen := frozen_after(claimed, outcome)) is None:
        return claimed
    if wanted := exemplars_of(frozen):
        claimed = replace(claimed, elsewhere=tracker.read_elsewhere(wanted))
        frozen = frozen_after(claimed, outcome) or frozen
    for line in for_people(frozen):
        say(f"context packs: {line}")
    return claimed
