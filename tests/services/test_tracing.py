"""One test's execution, step by step, as the Python service reports it."""

import os
import runpy
import sys
import trace as reference
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from cogworks.domain_services.answers import Answer
from cogworks.domain_services.client import ProcessService
from cogworks.domain_services.exploring import Trace, TraceEvent, TraceParams
from cogworks.domain_services.messages import ErrorCode, TestCase
from cogworks.domain_services.operations import TRACE
from tests.services.asking import CART, Copy, refusal_of, repository, result_of
from tests.services.test_python_service import COMMAND

SHOP = (
    CART + "def total(cart):\n"
    "    result = 0\n"
    "    for price in cart.prices:\n"
    "        result += price\n"
    "    return result\n"  # 15
)


def traced(folder: Path, test: str, files: Mapping[str, str] | None = None, **asked: object) -> Trace:
    """The trace of `test_a` of `test_a.py`, which holds this text."""
    copy = repository(folder, {"test_a.py": test, **(files or {})})
    params = TraceParams.model_validate({"test": "test_a.py::test_a", **asked})
    return Trace.model_validate(result_of("trace", copy, params))


def steps(trace: Trace) -> list[tuple[str, int, str, int, str]]:
    return [(each.kind, each.line, each.symbol, each.depth, each.value) for each in trace.events]


def test_calls_lines_returns_and_exceptions_are_told_with_what_changed(tmp_path: Path) -> None:
    test = (
        "from shop import *\n"
        "def test_a():\n"
        "    cart = Cart()\n"
        "    try:\n"
        "        cart.add(-1)\n"
        "    except ValueError as error:\n"
        "        kept = [error]\n"
        "    assert total(cart) == 0\n"
    )

    trace = traced(tmp_path, test, {"src/shop/__init__.py": SHOP}, artifacts=("src/shop/__init__.py",))

    self = {"self": "<shop.Cart object at 0x…>"}
    place = "src/shop/__init__.py"
    assert trace == Trace(
        case=TestCase(id="test_a.py::test_a", outcome="passed"),
        events=(
            TraceEvent(
                kind="call", artifact=place, line=2, symbol="shop.Cart.__init__", depth=1, values=self
            ),
            TraceEvent(kind="line", artifact=place, line=3, symbol="shop.Cart.__init__", depth=1),
            TraceEvent(
                kind="return", artifact=place, line=3, symbol="shop.Cart.__init__", depth=1, value="None"
            ),
            TraceEvent(
                kind="call",
                artifact=place,
                line=5,
                symbol="shop.Cart.add",
                depth=1,
                values={**self, "price": "-1"},
            ),
            TraceEvent(kind="line", artifact=place, line=6, symbol="shop.Cart.add", depth=1),
            TraceEvent(kind="line", artifact=place, line=7, symbol="shop.Cart.add", depth=1),
            TraceEvent(
                kind="exception",
                artifact=place,
                line=7,
                symbol="shop.Cart.add",
                depth=1,
                value="ValueError(-1)",
            ),
            TraceEvent(
                kind="call",
                artifact=place,
                line=11,
                symbol="shop.total",
                depth=1,
                values={"cart": "<shop.Cart object at 0x…>"},
            ),
            TraceEvent(kind="line", artifact=place, line=12, symbol="shop.total", depth=1),
            TraceEvent(
                kind="line", artifact=place, line=13, symbol="shop.total", depth=1, values={"result": "0"}
            ),
            TraceEvent(kind="line", artifact=place, line=15, symbol="shop.total", depth=1),
            TraceEvent(kind="return", artifact=place, line=15, symbol="shop.total", depth=1, value="0"),
        ),
    )


WORKLOAD = (
    "import contextlib\n"
    "def countdown(n):\n"
    "    while n:\n"
    "        yield n\n"
    "        n -= 1\n"
    "def deep(n):\n"
    "    return 0 if n == 0 else 1 + deep(n - 1)\n"
    "@contextlib.contextmanager\n"
    "def guarded():\n"
    "    try:\n"
    "        yield 'g'\n"
    "    finally:\n"
    "        deep(1)\n"
    "def work():\n"
    "    found = [n * n for n in countdown(3)]\n"
    "    found += sorted(found, key=lambda n: -n)\n"
    "    with contextlib.suppress(KeyError): {}['x']\n"
    "    with guarded() as g:\n"
    "        for n in range(2):\n"
    "            deep(n)\n"
    "    try:\n"
    "        raise ValueError(g)\n"
    "    except ValueError:\n"
    "        return found\n"
)


