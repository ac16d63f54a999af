"""Which domain services a step asks: those of the default branch, or of the operator's own file."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cogworks.domain_services.announcing import Waiting
from cogworks.domain_services.client import Configured
from cogworks.domain_services.messages import Caller
from cogworks.domain_services.opening import is_bundled
from cogworks.domain_services.transport import ServiceFailed
from cogworks.errors import ConfigurationError, UsageError
from cogworks.settings.config import read_environment
from cogworks.wiring.services import (
    configured_for,
    configured_words,
    open_panel,
    repository_settings,
    services_of,
)

SCRIPT = Path(__file__).parents[1] / "domain_services" / "broken" / "service.py"
NOTHING = read_environment({})


class Copy:
    def __init__(self, path: Path) -> None:
        self.path = path


def services(folder: Path, behaviour: str) -> str:
    (folder / behaviour).touch()
    command = [sys.executable, "-S", "-E", str(SCRIPT), behaviour, str(folder / behaviour)]
    return f'[[services]]\nname = "{behaviour}"\ncommand = {json.dumps(command)}\nattempts = 1\n'


def test_whoever_waits_for_a_service_hears_what_it_does(tmp_path: Path) -> None:
    heard: list[tuple[str, bool]] = []

    @contextmanager
    def during(what: str, limit_s: float, so_far: Callable[[], str] = str, /) -> Iterator[None]:
        heard.append((what, limit_s > 0))
        yield

    files, caller = {"services.toml": services(tmp_path, "good")}, Caller(node="code_generation")
    with open_panel(files, NOTHING, caller=caller, warn=print, waiting=Waiting(during=during)) as panel:
        panel.simulate(Copy(tmp_path))

    assert heard == [("greeting a service", True), ("running tests", True)]


def test_the_services_of_the_default_branch_are_asked(tmp_path: Path) -> None:
    files = {"services.toml": services(tmp_path, "good")}

    with open_panel(files, NOTHING, caller=Caller(node="code_generation"), warn=print) as panel:
        report = panel.simulate(Copy(tmp_path))

    assert [case.id for case in report.cases] == ["a.txt::works"]
    assert (tmp_path / "good").read_text().split() == ["handshake", "simulate"]


def test_a_service_is_asked_about_the_files_that_the_configuration_names(tmp_path: Path) -> None:
    files = {"services.toml": services(tmp_path, "good") + 'artifacts = ["*.png"]\n'}

    with open_panel(files, NOTHING, caller=Caller(), warn=print) as panel:
        panel.validate(Copy(tmp_path), ["a.txt"])

    assert "validate" not in (tmp_path / "good").read_text()


def test_a_service_is_tried_as_often_as_the_configuration_says(tmp_path: Path) -> None:
    more = services(tmp_path, "crash").replace("attempts = 1", "attempts = 2")

    with (
        open_panel({"services.toml": more}, NOTHING, caller=Caller(), warn=print) as panel,
        pytest.raises(ServiceFailed, match="service 'crash' failed at simulate 2 times"),
    ):
        panel.simulate(Copy(tmp_path))


def test_times_and_patience_are_what_the_configuration_says(tmp_path: Path) -> None:
    more = services(tmp_path, "good") + "breaker_failures = 9\ntimeouts = { validate = 0.2 }\n"

    (service,) = services_of(NOTHING, {"services.toml": more})

    assert (service.limits.of("validate"), service.limits.breaker_failures) == (0.2, 9)


@pytest.mark.parametrize(("own", "limit"), [("", "77.0"), ("timeouts = { simulate = 33 }\n", "33.0")])
def test_the_suite_may_take_as_long_as_the_repository_says(tmp_path: Path, own: str, limit: str) -> None:
    files = {
        "services.toml": services(tmp_path, "tells-its-limit") + own,
        "config.toml": "[tests]\ntimeout_s = 77\n",
    }

    with open_panel(files, NOTHING, caller=Caller(), warn=print) as panel:
        report = panel.simulate(Copy(tmp_path))

    assert report.commands == (f"for {limit} s",)


def test_the_operator_s_own_file_wins(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text(services(tmp_path, "crash"))
    environment = read_environment({"COGWORKS_DOMAIN_SERVICES_CONFIG": str(own)})
    files = {"services.toml": services(tmp_path, "good")}

    with (
        open_panel(files, environment, caller=Caller(), warn=print) as panel,
        pytest.raises(ServiceFailed, match="service 'crash' failed at simulate once"),
    ):
        panel.simulate(Copy(tmp_path))


def test_a_file_of_the_operator_that_is_not_there_or_malformed_is_named(tmp_path: Path) -> None:
    lost, malformed = tmp_path / "lost.toml", tmp_path / "malformed.toml"
    malformed.write_text("[[[")

    with pytest.raises(UsageError, match=r"COGWORKS_DOMAIN_SERVICES_CONFIG names .*lost\.toml"):
        services_of(read_environment({"COGWORKS_DOMAIN_SERVICES_CONFIG": str(lost)}), {})
    with pytest.raises(ConfigurationError, match=r"malformed\.toml has 1 problem"):
        services_of(read_environment({"COGWORKS_DOMAIN_SERVICES_CONFIG": str(malformed)}), {})


def test_environments_are_kept_below_the_work_directory(tmp_path: Path) -> None:
    (service,) = services_of(read_environment({"COGWORKS_WORK_DIR": str(tmp_path)}), {})

    assert service.command[-2:] == ("--environments", str(tmp_path / "environments"))
    assert is_bundled(service)


def test_no_service_but_the_bundled_one_learns_where_packages_come_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://me:secret@index.example/")
    seen, program = tmp_path / "seen", tmp_path / "service.py"
    program.write_text("import json, os, sys\njson.dump(dict(os.environ), open(sys.argv[1], 'w'))\n")
    command = json.dumps([sys.executable, str(program), str(seen)])
    files = {"services.toml": f'[[services]]\nname = "nosy"\ncommand = {command}\nattempts = 1\n'}

    with (
        open_panel(files, NOTHING, caller=Caller(), warn=print) as panel,
        pytest.raises(ServiceFailed),
    ):
        panel.simulate(Copy(tmp_path))

    assert "PIP_INDEX_URL" not in json.loads(seen.read_text())


def test_without_any_file_there_is_the_python_service() -> None:
    assert [service.name for service in services_of(NOTHING, {})] == ["python"]


def test_a_python_service_needs_no_command(tmp_path: Path) -> None:
    text = '[[services]]\nname = "api"\nkind = "python"\nroot = "packages/api"\n'

    (service,) = services_of(read_environment({"COGWORKS_WORK_DIR": str(tmp_path)}), {"services.toml": text})

    assert is_bundled(service)
    assert service.command[-2:] == ("--environments", str(tmp_path / "environments"))
    assert service.root == "packages/api"


def test_a_python_service_of_the_operator_s_own_file_needs_none_either(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text('[[services]]\nname = "api"\nkind = "python"\n')

    (service,) = services_of(read_environment({"COGWORKS_DOMAIN_SERVICES_CONFIG": str(own)}), {})

    assert is_bundled(service)


SEVERAL = """
[[services]]
name = "api"
kind = "python"
root = "packages/api"
environment = { python = "3.12", extras = ["dev"] }
tests = { command = "pytest -x" }

