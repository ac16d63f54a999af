"""Texts that were written to keep a parser busy: each is refused or read, in time that grows with its length alone."""

import ast
import importlib
import inspect
import pkgutil
import random
import re
import signal
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import cogworks
from cogworks.codebase.changes import path_problem, protected_by, shadowed
from cogworks.codebase.diffparsing import parse_diff
from cogworks.codebase.unwritable import secrets_among
from cogworks.cycle.eventlog import read_events
from cogworks.domain_services.answers import read_response
from cogworks.domain_services.configuration import parse_services
from cogworks.domain_services.failing import excerpt
from cogworks.domain_services.messages import Request
from cogworks.domain_services.reasons import marked_reason, raised_reason
from cogworks.errors import CogworksError, ConfigurationError
from cogworks.evaluation.cases import parse_cases
from cogworks.forge.addresses import parse_issue_url, parse_repository, parse_repository_url
from cogworks.forge.bodies import parse_marker
from cogworks.forge.inbox import parse_command
from cogworks.github.moments import parse_when
from cogworks.github.rest_failures import parsed
from cogworks.grammars import languages
from cogworks.grammars.capabilities import uses_of
from cogworks.grammars.gathering import gather as gather_any
from cogworks.grammars.spec import LanguageSpec
from cogworks.injection.detecting import scan
from cogworks.leaving import in_commit_message, in_log_of_actions, in_markdown, in_title, masked, on_terminal
from cogworks.ledger.history import parse_message
from cogworks.ledger.record import read_state
from cogworks.llm.cassette_files import parse_recording
from cogworks.llm.conversation import Wanted, read_turn
from cogworks.llm.replies import read_reply
from cogworks.llm.repository_files import parse_schema
from cogworks.nodes.replies import CodeChange
from cogworks.packs.declared import FILES as PACK_FILES
from cogworks.packs.declared import read_pack
from cogworks.pipeline.expressions import parse_expression
from cogworks.pipeline.noticing import read_seen
from cogworks.pipeline.parser import parse_pipelines
from cogworks.pipeline.routing import read_path
from cogworks.repair.instance import parse_instance
from cogworks.repair.options import parse_options
from cogworks.repair.overfitting import literals
from cogworks.repair.testcommand import read_command
from cogworks.repair.unloaded import unloaded_of
from cogworks.services.command.compilers import findings_in
from cogworks.services.command.recipes import imports_node_test
from cogworks.services.command.reports.go_cover import parse_runs
from cogworks.services.command.reports.reading import READERS, read_all
from cogworks.services.command.scripts import of_script
from cogworks.services.command.starting import why_not_begun
from cogworks.services.python.building.wheel import UnusableWheel, read_wheel
from cogworks.services.python.code.gathering import gather
from cogworks.services.python.declarations import read_declarations
from cogworks.services.python.install_complaints import complaint
from cogworks.services.python.package_index import read_indexes, read_page
from cogworks.services.python.recipe.reading import read_recipe
from cogworks.services.python.report import read_records
from cogworks.services.python.typechecking import read_mypy
from cogworks.services.setup.registries import Malformed, read_hosts
from cogworks.settings.config import parse_config, parse_surroundings
from cogworks.sight.looks.schema import Look
from cogworks.sight.words import count_terms
from cogworks.toml_text import tables_in
from cogworks.tools.policy import parse_policy
from cogworks.tools.records import read_records as read_tool_records
from tests.exhaustive import IS_EXHAUSTIVE
from tests.services.asking import ask, asked_for, laid_out

Parser = Callable[[str], object]
RECIPES = (
    "pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "noxfile.py", "Makefile", "requirements.txt",
    ".github/workflows/ci.yml", "poetry.lock", "tests/test_it.py",
)  # fmt: skip
MANY = 100_000 if IS_EXHAUSTIVE else 2_000
MOST_S = 1.0
"""Processor time of this process for one input."""


def specs() -> Iterator[LanguageSpec]:
    for found in pkgutil.iter_modules(languages.__path__):
        module = importlib.import_module(f"{languages.__name__}.{found.name}")
        yield from (each for each in vars(module).values() if isinstance(each, LanguageSpec))


def of_recipe(path: str) -> Parser:
    return lambda text: read_recipe({path: text}, None, paths=(path,))


def as_bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def of_report(kind: str) -> Parser:
    return lambda text: read_all(kind, [as_bytes(text)])


