"""The adversarial source in the place of the model: it knows where the fault is, and offers what must not be kept."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from cogworks.llm.provider import ModelReply, ModelRequest, Usage
from scripts.benchmarks.realbugs.hunks import Hunk
from scripts.benchmarks.realbugs.offers import Offer

_ASKED = "## The change to make"
"""What the words of a question for diffs stand below."""


class Adversary:
    """Obeys `cogworks.llm.provider.Provider`."""

    def __init__(
        self,
        places: Sequence[Sequence[Hunk]],
        tests: Sequence[str],
        stock: Sequence[Sequence[Offer]],
        *,
        most: int,
    ) -> None:
        """Args:
        places: the hunks of each step.
        tests: for each step one that it turns green.
        stock: what is offered at each step, in order; begun anew when it is used up.
        most: diffs in one answer.
        """
        self._places = places
        self._tests = tests
        self._stock = stock
        self._most = most
        self._next = [0] * len(stock)
        self.offered: list[Offer] = []
        self.asked_elsewhere = 0
        """How often diffs were asked for places that no step names: the plan was not taken."""

    def complete(self, request: ModelRequest) -> ModelReply:
        if request.purpose.startswith("fix-combine"):
            answer = self._pattern()
        elif request.purpose.startswith("fix-landmarks"):
            answer = {"landmarks": [self._landmark(number) for number in range(len(self._places))]}
        else:
            # A conversation holds the earlier questions as well.
            said = "".join(message.text for message in request.messages if message.role == "user")
            answer = {"diffs": self.diffs(said.rpartition(_ASKED)[2])}
        return ModelReply(text=json.dumps(answer), stop_reason="end_turn", usage=Usage(), model=request.model)

    def _pattern(self) -> Mapping[str, Any]:
        return {
            "summary": "What the newer release repairs.",
            "primary": _place(self._places[0][0]),
            "alternatives": [],
            "invariants": [],
            "confidence": 0.5,
            "assumptions_to_check": [],
        }

    def _landmark(self, number: int) -> Mapping[str, Any]:
        return {
            "id": _name(number),
            "intent": f"Do {_name(number)} of the repair.",
            "places": [_place(hunk) for hunk in self._places[number]],
            "allow_api": [],
            "test": self._tests[number],
            "after": [_name(number - 1)] if number else [],
        }

    def diffs(self, asked: str) -> Sequence[Mapping[str, Any]]:
        """The next diffs for the step that a question names; for any other place those of the first step."""
        number = next(
            (each for each in range(len(self._stock)) if f"Do {_name(each)} of the repair." in asked), None
        )
        if number is None:
            self.asked_elsewhere += 1
            number = 0
        stock, first = self._stock[number], self._next[number]
        self._next[number] = 0 if first + self._most >= len(stock) else first + self._most
        shown = stock[first : first + self._most]
        self.offered += shown
        return [{"edits": [], "unified_diff": offer.diff, "rationale": "Offered."} for offer in shown]


def _name(number: int) -> str:
    return f"piece-{number + 1}"


def _place(hunk: Hunk) -> Mapping[str, Any]:
    first, last = hunk.lines
    return {"path": hunk.path, "first_line": first, "last_line": last}
