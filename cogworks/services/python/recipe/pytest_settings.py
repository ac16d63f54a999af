"""Which plugins the repository's configuration of pytest and its tests use without anybody naming them."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from packaging.requirements import Requirement

from cogworks.services.python.recipe.texts import canonical, ini, one_or_more, table, toml

_OPTIONS = {
    "--cov": "pytest-cov", "--no-cov": "pytest-cov", "-n": "pytest-xdist", "--numprocesses": "pytest-xdist", "--dist": "pytest-xdist", "--timeout": "pytest-timeout",
    "--reruns": "pytest-rerunfailures", "--benchmark": "pytest-benchmark", "--random-order": "pytest-random-order",
    "--randomly": "pytest-randomly", "--html": "pytest-html", "--mypy": "pytest-mypy", "--flake8": "pytest-flake8",
    "--black": "pytest-black", "--ruff": "pytest-ruff", "--isort": "pytest-isort", "--snapshot": "syrupy", "--doctest-plus": "pytest-doctestplus",
    "--instafail": "pytest-instafail", "--mpl": "pytest-mpl", "--nbval": "nbval", "--disable-socket": "pytest-socket",
    "--allow-hosts": "pytest-socket", "--record-mode": "pytest-recording", "--block-network": "pytest-recording",
    "--forked": "pytest-forked", "--memray": "pytest-memray", "--codspeed": "pytest-codspeed", "--testmon": "pytest-testmon",
    "--ds": "pytest-django", "--reuse-db": "pytest-django", "--nomigrations": "pytest-django", "--no-migrations": "pytest-django",
    "--create-db": "pytest-django", "--asyncio-mode": "pytest-asyncio", "--hypothesis": "hypothesis", "--pylint": "pytest-pylint",
    "--picked": "pytest-picked", "--check-links": "pytest-check-links", "--jsonreport": "pytest-json-report", "--json-report": "pytest-json-report",
    "--embed": "pytest-sphinx", "--remote-data": "pytest-remotedata", "--arraydiff": "pytest-arraydiff", "--cov-report": "pytest-cov", "--examples": "pytest-examples",
    "--markdown-docs": "pytest-markdown-docs", "--subtests": "pytest-subtests", "--mypy-testing": "pytest-mypy-testing", "--mypy-testing-base": "pytest-mypy-plugins",
    "--mypy-pyproject-toml-file": "pytest-mypy-plugins", "--mypy-ini-file": "pytest-mypy-plugins", "--mypy-same-process": "pytest-mypy-plugins",
    "--mypy-only-local-stub": "pytest-mypy-plugins", "--mypy-extension-hook": "pytest-mypy-plugins", "--spec": "pytest-spec", "--sw": "", "--typeguard-packages": "typeguard",
    "--beartype-packages": "pytest-beartype", "--pspec": "pytest-pspec", "--tavern": "tavern", "--repeat": "pytest-repeat", "--count": "pytest-repeat",
}  # fmt: skip
_KEYS = {
    "asyncio_mode": "pytest-asyncio", "asyncio_default_fixture_loop_scope": "pytest-asyncio", "asyncio_default_test_loop_scope": "pytest-asyncio",
    "anyio_mode": "anyio", "timeout": "pytest-timeout", "timeout_method": "pytest-timeout", "django_settings_module": "pytest-django",
    "django_find_project": "pytest-django", "env": "pytest-env", "env_files": "pytest-dotenv", "mock_use_standalone_module": "pytest-mock", "qt_api": "pytest-qt",
    "doctest_plus": "pytest-doctestplus", "doctest_subpackage_requires": "pytest-doctestplus", "reruns": "pytest-rerunfailures", "pytester_example_dir": "", "trio_mode": "pytest-trio",
    "remote_data_strict": "pytest-remotedata", "randomly_seed": "pytest-randomly", "mypy_testing_base": "pytest-mypy-plugins", "postgresql_host": "pytest-postgresql",
}  # fmt: skip
_MARKS = {
    "asyncio": "pytest-asyncio", "django_db": "pytest-django", "flaky": "pytest-rerunfailures", "benchmark": "pytest-benchmark",
    "timeout": "pytest-timeout", "vcr": "pytest-recording", "trio": "pytest-trio", "anyio": "anyio", "twisted": "pytest-twisted",
    "httpx_mock": "pytest-httpx", "parametrize_with_cases": "pytest-cases", "order": "pytest-order", "dependency": "pytest-dependency",
}  # fmt: skip
_FIXTURES = {
    "mocker": "pytest-mock", "benchmark": "pytest-benchmark", "httpx_mock": "pytest-httpx", "requests_mock": "requests-mock",
    "snapshot": "syrupy", "freezer": "pytest-freezer", "httpserver": "pytest-httpserver", "httpbin": "pytest-httpbin", "aiohttp_client": "pytest-aiohttp",
    "settings": "", "faker": "Faker", "datadir": "pytest-datadir", "shared_datadir": "pytest-datadir", "data_regression": "pytest-regressions",
    "file_regression": "pytest-regressions", "qtbot": "pytest-qt", "fs": "pyfakefs", "subtests": "pytest-subtests", "responses": "", "testdir": "", "script_runner": "pytest-console-scripts",
    "respx_mock": "respx", "time_machine": "time-machine", "live_server": "pytest-django", "event_loop": "pytest-asyncio<1",
    "class_mocker": "pytest-mock", "module_mocker": "pytest-mock", "session_mocker": "pytest-mock", "image_regression": "pytest-regressions", "socket_enabled": "pytest-socket", "aioresponses": "",
}  # fmt: skip
MARKED = "pytest<9"
"""From 9 on pytest loads no file in which a fixture has a mark; to earlier versions it meant nothing."""
_EARLIER = {"event_loop": "pytest-asyncio<1", "loop": "pytest-aiohttp<1"}
"""Fixtures that later versions of a plugin lack."""
_MARK = re.compile(r"\bmark\.(\w+)")
_ARGUMENTS = re.compile(r"\bdef test\w*\(([^()]{0,2000})\)|\bdef (\w+)\(([^()]{0,2000})\)")
_ASKED = re.compile(
    r"\bdef test\w*\(([^()]{0,2000})\)|\busefixtures\(([^()]{0,300})\)"
    r"|@pytest\.fixture\b[^\n]*\n(?:[ \t]*@[^\n]*\n)*[ \t]*(?:async )?def \w+\(([^()]{0,2000})\)"
)
"""Where tests and fixtures name those that they want."""
_DEFINED = re.compile(
    r"@(?:pytest\.|pytest_asyncio\.)?fixture\b[^\n]*\n(?:\s*@[^\n]*\n)*\s*(?:async )?def (\w+)|fixture\(name=[\"'](\w+)"
)
_SUBTESTS_CAME_WITH_PYTEST = "pytest-subtests"

ALIKE = {
    "pytest-benchmark": ("pytest-codspeed",), "pytest-httpserver": ("pytest-localserver",), "pytest-django": ("pytest-flask",),
    "pytest-recording": ("pytest-vcr",), "pytest-rerunfailures": ("flaky", "pytest-retry"), "pytest-order": ("pytest-ordering",),
    "syrupy": ("pytest-snapshot", "snapshottest"), "pytest-freezer": ("pytest-freezegun",), "pytest-datadir": ("pytest-datadir-ng",),
}  # fmt: skip
"""Plugins with the marks and fixtures of another."""


class Used(NamedTuple):
    """A distribution that something uses, and what."""

    distribution: str
    source: str
    why: str
    is_sure: bool = True
    """Whether nothing else has what is used, by its name."""


class Settings(NamedTuple):
    """The file that pytest takes its configuration from, and what stands there."""

    place: str = ""
    options: Mapping[str, Any] = {}

    @property
    def addopts(self) -> list[str]:
        """The options that are always given."""
        value = self.options.get("addopts", "")
        if isinstance(value, list):
            return [str(each) for each in value]
        try:
            return shlex.split(str(value))
        except ValueError:
            return str(value).split()


def pytest_settings(files: Mapping[str, str]) -> Settings:
    """As pytest finds them."""
    for name in ("pytest.toml", ".pytest.toml"):
        if name in files:
            return Settings(f"{name} [pytest]", table(toml(files[name])[0], "pytest"))
    for name in ("pytest.ini", ".pytest.ini"):
        if name in files:
            return Settings(f"{name} [pytest]", ini(files[name])[0].get("pytest", {}))
    tool = table(toml(files.get("pyproject.toml", ""))[0], "tool", "pytest")
    if tool:
        native = {key: value for key, value in tool.items() if key != "ini_options"}
        where = "[tool.pytest.ini_options]" if "ini_options" in tool else "[tool.pytest]"
        return Settings(f"pyproject.toml {where}", {**native, **table(tool, "ini_options")})
    for name, section in (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        if (options := ini(files.get(name, ""))[0].get(section)) is not None:
            return Settings(f"{name} [{section}]", options)
    return Settings()


def plugins_used(settings: Settings, words: tuple[str, ...]) -> Iterator[Used]:
    """By the options that are always given, those of the command, and the keys of the configuration."""
    for word in settings.addopts:
        if (name := plugin_of_option(word)) is not None:
            yield Used(name, settings.place, f"`addopts` has `{word[:40]}`")
    for word in words:
        if (name := plugin_of_option(word)) is not None:
            yield Used(name, "", f"the command of the tests has `{word[:40]}`")
    for key in settings.options:
        if name := plugin_of_key(key):
            yield Used(name, settings.place, f"`{key}` is set")
    required = settings.options.get("required_plugins", "")
    for line in one_or_more(required.split() if isinstance(required, str) else required):
        yield Used(line, settings.place, "`required_plugins` names it")


def plugin_of_key(key: str) -> str:
    """Which distribution reads a key of pytest's configuration; empty: unknown."""
    return _KEYS.get(key.lower(), "")


