"""Looks for processes of this machine by what stands on their command line."""

from contextlib import suppress
from pathlib import Path


def running(marker: str) -> list[int]:
    """The processes with an argument that contains the marker."""
    found = []
    for place in Path("/proc").iterdir():
        with suppress(OSError):
            if place.name.isdigit() and marker.encode() in (place / "cmdline").read_bytes():
                found.append(int(place.name))
    return found
