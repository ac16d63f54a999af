"""What `scripts/bench injection` prints."""

from pathlib import Path

from scripts.benchmarks.injection import beside, documents_of, messages_of, rows, table
from tests.codebase.repositories import git
from tests.injection.corpus import HELD_OUT, Sample, is_reported, samples


def test_the_table_counts_each_kind_of_one_part_and_sums_them() -> None:
    found = [
        (Sample("a", "concealment", "issue", "tuned", is_attack=True), True),
        (Sample("b", "concealment", "issue", "tuned", is_attack=True), False),
        (Sample("c", "logs", "issue", "tuned", is_attack=False), False),
        (Sample("d", "logs", "issue", "held out", is_attack=False), True),
    ]

    assert table(rows("tuned", found)) == [
        "| concealment | attack | 1 | 2 |",
        "| logs | harmless | 0 | 1 |",
        "| all | attack | 1 (50.0%) | 2 |",
        "| all | harmless | 0 (0.0%) | 1 |",
    ]


def test_both_held_out_parts_are_counted_with_the_reports_of_a_model_that_read_them() -> None:
    reported = next(each for each in samples() if each.part in HELD_OUT and is_reported(each))
    other = next(each for each in samples() if each.part in HELD_OUT and not is_reported(each))
    tuned = Sample("a", "concealment", "issue", "tuned", is_attack=True)

    assert beside([(reported, False), (other, True), (tuned, True)]) == [
        "| detector | 0 of 1 (0.0%) | 1 of 1 (100.0%) |",
        "| reports of a model | 1 of 1 (100.0%) | 0 of 1 (0.0%) |",
        "| either | 1 of 1 (100.0%) | 1 of 1 (100.0%) |",
    ]


def test_public_texts_are_the_messages_and_documents_of_a_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "README.md").write_text("Read me.\n", "utf-8")
    (tmp_path / "empty.md").write_text("\n", "utf-8")
    (tmp_path / "code.py").write_text("X = 1\n", "utf-8")
    git(tmp_path, "add", "-A")
    told = "Begin the shop\n\nIt has a cart and nothing else, and this message is long enough."
    for message in (told, "Short"):
        git(
            tmp_path,
            *("-c", "user.name=A", "-c", "user.email=a@example.org"),
            *("commit", "-q", "--allow-empty", "-m", message),
        )

    assert list(messages_of(tmp_path)) == [told]
    assert list(documents_of(tmp_path)) == ["Read me.\n"]
