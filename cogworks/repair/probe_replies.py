"""What the prompts of the investigation want back from the model, as types; nothing in a reply may be null."""

from typing import Literal

from pydantic import BaseModel, Field

from cogworks.llm.schemas import Part
from cogworks.repair.replies import Edit, Place


class CandidatePart(Part):
    """A place where the fault may be."""

    hypothesis: str = Field(min_length=1, max_length=300)
    """What may be wrong there, in at most 20 words."""
    place: Place


class RecallReply(Part):
    """Where the fault may be, the most likely place first."""

    candidates: tuple[CandidatePart, ...]


class ProbePart(Part):
    """A change that shows something when the failing test runs with it; it is thrown away afterwards."""

    suspect: str = Field(min_length=1)
    """The id of the suspect it is about, as shown."""
    purpose: Literal["instrument", "assert", "reduce"]
    edits: tuple[Edit, ...] = Field(min_length=1)
    rationale: str = Field(max_length=400)
    """What its result would tell, in at most 40 words."""


class ProbePatchesReply(Part):
    """Changes to find something out with, the most telling first."""

    probes: tuple[ProbePart, ...]


PROBE_REPLIES: dict[str, type[BaseModel]] = {"recall": RecallReply, "probe_patches": ProbePatchesReply}
"""Stem of a prompt -> type of its reply."""
