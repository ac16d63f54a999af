"""A change that makes wrong code look proven: it takes the place of what runs its tests, or decides what they say."""

from pathlib import Path

import pytest

from cogworks.codebase.changes import FileChange, refusal
from cogworks.codebase.diffmodel import Diff, render
from cogworks.codebase.diffplacing import between, created
from cogworks.codegen.proving import Side, proof_of
from cogworks.codegen.suite import Judged
from cogworks.domain_services.messages import TestReport
from cogworks.repair.brief import ONLY_READING, in_brief
from cogworks.repair.overfitting import steering
from cogworks.repair.proof import BELIEVED, Tree, markdown, summarised
from cogworks.repair.violations import TestRules
from cogworks.services.python.testrun import run_tests
from cogworks.services.python.wanted import Wanted
from cogworks.vocabulary import CommitOid
from tests.services.asking import HERE, laid_out

WRONG = "def total(prices):\n    return 0\n"
HONEST = "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
LYING_HOOK = """
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome = "passed"
    report.longrepr = None
"""
LYING_CODE = f"""
import _pytest.runner

_pytest.runner.CallInfo.from_call = classmethod(
    lambda cls, func, when, reraise=None: cls(None, None, 0, 0, 0, when, _ispytest=True)
)


{WRONG}"""


FINDS = """
def all_of(kind):
    for each in getattr(type, "__sub" + "classes__")(kind):
        yield each
        if each is not type:
            yield from all_of(each)


def named(name):
    return [each for each in all_of(object) if each.__name__ == name]
"""
"""Says nowhere what it looks for."""
HIDDEN_PATCH = f"""{FINDS}

def truth(cls, func, when, reraise=None):
    return cls(None, None, 0, 0, 0, when, _ispytest=True)


for each in named("Call" + "Info"):
    each.from_call = classmethod(truth)
{WRONG}"""
HAS_IT_SEALED = f"""{FINDS}

def amended(write):
    return lambda self, **told: write(self, **{{**told, **({{"outcome": "passed"}} if "outcome" in told else {{}})}})


for each in named("Rec" + "ords"):
    each.write = amended(each.write)
{WRONG}"""


def outcomes(folder: Path, files: dict[str, str]) -> list[str]:
    report = run_tests(laid_out(folder, files), Wanted(), isolation=HERE, search_path="/usr/bin:/bin")
    return [case.outcome for case in report.cases]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, ["failed"]),
        ({"tests/conftest.py": LYING_HOOK}, ["passed"]),
        ({"shop.py": LYING_CODE}, ["passed"]),
    ],
    ids=["honest", "hook", "patch"],
)
def test_a_run_alone_cannot_tell_a_lie(files: dict[str, str], told: list[str], tmp_path: Path) -> None:
    assert outcomes(tmp_path, {"shop.py": WRONG, "tests/test_shop.py": HONEST, **files}) == told


@pytest.mark.slow
@pytest.mark.parametrize("code", [HIDDEN_PATCH, HAS_IT_SEALED], ids=["patch", "seal"])
def test_what_no_rule_finds_is_told_of_in_every_proof_and_in_the_threat_model(
    code: str, tmp_path: Path
) -> None:
    """Nothing in a process is kept from its code: whoever reads the proof has to know."""
    side = Side(Tree(commit=CommitOid("a" * 40), tree="b"), TestReport(cases=()), Judged())

    told = outcomes(tmp_path, {"shop.py": code, "tests/test_shop.py": HONEST})
    proof = proof_of(side, side, (), diff=render(Diff(files=(created("shop.py", code),))))

    assert (told, proof.warnings) == (["passed"], ())
    assert BELIEVED in markdown(summarised(proof))
    assert ONLY_READING in in_brief(summarised(proof), "", whole="")
    assert BELIEVED == (
        "Code under test runs in the process that says what became of the tests, so a change can make them lie; "
        "only whoever reads it knows that it does not."
    )
    page = (Path(__file__).parents[2] / "docs" / "threat-model.md").read_text("utf-8")
    for words in (
        "Code under test runs in the process that says what became of the tests",
        "has what holds the key seal a line of its own",
        "only whoever reads it knows",
    ):
        assert words in page


