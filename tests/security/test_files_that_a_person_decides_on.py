"""A model changes what is installed or how tests run, by whichever node listens to it."""

from pathlib import Path

import pytest

from cogworks.codebase.asking import is_asked_about
from cogworks.codebase.diffmodel import Diff
from cogworks.codebase.diffplacing import between
from cogworks.nodes import code_generation, interface_design
from cogworks.nodes.contract import Failed, Succeeded
from cogworks.nodes.registry import procedure_for
from cogworks.nodes.replies import ProposedFile
from cogworks.nodes.task import Conventions
from cogworks.repair.transact.diffrules import scope_violations
from cogworks.repair.violations import Step
from cogworks.settings.config import DependencyConfig
from cogworks.settings.sections import ASKED_ABOUT
from cogworks.wiring.clone import asked_about
from tests.codegen.test_test_writing import implemented, world, written
from tests.nodes.declared import declared, desk, files
from tests.nodes.examples import FILES, INTERFACES, ports, task

ATTACKS = (
    *(
        "setup.py",
        "requirements.txt",
        "package.json",
        "pytest.ini",
        "tox.ini",
        "noxfile.py",
        "Makefile",
        "conftest.py",
    ),
    *("src/conftest.py", "tools/setup.py", "services/api/requirements-dev.txt", "Setup.PY", "set\u00adup.py"),
    *("tests/requirements.txt", "tests/pytest.ini", "data/tests.d/setup.cfg"),
    *(
        "Gemfile",
        "shop.gemspec",
        "composer.json",
        "api/pom.xml",
        "build.gradle.kts",
        "gradle/libs.versions.toml",
        "Shop.csproj",
    ),
    *(
        "yarn.lock",
        "web/pnpm-lock.yaml",
        ".npmrc",
        "web/.yarnrc.yml",
        "gradle/wrapper/gradle-wrapper.properties",
    ),
)
ORDINARY = (
    *(
        "tests/conftest.py",
        "tests/unit/conftest.py",
        "src/adder/tests/conftest.py",
        "tests/custom/test_more.py",
    ),
    *(
        "tests/data/sums.json",
        "tests/fixtures/app/package.json",
        "tests/data/broken/pyproject.toml",
        "tests/make.py",
    ),
)
ASKING = Conventions(manifests=DependencyConfig().asked_about)


def new(path: str) -> ProposedFile:
    return ProposedFile(path=path, action="create", content="# x\n")


@pytest.mark.parametrize("path", ATTACKS)
def test_the_writer_of_tests_does_not_bring_one_in(path: str) -> None:
    given = written()
    place = world(
        given.model_copy(update={"files": (*given.files, new(path)), "extra_paths": (path,)}), implemented()
    )

    outcome = code_generation.run(task("code_generation", sub_item="A", conventions=ASKING), place)

    assert isinstance(outcome, Failed)
    assert outcome.category == "refused_change"
    assert f"proposed to change {path}, which says what is installed or how tests run" in outcome.reason
    assert place.copy.tree == FILES


@pytest.mark.parametrize("path", ORDINARY)
def test_the_writer_of_tests_brings_in_what_belongs_to_tests(path: str) -> None:
    given = written()
    place = world(
        given.model_copy(update={"files": (*given.files, new(path)), "extra_paths": (path,)}), implemented()
    )

    outcome = code_generation.run(task("code_generation", sub_item="A", conventions=ASKING), place)

    assert isinstance(outcome, Succeeded), outcome.reason
    assert place.copy.tree[path] == "# x\n"


@pytest.mark.parametrize("path", ATTACKS)
def test_interfaces_do_not_bring_one_in(path: str) -> None:
    place = ports(INTERFACES.model_copy(update={"files": (*INTERFACES.files, new(path))}))

    outcome = interface_design.run(task("interface_design", conventions=ASKING), place)

    assert isinstance(outcome, Failed)
    assert outcome.category == "refused_change"
    assert place.model.purposes == ["interface_design-1"]


@pytest.mark.parametrize("path", ATTACKS)
def test_a_node_of_the_repository_does_not_bring_one_in(path: str) -> None:
    node = declared(prompt="note", schema="written", inputs=["plan"], slug="note", produces_code=True)
    procedure = procedure_for(node, files(), {})
    assert procedure is not None

    at = desk({"files": [{"path": path, "content": "x"}]})
    outcome = procedure(task("note", inputs={"plan": {}}, conventions=ASKING), at)

    assert isinstance(outcome, Failed)
    assert outcome.category == "refused_change"


@pytest.mark.parametrize("path", ATTACKS)
def test_a_repair_does_not_bring_one_in_or_change_it(path: str) -> None:
    diff = Diff(files=(between(path, "old\n", "new\n"),))

    found = [each.code for each in scope_violations(diff, Step(id="a", files=(path,)))]

    assert found == ["protected"]


@pytest.mark.parametrize(
    ("configuration", "asked"),
    [
        (None, True),
        ("[llm]\nmodel = 'm'\n", True),
        ("[llm]\nmodel = 'm'\n[dependencies]\nchanges = 'allow'\n", False),
    ],
)
def test_a_repair_asks_about_what_its_repository_says(configuration: str | None, asked: bool) -> None:
    files = {} if configuration is None else {"config.toml": configuration}

    assert is_asked_about("setup.py", asked_about(files)) == asked


def test_a_check_of_paths_refuses_one() -> None:
    node = declared(type="deterministic", call="validate_paths", inputs=["plan"])
    procedure = procedure_for(node, {}, {})
    assert procedure is not None

    inputs = {"plan": {"files": [{"path": "lib/setup.py"}, {"path": "tests/conftest.py"}]}}
    outcome = procedure(task("note", inputs=inputs, conventions=ASKING), desk())

    assert isinstance(outcome, Succeeded)
    assert outcome.output["problems"] == ["lib/setup.py: says what is installed or how tests run"]


def test_configuration_adds_to_the_built_in_patterns_and_holds_among_tests_too() -> None:
    patterns = DependencyConfig(manifests=("tests/**/deps.json",)).asked_about

    assert is_asked_about("setup.py", patterns)
    assert is_asked_about("tests/data/deps.json", patterns)
    assert not is_asked_about("tests/data/setup.py", patterns)


def test_the_documentation_names_every_built_in_pattern() -> None:
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text("utf-8")
    section = page.partition("## What no model writes\n")[2].partition("\n## ")[0]

    assert [pattern for pattern in ASKED_ABOUT if f"`{pattern}`" not in section] == []