def test_the_lines_are_those_an_independent_tracer_sees(tmp_path: Path) -> None:
    test = "from shop import work\ndef test_a():\n    work()\n"

    trace = traced(tmp_path, test, {"shop.py": WORKLOAD}, artifacts=("shop.py",))

    work = runpy.run_path(str(tmp_path / "shop.py"))["work"]
    other = reference.Trace(count=1, trace=0)
    before = sys.gettrace()
    other.runfunc(work)
    sys.settrace(before)
    expected = {
        line: count
        for (path, line), count in other.results().counts.items()
        if path == str(tmp_path / "shop.py")
    }
    assert Counter(each.line for each in trace.events if each.kind == "line") == expected


def test_recursion_and_generators_keep_the_depth_of_the_stack(tmp_path: Path) -> None:
    test = (
        "def test_a():\n"
        "    first = numbers()\n"
        "    assert next(first) == down(1)\n"
        "def numbers():\n"
        "    yield 1\n"
        "def down(n):\n"
        "    return n if n == 1 and down(0) == 0 else n\n"
    )

    assert [each for each in steps(traced(tmp_path, test)) if each[0] != "line"] == [
        ("call", 1, "test_a.test_a", 0, ""),
        ("call", 4, "test_a.numbers", 1, ""),
        ("return", 5, "test_a.numbers", 1, "1"),
        ("call", 6, "test_a.down", 1, ""),
        ("call", 6, "test_a.down", 2, ""),
        ("return", 7, "test_a.down", 2, "0"),
        ("return", 7, "test_a.down", 1, "1"),
        ("return", 3, "test_a.test_a", 0, "None"),
    ]


def test_coroutines_are_followed_into_their_tasks(tmp_path: Path) -> None:
    test = (
        "import asyncio\n"
        "async def half(n):\n"
        "    await asyncio.sleep(0)\n"
        "    return n / 2\n"
        "async def both():\n"
        "    return await asyncio.gather(half(2), half(4))\n"
        "def test_a():\n"
        "    assert asyncio.run(both()) == [1, 2]\n"
    )

    found = steps(traced(tmp_path, test))

    returned = [(symbol, value) for kind, _, symbol, _, value in found if kind == "return"]
    assert returned.count(("test_a.half", "1.0")) == returned.count(("test_a.half", "2.0")) == 1
    assert ("test_a.both", "[1.0, 2.0]") in returned
    assert all(depth > 0 for _, _, symbol, depth, _ in found if symbol != "test_a.test_a")


def test_functions_that_read_the_same_are_told_apart_by_their_files(tmp_path: Path) -> None:
    files = dict.fromkeys(("one.py", "two.py"), "def same(): pass\n")
    test = "import one, two\ndef test_a():\n    one.same()\n    two.same()\n"

    found = [each.artifact for each in traced(tmp_path, test, files).events if each.kind == "call"]

    assert found == ["test_a.py", "one.py", "two.py"]


def test_fixtures_and_other_threads_are_left_out(tmp_path: Path) -> None:
    test = (
        "import threading, pytest\n"
        "def shared(): return 1\n"
        "@pytest.fixture\n"
        "def one(): return shared()\n"
        "def test_a(one):\n"
        "    thread = threading.Thread(target=shared)\n"
        "    thread.start()\n"
        "    thread.join()\n"
    )

    assert {each.symbol for each in traced(tmp_path, test).events} == {"test_a.test_a"}


