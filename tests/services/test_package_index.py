"""What pages of package indexes say, and which indexes a machine is configured for."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.services.python.package_index import (
    Indexes,
    PackageFile,
    default_index,
    json_page,
    merged,
    page_of,
    read_indexes,
    read_page,
    without_credentials,
)

PAGE = "https://index.example/simple/shop/"


def unasked() -> str:
    pytest.fail("nobody needs the default")


@pytest.mark.parametrize(
    ("listed", "environment", "expected"),
    [
        (
            "global.index-url='https://one.example/simple'\n",
            {},
            Indexes(urls=("https://one.example/simple/",)),
        ),
        (
            "global.index-url='https://one.example/'\ninstall.index-url='https://two.example/'\n",
            {},
            Indexes(urls=("https://two.example/",)),
        ),
        (
            ":env:.index-url='https://three.example/'\ninstall.index-url='https://two.example/'\n",
            {},
            Indexes(urls=("https://three.example/",)),
        ),
        (
            "global.index-url='https://one.example/'\n",
            {"UV_DEFAULT_INDEX": "https://uv.example/"},
            Indexes(urls=("https://uv.example/",)),
        ),
        (
            "global.index-url='https://one.example/'\nglobal.extra-index-url='file:///srv/a\\nhttps://two.example'\n",
            {},
            Indexes(urls=("https://one.example/", "file:///srv/a/", "https://two.example/")),
        ),
        (
            "global.no-index='true'\nglobal.find-links='/srv/w file:///srv/a%20b https://far.example/'\n",
            {},
            Indexes(find_links=("/srv/w", "/srv/a b")),
        ),
        (
            "global.index-url='https://one.example/'\nglobal.constraint='/etc/c.txt'\nglobal.cert='/etc/ca.pem'\nnonsense\n",
            {},
            Indexes(urls=("https://one.example/",), constraints=("/etc/c.txt",), certificates="/etc/ca.pem"),
        ),
    ],
    ids=["file", "command", "environment", "uv", "extra", "links", "constraint"],
)
def test_the_indexes_are_those_of_pip_and_of_uv_s_variables(
    listed: str, environment: dict[str, str], expected: Indexes
) -> None:
    assert read_indexes(listed, environment, default=unasked) == expected


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("", ("https://default.example/simple/",)),
        ("global.extra-index-url='file:///srv/a'\n", ("https://default.example/simple/", "file:///srv/a/")),
    ],
    ids=["nothing", "only-extra"],
)
def test_the_default_is_asked_for_where_no_index_is_configured(
    listed: str, expected: tuple[str, ...]
) -> None:
    default: Callable[[], str] = lambda: "https://default.example/simple"  # noqa: E731  # as it is handed in

    assert read_indexes(listed, {}, default=default).urls == expected


def test_the_default_is_what_pip_says_it_is() -> None:
    text = "  -i, --index-url <url>  Base URL of the Python Package\n   Index (default\n  https://d.example/simple). This"

    assert default_index(text) == "https://d.example/simple"
    assert default_index("--index-url <url>  The index") == ""


def test_a_page_of_json_names_files_and_what_the_index_says_of_them() -> None:
    body = {
        "files": [
            {
                "filename": "shop-1-py3-none-any.whl",
                "url": "../../files/shop-1-py3-none-any.whl",
                "hashes": {"sha256": "ab"},
                "requires-python": ">=3.9",
                "core-metadata": {"sha256": "cd"},
                "provenance": "https://index.example/p",
            },
            {"filename": "../../evil.whl", "url": "https://files.example/evil.whl", "yanked": "broken"},
        ]
    }

    found = read_page(json.dumps(body).encode(), kind="application/vnd.pypi.simple.v1+json", url=PAGE)

    assert found == (
        PackageFile(
            filename="shop-1-py3-none-any.whl",
            url="https://index.example/files/shop-1-py3-none-any.whl",
            described={
                "hashes": {"sha256": "ab"},
                "requires-python": ">=3.9",
                "core-metadata": {"sha256": "cd"},
            },
        ),
        PackageFile(
            filename="evil.whl",
            url="https://files.example/evil.whl",
            described={"hashes": {}, "yanked": "broken"},
        ),
    )


def test_a_page_of_html_says_the_same() -> None:
    body = (
        b'<html><base href="https://files.example/x/"><a href="shop-1.tar.gz#sha256=ab" data-yanked>shop</a>'
        b'<a href="/y/shop%2B2.whl" data-requires-python="&gt;=3.9">shop</a><a name="nothing">no</a></html>'
    )

    found = read_page(body, kind="text/html; charset=utf-8", url=PAGE)

    assert found == (
        PackageFile(
            filename="shop-1.tar.gz",
            url="https://files.example/x/shop-1.tar.gz",
            described={"hashes": {"sha256": "ab"}, "yanked": True},
        ),
        PackageFile(
            filename="shop+2.whl",
            url="https://files.example/y/shop%2B2.whl",
            described={"hashes": {}, "requires-python": ">=3.9"},
        ),
    )


@given(body=st.binary(max_size=80), kind=st.sampled_from(["text/html", "application/json"]))
def test_a_page_that_is_neither_names_nothing_and_breaks_nothing(body: bytes, kind: str) -> None:
    assert all("/" not in file.filename for file in read_page(body, kind=kind, url=PAGE))


def test_an_address_that_nobody_can_read_leads_nowhere() -> None:
    body = b'<base href="http://[x"><a href="http://[x/a.whl">a</a><a href="b.whl">b</a>'

    assert [file.url for file in read_page(body, kind="text/html", url=PAGE)] == [f"{PAGE}b.whl"]


@pytest.mark.parametrize("body", ["[]", "{}", '{"files": 3}', '{"files": [3]}', '{"files": [{"url": 3}]}'])
def test_json_of_another_shape_names_no_files(body: str) -> None:
    assert read_page(body.encode(), kind="application/json", url=PAGE) == ()


def test_an_entry_that_cannot_be_read_costs_no_other_file() -> None:
    body = {
        "files": [
            3,
            {"filename": "a.whl"},
            {"filename": "b.whl", "url": "b.whl"},
            {"filename": 1, "url": "c"},
        ]
    }

    found = read_page(json.dumps(body).encode(), kind="application/json", url=PAGE)

    assert [file.filename for file in found] == ["b.whl"]


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b"\xff", b"[]", b"<html>"], ids=["deep", "bytes", "list", "html"]
)
def test_what_is_no_page_in_json_is_told_from_a_page_without_files(body: bytes) -> None:
    assert json_page(body, PAGE) is None
    assert json_page(b'{"files": []}', PAGE) == ()


def test_of_two_files_with_one_name_the_first_index_s_counts_and_is_offered_here() -> None:
    ours, theirs, other = (
        PackageFile(filename=name, url=url, described={"hashes": {}})
        for name, url in [("a.whl", "https://1.example/a"), ("a.whl", "https://2.example/a"), ("b.whl", "u")]
    )

    files = merged([[ours], [theirs, other]])

    assert files == (ours, other)
    assert json.loads(page_of("a", files, {"a.whl": "/files/1", "b.whl": "/files/2"})) == {
        "meta": {"api-version": "1.0"},
        "name": "a",
        "files": [
            {"filename": "a.whl", "url": "/files/1", "hashes": {}},
            {"filename": "b.whl", "url": "/files/2", "hashes": {}},
        ],
    }


def test_an_address_is_shown_without_its_credentials() -> None:
    assert without_credentials("https://me:secret@one.example:8/x?y") == "https://one.example:8/x?y"
