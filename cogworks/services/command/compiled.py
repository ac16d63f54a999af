"""Where what compilers keep lies until a later request: for a work item, or for a checkout as long as this process lives."""

import hashlib
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from cogworks.codebase.failures import GitFailed
from cogworks.codebase.places import Places
from cogworks.domain_services.messages import Request
from cogworks.errors import TryAgainLater
from cogworks.folders import walk
from cogworks.own_folders import closed_folder, own_folder
from cogworks.removal import remove_tree, temporary_folder
from cogworks.services.command.ground import Ground, Machine
from cogworks.services.python.building.checkout import clone_of
from cogworks.services.sandbox.disk import Locks, TooDeep, usage

MOST_BYTES = 4 * 1024**3
"""What a checkout may leave for its next request; of more than that nothing stays."""
_UNUSED_DAYS = 14
"""Items end and bases move on; what they compiled is of no more use."""
_OF_ITEM = re.compile(r"[0-9a-f]{24}(?:\+[0-9]+)?")
"""The folder of an item on a base, or one beside it."""


class Keeping(NamedTuple):
    """Where compiled files are read and left; nobody else can spoil them meanwhile."""

    folder: Path
    room: Path | None = None
    """Where the room has to be made: what lay elsewhere cargo builds anew. None: anywhere."""


@contextmanager
def kept_for(request: Request, ground: Ground, machine: Machine) -> Iterator[Keeping | None]:
    """Where compiled files are kept, for the length of a `with` block; None: nowhere.

    It is that of one work item on one base, else of one clone with its worktrees on one base: what was left for one of them,
    no other one is built with.
    """
    caller, repository = request.caller, request.repository
    if repository is None or not repository.base or caller.needs_walls:
        yield None
        return
    about = (repository.base, ground.root, ground.recipe.language)
    if caller.work_item_id is not None:
        with _of_item(_key(str(caller.work_item_id), *about), ground, machine) as kept:
            yield None if kept is None else Keeping(kept)
        return
    clone, passing = _clone_of(ground, machine), machine.passing
    if passing is None or not clone:
        yield None
        return
    room = passing.resolve() / "room" if ground.recipe.language == "rust" else None
    yield Keeping(_alone(passing.resolve(), _key(clone, *about)), room)


@contextmanager
def folder_of_room(kept: Keeping | None) -> Iterator[Path]:
    """An empty folder, removed with the block."""
    place = kept.room if kept else None
    if place is not None:
        remove_tree(place, ignore_errors=True)
    if place is None or place.exists():
        with temporary_folder("cogworks-command-") as folder:
            yield folder
        return
    try:
        yield own_folder(place)
    finally:
        remove_tree(place, ignore_errors=True)


def make_young(copy: Path) -> None:
    """Have every file of a copy be of now: cargo takes one for unchanged that is older than what it built of another copy."""
    now_ns = time.time_ns()
    for folder, _, names in walk(copy):
        for name in names:
            os.utime(Path(folder, name), ns=(now_ns, now_ns), follow_symlinks=False)


def _key(*whose: str) -> str:
    return hashlib.sha256("\0".join(whose).encode()).hexdigest()[:24]


@contextmanager
def _of_item(key: str, ground: Ground, machine: Machine) -> Iterator[Path | None]:
    """Several services may work for one item. Of two copies at once cargo cannot tell what was built of which."""
    if machine.kept is None:
        yield None
        return
    folder = machine.kept.resolve() / "command"
    places = Places(folder)
    _remove_unused(folder, places)
    if ground.recipe.language != "rust":
        yield _in_use(folder / key)
        return
    try:
        place = places.take(folder / key, "what cargo keeps")
    except TryAgainLater:
        yield None
        return
    try:
        yield _in_use(place)
    finally:
        places.release(place)


def _in_use(place: Path) -> Path:
    """The same place, marked for a process that looks for those that nobody uses."""
    with suppress(FileNotFoundError):
        os.utime(place)
    return place


def _remove_unused(folder: Path, places: Places) -> None:
    """Remove what no item used for so long; never raises OSError."""
    oldest = time.time() - _UNUSED_DAYS * 86_400
    with suppress(OSError):
        for place in sorted(each for each in folder.iterdir() if _OF_ITEM.fullmatch(each.name)):
            if place.stat().st_mtime < oldest:
                for free in places.each_free([place]):
                    remove_tree(free, ignore_errors=True)


def _clone_of(ground: Ground, machine: Machine) -> str:
    """Empty: there is none, or git cannot tell."""
    try:
        return clone_of(ground.folder, search_path=machine.search_path)
    except GitFailed:
        return ""


def _alone(passing: Path, key: str) -> Path:
    """The folder of a key. Requests come one after another and nearly all of one caller, so no other folder stays."""
    for other in [each for each in closed_folder(passing).iterdir() if each.is_dir()]:
        if other.name != key or _is_full(other):
            remove_tree(other, ignore_errors=True)
    return closed_folder(passing / key)


def _is_full(folder: Path) -> bool:
    try:
        # Nothing runs that could notice.
        return usage((folder,), Locks(opening=True)).size > MOST_BYTES
    except TooDeep:
        return True