def test_values_hold_no_secret_no_address_and_no_place_of_this_machine(tmp_path: Path) -> None:
    test = (
        "import os, dataclasses\n"
        "@dataclasses.dataclass\n"
        "class Login:\n"
        "    user: str\n"
        "    password: str\n"
        "def api_token(): return 'abc'\n"
        "def test_a(tmp_path):\n"
        "    my_secret = 'hunter2'\n"
        "    options = {'API_KEY': 'hunter2', 'n': {'token': 'hunter2'}, 1: 2}\n"
        "    login = Login('ada', 'hunter2')\n"
        "    header = 'Authorization: Bearer hunter2hunter2'\n"
        "    url = 'ghp_hunter2hunter2hunter2'\n"
        "    thing = object()\n"
        "    here = [__file__, os.getcwd()]\n"
        "    text = api_token()\n"
        "    end = 1\n"
    )

    trace = traced(tmp_path, test)

    values = {name: text for each in trace.events for name, text in each.values.items()}
    assert values == {
        "tmp_path": "PosixPath('<tmp>/t/p/test_a0')",
        "my_secret": "***",
        "options": "{'API_KEY': ***, 'n': {'token': ***}, 1: 2}",
        "login": "Login(user='ada', password=***)",
        "header": "'Authorization: ***'",
        "url": "'***'",
        "thing": "<object object at 0x…>",
        "here": "['test_a.py', '<tmp>/copy']",
        "text": "'abc'",
        "end": "1",
    }
    assert [each.value for each in trace.events if each.symbol == "test_a.api_token"] == ["", "", "***"]


def test_tokens_of_a_parser_are_shown_and_those_that_could_be_credentials_are_not(tmp_path: Path) -> None:
    test = (
        "import dataclasses\n"
        "@dataclasses.dataclass\n"
        "class Token:\n"
        "    type: str\n"
        "@dataclasses.dataclass\n"
        "class State:\n"
        "    level: int\n"
        "    tokens: list\n"
        "    token: str\n"
        "def render_token(token): return '<p>' + token.type\n"
        "def test_a():\n"
        "    next_token = Token('inline')\n"
        "    state = State(4, [next_token], 'x0ffh3ad3r')\n"
        "    tokens, token = 12, 'x0ffh3ad3r'\n"
        "    raw_token, user_token = b'x0ffh3ad3r', 'u'\n"
        "    made = {'token': next_token, 'tokens': ['+', '-']}\n"
        "    text = render_token(next_token)\n"
        "    end = 1\n"
    )

    trace = traced(tmp_path, test)

    values = {name: text for each in trace.events for name, text in each.values.items()}
    assert values["next_token"] == "Token(type='inline')"
    assert values["state"] == "State(level=4, tokens=[Token(type='inline')], token=***)"
    assert (values["tokens"], values["token"]) == ("12", "Token(type='inline')")
    assert (values["raw_token"], values["user_token"]) == ("***", "***")
    assert values["made"] == "{'token': Token(type='inline'), 'tokens': ['+', '-']}"
    assert [each.value for each in trace.events if each.symbol == "test_a.render_token"][-1] == "'<p>inline'"
    assert "x0ffh3ad3r" not in trace.model_dump_json()


def test_a_value_that_cannot_be_shown_is_survived_and_a_long_one_cut(tmp_path: Path) -> None:
    test = (
        "class Broken:\n"
        "    def __repr__(self): raise OSError('no')\n"
        "class Endless(list): pass\n"
        "def test_a():\n"
        "    broken = Broken()\n"
        "    among = [broken, 1]\n"
        "    endless = Endless()\n"
        "    endless.append(endless)\n"
        "    long = 'x' * 1000\n"
        "    many = list(range(1000))\n"
        "    odd = 'a\\ud800'\n"
        "    assert broken is among[0]\n"
    )

    trace = traced(tmp_path, test, max_value_chars=40)

    values = {name: text for each in trace.events for name, text in each.values.items()}
    assert trace.case.outcome == "passed"
    assert values == {
        "broken": "<Broken instance at 0x…>",
        "among": "[<Broken instance at 0x…>, 1]",
        "endless": "[[...]]",
        "long": "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…",
        "many": "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...]",
        "odd": "'a\\ud800'",
    }


def test_the_most_that_is_wanted_ends_the_tracing_and_not_the_test(tmp_path: Path) -> None:
    test = "def test_a():\n    for n in range(100_000):\n        last = n\n    assert last == 1\n"

    trace = traced(tmp_path, test, max_events=5)

    assert [each.line for each in trace.events] == [1, 2, 3, 2, 3]
    assert trace.truncated
    assert trace.case.outcome == "failed"


@pytest.mark.parametrize(
    ("max_events", "truncated"), [(4, False), (3, True)], ids=["just-enough", "one-too-few"]
)
def test_truncation_is_said_only_when_something_is_missing(
    max_events: int, truncated: bool, tmp_path: Path
) -> None:
    test = "def test_a():\n    one = 1\n    two = one\n"

    assert traced(tmp_path, test, max_events=max_events).truncated is truncated


