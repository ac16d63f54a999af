"""What an installer of packages says when it fails, in one line; pure rules from its output."""

import re
from collections.abc import Sequence

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

_CONFLICT = re.compile(r"The conflict is caused by:\n((?:[ \t]+\S.*\n)+)")
_HASHES = re.compile(r"DO NOT MATCH THE HASHES[^\n]*\n((?:[ \t]+\S[^\n]*\n)+)")
_NOT_HAD = re.compile(r"No matching distribution found for (?P<wanted>[^\n]{1,300})")
_OTHER_PYTHON = re.compile(r"(?P<version>[^\s;:]{1,80}) Requires-Python (?P<python>[^;\n]{1,80})")
_VERSIONS = re.compile(r" \(from versions: [^)\n]*\)")
_MESSAGE_LINES = 6
_MESSAGE_CHARS = 600


def complaint(output: str) -> str:
    """What an installer says went wrong, in one line."""
    if (conflict := _CONFLICT.search(output)) is not None:
        listed = "; ".join(line.strip() for line in conflict[1].splitlines())
        return f"these exclude each other: {listed[:_MESSAGE_CHARS]}."
    if (hashes := _HASHES.search(output)) is not None:
        listed = "; ".join(line.strip() for line in hashes[1].splitlines())
        return f"hashes do not match: {listed[:_MESSAGE_CHARS]}."
    if other := of_other_python(output):
        return other
    lines = [_VERSIONS.sub("", line.strip(" ×╰│├─▶╭")) for line in output.splitlines()]
    errors = [
        line.removeprefix("ERROR: ")
        for line in lines
        if line.startswith("ERROR: ") and not line.startswith("ERROR: Ignored the following ")
    ]
    shown = errors or [
        line for line in lines if line and not line.startswith(("Using ", "Resolved ", "warning:"))
    ]
    text = " ".join(shown[-_MESSAGE_LINES:])[:_MESSAGE_CHARS].strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


def of_other_python(output: str) -> str:
    """What pip could not have because each fitting version wants another Python, as a sentence; empty: that is not why."""
    missing = _NOT_HAD.search(output)
    try:
        wanted = Requirement(missing["wanted"]) if missing else None
    except InvalidRequirement:
        wanted = None
    if wanted is None:
        return ""
    # pip lists the versions of all packages that it looked at.
    others = [
        f"{each['version']} wants {each['python'].strip()}"
        for each in _OTHER_PYTHON.finditer(output)
        if wanted.specifier.contains(each["version"], prereleases=True)
    ]
    return f"no version for this Python fits {wanted}: {others[-1]}." if others else ""


def concerned(message: str, wanted: Sequence[str]) -> list[str]:
    """The requirements that a complaint names."""
    names = {each: Requirement(each).name for each in wanted}
    words = {
        canonicalize_name(word.rstrip(".-_")) for word in re.findall(r"[A-Za-z0-9][A-Za-z0-9._-]*", message)
    }
    return [each for each, name in names.items() if canonicalize_name(name) in words]
