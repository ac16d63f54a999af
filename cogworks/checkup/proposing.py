"""The configuration that says what was guessed, ready to be written down."""

from collections.abc import Collection, Sequence
from posixpath import basename, dirname

from cogworks.checkup.findings import ServiceCheckup

MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg")
"""Files that make a folder the root of a Python project."""
_ASIDE = frozenset(
    {"docs", "doc", "examples", "example", "tests", "test", "vendor", "third_party", "node_modules"}
)
"""Folders whose projects are about a repository, not of it."""


def configuration_of(services: Sequence[ServiceCheckup]) -> str:
    """TOML for `.cogworks/config.toml`; of several roots each under its name. Empty: nothing was guessed."""
    blocks = [
        (each.root, each.prepared.configuration.strip())
        for each in services
        if each.prepared and each.prepared.configuration.strip()
    ]
    if len(services) == 1:
        return "".join(f"{text}\n" for _, text in blocks)
    return "\n".join(f"# {root or 'everything else'}\n{text}\n" for root, text in blocks)


def proposed_services(paths: Collection[str]) -> str:
    """A `services.toml` for a repository whose projects all lie in sub-folders; empty where there are not several.

    Args:
        paths: of all files of the repository.
    """
    roots = sorted({dirname(path) for path in paths if basename(path) in MANIFESTS and not _is_aside(path)})
    if "" in roots or len(roots) < 2:
        return ""
    tables = [
        f'[[services]]\nname = "{name}"\nkind = "python"\nroot = "{root}"\n'
        for root, name in zip(roots, _names(roots), strict=True)
    ]
    return "\n".join(tables)


def _is_aside(path: str) -> bool:
    return any(part in _ASIDE or part.startswith(".") for part in dirname(path).split("/"))


def _names(roots: Sequence[str]) -> list[str]:
    """Of each folder its last part, or all of it where that is taken; what a name may not hold becomes a hyphen."""
    lasts = [basename(root) for root in roots]
    whole = [root if lasts.count(last) > 1 else last for root, last in zip(roots, lasts, strict=True)]
    plain = [
        "".join(char if char.isascii() and char.isalnum() else "-" for char in each.lower()) for each in whole
    ]
    short = [each.strip("-")[:30] or "root" for each in plain]
    return [
        f"{each}-{number}" if short.count(each) > 1 else each for number, each in enumerate(short, start=1)
    ]
