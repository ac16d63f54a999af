"""Whatever comes back in place of an answer, only errors of ours come out."""

import copy
import json
from contextlib import suppress
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.errors import CogworksError
from cogworks.github.client import GraphQLClient
from cogworks.github.credentials import FixedToken
from cogworks.github.documents import Answer
from cogworks.github.reading import SnapshotReader
from cogworks.unexpected import UnexpectedAnswer
from tests.exhaustive import examples
from tests.github.test_reading import ADDRESS, NOW, RECORDED

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def places(found: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every key and index below, as paths."""
    steps = (
        list(found.items())
        if isinstance(found, dict)
        else list(enumerate(found))
        if isinstance(found, list)
        else []
    )
    return [place for key, inner in steps for place in [(*path, key), *places(inner, (*path, key))]]


PLACES = places(RECORDED["data"])


def mangled(path: tuple[Any, ...], change: str, value: Any) -> Any:
    data = copy.deepcopy(RECORDED["data"])
    parent = data
    for step in path[:-1]:
        parent = parent[step]
    if change == "replace":
        parent[path[-1]] = value
    elif change == "remove":
        del parent[path[-1]]
    elif isinstance(parent, list):
        parent.append(value)
    else:
        parent[str(value)] = parent.pop(path[-1])
    return data


class Same:
    """The same answer to whatever is asked."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def query(self, document: str, variables: object, *, cut_short_repeats: int = 3) -> Answer:
        return self._answer


class NoBlobs:
    def read_blob(self, oid: str) -> bytes:
        return oid.encode("utf-8", "replace")


@given(st.sampled_from(PLACES), st.sampled_from(["replace", "remove", "rename"]), JSON)
@settings(max_examples=examples(300))
def test_a_mangled_answer_is_read_or_refused_with_an_error_of_ours(
    path: tuple[Any, ...], change: str, value: Any
) -> None:
    answer = Answer(mangled(path, change, value), (), NOW)
    reader = SnapshotReader(Same(answer), sleep=lambda _: None, blobs=NoBlobs)

    with suppress(CogworksError):
        reader.read(ADDRESS)


@given(JSON | st.just(RECORDED), st.sampled_from([*PLACES, None]), JSON)
@settings(max_examples=examples(150))
def test_a_mangled_response_is_read_or_refused_with_an_error_of_ours(
    body: Any, path: tuple[Any, ...] | None, value: Any
) -> None:
    if body is RECORDED:
        body = {
            "data": RECORDED["data"] if path is None else mangled(path, "replace", value),
            "errors": value,
        }
    content = json.dumps(body).encode()

    def answering(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=content, headers={"Date": "Sat, 21 Nov 2026 04:00:00 GMT"})

    transport = httpx.MockTransport(answering)
    url = "https://api.github.com/graphql"
    with (
        GraphQLClient(url, FixedToken("t"), transport=transport, sleep=lambda _: None) as client,
        suppress(CogworksError),
    ):
        SnapshotReader(client, sleep=lambda _: None).read(ADDRESS)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            ("repository", "issue", "comments", "nodes", 1, "body"),
            r"at comments\.nodes\[1\]: no 'body'\. Nothing was written",
        ),
        (("repository", "issue", "title"), r"at repository\.issue: no 'title'\. Nothing was written"),
        (("viewer", "login"), r"at viewer: no 'login'\. Nothing was written"),
        (("repository", "refs", "nodes", 0, "target", "oid"), r"at repository\.refs\.nodes\[0\]: no 'oid'"),
    ],
    ids=["comment", "title", "viewer", "branch"],
)
def test_the_error_names_the_place(path: tuple[Any, ...], message: str) -> None:
    answer = Answer(mangled(path, "remove", None), (), NOW)

    with pytest.raises(UnexpectedAnswer, match=message):
        SnapshotReader(Same(answer), sleep=lambda _: None).read(ADDRESS)


def test_a_text_in_place_of_a_list_is_not_an_empty_list() -> None:
    answer = Answer(mangled(("repository", "issue", "labels", "nodes"), "replace", ""), (), NOW)

    with pytest.raises(UnexpectedAnswer, match="str in place of a list"):
        SnapshotReader(Same(answer), sleep=lambda _: None).read(ADDRESS)