[[services]]
name = "rest"
kind = "python"
environment = "prepared"

[[services]]
name = "usual"
kind = "python"
root = "usual"
"""


def test_a_service_is_told_what_its_own_table_says() -> None:
    files = {
        "services.toml": SEVERAL,
        "config.toml": '[environment]\npython = "3.11"\n[tests]\ncommand = "pytest -q"\n',
        "setup.sh": "true\n",
    }
    everywhere = Configured(repository_settings(files), configured_words(files))

    api, rest, usual = (configured_for(each, everywhere) for each in services_of(NOTHING, files))
    told = configured_for(services_of(NOTHING, files)[0], everywhere, has_own_command=True)

    assert (api.settings.python, api.settings.extras, api.settings.setup_script) == (
        "3.12",
        ("dev",),
        "true\n",
    )
    assert (tuple(api.test_command), api.root) == (("pytest", "-x"), "packages/api")
    assert (rest.settings.mode, tuple(rest.test_command), rest.root) == ("prepared", ("pytest", "-q"), "")
    assert (usual.settings, usual.root) == (everywhere.settings, "usual")
    assert tuple(told.test_command) == ("pytest", "-q")


@pytest.mark.parametrize(
    ("names", "services"),
    [
        (("pyproject.toml", "src"), [("python", "primary")]),
        (("pyproject.toml", "Makefile", "speedups.c"), [("python", "primary")]),
        (("go.mod", "main.go"), [("command", "primary")]),
        (("Makefile", "main.c"), [("command", "primary")]),
        (("setup.py", "package.json"), [("python", "primary"), ("command", "secondary")]),
        (("Makefile", "tests"), [("python", "primary")]),
        (("README.md",), [("python", "primary")]),
    ],
)
def test_without_any_file_the_names_at_the_root_say_which_services_there_are(
    names: tuple[str, ...], services: list[tuple[str, str]]
) -> None:
    assert [(each.name, each.role) for each in services_of(NOTHING, {}, names)] == services


@pytest.mark.parametrize(
    ("names", "text", "told"),
    [
        (("go.mod", "package.json"), None, ("--root-language=go",)),
        (("package.json",), None, ("--root-language=typescript",)),
        (("go.mod",), '[[services]]\nname = "a"\nkind = "command"\n', ("--root-language=go",)),
        (("go.mod",), '[[services]]\nname = "a"\nkind = "command"\nlanguage = "rust"\n', ()),
        (("go.mod",), '[[services]]\nname = "a"\nkind = "command"\nroot = "b"\n', ()),
        ((), '[[services]]\nname = "a"\nkind = "command"\n', ()),
    ],
    ids=["bundled", "node", "configured", "language", "folder", "unseen"],
)
def test_the_service_of_commands_learns_what_its_root_is_written_in(
    names: tuple[str, ...], text: str | None, told: tuple[str, ...]
) -> None:
    files = {} if text is None else {"services.toml": text}

    (service,) = services_of(NOTHING, files, names)

    assert tuple(each for each in service.started if each.startswith("--root-language")) == told


COMMANDS = """
[[services]]
name = "go"
kind = "command"
language = "go"
setup = ["echo made > made"]
test = "cat made && sh all.sh"
test_one = "sh one.sh {file} {name}"
lint = "cat {files}"
format = "sed -i s/2/3/ {files}"
report = "junit"
report_file = "out/*.xml"
"""


def test_each_key_of_the_service_of_commands_is_obeyed(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The commands below need no Go, but a machine without one refuses a service of that language.
    go = tmp_path_factory.mktemp("toolchain") / "go"
    go.write_text("#!/bin/sh\nexit 1\n")
    go.chmod(0o755)
    monkeypatch.setenv("PATH", f"{go.parent}{os.pathsep}{os.environ['PATH']}")
    case = '<testsuite><testcase classname="a" name="%s" file="a.go"/></testsuite>'
    (tmp_path / "all.sh").write_text(f"mkdir out; echo '{case % 'all'}' > out/a.xml\n")
    (tmp_path / "one.sh").write_text(
        f"mkdir out; echo '{case % '$2'}' > out/a.xml\n".replace("'", '"')
        .replace('="', "='")
        .replace('" name', "' name")
        .replace('" file', "' file")
        .replace('"/>', "'/>")
    )
    (tmp_path / "a.go").write_text("package a\n/*\na.go:2: no\n*/\n")
    (tmp_path / "b.rs").write_text("/*\nb.rs:2: no\n*/\n")
    copy = Copy(tmp_path)

    with open_panel({"services.toml": COMMANDS}, NOTHING, caller=Caller(), warn=print) as panel:
        assert [case.id for case in panel.simulate(copy).cases] == ["a.go::all"]
        assert [case.id for case in panel.simulate(copy, ["a.go::one"]).cases] == ["a.go::one"]
        found = panel.validate(copy, ["a.go", "b.rs"])
        assert [(each.artifact, each.line) for each in found] == [("a.go", 2)]
        assert panel.normalised(copy, ["a.go"]) == {"a.go": "package a\n/*\na.go:3: no\n*/\n"}


@pytest.mark.parametrize(
    ("key", "written", "value"),
    [
        ("mode", '"prepared"', "prepared"),
        ("setup", '["make deps"]', ["make deps"]),
        ("python", '"3.12"', "3.12"),
        ("install", '"never"', "never"),
        ("extras", '["dev"]', ["dev"]),
        ("groups", '["tests"]', ["tests"]),
        ("requirements", '["ci.txt"]', ["ci.txt"]),
        ("packages", '["pytest<9"]', ["pytest<9"]),
        ("variables", '{ SHOP = "1" }', {"SHOP": "1"}),
    ],
)
def test_every_key_of_the_environment_reaches_the_services(key: str, written: str, value: object) -> None:
    settings = repository_settings({"config.toml": f"[environment]\n{key} = {written}\n"})

    assert settings.model_dump(mode="json")[key] == value