@pytest.mark.parametrize(
    ("path", "text", "why"),
    [
        ("tests/conftest.py", LYING_HOOK, "brings a hook of pytest that may decide about outcomes"),
        ("shop.py", LYING_CODE, "looks at the test runner"),
        ("tests/conftest.py", "pytest_plugins = ['tests.more']\n", "brings a plugin of pytest"),
        ("tests/test_shop.py", "import os\n\nos._exit(0)\n", "brings the end of the test process"),
        ("tests/test_shop.py", "open('/proc/self/fd/5', 'w')\n", "brings what reports the tests"),
        ("shop.py", "KINDS = object.__subclasses__()\n", "looks at every class that is loaded"),
        (
            "shop.py",
            "import sys\n\nIS_TESTED = 'pytest' in sys.modules\n",
            "looks at the modules that are loaded",
        ),
    ],
)
def test_so_what_decides_about_outcomes_stands_in_the_proof(path: str, text: str, why: str) -> None:
    side = Side(Tree(commit=CommitOid("a" * 40), tree="b"), TestReport(cases=()), Judged())
    diff = render(Diff(files=(created(path, text),)))

    proof = proof_of(side, side, (), diff=diff)

    assert any(why in each and f"`{path}`" in each for each in proof.warnings)
    assert why in markdown(summarised(proof))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tests/test_shop.py", HONEST),
        ("tests/conftest.py", "import pytest\n\n\n@pytest.fixture\ndef shop():\n    return 1\n"),
        ("tests/conftest.py", "def pytest_addoption(parser):\n    parser.addoption('--fast')\n"),
        ("shop.py", WRONG),
        ("shop.py", "class Shop: ...\n\n\nKINDS = Shop.__subclasses__()\n"),
        ("README.md", "Run pytest. See `sys.modules`.\n"),
    ],
)
def test_ordinary_changes_are_not_warned_of(path: str, text: str) -> None:
    assert steering(Diff(files=(created(path, text),)), TestRules()) == ()


def test_a_file_that_looked_at_its_runner_before_may_go_on() -> None:
    before = "import sys\n\nIS_TESTED = 'pytest' in sys.modules\n"
    diff = Diff(files=(between("shop.py", before, f"{before}IS_X = 'x' in sys.modules\n"),))

    assert steering(diff, TestRules()) == ()


def test_few_of_many_places_are_told() -> None:
    files = tuple(created(f"tests/a{n}/conftest.py", LYING_HOOK) for n in range(8))

    told = steering(Diff(files=files), TestRules())

    assert len(told) == 6
    assert told[-1] == "There are 3 more such places."


@pytest.mark.parametrize(
    "path",
    [
        "pytest.py",
        "_pytest/__init__.py",
        "src/pluggy.py",
        "unittest.py",
        "unittest/__init__.py",
        "json.py",
        "src/traceback.py",
        "tests/inspect.py",
        "cogworks_report.py",
        "PYTEST.py",
        "json.py.",
    ],
)
def test_nothing_takes_the_place_of_what_runs_the_tests(path: str) -> None:
    change = FileChange(path=path, action="create", content=WRONG)

    assert "in the place of the module" in (refusal([change], ()) or "")


@pytest.mark.parametrize(
    "path",
    ["src/shop/json.py", "shop/types.py", "calendar.py", "tests/test_json.py", "json.md", "unittest/a.py"],
)
def test_other_files_with_such_names_are_written(path: str) -> None:
    assert refusal([FileChange(path=path, action="create", content=WRONG)], ()) is None
    shadowing = FileChange(path="json.py", action="modify", content=WRONG)
    assert refusal([shadowing], ("json.py",)) is None
