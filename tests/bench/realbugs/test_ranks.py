"""The rank of a true place is told for every way of ranking; equal suspects share the middle."""

from cogworks.domain_services.exploring import Symbol
from cogworks.repair.localise.suspects import Ranking, Suspect
from scripts.benchmarks.realbugs.hunks import Hunk
from scripts.benchmarks.realbugs.ranks import ablation, is_changed, ranks


def suspect(name: str, first: int, *, coverage: float, hop: float) -> Suspect:
    lines = (first, first + 4)
    symbol = Symbol(id=f"shop.{name}", kind="function", artifact="shop.py", lines=lines)
    return Suspect(
        symbol=symbol,
        own=(lines,),
        signals={"coverage": coverage, "hop": hop},
        suspicion=coverage * 0.75 + hop * 0.25,
    )


RANKING = Ranking(
    suspects=(
        suspect("first", 1, coverage=1.0, hop=0.5),
        suspect("second", 11, coverage=1.0, hop=0.25),
        suspect("third", 21, coverage=0.5, hop=1.0),
    ),
    weights={"coverage": 0.75, "hop": 0.25},
    missing=("stack", "token"),
)


def hunk(start: int, removed: int = 1, path: str = "shop.py") -> Hunk:
    return Hunk(path=path, start=start, removed=("x\n",) * removed, added=("y\n",))


def test_each_way_of_ranking_has_its_rank() -> None:
    assert ranks(RANKING, [hunk(12)]) == {
        "all signals": 2.0,
        "coverage alone": 1.5,
        "hop alone": 3.0,
        "without coverage": 3.0,
        "without hop": 1.5,
    }


def test_of_several_true_places_the_best_counts() -> None:
    assert ranks(RANKING, [hunk(12), hunk(2)])["all signals"] == 1.0


def test_a_place_in_no_suspect_has_no_rank() -> None:
    assert ranks(RANKING, [hunk(8)])["all signals"] is None
    assert not is_changed(RANKING.suspects[0], [hunk(2, path="other.py")])


def test_lines_that_are_added_belong_to_the_definition_they_follow() -> None:
    assert is_changed(RANKING.suspects[0], [hunk(5, removed=0)])
    assert not is_changed(RANKING.suspects[0], [hunk(6, removed=0)])


def test_the_table_counts_how_often_the_place_is_among_the_first() -> None:
    table = ablation([{"all signals": 1.0}, {"all signals": 5.5}, {"all signals": None}])

    assert table.splitlines()[2:] == ["| all signals | 3 | 1 | 1 | 1 | 2 | 0.39 |"]
