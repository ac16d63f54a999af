"""Recipes of commits, kept on disk: reading one takes longer than everything else a service does for a step."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from cogworks.domain_services.messages import RepositorySettings
from cogworks.own_folders import own_folder
from cogworks.services.python.recipe.reading import HERE
from cogworks.services.python.recipe.result import Recipe

_FOLDER = "recipes"
_MOST = 500


def kept_recipe(
    folder: Path, commit: str, root: str, settings: RepositorySettings, read: Callable[[], Recipe]
) -> Recipe:
    """The recipe of a commit; it is read where it is not there, or cannot be taken from there.

    Args:
        folder: where environments are kept.
        commit: its full name, so that what it holds never changes.
        read: reads it anew.
    """
    told = f"{_rules()}\n{HERE}\n{commit}\n{root}\n{settings.model_dump_json()}"
    place = folder / _FOLDER / f"{hashlib.sha256(told.encode()).hexdigest()[:40]}.json"
    try:
        return Recipe.model_validate_json(place.read_bytes())
    except (OSError, ValidationError):
        recipe = read()
        _keep(place, recipe)
        return recipe


@cache
def _rules() -> str:
    """Changes with the rules themselves."""
    here = Path(__file__).parent
    texts = (path.read_bytes() for path in [*sorted((here / "recipe").glob("*.py")), *_others(here)])
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def _others(here: Path) -> Iterator[Path]:
    yield from (
        here / name for name in ("manifest_files.py", "distributions.py", "imports.py", "testfiles.py")
    )


def _keep(place: Path, recipe: Recipe) -> None:
    """Write it in one rename; where there is no writing it is read again the next time."""
    try:
        own_folder(place.parent)
        for old in sorted(place.parent.glob("*.json"), key=lambda each: each.stat().st_mtime)[:-_MOST]:
            old.unlink(missing_ok=True)
        descriptor, name = tempfile.mkstemp(dir=place.parent, suffix=".new")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(recipe.model_dump_json())
        Path(name).rename(place)
    except OSError:
        return
