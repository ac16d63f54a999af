"""What the manifests of a repository ask for, by the names of their extras, groups and files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from cogworks.services.python.manifest_files import is_manifest
from cogworks.services.python.recipe.reading import read_recipe


@pytest.mark.parametrize(
    ("files", "requirements"),
    [
        ({}, ()),
        ({"pyproject.toml": '[project]\nname = "a"\ndependencies = ["httpx>=0.28", "click"]\n'}, ("click", "httpx>=0.28")),
        (
            {"pyproject.toml": '[project.optional-dependencies]\nTests = ["b", "d; python_version>\'3\'"]\ndocs = ["c"]\ndev = ["e"]\n'},
            ("b", 'd; python_version > "3"'),
        ),
        (
            {"pyproject.toml": '[project]\nname = "My.A"\n[project.optional-dependencies]\ntest = ["my-a[Extra]", "b"]\nextra = ["c", "my_a[test]"]\n'},
            ("b", "c"),
        ),
        (
            {"pyproject.toml": '[dependency-groups]\ntest = ["b", {include-group = "Shared"}]\nshared = ["c", {include-group = "test"}]\nlint = ["d"]\n'},
            ("b", "c"),
        ),
        (
            {"setup.cfg": "[options]\ninstall_requires =\n  b>1  # why\n  c\n[options.extras_require]\ntest = d\ndocs = e\n"},
            ("b>1", "c", "d"),
        ),
        (
            {"requirements.txt": "# all\nb==1 \\\n  --hash=sha256:00 \\\n  --hash=sha256:11\n-r more.txt\n-e .\n", "more.txt": "c\n-r requirements.txt\n"},
            ("b==1", "c"),
        ),
        (
            {"test-requirements.txt": "b", "requirements_dev.txt": "c", "requirements/tests.txt": "-r ../base.txt", "base.txt": "d", "requirements-docs.txt": "e", "requirements/main.txt": "f"},
            ("b", "d", "f"),
        ),
        (
            {"requirements/dev.txt": "b", "setup.cfg": "[options.extras_require]\ndev = c\n", "pyproject.toml": '[dependency-groups]\ndev = ["d"]\n'},
            ("b", "c", "d"),
        ),
        (
            {"pyproject.toml": '[project]\ndynamic = ["dependencies"]\n[tool.setuptools.dynamic]\ndependencies = {file = ["deps.txt"]}\n', "deps.txt": "b"},
            ("b",),
        ),
    ],
    ids=["none", "project", "extras", "own-extras", "groups", "setup.cfg", "requirements", "names", "development", "dynamic"],
)  # fmt: skip
def test_requirements_are_found_wherever_they_may_stand(
    files: dict[str, str], requirements: tuple[str, ...]
) -> None:
    found = read_recipe(files)

    assert found.requirements == requirements
    assert (found.constraints, found.left_out) == ((), ())


def test_constraints_are_no_requirements() -> None:
    files = {
        "requirements.txt": "b\n-c limits.txt\n",
        "limits.txt": "b<2\nc<3\n-r deeper.txt\n",
        "deeper.txt": "d<4",
    }

    found = read_recipe(files)

    assert found.requirements == ("b",)
    assert found.constraints == ("b<2", "c<3", "d<4")


@pytest.mark.parametrize(
    ("files", "left_out"),
    [
        ({"pyproject.toml": "= ["}, "pyproject.toml is not TOML"),
        ({"pyproject.toml": '[project]\ndependencies = ["a b c"]\n'}, "pyproject.toml, dependencies: 'a b c' is no requirement"),
        ({"pyproject.toml": '[project]\ndynamic = ["dependencies"]\n'}, "only a build would tell them"),
        ({"pyproject.toml": '[tool.poetry.dependencies]\na = "^x"\n'}, "'a' has a version that cannot be read"),
        ({"setup.cfg": "options]\n"}, "setup.cfg cannot be read"),
        ({"setup.py": "import os:"}, "setup.py is no Python that can be read"),
        ({"requirements.txt": "\n--index-url https://evil.example\n"}, "requirements.txt, line 2: the option '--index-url' is not obeyed"),
        ({"requirements.txt": "a @ git+https://evil.example/a\n"}, "names an address"),
        ({"requirements.txt": "./libs/a\n"}, "'./libs/a' is no requirement"),
        ({"requirements.txt": "-r ../outside.txt\n"}, "'../outside.txt' is not among the requirements files"),
        ({"requirements.txt": "-e ./libs/a\n"}, "'-e ./libs/a' is a project of its own or an address"),
    ],
    ids=["toml", "requirement", "dynamic", "poetry", "cfg", "setup.py", "index", "address", "path", "outside", "editable"],
)  # fmt: skip
def test_what_is_left_out_is_named_with_its_place(files: dict[str, str], left_out: str) -> None:
    found = read_recipe(files)

    assert not found.requirements
    assert len(found.left_out) == 1
    assert left_out in found.left_out[0]


@pytest.mark.parametrize(
    "text",
    [
        "[project]\nname = 3\ndependencies = 4\n",
        "project = 1\ndependency-groups = 2\ntool = 3\n",
        "[dependency-groups]\ntest = 'x'\n[project]\noptional-dependencies = []\n",
        "[project]\nname = 'a'\noptional-dependencies.test = [1, {}]\ndynamic = 'dependencies'\n",
        "[dependency-groups]\ntest = [{include-group = 'gone'}, {include-group = 3}, {other = 1}]\n",
    ],
    ids=["values", "tables", "lists", "entries", "groups"],
)
def test_a_manifest_of_the_wrong_shape_asks_for_nothing(text: str) -> None:
    assert read_recipe({"pyproject.toml": text}).requirements == ()


def test_the_python_version_is_found_in_either_file() -> None:
    in_project = {
        "pyproject.toml": '[project]\nrequires-python = ">=3.9"\n',
        "setup.cfg": "[options]\npython_requires = >=2\n",
    }

    assert read_recipe(in_project).requires_python == ">=3.9"
    assert read_recipe({"setup.cfg": "[options]\npython_requires = >=2\n"}).requires_python == ">=2"


@given(st.text(alphabet="ab-=<>[];@:/.# \\\n'\"rce1,", max_size=60))
def test_whatever_a_file_says_only_plain_requirements_come_out(text: str) -> None:
    found = read_recipe({"requirements.txt": text, "a": "b"})

    for each in (*found.requirements, *found.constraints):
        assert "\n" not in each
        assert Requirement(each).url is None
        assert not each.startswith("-")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("pyproject.toml", True),
        ("setup.cfg", True),
        ("setup.py", True),
        ("requirements.txt", True),
        ("requirements/test.txt", True),
        ("tox.ini", True),
        ("uv.lock", True),
        (".github/workflows/ci.yml", True),
        (".github/workflows/more/ci.yml", False),
        ("tests/requirements.txt", True),
        ("docs/pyproject.toml", False),
        ("src/setup.py", False),
        ("a.py", False),
    ],
)
def test_manifests_lie_at_the_root(path: str, expected: bool) -> None:
    assert is_manifest(path) is expected