def plugin_of_mark(name: str) -> str:
    """Which distribution gives a mark its meaning; empty: unknown."""
    return _MARKS.get(name, "")


def plugin_of_fixture(name: str) -> str:
    """Which distribution offers a fixture; empty: unknown."""
    return _FIXTURES.get(name, "")


def plugin_of_option(word: str) -> str | None:
    """Which distribution brings an option of pytest; None: unknown."""
    name = word.split("=", 1)[0]
    if re.fullmatch(r"-n\d+|-nauto|-nlogical", name):
        return "pytest-xdist"
    if name in _OPTIONS:
        return _OPTIONS[name] or None
    return next(
        (
            plugin
            for prefix, plugin in _OPTIONS.items()
            if prefix.startswith("--") and plugin and name.startswith(f"{prefix}-")
        ),
        None,
    )


def plugins_of_tests(tests: Mapping[str, str], texts: Iterable[str]) -> Iterator[Used]:
    """By the marks and fixtures of test files that none of these texts defines.

    Args:
        texts: of all Python files, as the code of a project may be the plugin.
    """
    defined = {name for text in texts for pair in _DEFINED.findall(text) for name in pair if name}
    seen: set[str] = set()
    for path, text in sorted(tests.items()):
        for mark in _MARK.findall(text):
            if mark in _MARKS and mark not in seen:
                seen.add(mark)
                yield Used(_MARKS[mark], path, f"a test is marked with `{mark}`")
        for of_test, _, _ in _ARGUMENTS.findall(text):
            for name in re.findall(r"\b\w+\b(?=\s*(?:[,:=]|$))", of_test):
                if _FIXTURES.get(name) and name not in seen | defined and name not in _parametrized(text):
                    seen.add(name)
                    yield Used(_FIXTURES[name], path, f"a test uses the fixture `{name}`")
        asked = {name for args in _ASKED.findall(text) for name in re.findall(r"\w+", "".join(args))}
        for name in sorted(_EARLIER.keys() & asked - seen - defined - _parametrized(text)):
            seen.add(name)
            why = f"a test uses the fixture `{name}`, which later versions lack"
            yield Used(_EARLIER[name], path, why, is_sure=name in _FIXTURES)

        if MARKED not in seen and _has_marked_fixture(text):
            seen.add(MARKED)
            yield Used(MARKED, path, "a fixture has a mark, which later versions refuse", is_sure=True)


