"""No test waits without a limit: where pytest's own time-out cannot reach, one hanging wait would hold up the whole run."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parent
WAITS = ("wait", "join", "communicate", "acquire")
"""Methods of processes, threads, events, barriers and semaphores that wait for ever when called with nothing."""
WAITS_OF = {"result": "concurrent.futures", "get": "queue", "recv": "multiprocessing"}
"""Methods that do so where this module is imported; elsewhere they are other things."""
RUNS = ("subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output")
REAPS = ("os.wait", "os.wait3", "os.waitpid", "signal.sigwait", "signal.sigwaitinfo")
"""They take no limit; `tests.limits.reaped` does."""
LIMITS = {"timeout", "timeout_s", "blocking"}
_SUSPECT = re.compile(
    r"\.(?:wait|join|communicate|acquire|result|get|recv)\(\s*[\w=]*\)|subprocess\.|os\.wait|sigwait"
)
"""Files without any of these need not be parsed."""


def test_nothing_in_the_tests_waits_without_a_limit() -> None:
    found = []
    for file in sorted(TESTS.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if file != TESTS / "limits.py" and _SUSPECT.search(text):
            found += [f"{file.relative_to(TESTS)}:{each}" for each in unlimited(text)]

    assert found == [], "give each of them a `timeout=`, as `tests/limits.py` has them"


def test_each_kind_of_wait_without_a_limit_is_found() -> None:
    endless = [
        "process.wait()",
        "thread.join()",
        "process.communicate()",
        "semaphore.acquire()",
        "future.result()",
    ]
    endless += ["waiting.get()", "subprocess.run(command)", "os.waitpid(pid, 0)"]
    limited = [
        "process.wait(5)",
        "thread.join(timeout=5)",
        "','.join(words)",
        "subprocess.run(command, timeout=5)",
    ]
    blocks = "with subprocess.Popen(command):\n    pass\nwith Started(command):\n    pass\n"

    text = "\n".join(["import concurrent.futures, queue", *endless, *limited, blocks])

    assert [each.split(":")[0] for each in unlimited(text)] == [str(number) for number in (*range(2, 10), 14)]


def unlimited(text: str) -> list[str]:
    """`line: call` for each wait of a module that has no limit."""
    tree = ast.parse(text)
    waits = (*WAITS, *(name for name, module in WAITS_OF.items() if module in _imported(tree)))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_endless(node, waits):
            found.append(node)
        elif isinstance(node, ast.With):
            blocks = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
            found += [each for each in blocks if ast.unparse(each.func) == "subprocess.Popen"]
    return [
        f"{call.lineno}: {ast.unparse(call.func)}" for call in sorted(found, key=lambda call: call.lineno)
    ]


def _imported(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def _is_endless(call: ast.Call, waits: tuple[str, ...]) -> bool:
    if not isinstance(call.func, ast.Attribute):
        return False
    name = ast.unparse(call.func) if isinstance(call.func.value, ast.Name) else ""
    if name in REAPS:
        return True
    if LIMITS & {each.arg for each in call.keywords}:
        return False
    return name in RUNS or (call.func.attr in waits and not call.args)
