"""What failing tests need of their surroundings: a table of signs in their messages, and a remedy for each."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from cogworks.domain_services.messages import TestReport
from cogworks.services.python.recipe.pytest_settings import Settings, plugins_used

_MOST_NAMED = 3
_STARTS = re.compile(
    r"\b(?:subprocess|Popen|check_output|check_call|execvp?|spawn\w*|create_subprocess_\w+|run\()"
)
"""A file that is not there is a program where the code around it starts one."""
_MOST_LINE_CHARS = 1_000
_UNKNOWN = re.compile(r"unrecognized arguments: (?P<words>[^\n]{1,1000})")
_PREPARED = 'use an environment that an earlier step prepared, with the {what} running (`[environment] mode = "prepared"`)'
_KNOWN = "or leave them: they are known as failing before a change, and never blamed on it"


class Sign(NamedTuple):
    """How a need shows in a message, and what somebody can do."""

    need: str
    pattern: re.Pattern[str]
    remedy: str
    """May use what the groups of the pattern found."""


def _sign(need: str, pattern: str, remedy: str) -> Sign:
    return Sign(need, re.compile(pattern), remedy)


_SERVICES: Mapping[str, str] = {
    "5432": "PostgreSQL", "3306": "MySQL", "6379": "Redis", "27017": "MongoDB", "5672": "RabbitMQ", "9200": "Elasticsearch",
    "11211": "memcached", "9092": "Kafka", "1433": "SQL Server", "2379": "etcd", "9000": "MinIO", "4566": "LocalStack",
}  # fmt: skip

SIGNS = (
    _sign(
        "a display",
        r"no display name and no \$DISPLAY|couldn't connect to display|could not connect to display|cannot open display|"
        r"Cannot connect to X server|qt\.qpa\.(?:xcb|plugin)|Unable to (?:init server|open display)|No available video device",
        "start them under one (`[tests] command = \"xvfb-run -a python -m pytest\"`, with xvfb installed on the machine), or for "
        "Qt and SDL without one: `[environment] variables = { QT_QPA_PLATFORM = \"offscreen\", SDL_VIDEODRIVER = \"dummy\" }`",
    ),
    _sign(
        "a service on this machine at port {port} ({service})",
        r"(?:localhost|127\.0\.0\.1|::1)[^\n]{0,40}?(?:port |:|', |, )(?P<port>\d{2,5})\b[^\n]{0,200}?"
        r"(?:refused|Errno 111|could not connect|Can't connect)|"
        r"(?:refused|Errno 111|Can't connect|could not connect)[^\n]{0,80}?(?:localhost|127\.0\.0\.1|::1)\D{1,12}(?P<port2>\d{2,5})\b",
        f"{_PREPARED.format(what='service')}, {_KNOWN}",
    ),
    _sign(
        "a network",
        r"Temporary failure in name resolution|Name or service not known|nodename nor servname|getaddrinfo failed|NameResolutionError|"
        r"Network is unreachable|No route to host|Max retries exceeded with url|ERR_INTERNET_DISCONNECTED|Failed to resolve '",
        f"mark them and leave them out (`[tests] command = \"python -m pytest -m 'not network'\"`), {_KNOWN}",
    ),
    _sign(
        "a locale",
        r"locale\.Error: unsupported locale setting|unsupported locale setting",
        "only C.UTF-8 is there for certain; install the locale on the machine (Debian: `locales`), or name one that is there: "
        "`[environment] variables = { LC_ALL = \"C.UTF-8\" }`",
    ),
    _sign(
        "time zones",
        r"No time zone found with key (?P<zone>[\w/+-]+)|ZoneInfoNotFoundError|UnknownTimeZoneError",
        "install them for Python (`[environment] packages = [\"tzdata\"]`)",
    ),
    _sign(
        "another user or rights",
        r"(?i)must be (?:run as )?root|requires root|you need to be root|Operation not permitted: '/|only root can",
        f"no test is root behind the walls; let them skip themselves there, {_KNOWN}",
    ),
    _sign(
        "the program `{program}`",
        r"FileNotFoundError: \[Errno 2\] No such file or directory: '(?P<program>[\w.+-]{1,60})'$|"
        r"(?:/bin/)?(?:ba|da)?sh: (?:line \d+: |\d+: )?(?P<program2>[\w.+-]{1,60}): (?:command )?not found|"
        r"(?P<program3>ffmpeg|ffprobe|dot|pandoc|node|npm|java|docker|git|hg|svn|tesseract|gs|convert|pdflatex|chromedriver|geckodriver)"
        r" (?:is not installed|not found|was not found|executable not found)",
        "install it on the machine, below /usr, or with `[environment] setup`",
    ),
    _sign(
        "the system library `{library}`",
        r"(?:ImportError|OSError): (?P<library>lib[\w.+-]{1,60}\.so[\d.]*): cannot open shared object file",
        "install it on the machine (Debian: `apt-file search` names the package)",
    ),
)  # fmt: skip


def needs(report: TestReport) -> tuple[str, ...]:
    """A sentence for each thing that failing or unloaded tests need and this machine does not have, with a remedy."""
    return (*_plugins(report), *_surroundings(report))


def _plugins(report: TestReport) -> Iterator[str]:
    """Those whose options pytest does not know."""
    for error in report.collection_errors:
        for found in _UNKNOWN.finditer(error):
            words = tuple(found["words"].split())
            for used in plugins_used(Settings(), words):
                yield (
                    f"An option of pytest belongs to {used.distribution}, which is not installed ({used.why}): `[environment] "
                    f'packages = ["{used.distribution}"]`, or take the option out of the configuration of pytest.'
                )


def _surroundings(report: TestReport) -> tuple[str, ...]:
    found: dict[tuple[str, str], list[str]] = {}
    for place, message in _messages(report):
        for told in dict.fromkeys(_told(message)):
            found.setdefault(told, []).append(place)
    return tuple(_sentence(need, remedy, places) for (need, remedy), places in found.items())


def _messages(report: TestReport) -> Iterator[tuple[str, str]]:
    for case in report.cases:
        if case.outcome in ("failed", "error"):
            yield case.id, case.message
    for error in report.collection_errors:
        place, _, message = error.partition(":")
        yield place, message


def _told(message: str) -> Iterator[tuple[str, str]]:
    lines = message.splitlines()
    # Only what was raised: the code around it may name anything.
    raised = [line for line in lines if line.startswith("E ")] or lines
    starts_programs = _STARTS.search(message) is not None
    for line in raised:
        for sign in SIGNS:
            match = sign.pattern.search(line[:_MOST_LINE_CHARS].strip())
            if match is not None and (starts_programs or not match.groupdict().get("program")):
                yield sign.need.format(**_values(match)), sign.remedy
                break


def _values(match: re.Match[str]) -> dict[str, str]:
    groups = {name.rstrip("23"): value for name, value in match.groupdict().items() if value}
    port = groups.get("port", "")
    return {**groups, "service": _SERVICES.get(port, "whatever listens there")}


def _sentence(need: str, remedy: str, places: Iterable[str]) -> str:
    each = list(dict.fromkeys(places))
    more = f" and {len(each) - _MOST_NAMED} more" if len(each) > _MOST_NAMED else ""
    verb = "needs" if len(each) == 1 else "need"
    return f"{', '.join(each[:_MOST_NAMED])}{more} {verb} {need}: {remedy}."
