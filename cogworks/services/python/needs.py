"""What tests that failed would have needed of the machine, recognised by what they said."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from cogworks.domain_services.messages import TestReport

_MOST_NAMED = 3
_SERVICES: Mapping[str, str] = {
    "3306": "MySQL",
    "5432": "PostgreSQL",
    "5672": "RabbitMQ",
    "6379": "Redis",
    "9200": "Elasticsearch",
    "11211": "memcached",
    "27017": "MongoDB",
}
"""Port -> what usually listens there."""
_PORT = (
    re.compile(r"connect to (?:localhost|127\.[\d.]+|::1):(?P<name>\d{1,5}), where nobody listens inside"),
    re.compile(
        r"(?:localhost|127\.0\.0\.1|::1)['\"),: ]{1,10}(?:port )?(?P<name>\d{2,5})\b(?!\.)"
        r"[^\n]{0,200}(?i:connection refused|can't connect)"
    ),
    re.compile(r"(?i:connecting to|connect to) (?:localhost|127\.0\.0\.1):(?P<name>\d{2,5})\b"),
)
_PROGRAM = (
    re.compile(r"FileNotFoundError: \[Errno 2\] No such file or directory: '(?P<name>[A-Za-z][\w+-]*)'"),
    re.compile(r"\bsh: (?:\d+: |line \d+: )?(?P<name>[A-Za-z][\w.+-]*): (?:command )?not found"),
)


class _Sign(NamedTuple):
    """Words of a failure, and what they ask for."""

    need: str
    pattern: re.Pattern[str]
    remedy: str


_SIGNS = (
    _Sign(
        "a display",
        re.compile(
            r"(?i)no \$?DISPLAY|\$DISPLAY environment variable|(?:could ?n[o']t connect to|cannot open) display"
            r"|Qt platform plugin"
        ),
        'there is none. Let them run without: e.g. `variables = {QT_QPA_PLATFORM = "offscreen", MPLBACKEND = "Agg"}` '
        "under `[environment]`, or skip them where `DISPLAY` is not set",
    ),
    _Sign(
        "the network",
        re.compile(
            r"(?i)socket\.gaierror|temporary failure in name resolution|name or service not known"
            r"|failed to resolve|network is unreachable|CalledProcessError: Command [^\n]{0,300}\bpip\b\W{1,4}(?:install|download|wheel)\b"
            r"|tried to (?:look up the address of|connect to (?!localhost|127\.|::1))"
        ),
        'the isolation has none. Replace the remote side in the tests, or leave them out with a mark: `command = "pytest -m '
        "'not network'\"` under `[tests]`",
    ),
    _Sign(
        "the rights of root",
        re.compile(r"(?i)must be (?:run as )?root\b|requires? root\b|\[Errno 1\] Operation not permitted"),
        "tests have the rights of an ordinary user. Skip them where `os.geteuid()` is not 0",
    ),
    _Sign(
        "another locale",
        re.compile(r"unsupported locale setting"),
        "only those of the machine are there (`locale -a`), and `LC_ALL` is `C.UTF-8`. Install the locale where cogworks "
        "runs, or skip them where it is missing",
    ),
    _Sign(
        "time zone data",
        re.compile(r"ZoneInfoNotFoundError|UnknownTimeZoneError|No time zone found with key"),
        'the machine has none of that zone. Add `packages = ["tzdata"]` under `[environment]`',
    ),
)


def needs(report: TestReport) -> tuple[str, ...]:
    """A sentence for each thing of the machine that failed tests asked for. Each names some of these tests."""
    texts = dict(_texts(report))
    sentences = [
        f"{_listed(tests)}: wanted {sign.need}; {sign.remedy}."
        for sign in _SIGNS
        if (tests := [test for test, text in texts.items() if sign.pattern.search(text)])
    ]
    sentences += [
        f"{_listed(tests)}: wanted {_service(port)} at localhost:{port}; in isolation nothing listens there but what "
        "the tests start. Let them start it, or leave them out with `[tests] command`."
        for port, tests in _named(texts, _PORT).items()
    ]
    sentences += [
        f"{_listed(tests)}: found no `{name}`; where that is a program, install it where cogworks runs, or add the package "
        "that brings it to `packages` under `[environment]`."
        for name, tests in _named(texts, _PROGRAM).items()
    ]
    return tuple(sentences)


def _texts(report: TestReport) -> Iterator[tuple[str, str]]:
    """Test or file -> what it said and tried, of those that failed."""
    for case in report.cases:
        if case.outcome in ("failed", "error"):
            begin = f"{case.id}: tried to "
            tried = [text.removeprefix(f"{case.id}: ") for text in report.blocked if text.startswith(begin)]
            yield case.id, "\n".join([case.message, *tried])
    for error in report.collection_errors:
        place, _, text = error.partition(": ")
        yield place, text


def _named(texts: Mapping[str, str], patterns: tuple[re.Pattern[str], ...]) -> dict[str, list[str]]:
    """What the patterns name -> the tests that said it."""
    tests_by_name: dict[str, list[str]] = {}
    for test, text in texts.items():
        names = {match["name"] for pattern in patterns for match in pattern.finditer(text)}
        for name in sorted(names):
            tests_by_name.setdefault(name, []).append(test)
    return tests_by_name


def _service(port: str) -> str:
    return _SERVICES.get(port, "a service")


def _listed(tests: list[str]) -> str:
    more = f" and {len(tests) - _MOST_NAMED} more" if len(tests) > _MOST_NAMED else ""
    return f"{', '.join(tests[:_MOST_NAMED])}{more}"
