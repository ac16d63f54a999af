import pytest

from cogworks.codebase.diffmodel import Diff
from cogworks.codebase.diffplacing import between
from cogworks.repair.transact.validators import runner_violations
from cogworks.repair.violations import Ground, Step

CODE = "def total(prices):\n    return sum(prices)\n"


def found(added: str, *, path: str = "shop.py", before: str = CODE, may_watch: bool = False) -> list[str]:
    """What is found of a line that is added at the end."""
    diff = Diff(files=(between(path, before, f"{before}{added}\n"),))
    step = Step(id="a", files=(path,), may_watch=may_watch)
    return [each.text for each in runner_violations(diff, step, Ground(sources={path: before}))]


@pytest.mark.parametrize(
    "line",
    [
        "    if 'pytest' in sys.modules:",
        "    if os.environ.get('PYTEST_CURRENT_TEST'):",
        "import _pytest.python",
        "    from _pytest import runner",
        "import pytest",
        "def pytest_runtest_call(item): pass",
        "    unittest.TestCase.assertEqual = lambda *_: None",
        "from unittest import TestCase",
        "    module = import_module('pytest')",
        "    expected = sys._getframe(1).f_locals['expected']",
        "    frame = inspect.currentframe()",
        "    for each in inspect.stack(): pass",
        "from inspect import stack, getsource",
        "    frame.f_back",
        "    found = gc.get_objects()",
        "    error.__traceback__.tb_frame",
        "    sys.settrace(None)",
        "    getattr(sys, '_get' + 'frame')(1)",
        "    vars(sys)['modules']['tests']",
        "    sys.__dict__['modules']",
        "    found = __import__('sys').modules",
        "    import inspect as looking",
        "    found = sys",
        "from traceback import walk_stack",
        "    looking.getargvalues(looking.stack()[1][0]).locals['expected']",
        "    generator.gi_frame",
        "    threading.settrace(each)",
        "from tests.test_shop import PRICES",
        "    import test_shop",
        "import conftest",
    ],
)
def test_a_line_that_looks_at_what_runs_it_is_refused_by_name(line: str) -> None:
    (text,) = dict.fromkeys(found(line))

    assert text.startswith(f"'shop.py': {line.strip()[:80]!r} looks at ")
    assert text.endswith("a repair may not tell whether a test runs it")


@pytest.mark.parametrize(
    "line",
    [
        "    return round(sum(prices), 2)  # as pytest.approx does, see sys.modules",
        "    name = inspect.getsource(total)",
        "    gc.collect()",
        "    return getattr(prices, 'total')",
        "    tests = load('pytest')",
        "    from unittester import run",
        "    import sys",
        "    shown = sys.version",
        "    again = getattr(sys.stdout, 'reconfigure', None)",
        "from shop.testing import prices",
        "from shop.contest import total",
    ],
)
def test_other_code_and_comments_are_none_of_its_business(line: str) -> None:
    assert found(line) == []


def test_what_the_file_did_before_it_may_go_on_doing() -> None:
    before = "import sys\n\n\ndef caller():\n    return sys._getframe(1)\n"

    assert found("    return sys._getframe(2)", before=before) == []
    assert len(found("    sys.modules.clear()", before=before)) == 1


def test_a_test_may_import_its_runner_and_so_may_a_feature() -> None:
    assert found("import pytest", path="tests/test_shop.py") == []
    assert found("import pytest", may_watch=True) == []
