"""Where context packs come from: the repository's folder, and what ships with cogworks."""

from collections.abc import Callable, Sequence
from importlib.resources import files as package_files

from cogworks.errors import ConfigurationError
from cogworks.packs.declared import FILES, FOLDER, Pack, Unusable, read_pack

ReadsFile = Callable[[str], str | None]


def packs_of(paths: Sequence[str], read: ReadsFile, shipped: Sequence[str]) -> tuple[Pack | Unusable, ...]:
    """Every pack that a repository has or has asked for.

    Args:
        paths: of the files below `FOLDER` on the default branch.
        read: the text of one of them; None where it is no text.
        shipped: names of packs that ship with cogworks; one of the repository of the same name goes before.

    Raises:
        ConfigurationError: what a pack requires cannot be read, or a pack has a file that is none of a pack's.
    """
    own: dict[str, dict[str, str]] = {}
    for path in sorted(paths):
        name, _, rest = path.removeprefix(f"{FOLDER}/").partition("/")
        if rest:
            own.setdefault(name, {})[rest] = _text(path, read) if rest in FILES else ""
    found = [read_pack(name, files, source="repository") for name, files in own.items()]
    return (*found, *(shipped_pack(name) for name in shipped if name not in own))


def _text(path: str, read: ReadsFile) -> str:
    text = read(path)
    if text is None:
        # As an empty file it would require nothing, and nobody would know.
        raise ConfigurationError(path, ["is no text in UTF-8; save it as UTF-8"])
    return text


def shipped_pack(name: str) -> Pack | Unusable:
    """A pack that ships with cogworks."""
    folder = package_files("cogworks.packs") / "shipped" / name
    files = {each.name: each.read_text(encoding="utf-8") for each in folder.iterdir() if each.name in FILES}
    return read_pack(name, files, source="cogworks")
