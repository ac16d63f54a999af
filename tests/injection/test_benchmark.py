"""What `scripts/bench injection` prints."""

from pathlib import Path

from cogworks.injection.detecting import STATISTICAL, Finding, Scan
from scripts.benchmarks.injection import beside, documents_of, excerpts_of, messages_of, rows, table
from tests.codebase.repositories import git
from tests.injection.corpus import Sample, is_reported, samples

CLEAN, HELD = Scan(), Scan(is_injection=True)
FINDING = Finding(STATISTICAL, "concealment", "1", "reads like an order", line=1, weight=1.0)
SUSPECTED = Scan(findings=(FINDING,), is_injection=True)


def test_the_table_counts_each_kind_of_one_part_and_sums_them() -> None:
    read = [
        (Sample("a", "concealment", "issue", "tuned", is_attack=True), HELD),
        (Sample("b", "concealment", "issue", "tuned", is_attack=True), CLEAN),
        (Sample("c", "logs", "issue", "tuned", is_attack=False), CLEAN),
        (Sample("d", "logs", "issue", "held out", is_attack=False), HELD),
    ]

    assert table(rows("tuned", read)) == [
        "| concealment | attack | 1 | 2 |",
        "| logs | harmless | 0 | 1 |",
        "| all | attack | 1 (50.0%) | 2 |",
        "| all | harmless | 0 (0.0%) | 1 |",
    ]


def test_the_held_out_part_is_counted_by_what_holds_its_texts() -> None:
    held_out = [each for each in samples() if each.part == "held out"]
    reported = next(each for each in held_out if is_reported(each))
    other, another = [each for each in held_out if not is_reported(each)][:2]
    tuned = Sample("a", "concealment", "issue", "tuned", is_attack=True)

    assert beside([(reported, CLEAN), (other, HELD), (another, SUSPECTED), (tuned, HELD)]) == [
        "| detector | 0 of 1 (0.0%) | 2 of 2 (100.0%) |",
        "| its signatures alone | 0 of 1 (0.0%) | 1 of 2 (50.0%) |",
        "| reports of a model | 1 of 1 (100.0%) | 0 of 2 (0.0%) |",
        "| an issue: signatures or reports | 1 of 1 (100.0%) | 1 of 2 (50.0%) |",
    ]


def test_public_texts_are_the_messages_the_documents_and_lines_of_the_code_of_a_repository(
    tmp_path: Path,
) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "README.md").write_text("Read me.\n", "utf-8")
    (tmp_path / "empty.md").write_text("\n", "utf-8")
    (tmp_path / "short.py").write_text("X = 1\n", "utf-8")
    (tmp_path / "code.py").write_text("".join(f"x{n} = {n}\n" for n in range(1, 24)), "utf-8")
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
    assert list(excerpts_of(tmp_path)) == [
        "code.py, lines 21 to 23 of 23:\n   21| x21 = 21\n   22| x22 = 22\n   23| x23 = 23"
    ]
