"""Which hosts a setup may reach, and which addresses of them."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.services.setup.registries import (
    PUBLIC,
    Host,
    Malformed,
    Registries,
    address_problem,
    named_by,
    not_reached_by,
    read_hosts,
    refusals_in_words,
    target_of,
)

INNER = (
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "198.18.0.1",
    "::1",
    "fd12::1",
    "fec0::1",
)
NEVER = ("169.254.169.254", "0.0.0.0", "224.0.0.1", "255.255.255.255", "100.100.100.200", "168.63.129.16", "fe80::1", "::", "ff02::1", "fd00:ec2::254")  # fmt: skip
NAMED = Host("registry.example.com", (8443,), is_named=True)


def allowed(authority: str, *further: Host) -> bool:
    target = target_of(authority)
    return target is not None and Registries((*PUBLIC, *further)).refusal(*target) is None


@pytest.mark.parametrize(
    "authority",
    ["pypi.org:443", "files.pythonhosted.org:443", "registry.npmjs.org:443", "npm.jsr.io:443", "index.crates.io:443", "static.crates.io:443",
     "crates.io:443", "proxy.golang.org:443", "sum.golang.org:443", "deb.debian.org:80", "security.debian.org:443",
     "PyPI.ORG.:443"],
)  # fmt: skip
def test_the_public_registries_may_be_reached(authority: str) -> None:
    assert allowed(authority)


@pytest.mark.parametrize(
    "authority",
    ["example.com:443", "pypi.org:80", "pypi.org:22", "pypi.org.example.com:443", "notpypi.org:443", "github.com:443",
     "127.0.0.1:443", "[::1]:443", "2130706433:443", "0x7f.1:443", "localhost:443"],
)  # fmt: skip
def test_nothing_else_may_be_reached(authority: str) -> None:
    assert not allowed(authority)


@pytest.mark.parametrize(
    "authority",
    ["pypi.org", "pypi.org:", "pypi.org:0", "pypi.org:65536", "pypi.org:4 43", "user@pypi.org:443", "a b:443", ":443",
     "::1:443", "[pypi.org]:443", "pypi.org/x:443", "pypi..org:443", "pypi.org:٤٤٣", "-a.org:443", ""],
)  # fmt: skip
def test_what_is_no_host_and_port_is_no_target(authority: str) -> None:
    assert target_of(authority) is None


@given(st.text(max_size=60))
def test_any_text_is_a_target_or_none(text: str) -> None:
    found = target_of(text)

    assert found is None or (0 < found[1] < 65_536 and found[0] == found[0].lower())


def test_the_operator_adds_exact_hosts_suffixes_and_ports() -> None:
    added = read_hosts("npm.example.com, *.example.org\n cache.example.net:8443")

    assert allowed("npm.example.com:443", *added)
    assert allowed("npm.example.com:80", *added)
    assert allowed("a.b.example.org:443", *added)
    assert allowed("cache.example.net:8443", *added)
    assert not allowed("example.org:443", *added)
    assert not allowed("evil-example.org:443", *added)
    assert not allowed("cache.example.net:443", *added)
    assert not allowed("x.npm.example.com:443", *added)


@pytest.mark.parametrize(
    "text",
    ["https://x.example.com", "*", "*.com", "a/b", "x:99999", "10.0.0.1", "::1", "*.10.0.0.1", "a b:c"],
)
def test_what_the_operator_cannot_mean_is_refused_with_what_is_wanted(text: str) -> None:
    with pytest.raises(Malformed, match="COGWORKS_REGISTRY_HOSTS names"):
        read_hosts(text)


def test_a_refusal_names_the_host_and_the_remedy() -> None:
    assert Registries().refusal("Example.com", 443) == (
        "example.com:443, which is not among the package registries; the operator can allow it by `COGWORKS_REGISTRY_HOSTS=example.com`"
    )
    assert "`COGWORKS_REGISTRY_HOSTS=example.com:22`" in (Registries().refusal("example.com", 22) or "")
    assert "`COGWORKS_REGISTRY_HOSTS=[::1]:443`" in (Registries().refusal("::1", 443) or "")


@pytest.mark.parametrize(
    ("host", "together"),
    [
        ("rubygems.org", "rubygems.org,index.rubygems.org"),
        ("index.rubygems.org", "rubygems.org,index.rubygems.org"),
        ("github.com", "github.com,codeload.github.com"),
        ("codeload.github.com", "github.com,codeload.github.com"),
        ("api.github.com", "api.github.com,codeload.github.com"),
        ("repo.packagist.org", "repo.packagist.org,api.github.com,codeload.github.com"),
    ],
)
def test_hosts_that_send_on_to_one_another_are_allowed_together(host: str, together: str) -> None:
    assert f"`COGWORKS_REGISTRY_HOSTS={together}`" in (Registries().refusal(host, 443) or "")


def test_all_hosts_that_were_refused_are_allowed_by_one_variable() -> None:
    hosts = ("example.com", "rubygems.org", "index.rubygems.org")
    refused = [Registries().refusal(host, 443) or "" for host in hosts]

    large, several = refusals_in_words([*refused, "more than 4096 MiB"])
    assert large == "The setup asked for more than 4096 MiB."
    assert several.startswith(
        "The setup asked for example.com:443, which is not among the package registries; rubygems.org:443, "
    )
    assert several.endswith(
        "; the operator can allow them by `COGWORKS_REGISTRY_HOSTS=example.com,rubygems.org,index.rubygems.org`."
    )
    assert refusals_in_words(refused[:1]) == [f"The setup asked for {refused[0]}."]
    assert refusals_in_words([]) == []


def test_hosts_of_a_program_that_are_no_registries_are_told() -> None:
    assert not_reached_by("bundle", "rubygems.org") == ("index.rubygems.org",)
    assert not_reached_by("bundle", "*.rubygems.org rubygems.org") == not_reached_by("npm", "") == ()
    assert not_reached_by("bundle", "https://x") == ()


@pytest.mark.parametrize("address", INNER)
def test_a_public_registry_is_not_looked_for_in_a_private_network_and_a_named_one_is(address: str) -> None:
    assert "private network" in (address_problem(PUBLIC[0], address) or "")
    assert address_problem(NAMED, address) is None


@pytest.mark.parametrize("address", NEVER)
def test_metadata_and_link_local_addresses_are_reached_by_no_name(address: str) -> None:
    for host in (PUBLIC[0], NAMED):
        assert address_problem(host, address) is not None
    plain = address.lower()
    assert address_problem(Host(plain, (80,), is_named=True), address) is None


@pytest.mark.parametrize("inner", [each for each in (*INNER, *NEVER) if ":" not in each])
@pytest.mark.parametrize("way", ["::ffff:{}", "64:ff9b::{}", "::{}", "2002"])
def test_an_address_inside_of_one_of_ipv6_counts_as_well(inner: str, way: str) -> None:
    number = int(ipaddress.IPv4Address(inner))
    text = way.format(inner)
    if way == "2002":
        text = f"2002:{number >> 16:x}:{number & 0xFFFF:x}::1"

    assert address_problem(PUBLIC[0], text) is not None


@pytest.mark.parametrize("address", ["151.101.0.223", "2606:4700::6810:1", "::ffff:151.101.0.223"])
def test_public_addresses_are_connected_to(address: str) -> None:
    assert address_problem(PUBLIC[0], address) is None


def test_registries_that_the_machine_is_configured_for_are_named() -> None:
    urls = ["https://npm.example.com/x/", "sparse+https://crates.example.com/", "http://127.0.0.1:3141/simple/", "file:///opt/wheels", "x", "https://[broken"]  # fmt: skip

    assert named_by([*urls, "https://pypi.org/simple/"]) == (
        Host("npm.example.com", (443,), is_named=True),
        Host("crates.example.com", (443,), is_named=True),
        Host("127.0.0.1", (3141,), is_named=True),
        Host("pypi.org"),
    )
