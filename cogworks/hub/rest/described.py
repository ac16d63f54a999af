"""Which operations GitHub's REST description has, and what is said of those that the hub has not."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources

from cogworks.hub.refusals import NotFound, NotImplementedHere, Refusal
from cogworks.hub.rest import (
    apps,
    checks,
    comments,
    contents,
    gitdata,
    issues,
    people,
    pulls,
    repositories,
    reviews,
    search,
)
from cogworks.hub.rest.exchange import Route

ROUTES: tuple[Route, ...] = (
    *apps.ROUTES,
    *people.ROUTES,
    *repositories.ROUTES,
    *issues.ROUTES,
    *comments.ROUTES,
    *pulls.ROUTES,
    *reviews.ROUTES,
    *gitdata.ROUTES,
    *contents.ROUTES,
    *checks.ROUTES,
    *search.ROUTES,
)


MANY_SEGMENTS = frozenset({"{path}", "{ref}", "{branch}", "{basehead}", "{name}"})
"""Parameters that may hold slashes: refs, paths, branches and label names."""
_OFFERED = frozenset((route.method, route.path) for route in ROUTES)
_OFFERED_PATHS = frozenset(path for _, path in _OFFERED)


@dataclass(frozen=True)
class Described:
    """One path of the description, such as `/repos/{owner}/{repo}/hooks`, and its methods."""

    path: str
    methods: frozenset[str]

    @cached_property
    def segments(self) -> tuple[str, ...]:
        return tuple(self.path.split("/"))

    @property
    def literals(self) -> int:
        return sum(not segment.startswith("{") for segment in self.segments)

    def fits(self, segments: Sequence[str]) -> bool:
        """Whether the segments of a request's path are an example of this one."""
        more = len(segments) - len(self.segments)
        wide = next((at for at, segment in enumerate(self.segments) if segment in MANY_SEGMENTS), None)
        if more < 0 or (more > 0 and wide is None):
            return False
        # A parameter with slashes takes what the others leave.
        folded = (
            segments if wide is None or not more else (*segments[:wide], "", *segments[wide + more + 1 :])
        )
        return all(
            here.startswith("{") or here == there for here, there in zip(self.segments, folded, strict=True)
        )


@cache
def described() -> tuple[Described, ...]:
    """Every path, the longer and the more literal first."""
    text = (resources.files("cogworks.hub") / "schema" / "github-routes.txt").read_text(encoding="utf-8")
    rows = [line.split() for line in text.splitlines()]
    entries = [Described(path, frozenset(methods)) for path, *methods in rows]
    return tuple(sorted(entries, key=lambda each: (-len(each.segments), -each.literals)))


def refusal_of(method: str, path: str, *, has_extensions: bool = True) -> Refusal:
    """What a request gets that no route of the hub answers: 501 for an operation of GitHub's, else 404.

    Args:
        path: of the request, below the root of the API.
        has_extensions: False for a server that is too old to know of dependencies between issues.
    """
    return _refusal(method, path, described() if has_extensions else _older())


@cache
def _older() -> tuple[Described, ...]:
    return tuple(each for each in described() if "/dependencies/" not in each.path)


def _refusal(method: str, path: str, known: Sequence[Described]) -> Refusal:
    wanted = "GET" if method == "HEAD" else method
    segments = path.split("/")
    entry = next((each for each in known if wanted in each.methods and each.fits(segments)), None)
    # One that is implemented got here because no route takes what it was asked with, such as a line end in a ref.
    if entry is None or (wanted, entry.path) in _OFFERED:
        return NotFound()
    return NotImplementedHere(f"The hub does not implement {wanted} {entry.path}.")


@cache
def rivals(path: str) -> tuple[Described, ...]:
    """What is described, not implemented, and would be taken for an example of `path`, which is.

    `/issues/{issue_number}` fits `/issues/events`, and `/branches/{branch}` takes `main/rename` for a branch's name.
    """
    parts = path.split("/")
    is_wide = parts[-1] in MANY_SEGMENTS
    return tuple(
        each
        for each in described()
        if each.path not in _OFFERED_PATHS
        and (len(each.segments) == len(parts) or (is_wide and len(each.segments) > len(parts)))
        and _swallows(parts, each.segments)
        and each.literals > sum(not part.startswith("{") for part in parts)
    )


def _swallows(parts: Sequence[str], segments: Sequence[str]) -> bool:
    return all(here.startswith("{") or here == there for here, there in zip(parts, segments, strict=False))


def rival_refusal(method: str, path: str, among: Sequence[Described]) -> Refusal | None:
    """The refusal of a request that is meant for one of the rivals; None when it is for the path itself."""
    refusal = _refusal(method, path, among)
    return refusal if isinstance(refusal, NotImplementedHere) else None