def of_language(spec: LanguageSpec) -> Parser:
    return lambda text: gather_any(spec, as_bytes(text))


LOOK = Look.model_json_schema()
PARSERS: Mapping[str, Parser] = {
    "diff": parse_diff,
    "command": parse_command,
    "marker": parse_marker,
    "config": parse_config,
    "services": parse_services,
    "pipelines": lambda text: parse_pipelines(text, source="pipeline.toml"),
    "toml": tables_in,
    "python": lambda text: gather(text.encode(errors="surrogatepass")),
    "reach of Python": lambda text: uses_of("a.py", text),
    "reach of Ruby": lambda text: uses_of("a.rb", text),
    "failure": excerpt,
    "words": count_terms,
    "title": in_title,
    "body": in_markdown,
    "commit message": in_commit_message,
    "secrets in text": masked,
    "secrets in lines": lambda text: list(secrets_among(enumerate(text.splitlines(), 1), passwords=True)),
    "injections": scan,
    "path": lambda text: (path_problem(text), protected_by(text), shadowed(text)),
    "issue url": parse_issue_url,
    "repository url": parse_repository_url,
    "expression": parse_expression,
    "test command": read_command,
    "tasks": lambda text: parse_cases(text, source="cases.json"),
    "task": lambda text: parse_instance(text, source="case.json"),
    "recording": lambda text: parse_recording(text, "x.toml"),
    "schema": parse_schema,
    "reply": lambda text: read_reply(text, CodeChange.model_json_schema(), CodeChange),
    "ledger's state": lambda text: read_state(text, branch="cogworks/ledger/1"),
    "ledger's message": parse_message,
    "events": read_events,
    "tool's records": read_tool_records,
    "policy": lambda text: parse_policy(text, source="policy.toml"),
    "service's answer": lambda text: read_response(
        as_bytes(text), Request(request_id="1", method="validate")
    ),
    "answer of REST": parsed,
    "records of a run": lambda text: read_records(as_bytes(text).split(b"\n")),
    "page of an index": lambda text: read_page(
        as_bytes(text), kind="text/html", url="https://x.example/simple/a/"
    ),
    "page of an index in JSON": lambda text: read_page(
        as_bytes(text), kind="application/vnd.pypi.simple.v1+json", url="https://x.example/simple/a/"
    ),
    "wheel": lambda text: read_wheel(as_bytes(text)),
    "installer's complaint": complaint,
    "type checker": lambda text: read_mypy(as_bytes(text), ["a.py"]),
    "script of a package": lambda text: of_script(text, {"test": text, "a": text, f"b{text}": text}, ["uvu"]),
    "linter": findings_in,
    "last words of a test command": lambda text: why_not_begun("npm test", 1, text),
    "runs of Go tests": lambda text: parse_runs(
        b"cogworks begin 1\n| panic: \n" + as_bytes(text) + b"\ncogworks end 1\n"
    ),
    "literals": literals,
    "script that starts a program": lambda text: of_script(
        text, {"test": text, "a": f"node {text}"}, ["node:test"]
    ),
    "test of Node": lambda text: imports_node_test("a.js", text),
    "reason of a failure": marked_reason,
    "exception below a traceback": raised_reason,
    "what is not loaded": lambda text: unloaded_of([text]),
    "terminal": on_terminal,
    "log": in_log_of_actions,
    "sealed records of a run": lambda text: read_records(as_bytes(text).split(b"\n"), [b"key"]),
    "turn of a conversation": lambda text: read_turn(
        text, Wanted(CodeChange, CodeChange.model_json_schema()), LOOK
    ),
    "repository": lambda text: parse_repository(text, server_url="https://github.com"),
    "context pack": lambda text: read_pack("a", dict.fromkeys(PACK_FILES, text), source="repository"),
    "surroundings": parse_surroundings,
    "time": parse_when,
    "options of a repair": lambda text: parse_options(text, source="fix.toml"),
    "settings of a registry": read_hosts,
    "indexes": lambda text: read_indexes(text, {}, default=str),
    "rest of a sweep": read_seen,
    "place in a state": lambda text: read_path(text, {"a": {"b": [1]}}),
    **{f"recipe of {path}": of_recipe(path) for path in RECIPES},
    **{f"report in {kind}": of_report(kind) for kind in READERS},
    **{f"source in {spec.name}": of_language(spec) for spec in specs()},
}
"""Everything that reads text of others; what it raises of its own is in `EXPECTED`."""
EXPECTED = (CogworksError, tomllib.TOMLDecodeError, UnusableWheel, Malformed)
"""What stands for a text that is not read; each says why."""
TEXTS = {"str", "bytes", "str | None", "bytes | None", "Iterable[bytes]", "Iterable[str]", "Sequence[str]"}
APART = {
    "parse_json": "replies and turns of a conversation, and reports of cargo",
    "parse_signatures": "what ships with the package",
    "parse_lexicon": "what ships with the package",
    "parse_weights": "what ships with the package",
    "read_json": "one of the reports",
    "read_xml": "one of the reports",
    "read_declaration": "policies and tools",
}
"""Readers by name that need no row of their own -> what they are read by or for."""
PIECES = (
    "x=1", "x = 1\n", "a.", "[", "]", "{", "}", "(", ")", "<", ">", "=", ":", ",", ";", "\n", "\r\n", " ", "\t", "\\\n", '"', "'", "'''", "#",
    "def f(): pass\n", "class A:\n", "import a\n", "from a import b\n", "[a]\n", "[[a]]\n", "@@ -1 +1 @@\n", "diff --git a/x b/x\n", "--- a/x\n",
    "+++ b/x\n", "+a\n", "- a: b\n", "ok 1\n", "not ok 1 - a\n", "<a>", "</a>", "<!--", "-->", '{"a":', "{}", "\0", "\x1b[", "\ufeff", "\u202e", "é",
    "/cogworks run\n", "1" * 5_000, "%(a)s", "${{ a }}", "{posargs}", "-r x\n", "::set-output", "fixes #1 ", "*" * 50,
)  # fmt: skip