def _has_marked_fixture(text: str) -> bool:
    """Whether a function has both decorators, in either order."""
    if "@pytest.fixture" not in text or "@pytest.mark." not in text:
        return False
    decorators: set[str] = set()
    for line in map(str.lstrip, text.splitlines()):
        decorators.update(each for each in ("@pytest.fixture", "@pytest.mark.") if line.startswith(each))
        if line.startswith(("def ", "async def ", "class ")):
            if len(decorators) > 1:
                return True
            decorators.clear()
    return False


def is_limited(line: str) -> bool:
    """Whether a requirement of a plugin leaves its later versions out."""
    return any(each.operator in ("<", "<=") for each in Requirement(line).specifier)


def agrees(line: str, others: Iterable[str]) -> bool:
    """Whether there may be a version that fits a limited requirement and all others of the same distribution."""
    limited = Requirement(line)
    alike = [each for each in map(Requirement, others) if canonical(each.name) == canonical(limited.name)]
    return any(
        limited.specifier.contains(version) and all(each.specifier.contains(version) for each in alike)
        for version in _VERSIONS
    )


def _parametrized(text: str) -> set[str]:
    calls = re.findall(r"parametrize\(([^)]{0,300})", text)
    return {
        name.strip()
        for each in calls
        for words in re.findall(r"[\"']([^\"']*)", each)
        for name in words.split(",")
    }


_VERSIONS = [
    *(f"{major}.{minor}.{patch}" for major in range(2) for minor in range(40) for patch in range(10)),
    *(f"{major}.{minor}.0" for major in range(2, 100) for minor in range(10)),
]
_RUNS = [f"{major}.{minor}.{patch}" for major in range(6, 20) for minor in range(12) for patch in range(10)]
"""Versions that there are or may be; before 6.2 our reporters do not run, nor does pytest itself with a Python of today."""
_OLDEST = "6.2.0"
_INSTEAD = "pytest>=8"


def with_a_runner_that_runs(requirements: Iterable[str]) -> tuple[set[str], list[str]]:
    """The requirements with a pytest of today for one that is too old, and the notes about it."""
    result: set[str] = set()
    notes: list[str] = []
    for line in requirements:
        requirement = Requirement(line)
        if requirement.name.lower() == "pytest" and not _runs(requirement):
            result.add(f"{_INSTEAD} ; {requirement.marker}" if requirement.marker else _INSTEAD)
            notes.append(
                f"{line!r} is older than what runs here (pytest {_OLDEST}); {_INSTEAD!r} is installed instead"
            )
        else:
            result.add(line)
    return result, notes


def _runs(requirement: Requirement) -> bool:
    return not requirement.specifier or any(
        requirement.specifier.contains(each) for each in _RUNS[_RUNS.index(_OLDEST) :]
    )
