"""Transactions and a plain loop judge the same candidates alike; what each way costs is counted with all its processes."""

import ast
import os
import re
from collections import Counter
from pathlib import Path

import pytest

from cogworks.codebase.diffmodel import post_image
from cogworks.codebase.diffparsing import parse_diff
from scripts.benchmarks.transact import (
    TARGET_RATIO,
    TEST_MS,
    TESTS,
    Cost,
    candidates,
    measure,
    suite_files,
    table,
    whole_suite,
)

PUBLISHED = Path(__file__).parents[2] / "docs" / "benchmarks" / "transactions.md"
_ROW = re.compile(
    r"^\| (?P<way>transactions|plain) \| (?P<candidates>\d+) \| (?P<kept>\d+) \| (?P<wall_s>\d+) s \| (?P<cpu_s>\d+) s \| "
    r"(?P<per_minute>[\d.]+) \| (?P<memory_mb>\d+) MB \|$",
    re.MULTILINE,
)
SOURCE = suite_files(40, 0)["shop/part0.py"]


def test_the_suite_has_as_many_tests_as_are_asked_for_and_one_of_them_fails() -> None:
    files = suite_files(500, 20)

    tests = sum(text.count("\ndef test_") for path, text in files.items() if path.startswith("tests/"))
    assert tests == 500
    assert sum("total -= 1" in text for text in files.values()) == 1


def test_the_candidates_are_what_their_kinds_say_and_the_repair_comes_last() -> None:
    found = candidates(SOURCE)

    assert Counter(each.kind for each in found) == {
        "wrong": 8,
        "regression": 6,
        "misfit": 4,
        "syntax error": 3,
        "repair": 1,
    }
    assert found[-1].kind == "repair"
    assert len({each.diff for each in found}) == len(found)
    assert "total -= 1" not in applied(found[-1].diff)


@pytest.mark.parametrize("kind", ["wrong", "regression"])
def test_what_only_tests_can_refuse_is_python(kind: str) -> None:
    for each in candidates(SOURCE):
        if each.kind == kind:
            ast.parse(applied(each.diff))


def test_the_plain_loop_runs_what_is_there_and_nothing_compiled_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    source = tmp_path / "shop.py"
    (tmp_path / "test_shop.py").write_text("import shop\n\ndef test_one():\n    assert shop.one() == 1\n")
    outcomes = []

    for number in (1, 2):
        source.write_text(f"def one():\n    return {number}\n")
        os.utime(source, (1_000, 1_000))
        outcomes += [case.outcome for case in whole_suite(tmp_path).cases]

    assert outcomes == ["passed", "failed"]


def test_the_table_has_a_row_for_each_way() -> None:
    cost = Cost(way="plain", verdicts=(False, True), wall_s=30.0, cpu_s=20.0, memory_mb=50.0)

    assert table([cost]).splitlines()[2:] == ["| plain | 2 | 1 | 30 s | 20 s | 4.0 | 50 MB |"]


def test_what_is_published_is_of_all_candidates_and_reaches_the_target() -> None:
    text = PUBLISHED.read_text("utf-8")
    rows = {row["way"]: row for row in _ROW.finditer(text.split("`--tests 100`")[0])}
    count = len(candidates(SOURCE))

    assert "`./scripts/bench transact`" in text
    assert f"{TESTS} tests of {TEST_MS} ms" in text
    assert [(way, int(row["candidates"]), int(row["kept"])) for way, row in rows.items()] == [
        ("transactions", count, 1),
        ("plain", count, 1),
    ]
    for row in rows.values():
        assert float(row["per_minute"]) == pytest.approx(60 * count / int(row["wall_s"]), rel=0.02)
    assert int(rows["plain"]["cpu_s"]) / int(rows["transactions"]["cpu_s"]) >= TARGET_RATIO
    assert float(rows["transactions"]["per_minute"]) / float(rows["plain"]["per_minute"]) >= TARGET_RATIO


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_both_ways_judge_alike_and_only_the_repair_is_kept() -> None:
    ours, plain = measure(40, 0)

    assert ours.verdicts == plain.verdicts
    assert ours.verdicts == (*[False] * 21, True)
    assert min(ours.memory_mb, plain.memory_mb, ours.cpu_s, plain.cpu_s) > 0


def applied(diff: str) -> str:
    (file,) = parse_diff(diff).diff.files
    return post_image(file, SOURCE) or ""
