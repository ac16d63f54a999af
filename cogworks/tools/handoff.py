"""Work that one role hands to another: what for, with which files, and whether these are still what they were."""

from collections.abc import Callable
from hashlib import sha256 as digest_of
from typing import Literal

from pydantic import Field

from cogworks.canonical import sha256
from cogworks.tools.policy import Denial
from cogworks.tools.registry import PROFILE_NAME
from cogworks.vocabulary import Value

MAX_HOPS = 5


class Artifact(Value):
    """A file that is handed over."""

    name: str
    path: str
    """Relative to the repository."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Hop(Value):
    """Somebody who had the work."""

    role: str
    goal_digest: str


class Handoff(Value):
    """A piece of work on its way from one role to the next."""

    handoff_schema: Literal[1] = 1
    from_role: str = Field(pattern=PROFILE_NAME)
    to_role: str = Field(pattern=PROFILE_NAME)
    """Also the profile under which the receiver works: never the sender's."""
    goal: str
    artifacts: tuple[Artifact, ...] = ()
    constraints: tuple[str, ...] = ()
    context_digest: str = ""
    budget_left: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """What the receiver's calls may cost; None: as its policy says."""
    hops: tuple[Hop, ...] = ()
    """Everybody who had it, in their order, the sender last."""


def received(work: Handoff, read: Callable[[str], bytes | None]) -> Denial | None:
    """Why work may not be taken up: it went too far or in a circle, or its files are not what was handed over.

    Args:
        read: a file of the repository by its path, None when there is none.
    """
    if len(work.hops) > MAX_HOPS:
        limit = f"it has had {len(work.hops)} hops, and {MAX_HOPS} is the limit"
        return _denial(work, "too_many_hops", limit)
    if Hop(role=work.to_role, goal_digest=sha256(work.goal)) in work.hops:
        return _denial(work, "handoff_cycle", "that role had this very goal before")
    for each in work.artifacts:
        content = read(each.path)
        if content is None:
            return _denial(work, "artifact_missing", f"{each.path} is not there")
        if digest_of(content).hexdigest() != each.sha256:
            return _denial(work, "artifact_changed", f"{each.path} is not what was handed over")
    return None


def _denial(work: Handoff, code: str, reason: str) -> Denial:
    message = f"work from {work.from_role!r} to {work.to_role!r} was refused: {reason}."
    return Denial(code=code, message=message, profile=work.to_role)
