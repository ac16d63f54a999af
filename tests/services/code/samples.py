"""Code as the Python service reads it, from texts."""

from collections.abc import Mapping
from textwrap import dedent

from cogworks.services.python.code.facts import FileFacts, Unreadable
from cogworks.services.python.code.gathering import gather
from cogworks.services.python.code.repository import Code


def facts_of(text: str) -> FileFacts:
    """What a text says, which must be Python."""
    facts = gather(dedent(text).encode())
    assert isinstance(facts, FileFacts), facts
    return facts


def code_of(files: Mapping[str, str]) -> Code:
    """A repository of these files: path -> text."""
    read = {path: gather(dedent(text).encode()) for path, text in files.items()}
    unread = {path: facts.reason for path, facts in read.items() if isinstance(facts, Unreadable)}
    return Code(
        {path: facts for path, facts in read.items() if isinstance(facts, FileFacts)},
        unread,
        others=list(files),
    )
