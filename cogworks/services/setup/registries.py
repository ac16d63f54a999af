"""Which hosts a setup may reach: public package registries, those this machine is configured for, and those of the settings."""

import ipaddress
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from cogworks.services.python.package_index import without_credentials
from cogworks.toml_text import tables_in

VARIABLE = "COGWORKS_REGISTRY_HOSTS"
"""Of the operator's environment: `host`, `*.suffix`, `host:port`, separated by commas or spaces."""
ALLOWED = "; the operator can allow it by "
"""Stands in a refusal between what is refused and what would allow it."""
HTTPS, HTTP = 443, 80
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL}){{0,30}}")
_PUBLIC = (
    "pypi.org", "files.pythonhosted.org",
    "registry.npmjs.org", "registry.yarnpkg.com", "npm.jsr.io",
    "index.crates.io", "static.crates.io", "crates.io",
    "proxy.golang.org", "sum.golang.org",
)  # fmt: skip
_DEBIAN = ("deb.debian.org", "security.debian.org")
"""Its packages are signed, and apt fetches them without encryption."""
TOGETHER: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "bundle": ("rubygems.org", "index.rubygems.org"),
        # Where the first sends whoever asks it for an archive of a repository, as npm does for `github:owner/name`.
        "github": ("github.com", "codeload.github.com"),
        "archives": ("api.github.com", "codeload.github.com"),
        "composer": ("repo.packagist.org", "api.github.com", "codeload.github.com"),
    }
)
"""Program -> hosts of which it asks all: an operator who allows one of them alone is asked for the next one."""
_SCHEMES = {"https": HTTPS, "http": HTTP}
_INNER = tuple(
    ipaddress.ip_network(each)
    for each in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.0.0.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "::1/128", "fc00::/7", "fec0::/10",
    )
)  # fmt: skip
_NEVER = tuple(
    ipaddress.ip_network(each)
    for each in (
        "0.0.0.0/32", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4", "100.100.100.200/32", "168.63.129.16/32",
        "192.0.0.192/32", "::/128", "fe80::/10", "ff00::/8", "fd00:ec2::/32", "fd20:ce::/32",
    )
)  # fmt: skip
"""Link-local and metadata services of clouds, which hand out credentials; multicast and nothing."""
_NAT64 = tuple(ipaddress.IPv6Network(each) for each in ("64:ff9b::/96", "64:ff9b:1::/48", "::/96"))
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Host(NamedTuple):
    """One host that may be reached."""

    name: str
    """In lower case; `*.suffix` stands for every name below the suffix; an address as it is written."""
    ports: tuple[int, ...] = (HTTPS,)
    is_named: bool = False
    """Whether the operator of this machine named this very host and port: it may lie in a network of their own."""

    def fits(self, name: str, port: int) -> bool:
        """Whether it stands for a host and port."""
        if port not in self.ports:
            return False
        return name.endswith(self.name[1:]) if self.name.startswith("*.") else name == self.name


PUBLIC = (*(Host(name) for name in _PUBLIC), *(Host(name, (HTTPS, HTTP)) for name in _DEBIAN))
"""The registries that everybody may reach."""


class Registries(NamedTuple):
    """All hosts that a setup may reach."""

    hosts: tuple[Host, ...] = PUBLIC

    def fitting(self, name: str, port: int) -> Host | None:
        """The entry that allows a host and port, preferably one that names it; None when nothing does."""
        matches = [each for each in self.hosts if each.fits(plain_name(name), port)]
        return max(matches, key=lambda each: each.is_named, default=None)

    def refusal(self, name: str, port: int) -> str | None:
        """Why a host is not asked at all, None when it may be."""
        if self.fitting(name, port) is not None:
            return None
        place = shown(name, port)
        if _address(plain_name(name)) is not None:
            return f"{place}, an address and no package registry{ALLOWED}`{VARIABLE}={place}`"
        plain = plain_name(name)
        together = next((hosts for hosts in TOGETHER.values() if plain in hosts), (plain,))
        added = ",".join(together) if port in _SCHEMES.values() else place
        return f"{place}, which is not among the package registries{ALLOWED}`{VARIABLE}={added}`"


