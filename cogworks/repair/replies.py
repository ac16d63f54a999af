"""What the prompts of the patch loop want back from the model, as types; nothing in a reply may be null."""

from typing import Literal

from pydantic import BaseModel, Field

from cogworks.llm.schemas import Part


class Place(Part):
    """A stretch of one file, inside a window that was shown."""

    path: str = Field(min_length=1)
    """As the window's heading has it."""
    first_line: int = Field(ge=1)
    last_line: int = Field(ge=1)
    """Included; not before the first."""


class OtherPlace(Part):
    """Another place where the fault may be."""

    place: Place
    why: str = Field(min_length=1, max_length=600)


class PatternReply(Part):
    """What is believed to be wrong, and where."""

    summary: str = Field(min_length=1, max_length=1500)
    """The cause, not the symptom, in one or two sentences."""
    primary: Place
    """The most likely place of the fault."""
    alternatives: tuple[OtherPlace, ...]
    invariants: tuple[str, ...]
    """What has to hold after the repair, each in one sentence."""
    confidence: float = Field(ge=0, le=1)
    assumptions_to_check: tuple[str, ...]


class LandmarkReply(Part):
    """One small change of the plan."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")
    """A short name of its own, e.g. `fix-rounding`."""
    intent: str = Field(min_length=1, max_length=600)
    places: tuple[Place, ...] = Field(min_length=1)
    """The only places the change may touch."""
    allow_api: tuple[str, ...]
    """Qualified names whose signature has to change; usually none."""
    test: str
    """Id of a failing test that passes after this change alone; empty when there is none."""
    after: tuple[str, ...]
    """Ids of landmarks that have to be done before."""
    join: Literal["each", "all"] = "each"
    """`all` for changes that only together leave the repository better: they are kept together or not at all."""


class LandmarksReply(Part):
    """The small changes that together make the failing tests pass."""

    landmarks: tuple[LandmarkReply, ...] = Field(min_length=1)


class Edit(Part):
    """A text that gives way to another."""

    path: str = Field(min_length=1)
    search: str
    """Stands exactly once in the file, without line numbers; empty: the file is new."""
    replace: str


class DiffReply(Part):
    """One way to make the change; either edits or a unified diff."""

    edits: tuple[Edit, ...]
    """Empty when `unified_diff` is given."""
    unified_diff: str
    """Empty when `edits` are given."""
    rationale: str = Field(max_length=400)
    """Why this repairs the cause, in at most 40 words."""


class DiffsReply(Part):
    """Several ways to make one change, the most promising first."""

    diffs: tuple[DiffReply, ...] = Field(min_length=1)


class JudgeReply(Part):
    """The finalists, the one to try first in front."""

    order: tuple[str, ...] = Field(min_length=1)
    """Every id that was given, each once."""


PATCH_REPLIES: dict[str, type[BaseModel]] = {
    "combine": PatternReply,
    "landmarks": LandmarksReply,
    "propose_diffs": DiffsReply,
    "judge_diffs": JudgeReply,
}
"""Stem of a prompt -> type of its reply."""
