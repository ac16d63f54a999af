"""The configuration that is proposed where something was guessed."""

import tomllib

from cogworks.checkup.findings import ServiceCheckup
from cogworks.checkup.outlook import configuration_of, proposed_services
from cogworks.domain_services.checking import Prepared
from cogworks.domain_services.configuration import parse_services


def of(root: str, configuration: str) -> ServiceCheckup:
    prepared = Prepared(described="d", key="k", configuration=configuration)
    return ServiceCheckup(service="s", root=root, prepared=prepared)


def test_what_one_service_guessed_is_shown_as_it_is_and_of_several_each_under_its_folder() -> None:
    assert (
        configuration_of([of("", '[environment]\npython = "3.12"\n')]) == '[environment]\npython = "3.12"\n'
    )
    assert (
        configuration_of([of("api", "a = 1"), of("", "b = 2")])
        == "# api\na = 1\n\n# everything else\nb = 2\n"
    )
    assert configuration_of([of("", "")]) == ""


def test_several_projects_below_the_top_become_services_that_can_be_read() -> None:
    paths = ["packages/api/pyproject.toml", "packages/api/a.py", "libs/core/setup.py", "README.md"]

    services = parse_services(proposed_services(paths))

    assert [(each.name, each.kind, each.root) for each in services] == [
        ("core", "python", "libs/core"),
        ("api", "python", "packages/api"),
    ]


def test_folders_of_the_same_name_get_names_of_their_own() -> None:
    paths = [f"{root}/pyproject.toml" for root in ("a/core", "b/core", "c/Ünï", "c/__")]

    names = [table["name"] for table in tomllib.loads(proposed_services(paths))["services"]]

    assert names[:2] == ["a-core", "b-core"]
    assert len(set(names)) == 4
    assert len(parse_services(proposed_services(paths))) == 4


def test_one_project_or_one_at_the_top_or_what_is_only_an_example_needs_no_services() -> None:
    assert proposed_services(["pyproject.toml", "a/pyproject.toml", "b/pyproject.toml"]) == ""
    assert proposed_services(["a/pyproject.toml"]) == ""
    assert proposed_services(["a/pyproject.toml", "examples/b/pyproject.toml", "docs/setup.py"]) == ""
