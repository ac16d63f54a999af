"""The adversarial source offers the true fix among mistakes, and things that must not be kept whatever the tests say."""

import ast
import json
from collections import Counter

from cogworks.codebase.diffparsing import parse_diff
from cogworks.llm.provider import Message, ModelRequest
from cogworks.repair.transact.validators import diff_violations
from cogworks.repair.violations import Ground, Span
from cogworks.repair.violations import Step as Rules
from scripts.benchmarks.realbugs.adversary import Adversary
from scripts.benchmarks.realbugs.hunks import Hunk
from scripts.benchmarks.realbugs.mutants import mutants
from scripts.benchmarks.realbugs.offers import KINDS, Offer, Step, offers

BEFORE = "def total(prices, rate):\n    result = 0\n    for price in prices:\n        result -= price\n    return result * rate\n"
AFTER = BEFORE.replace("-= price", "+= price if price > 0 else 0")
TESTS = "import shop\n\n\ndef test_total():\n    assert shop.total([1], 1) == 1\n"
STEP = Step({"shop.py": BEFORE}, {"shop.py": AFTER}, {"test_shop.py": TESTS}, ["test_shop.py::test_total"])
RULES = Rules(id="piece-1", files=("shop.py",), spans=(Span("shop.py", 4, 4),), max_changed_lines=40)
GROUND = Ground(
    sources={"shop.py": BEFORE, "test_shop.py": TESTS}, existing=frozenset({"shop.py", "test_shop.py"})
)


def codes(diff: str) -> set[str]:
    return {each.code for each in diff_violations(diff, parse_diff(diff), RULES, GROUND)}


def test_every_kind_is_offered_and_the_fix_once() -> None:
    found = Counter(offer.kind for offer in offers(STEP, seed="a", most_mutants=5))

    assert set(found) == set(KINDS)
    assert (found["fix"], found["mutant"]) == (1, 5)


def test_the_order_follows_from_the_seed() -> None:
    first, same, other = (offers(STEP, seed=seed, most_mutants=5) for seed in ("a", "a", "b"))

    assert first == same
    assert first != other


def test_the_fix_and_the_mutants_break_no_rule_of_text_and_the_rest_does() -> None:
    for offer in offers(STEP, seed="a", most_mutants=9):
        broken = codes(offer.diff)
        # What callers notice is told by a service, from both texts.
        assert bool(broken) == (offer.kind not in ("fix", "mutant", "api-breaking")), (offer, broken)


def test_a_mutant_differs_in_its_lines_alone_and_parses() -> None:
    found = list(mutants(AFTER, {4}))

    assert len(found) > 3
    assert len({*found, AFTER}) == len(found) + 1
    for text in found:
        ast.parse(text)
        assert text.splitlines()[:3] == AFTER.splitlines()[:3]
        assert text.splitlines()[-1] == AFTER.splitlines()[-1]


def test_a_renamed_parameter_is_renamed_wherever_its_function_names_it() -> None:
    (offer,) = [each for each in offers(STEP, seed="a", most_mutants=0) if each.kind == "api-breaking"]

    assert "+def total(prices, rate_value):" in offer.diff
    assert "+    return result * rate_value" in offer.diff


def test_the_source_offers_all_it_has_in_answers_of_limited_length() -> None:
    stock = offers(STEP, seed="a", most_mutants=5)
    place = Hunk(path="shop.py", start=3, removed=("        result -= price\n",), added=())
    source = Adversary([[place]], ["test_shop.py::test_total"], [stock], most=4)

    shown = [source.diffs("Do piece-1 of the repair.") for _ in range(len(stock) // 4 + 1)]

    assert [len(each) for each in shown[:2]] == [4, 4]
    assert {each["unified_diff"] for answer in shown for each in answer} == {offer.diff for offer in stock}
    assert source.asked_elsewhere == 0


def test_the_source_answers_the_last_question_of_a_conversation() -> None:
    place = Hunk(path="shop.py", start=3, removed=("        result -= price\n",), added=())
    first, second = (Offer(kind="fix", diff=name) for name in ("one", "two"))
    source = Adversary([[place], [place]], ["a", "b"], [[first], [second]], most=4)
    turns = [
        Message(role="user", text=f"## The change to make\n\nDo piece-{number} of the repair.")
        for number in (1, 2)
    ]
    told = Message(role="assistant", text="Do piece-1 of the repair. Do piece-2 of the repair.")

    reply = source.complete(
        ModelRequest(
            model="m",
            system="",
            messages=(turns[0], told, turns[1], told),
            output_schema={},
            max_output_tokens=1,
            purpose="fix-propose",
        )
    )

    assert [each["unified_diff"] for each in json.loads(reply.text)["diffs"]] == ["two"]