@contextmanager
def measured(limit_s: float) -> Iterator[None]:
    """Fail, at once, what takes more processor time than this; a busy machine makes no difference."""

    def late(*_: object) -> None:
        pytest.fail(f"took more than {limit_s} s of the processor")

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def survived(parse: Parser, text: str) -> None:
    with measured(MOST_S), suppress(*EXPECTED):
        parse(text)


@pytest.mark.parametrize("inputs", [40, pytest.param(MANY, marks=pytest.mark.slow, id="many")])
@pytest.mark.parametrize("name", PARSERS)
def test_whatever_is_read_no_parser_breaks_or_takes_long(name: str, inputs: int) -> None:
    chance = random.Random(f"{name} 1")
    for _ in range(inputs):
        survived(PARSERS[name], "".join(chance.choices(PIECES, k=chance.randint(1, 40))))


@pytest.mark.parametrize("field", ["comment", "reviews"])
def test_a_trailer_of_a_ledger_that_no_number_fits_counts_as_never_seen(field: str) -> None:
    assert read_seen(f"{field}={'9' * 5_000}") == read_seen("")


def test_no_reader_of_text_is_left_out() -> None:
    own, missing = Path(__file__).read_text("utf-8"), []
    for path in sorted(Path(cogworks.__file__).parent.rglob("*.py")):
        if {"hub", "demo"} & {*path.parts}:
            continue
        text = path.read_text("utf-8")
        if not re.search(r"def (?:parse|read)_", text):
            continue
        for each in ast.parse(text).body:
            if not isinstance(each, ast.FunctionDef) or not re.match(r"parse_|read_", each.name):
                continue
            first = each.args.args[0].annotation if each.args.args else None
            is_of_text = first is not None and ast.unparse(first) in TEXTS
            if is_of_text and each.name not in APART and not re.search(rf"\b{each.name}\b", own):
                missing.append(f"{path.name}: {each.name}")

    assert missing == []


@pytest.mark.parametrize(
    "text", ["a." * 16_000, "x = " + "[" * 16_000, "x = " + "1" * 16_000, "x=1" * 10_000]
)
def test_a_configuration_that_keeps_its_reader_busy_is_refused(text: str) -> None:
    for read in (parse_config, parse_services, PARSERS["pipelines"]):
        with measured(MOST_S), pytest.raises(ConfigurationError, match=r"TOML|thousands of digits"):
            read(text)


def test_a_repository_whose_manifest_is_such_a_text_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("a." * 16_000)

    with measured(MOST_S):
        found = read_declarations(tmp_path)

    assert [each.reason for each in found.unread] == ["it cannot be read: a key has more than 50 parts"]


