"""What an installer can get through the gateway, and what it cannot."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from cogworks.services.python.index_gateway import Gateway, index_door
from cogworks.services.python.package_index import Indexes
from tests.services.package_server import serving, wheel


@contextmanager
def opened(indexes: Indexes) -> Iterator[tuple[httpx.Client, Gateway]]:
    """A caller as it would be in isolation: it hands out its listening socket, and then asks it."""
    with closing(Gateway(indexes)) as gateway, index_door(gateway) as door:
        listener = socket.create_server(("127.0.0.1", 0))
        socket.send_fds(door.theirs, [b"1"], [listener.fileno()])
        with httpx.Client(
            base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", trust_env=False
        ) as caller:
            yield caller, gateway
        listener.close()


def test_a_file_that_a_page_named_comes_with_its_content_and_metadata(tmp_path: Path) -> None:
    file = wheel(tmp_path, "shop", "1.0", {"shop.py": ""})
    (tmp_path / f"{file.name}.metadata").write_text("Name: shop\n")

    with serving(tmp_path) as server, opened(Indexes(urls=(server.address,))) as (caller, gateway):
        page = caller.get("/simple/shop/")
        (listed,) = page.json()["files"]
        content = caller.get(listed["url"])
        metadata = caller.get(f"{listed['url']}.metadata")

    assert page.headers["Content-Type"] == "application/vnd.pypi.simple.v1+json"
    assert listed["filename"] == file.name
    assert content.content == file.read_bytes()
    assert metadata.text == "Name: shop\n"
    assert gateway.problems == []


@pytest.mark.parametrize(
    "path",
    ["/", "/etc/passwd", "/simple/", "/simple/gone/", "/simple/../x/", "/wheels/shop-1.0-py3-none-any.whl", f"/files/{'0' * 64}/shop.whl"],
)  # fmt: skip
def test_nothing_else_is_there(path: str, tmp_path: Path) -> None:
    wheel(tmp_path, "shop", "1.0", {"shop.py": ""})

    with serving(tmp_path) as server, opened(Indexes(urls=(server.address,))) as (caller, gateway):
        answer = caller.get(path)

    assert answer.status_code == 404
    assert gateway.problems == []


def test_a_named_file_leads_to_no_other(tmp_path: Path) -> None:
    wheel(tmp_path, "shop", "1.0", {"shop.py": ""})

    with serving(tmp_path) as server, opened(Indexes(urls=(server.address,))) as (caller, _):
        (listed,) = caller.get("/simple/shop/").json()["files"]
        answers = [
            caller.get(listed["url"] + end).status_code
            for end in (".asc", "/..", "%2F..%2Fsecret", ".metadata.asc")
        ]

    assert answers == [404, 404, 404, 404]


@pytest.mark.parametrize(("method", "status"), [("POST", 501), ("PUT", 501), ("CONNECT", 501), ("HEAD", 405)])
def test_nothing_can_be_sent_through(method: str, status: int, tmp_path: Path) -> None:
    with serving(tmp_path) as server, opened(Indexes(urls=(server.address,))) as (caller, _):
        answer = caller.request(method, "/simple/shop/")

    assert answer.status_code == status
    assert server.requests == []


def test_where_one_index_is_down_no_other_answers_for_it(tmp_path: Path) -> None:
    wheel(tmp_path, "shop", "1.0", {"shop.py": ""})

    with serving(tmp_path) as well, serving(tmp_path) as ill:
        ill.status = 500
        with opened(Indexes(urls=(well.address, ill.address))) as (caller, gateway):
            answer = caller.get("/simple/shop/")

    assert answer.status_code == 502
    assert gateway.problems == [f"{ill.address}shop/: it answers 500"]


def test_an_index_that_is_not_there_is_named(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        address = server.address

    with opened(Indexes(urls=(address,))) as (caller, gateway):
        answer = caller.get("/simple/shop/")

    assert answer.status_code == 502
    assert gateway.problems[0].startswith(f"{address}shop/: ConnectError")


def test_no_other_host_gets_the_credentials_of_an_index(tmp_path: Path) -> None:
    file = wheel(tmp_path, "shop", "1.0", {"shop.py": ""})

    with serving(tmp_path) as elsewhere:
        page = tmp_path / "index" / "shop"
        page.mkdir(parents=True)
        address = elsewhere.address.replace("/simple/", f"/wheels/{file.name}")
        (page / "index.html").write_text(f'<a href="{address}">{file.name}</a>')
        indexes = Indexes(urls=((tmp_path / "index").as_uri() + "/", "http://me:secret@127.0.0.1:9/"))
        with opened(Indexes(urls=indexes.urls[:1])) as (caller, _):
            (listed,) = caller.get("/simple/shop/").json()["files"]
            content = caller.get(listed["url"]).content

    assert content == file.read_bytes()
    assert elsewhere.requests == [(f"/wheels/{file.name}", "")]


def test_an_index_elsewhere_offers_no_file_of_this_machine(tmp_path: Path) -> None:
    secret = wheel(tmp_path, "secret", "1.0", {})
    (tmp_path / "shop-links").write_text(f'<a href="{secret.as_uri()}">a</a><a href="http://[x">b</a>')

    with serving(tmp_path) as server, opened(Indexes(urls=(server.address,))) as (caller, _):
        page = caller.get("/simple/shop/")

    assert server.requests
    assert page.status_code == 404


def test_an_installer_that_never_comes_keeps_nobody() -> None:
    with closing(Gateway(Indexes())) as gateway, index_door(gateway) as door:
        door.theirs.close()

    assert gateway.problems == []
