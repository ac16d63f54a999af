"""What a package index has: asked only when it is named, believed only in its JSON form."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from packaging.version import Version

from cogworks.domain_services.messages import ErrorCode
from cogworks.services.python import package_index
from cogworks.services.python.package_index import IndexUnusable, PackageIndex, address_problem
from tests.services.asking import ask, laid_out, lines

FILES = {
    "foo": [
        {"filename": "foo-1.0-py3-none-any.whl", "url": "foo-1.0-py3-none-any.whl"},
        {"filename": "foo-1.0.tar.gz", "url": "foo-1.0.tar.gz"},
        {"filename": "foo-2.0.tar.gz", "url": "foo-2.0.tar.gz"},
        {"filename": "foo-3.0-py3-none-any.whl", "url": "foo-3.0-py3-none-any.whl", "yanked": "broken"},
        {"filename": "foo-0.1.win32.exe", "url": "foo-0.1.win32.exe"},
        {"filename": "foo.egg", "url": "foo.egg"},
        7,
    ],
    "old": [{"filename": "old-1.0.tar.gz", "url": "old-1.0.tar.gz"}],
}
ODD = {
    "page": (200, b"<html></html>"),
    "list": (200, b"[]"),
    "down": (503, b""),
    "moved": (302, b""),
    "endless": (200, b" " * 2000),
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        name = self.path.strip("/").removeprefix("simple/")
        status, body = ODD.get(name, (200, json.dumps({"files": FILES.get(name)}).encode()))
        if name not in ODD and name not in FILES:
            status, body = 404, b""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Location", "/simple/foo/")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def index() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/simple"
        server.shutdown()


@pytest.mark.parametrize(
    ("name", "versions"), [("foo", ("1.0", "2.0")), ("gone", ())], ids=["there", "not-there"]
)
def test_versions_that_were_not_withdrawn_are_told(name: str, versions: tuple[str, ...], index: str) -> None:
    with PackageIndex(index) as opened:
        assert opened.versions(name) == tuple(Version(each) for each in versions)


@pytest.mark.parametrize("name", ODD)
def test_an_answer_that_means_nothing_is_no_answer(
    name: str, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package_index, "MAX_ANSWER_BYTES", 1000)

    with PackageIndex(index) as opened, pytest.raises(IndexUnusable):
        opened.versions(name)


def test_an_index_that_takes_too_long_in_all_is_asked_no_further(
    index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package_index, "_LIMIT_S", -1.0)

    with PackageIndex(index) as opened, pytest.raises(IndexUnusable, match="took longer than -1 s"):
        opened.versions("foo")


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("https://pypi.org/simple", None),
        ("http://127.0.0.1:3141/root/pypi/+simple", None),
        ("http://localhost/simple", None),
        ("http://pypi.org/simple", "plain http is only for this machine"),
        ("https://[", "Invalid IPv6 URL"),
        ("file:///etc", "it is no https address"),
        ("https://", "it is no https address"),
        ("https://user@pypi.org/simple", "it holds more than host and path"),
        ("https://pypi.org/simple?x=1", "it holds more than host and path"),
    ],
)
def test_which_addresses_may_be_asked(address: str, problem: str | None) -> None:
    assert address_problem(address) == problem


MANIFEST = "[project]\ndependencies = ['foo>=1', 'old>=2', 'gone', 'far @ https://example.org/far.whl']\n"


def test_what_cannot_be_had_blocks(index: str, tmp_path: Path) -> None:
    laid_out(tmp_path, {"pyproject.toml": MANIFEST, "a.py": "import far, foo, gone, old\n"})

    response = ask("validate_deps", tmp_path, index=index)

    assert [(each["name"], each["status"], each["message"]) for each in response.result["dependencies"]] == [
        ("far", "satisfied", "it comes from an address of its own"),
        ("foo", "satisfied", "the index has 2.0"),
        ("gone", "unavailable", "the index does not have it: gone"),
        ("old", "unavailable", "none of its 1 versions in the index fits: old>=2"),
    ]
    assert lines(response) == [
        "pyproject.toml:- blocking dependency_error gone: the index does not have it: gone",
        "pyproject.toml:- blocking dependency_error old: none of its 1 versions in the index fits: old>=2",
    ]


def test_requirements_for_different_machines_are_looked_up_one_by_one(index: str, tmp_path: Path) -> None:
    text = """[project]\ndependencies = ["foo<2; python_version < '3'", "foo>=2; python_version >= '3'"]\n"""
    laid_out(tmp_path, {"pyproject.toml": text, "a.py": "import foo\n"})

    response = ask("validate_deps", tmp_path, index=index)

    assert (response.status, lines(response)) == ("success", [])


def test_an_index_that_fails_is_left_out_by_name(tmp_path: Path) -> None:
    laid_out(tmp_path, {"pyproject.toml": "[project]\ndependencies = ['foo']\n", "a.py": "import foo\n"})

    response = ask("validate_deps", tmp_path, index="http://127.0.0.1:1/simple")

    assert response.status == "success"
    (line,) = lines(response)
    assert line.startswith(
        ".:- warning completeness the package index http://127.0.0.1:1/simple was left out: "
    )


def test_an_address_that_may_not_be_asked_is_refused(tmp_path: Path) -> None:
    response = ask("validate_deps", tmp_path, index="http://169.254.169.254/simple")

    assert response.error is not None
    assert response.error.code is ErrorCode.INVALID_REQUEST