ODD_SOURCES = {
    "utf-7": "# -*- coding: utf-7 -*-\n+AGE-=1\n",
    "utf-7 of an expression": "# -*- coding: utf-7 -*-\ndef a(x=+AGE-): ...\n",
    "unicode_escape": "# coding: unicode_escape\nx='\\ud800'\n",
    "rot13": "# coding: rot13\nx = 1\n",
    "zlib": "# coding: zlib\nx = 1\n",
    "undefined": "# coding: undefined\nx = 1\n",
    "surrogate in a documentation": "x = 1\n'''\\ud800'''\n",
    "surrogate as a value": "x = '\\ud800'\ndef f(a='\\ud800'): ...\n",
    "nul": "x = 1\0\n",
    "deep": f"x = {'(' * 3_000}{')' * 3_000}",
    "long": f"x = {'1+' * 20_000}1\n",
    "digits": f"x = {'9' * 5_000}\n",
}
"""Sources whose bytes do not mean what they look like, or that have no end."""
OPERATIONS: Mapping[str, Mapping[str, object]] = {
    "index": {},
    "extract_interfaces": {"artifacts": ["h.py"]},
    "signatures": {"artifacts": ["h.py"]},
    "validate": {"artifacts": ["h.py"]},
    "dependency_graph": {"artifacts": ["h.py"]},
    "validate_deps": {},
    "instrument": {"artifact": "h.py"},
}


@pytest.mark.parametrize("text", ODD_SOURCES.values(), ids=ODD_SOURCES)
def test_a_source_in_disguise_is_answered_for_by_every_operation(text: str, tmp_path: Path) -> None:
    repository = laid_out(tmp_path, {"h.py": text})

    for method, params in OPERATIONS.items():
        response = asked_for(method, repository, params)
        assert response.error is None or response.error.message, method


def test_what_utf_7_hides_is_found_by_its_name(tmp_path: Path) -> None:
    repository = laid_out(tmp_path, {"h.py": ODD_SOURCES["utf-7"]})

    found = ask("extract_interfaces", repository, artifacts=["h.py"]).result["interfaces"]

    assert [each["name"] for each in found] == ["h.a"]


def patterns() -> Mapping[str, tuple[re.Pattern[str], frozenset[str]]]:
    """Every compiled pattern of the package with what is done with it; the hub reads no text of others outside of tests."""
    found = {}
    for each in pkgutil.walk_packages(cogworks.__path__, "cogworks."):
        if (
            each.name.startswith(("cogworks.hub", "cogworks.demo", "cogworks.__main__"))
            or ".inside" in each.name
        ):
            continue
        module = importlib.import_module(each.name)
        source = inspect.getsource(module)
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                uses = re.findall(
                    rf"\b{name}\.(search|finditer|findall|subn?|split|match|fullmatch)\b", source
                )
                if uses:
                    found[f"{each.name}.{name}"] = (value, frozenset(uses))
    return found


REPEATED = (
    "a",
    "A",
    "0",
    " ",
    "\n",
    "-",
    "_",
    ".",
    "/",
    "(",
    "[",
    "{",
    "<",
    "`",
    "#",
    "*",
    "'",
    '"',
    ":",
    ",",
    "=",
    "^",
    "|",
    "a.",
    "a/",
    "a ",
    "a\n",
)
WHOLE = frozenset({"match", "fullmatch"})


def spent_s(pattern: re.Pattern[str], uses: frozenset[str], text: str) -> float:
    begun = time.thread_time()
    if uses - WHOLE:
        for _ in pattern.finditer(text):
            pass
    if uses & WHOLE:
        pattern.match(text)
        pattern.fullmatch(text)
    return time.thread_time() - begun


def test_no_pattern_takes_the_square_of_what_it_is_applied_to() -> None:
    too_slow = []
    for name, (pattern, uses) in patterns().items():
        begins = ["", *re.findall(r"[A-Za-z]{3,}", pattern.pattern)[:1]]
        for text in (f"{begin}{piece * (8_000 // len(piece))}\0" for begin in begins for piece in REPEATED):
            # The machine may have paused: what is slow once and not again was not the pattern.
            if min(spent_s(pattern, uses, text) for _ in range(2)) > 0.15:
                too_slow.append((name, text[:12]))
                break
    assert too_slow == []
