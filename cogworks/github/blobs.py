"""Files that an answer holds only the beginning of, fetched whole by their object id."""

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from cogworks.github.answers import Answer
from cogworks.unexpected import entries, expecting


class BlobSource(Protocol):
    """Reads a git blob of the repository whole."""

    def read_blob(self, oid: str) -> bytes: ...


def with_whole_files(answer: Answer, blobs: Callable[[], BlobSource]) -> Answer:
    """The answer with the whole text of `state.json` and of every text file below `.cogworks`.

    An object id names the content, so what is fetched later is of the same moment.

    Args:
        blobs: called only when a file was cut off; costs a request each.
    """
    repository = answer.data["repository"]
    with expecting("files"):
        if not any(_is_cut(blob) for blob in _blobs(repository)):
            return answer
        whole = copy.deepcopy(dict(repository))
        source = blobs()
        for blob in [blob for blob in _blobs(whole) if _is_cut(blob)]:
            blob.update(_whole(source.read_blob(str(blob["oid"]))))
    return Answer({**answer.data, "repository": whole}, answer.errors, answer.server_date, answer.rate)


def _is_cut(blob: Mapping[str, Any]) -> bool:
    return bool(blob.get("isTruncated")) and not blob.get("isBinary") and "oid" in blob


def _whole(content: bytes) -> dict[str, Any]:
    try:
        return {"text": content.decode("utf-8"), "isTruncated": False}
    except UnicodeDecodeError:
        return {"text": None, "isTruncated": False, "isBinary": True}


def _blobs(repository: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    default, ledger = repository.get("defaultBranchRef") or {}, repository.get("ledger") or {}
    folder = (default.get("target") or {}).get("configuration") or {}
    yield from _below(folder.get("object") or {})
    state = ((ledger.get("target") or {}).get("file") or {}).get("object")
    if state:
        yield state


def _below(tree: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for entry in entries(tree.get("entries", []), "entries"):
        content = entry.get("object") or {}
        if entry["type"] == "tree":
            yield from _below(content)
        elif content:
            yield content
