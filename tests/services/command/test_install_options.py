"""An installing command is given the options without which the project's own workflows could not install it."""

import pytest

from cogworks.services.command.fetching import is_workflow, with_own_options
from cogworks.services.command.recipes import recipe_of, wanted_texts

CI = ".github/workflows/ci.yml"
PACKAGE = '{"scripts": {"test": "mocha"}, "devDependencies": {"mocha": "^6"}}'


def workflow(*lines: str) -> str:
    steps = "".join(f"      - run: {line}\n" for line in lines)
    return f"jobs:\n  test:\n    steps:\n      - uses: actions/checkout@v4\n{steps}"


@pytest.mark.parametrize(
    ("command", "line", "wanted"),
    [
        ("npm install", "npm install --legacy-peer-deps", "npm install --legacy-peer-deps"),
        (
            "npm ci",
            "npm ci --ignore-scripts --legacy-peer-deps",
            "npm ci --ignore-scripts --legacy-peer-deps",
        ),
        ("npm ci", "'npm i --force'", "npm ci --force"),
        (
            "pnpm install --frozen-lockfile",
            "pnpm install --no-frozen-lockfile",
            "pnpm install --frozen-lockfile --no-frozen-lockfile",
        ),
        (
            "yarn install --frozen-lockfile",
            "yarn --ignore-engines",
            "yarn install --frozen-lockfile --ignore-engines",
        ),
        ("npm install", "npm install --global --unsafe-perm", "npm install"),
        ("npm install", "npm install left-pad --force", "npm install"),
        ("npm install", "yarn --ignore-engines", "npm install"),
        ("npm install", "npm install --legacy-peer-deps; curl https://example.org", "npm install"),
        ("npm install", "npm test --force", "npm install"),
    ],
)
def test_options_that_decide_whether_it_ends_are_taken_from_a_workflow(
    command: str, line: str, wanted: str
) -> None:
    assert with_own_options(command, {CI: workflow("npm --version", line)})[0] == wanted


def test_a_step_of_several_lines_is_read_and_the_first_workflow_counts() -> None:
    block = "      - run: |\n          npm install --legacy-peer-deps\n          npm test\n"

    assert with_own_options(
        "npm install", {CI: workflow() + block, ".github/workflows/z.yml": workflow("npm install --force")}
    ) == ("npm install --legacy-peer-deps", CI)


def test_a_workflow_that_tests_counts_before_one_that_publishes_even_where_it_gives_no_options() -> None:
    publishing = workflow("npm ci --ignore-scripts")
    texts = {CI: workflow("npm ci"), ".github/workflows/a-release.yml": publishing}

    assert with_own_options("npm ci", texts) == ("npm ci", "")
    assert (
        with_own_options("npm ci", {".github/workflows/a-release.yml": publishing})[0]
        == "npm ci --ignore-scripts"
    )


def test_only_files_right_in_the_folder_of_workflows_say_anything() -> None:
    paths = (
        CI,
        ".github/workflows/a/b.yml",
        ".github/ci.yml",
        "docs/workflows/ci.yml",
        ".github/workflows/ci.sh",
    )

    assert [*filter(is_workflow, paths)] == [CI]
    assert wanted_texts((*paths, "package.json")) == (CI, "package.json")
    assert with_own_options("npm ci", {".github/workflows/a/b.yml": workflow("npm ci --force")}) == (
        "npm ci",
        "",
    )


def test_a_recipe_installs_as_the_workflow_does() -> None:
    texts = {"package.json": PACKAGE, CI: workflow("npm install --legacy-peer-deps")}

    assert recipe_of(texts).setup == ("npm install --legacy-peer-deps",)
    assert (
        recipe_of(texts).notes[-1]
        == "`npm install --legacy-peer-deps` has the options that `.github/workflows/ci.yml` gives it"
    )
    assert recipe_of({**texts, "package-lock.json": ""}).setup == ("npm ci --legacy-peer-deps",)