def test_only_the_lines_that_are_asked_about_are_told(tmp_path: Path) -> None:
    test = "def test_a():\n    one = 1\n    two = one\n    one = 2\n    three = 3\n"

    trace = traced(tmp_path, test, lines=((3, 3), (5, 9)))

    assert [(each.kind, each.line, each.values) for each in trace.events] == [
        ("line", 3, {"one": "1"}),
        ("line", 5, {"one": "2", "two": "1"}),
        ("return", 5, {"three": "3"}),
    ]


def test_a_test_that_takes_the_tracing_for_itself_is_told_as_far_as_it_is_known(tmp_path: Path) -> None:
    trace = traced(tmp_path, "import sys\ndef test_a():\n    sys.settrace(None)\n    one = 1\n")

    assert [each.line for each in trace.events] == [2, 3]
    assert trace.truncated


@pytest.mark.slow
def test_endless_recursion_fails_the_test_as_ever_and_nothing_else(tmp_path: Path) -> None:
    test = "def down(): down()\ndef test_a(): down()\n"

    trace = traced(tmp_path, test, max_events=100_000)

    assert trace.case.outcome == "failed"
    assert "RecursionError" in trace.case.message
    assert len(trace.events) > 1000


def test_a_time_limit_before_the_test_began_is_told(tmp_path: Path) -> None:
    trace = traced(tmp_path, "def test_a(): pass\n", timeout_s=0.05)

    assert trace == Trace(
        case=TestCase(
            id="test_a.py::test_a",
            outcome="error",
            message="the time limit was reached before the test began",
        ),
        events=(),
    )


@pytest.mark.slow
def test_a_test_that_hangs_is_told_until_the_time_limit(tmp_path: Path) -> None:
    trace = traced(tmp_path, "def test_a():\n    while True:\n        pass\n", max_events=50, timeout_s=20)

    assert trace.case == TestCase(
        id="test_a.py::test_a", outcome="error", message="still running at the time limit of the whole run"
    )
    assert (len(trace.events), trace.truncated) == (50, True)


def test_a_repository_s_own_sitecustomize_still_runs(tmp_path: Path) -> None:
    files = {"sitecustomize.py": "import builtins\nbuiltins.customised = 1\n"}

    trace = traced(tmp_path, "def test_a():\n    assert customised == 1\n", files)

    assert trace.case.outcome == "passed"
    assert [each.line for each in trace.events] == [1, 2, 2]


UNITTEST = (
    "import unittest\n"
    "class Case(unittest.TestCase):\n"
    "    def setUp(self): self.one = 1\n"
    "    def test_b(self):\n"
    "        self.assertEqual(self.one, 1)\n"
)


@pytest.mark.slow
def test_over_the_wire_a_test_of_the_standard_library_is_traced_too(tmp_path: Path) -> None:
    copy = repository(tmp_path, {"tests/test_b.py": UNITTEST})
    with ProcessService(COMMAND, name="python", environment=os.environ) as service:
        answer = service.call(TRACE, copy, TraceParams(test="tests/test_b.py::Case::test_b"))

    assert isinstance(answer, Answer)
    assert answer.verdict == "success"
    assert steps(answer.result) == [
        ("call", 4, "tests.test_b.Case.test_b", 0, ""),
        ("line", 5, "tests.test_b.Case.test_b", 0, ""),
        ("return", 5, "tests.test_b.Case.test_b", 0, "None"),
    ]


def test_what_is_no_single_test_is_an_error_or_refused(tmp_path: Path) -> None:
    copy = repository(tmp_path, {"test_a.py": "def test_a(): pass\ndef test_b(): pass\n"})

    lost = Trace.model_validate(result_of("trace", copy, TraceParams(test="test_c.py::test_c")))

    assert lost.case.outcome == "error"
    assert "no such test file" in lost.case.message
    assert refusal(copy, "test_a.py") == (
        ErrorCode.INVALID_REQUEST,
        "'test_a.py' is 2 tests; name one, as a report does",
    )
    assert refusal(copy, "../test_a.py::test_a")[0] is ErrorCode.INVALID_REQUEST


def refusal(copy: Copy, test: str) -> tuple[ErrorCode, str]:
    return refusal_of("trace", copy, TraceParams(test=test))
