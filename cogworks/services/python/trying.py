"""Tries what makes the environments of repositories, in the ways in which it is used."""

from collections.abc import Mapping
from typing import NamedTuple

from cogworks.services.python.index_gateway import Gateway, Unreachable
from cogworks.services.python.package_index import without_credentials
from cogworks.services.python.pythons import NotBuilt

_ASKED = "pytest"
"""Every environment gets it, so every index in use has to offer it."""


class TriedIndex(NamedTuple):
    """The result of asking the indexes."""

    urls: tuple[str, ...]
    """Without credentials."""
    problem: str


def tried_index(settings: Mapping[str, str]) -> TriedIndex:
    """Ask every configured index for one project, through the gateway that installers have.

    Args:
        settings: environment of this process, as far as it says where packages come from.
    """
    from cogworks.services.python.installing import configured_indexes  # noqa: PLC0415 - slow, and seldom needed

    try:
        indexes = configured_indexes(settings)
    except NotBuilt as error:
        return TriedIndex((), str(error))
    urls = tuple(without_credentials(url) for url in indexes.urls)
    gateway = Gateway(indexes)
    try:
        gateway.page(_ASKED)
    except Unreachable as error:
        return TriedIndex(urls, str(error))
    finally:
        gateway.close()
    return TriedIndex(urls, "")