def refusals_in_words(refused: Iterable[str]) -> list[str]:
    """Refusals as sentences, with all hosts that can be allowed in one variable: one written after the other, the second would undo the first.

    Args:
        refused: what each refusal says was asked for.
    """
    parted = [each.partition(ALLOWED) for each in refused]
    asked = [what for what, mark, _ in parted if mark]
    hosts = dict.fromkeys(
        host
        for _, _, remedy in parted
        for host in remedy.strip("`").removeprefix(f"{VARIABLE}=").split(",")
        if host
    )
    sentences = [f"The setup asked for {'; '.join(what for what, mark, _ in parted if not mark)}."]
    if not asked:
        return sentences if parted else []
    which = "it" if len(asked) == 1 else "them"
    allowing = ALLOWED.replace(" it ", f" {which} ")
    sentence = f"The setup asked for {'; '.join(asked)}{allowing}`{VARIABLE}={','.join(hosts)}`."
    return [*(sentences if len(asked) < len(parted) else ()), sentence]


def not_reached_by(program: str, variable: str) -> tuple[str, ...]:
    """Those of the hosts that a program asks which are no registries here; none where nothing is known of it.

    Args:
        variable: the value of `VARIABLE` on this machine.
    """
    try:
        registries = Registries((*PUBLIC, *read_hosts(variable)))
    except Malformed:
        # Whoever runs a setup says so.
        return ()
    return tuple(each for each in TOGETHER.get(program, ()) if registries.fitting(each, HTTPS) is None)


class Malformed(ValueError):
    """What an operator wrote is no host; the text says what is wanted."""


def read_hosts(text: str) -> tuple[Host, ...]:
    """The hosts that an operator adds.

    Raises:
        Malformed: it names the first that is none.
    """
    return tuple(_read(each) for each in re.split(r"[,\s]+", text.strip()) if each)


def named_by(urls: Iterable[str]) -> tuple[Host, ...]:
    """The hosts of registries that the machine's own configuration names; what is no address of the web names none."""
    return tuple(dict.fromkeys(host for url in urls if (host := _host_of(url)) is not None))


def address_problem(host: Host, address: str) -> str | None:
    """Why a connection to this address of an allowed host is not made, None when it may be.

    Args:
        address: as the resolver gives it.
    """
    parsed = _address(address)
    if parsed is None:
        return f"{address!r} is no address"
    if host.is_named and _address(host.name) == parsed:
        return None
    for each in (parsed, *_embedded(parsed)):
        if any(each in network for network in _NEVER if network.version == each.version):
            return f"{address} is an address of this machine's link or of its cloud's metadata"
        if not host.is_named and any(
            each in network for network in _INNER if network.version == each.version
        ):
            return (
                f"{address} is an address of a private network; the operator can name the host with its port"
            )
    return None


def plain_name(name: str) -> str:
    """A host as it is compared: in lower case, without the dot of the root and the brackets of IPv6."""
    return name.lower().removesuffix(".").removeprefix("[").removesuffix("]")


def shown(name: str, port: int) -> str:
    """A host and port for people."""
    plain = plain_name(name)
    return f"[{plain}]:{port}" if ":" in plain else f"{plain}:{port}"


def target_of(authority: str) -> tuple[str, int] | None:
    """Host and port of `host:port`; None: it is neither, or more than that."""
    name, _, port = authority.rpartition(":")
    if not (port.isascii() and port.isdecimal() and 0 < len(port) <= 5 and 0 < int(port) < 65_536):
        return None
    plain = plain_name(name)
    is_six = name.startswith("[") and name.endswith("]")
    if is_six != (":" in plain) or not (_NAME.fullmatch(plain) or _address(plain) is not None):
        return None
    return plain, int(port)


def _read(text: str) -> Host:
    wildcard = text.lower().startswith("*.")
    rest = text[2:] if wildcard else text
    has_port = bool(re.search(r"(?:^[^:]*|\]):\d+$", rest))
    target = target_of(rest if has_port else f"{rest}:{HTTPS}")
    if target is None or (wildcard and (_address(target[0]) is not None or "." not in target[0])):
        raise Malformed(
            f"{VARIABLE} names {text!r}; want hosts as `registry.example.com`, `*.example.com` or, for one in a network of "
            "your own, `registry.example.com:8443`"
        )
    name, port = target
    if _address(name) is not None and not has_port:
        raise Malformed(f"{VARIABLE} names the address {text!r} without a port; write `{shown(name, HTTPS)}`")
    ports = (port,) if has_port else (HTTPS, HTTP)
    return Host(f"*.{name}" if wildcard else name, ports, is_named=has_port and not wildcard)


def _host_of(url: str) -> Host | None:
    try:
        parts = urlsplit(url.removeprefix("sparse+"))
        port = parts.port or _SCHEMES.get(parts.scheme, 0)
    except ValueError:
        return None
    if parts.scheme not in _SCHEMES or not parts.hostname or not port:
        return None
    public = next((each for each in PUBLIC if each.fits(plain_name(parts.hostname), port)), None)
    return public or Host(plain_name(parts.hostname), (port,), is_named=True)


