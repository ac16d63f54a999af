from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.errors import ConfigurationError, UsageError
from cogworks.forge.addresses import (
    ApiAddresses,
    IssueAddress,
    api_addresses,
    parse_issue_url,
    parse_repository_url,
)
from cogworks.vocabulary import IssueNumber


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://github.com/o/r/issues/42", IssueAddress("https://github.com", "o", "r", IssueNumber(42))),
        (
            "  https://github.com/o/r/issues/42/ ",
            IssueAddress("https://github.com", "o", "r", IssueNumber(42)),
        ),
        (
            "https://github.com/o/r.py/issues/42#issuecomment-77",
            IssueAddress("https://github.com", "o", "r.py", IssueNumber(42)),
        ),
        (
            "https://GHE.example/o/r/issues/1?x=y",
            IssueAddress("https://ghe.example", "o", "r", IssueNumber(1)),
        ),
        (
            "http://127.0.0.1:8123/o/r/issues/4",
            IssueAddress("http://127.0.0.1:8123", "o", "r", IssueNumber(4)),
        ),
        ("http://[::1]:8123/o/r/issues/4", IssueAddress("http://[::1]:8123", "o", "r", IssueNumber(4))),
    ],
    ids=["plain", "slash", "fragment", "enterprise", "hub", "ipv6"],
)
def test_the_forms_of_an_issue_url_that_browsers_show_are_read(text: str, address: IssueAddress) -> None:
    assert parse_issue_url(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "42",
        "o/r#42",
        "https://github.com/o/r",
        "https://github.com/o/r/issues",
        "https://github.com/o/r/issues/",
        "https://github.com/o/r/issues/0",
        "https://github.com/o/r/issues/-1",
        "https://github.com/o/r/issues/४२",
        "https://github.com/o/r/issues/99999999999",
        "https://github.com/o/r/issues/42/events",
        "https://github.com/../r/issues/42",
        "https://github.com/o/r r/issues/42",
        "https://github.com:port/o/r/issues/42",
        "ftp://github.com/o/r/issues/42",
        "https:///o/r/issues/42",
        "https://[bad/o/r/issues/42",
    ],
)
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"https://github\.com/owner/repository/issues/42"):
        parse_issue_url(text)


def test_a_pull_request_is_refused_as_what_it_is() -> None:
    with pytest.raises(UsageError, match="is a pull request; cogworks works on issues"):
        parse_issue_url("https://github.com/o/r/pull/7")


def test_a_password_in_the_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError) as caught:
        parse_issue_url("https://x:ghp_secret@github.com/o/r/issues/42")

    assert "ghp_secret" not in str(caught.value)


@given(st.text(max_size=80))
def test_no_text_does_anything_but_parse_or_be_refused(text: str) -> None:
    for candidate in (text, f"https://{text}", f"https://github.com/{text}"):
        try:
            address = parse_issue_url(candidate)
        except UsageError:
            continue
        assert parse_issue_url(address.url) == address


@pytest.mark.parametrize(
    ("server_url", "addresses"),
    [
        ("https://github.com", ApiAddresses("https://api.github.com", "https://api.github.com/graphql")),
        (
            "https://acme.ghe.com",
            ApiAddresses("https://api.acme.ghe.com", "https://api.acme.ghe.com/graphql"),
        ),
        (
            "https://git.acme.org",
            ApiAddresses("https://git.acme.org/api/v3", "https://git.acme.org/api/graphql"),
        ),
        (
            "http://127.0.0.1:99",
            ApiAddresses("http://127.0.0.1:99/api/v3", "http://127.0.0.1:99/api/graphql"),
        ),
    ],
)
def test_the_apis_of_every_kind_of_server_are_found(server_url: str, addresses: ApiAddresses) -> None:
    assert api_addresses(server_url) == addresses


def test_said_addresses_win_over_the_usual_ones() -> None:
    said = api_addresses("https://github.com", rest_url="https://h/api/", graphql_url="https://h/graphql")

    assert said == ApiAddresses("https://h/api", "https://h/graphql")
    assert not said.is_github_com
    assert api_addresses("https://github.com").is_github_com


@pytest.mark.parametrize("read", [parse_issue_url, parse_repository_url])
@pytest.mark.parametrize(
    "host", ["ghe.example", "10.0.0.7", "127.0.0.1.example", "[fd00::1]:8080", "github.com"]
)
def test_an_address_that_would_carry_the_token_unencrypted_is_refused(
    read: Callable[[str], object], host: str
) -> None:
    with pytest.raises(UsageError, match="unencrypted; nothing was sent") as refused:
        read(f"http://{host}/o/r/issues/4")

    assert f"\n  https://{host}/o/r/issues/4\n" in str(refused.value)


@pytest.mark.parametrize("variable", ["GITHUB_SERVER_URL", "GITHUB_API_URL", "GITHUB_GRAPHQL_URL"])
@pytest.mark.parametrize(
    ("address", "problem"),
    [
        (
            "http://ghe.example/api",
            "would carry the token to 'ghe.example' unencrypted; use https://ghe.example/api",
        ),
        ("https://me:hunter2@ghe.example", "carries a user or a password; give it without"),
        ("http://me:hunter2@127.0.0.1", "carries a user or a password; give it without"),
        ("ftp://ghe.example", "is no web address"),
        ("https://ghe.example:port", "is no web address"),
    ],
)
def test_a_variable_with_an_address_that_no_token_may_go_to_is_refused(
    variable: str, address: str, problem: str
) -> None:
    said = {"GITHUB_SERVER_URL": "https://github.com", variable: address}

    with pytest.raises(ConfigurationError, match=variable) as refused:
        api_addresses(
            said["GITHUB_SERVER_URL"],
            rest_url=said.get("GITHUB_API_URL"),
            graphql_url=said.get("GITHUB_GRAPHQL_URL"),
        )

    assert problem in str(refused.value)
    assert "hunter2" not in str(refused.value)