def _address(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None


def _embedded(address: Address) -> tuple[Address, ...]:
    """The addresses of IPv4 that one of IPv6 leads to."""
    if isinstance(address, ipaddress.IPv4Address):
        return ()
    teredo = address.teredo or ()
    embedded = [each for each in (address.ipv4_mapped, address.sixtofour, *teredo) if each is not None]
    if any(address in network for network in _NAT64):
        embedded.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return tuple(embedded)


_NPM = re.compile(r"(?m)^[ \t]*((?:@[\w.~-]{1,100}:)?registry)[ \t]*=[ \t]*[\"']?([^\s\"']{1,500})")
_GO = re.compile(r"(?m)^GOPROXY=(\S{1,2000})$")
_MOST_BYTES = 1024**2


class _Source(NamedTuple):
    url: str
    """Empty: it only says what stands in its place."""
    text: str
    """The table of cargo's configuration that says so."""


class Own(NamedTuple):
    """What the machine's own configuration says."""

    urls: tuple[str, ...] = ()
    """Of registries; without credentials."""
    variables: tuple[tuple[str, str], ...] = ()
    """By which the tools inside find the same; without credentials."""
    cargo: str = ""
    """The configuration by which cargo does, for it has no variable for that; without credentials."""


def own_registries(settings: Mapping[str, str], home: Path, indexes: Iterable[str] = ()) -> Own:
    """What npm, cargo and go are configured for, and the indexes of Python that pip is.

    Args:
        settings: environment of this process.
        home: of the user it runs as; never a folder of a repository.
        indexes: URLs of package indexes; may hold credentials.
    """
    npm = [*_of_npm(settings), *_NPM.findall(_text(home / ".npmrc"))]
    default = next((url for name, url in npm if name == "registry"), "")
    go = settings.get("GOPROXY") or next(iter(_GO.findall(_text(home / ".config/go/env"))), "")
    proxies = [_plain(each) for each in re.split(r"[,|]", go) if "://" in each]
    cargo = tuple(_of_cargo(Path(settings.get("CARGO_HOME") or home / ".cargo")))
    crates = (each.url for each in cargo if each.url)
    urls = (*(_plain(each) for each in indexes), *(_plain(url) for _, url in npm), *proxies, *crates)
    plain = _plain(default)
    values = {
        "npm_config_registry": plain,
        # From 2 on Yarn has names of its own, and asks nobody without encryption whom it was not told of.
        "YARN_NPM_REGISTRY_SERVER": plain,
        "YARN_UNSAFE_HTTP_WHITELIST": (urlsplit(plain).hostname or "") if plain.startswith("http:") else "",
        "GOPROXY": ",".join(proxies),
    }
    variables = tuple((name, value) for name, value in values.items() if value)
    return Own(tuple(dict.fromkeys(urls)), variables, "".join(each.text for each in cargo))


def _of_npm(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name in ("npm_config_registry", "NPM_CONFIG_REGISTRY"):
        if url := settings.get(name):
            yield "registry", url


def _of_cargo(folder: Path) -> Iterator[_Source]:
    try:
        config = tables_in(_text(folder / "config.toml") or _text(folder / "config"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    for table, key in (("source", "registry"), ("registries", "index")):
        tables: Any = config.get(table)
        urls = {name: url for name, each in _tables(tables) if (url := _plain(str(each.get(key, ""))))}
        for name, each in _tables(tables):
            # What a folder stands for is not handed on, so nothing may be replaced with it.
            replacement = str(each.get("replace-with"))
            values = {key: urls.get(name, ""), "replace-with": replacement if replacement in urls else ""}
            if any(values.values()):
                yield _source(f"{table}.{_quoted(name)}", values)


def _tables(value: Any) -> list[tuple[str, dict[str, Any]]]:
    pairs = value.items() if isinstance(value, dict) else ()
    return [(name, each) for name, each in pairs if isinstance(each, dict)]


def _source(table: str, values: Mapping[str, str]) -> _Source:
    lines = (f"{name} = {_quoted(value)}\n" for name, value in values.items() if value)
    return _Source(next(iter(values.values())), f"[{table}]\n{''.join(lines)}")


def _quoted(text: str) -> str:
    """As TOML writes it."""
    return json.dumps(text, ensure_ascii=False)


def _plain(url: str) -> str:
    try:
        return without_credentials(url)
    except ValueError:
        return ""


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_MOST_BYTES).decode(errors="replace")
    except OSError:
        return ""
