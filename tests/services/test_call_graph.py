"""The neighbourhood of some symbols."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.domain_services.exploring import CallEdge, CallGraph, CallGraphParams
from cogworks.services.call_graph import Relation, call_graph_of, neighbourhood, neighbours_of
from cogworks.services.python.code.relations import relations_of
from cogworks.services.python.code.repository import Code
from cogworks.services.python.operations import symbols_of
from tests.services.code.samples import code_of


def graph(code: Code, *seeds: str, hops: int = 2, max_nodes: int = 40) -> CallGraph:
    """As it would travel."""
    symbols = (symbol for path in code.files for symbol in symbols_of(code, path))
    params = CallGraphParams(seeds=seeds, hops=hops, max_nodes=max_nodes)
    fields = call_graph_of(symbols, relations_of(code), params)
    return CallGraph.model_validate_json(json.dumps(fields), strict=True)


CHAIN = {
    "m.py": "def a(): b()\ndef b(): c()\ndef c(): d()\ndef d(): ...\nclass K:\n    X = 1\n    def f(self): c()\n",
    "tests/test_m.py": "from m import a\ndef test_a(): a()\n",
}


def test_both_directions_are_walked_up_to_the_last_hop() -> None:
    found = graph(code_of(CHAIN), "m.b", hops=2)

    assert [(node.hop, node.symbol.id) for node in found.nodes] == [
        (0, "m.b"),
        (1, "m.a"),
        (1, "m.c"),
        (2, "m.K.f"),
        (2, "m.d"),
        (2, "tests.test_m"),
        (2, "tests.test_m.test_a"),
    ]
    assert found.edges == (
        CallEdge(source="m.K.f", target="m.c", kind="calls"),
        CallEdge(source="m.a", target="m.b", kind="calls"),
        CallEdge(source="m.b", target="m.c", kind="calls"),
        CallEdge(source="m.c", target="m.d", kind="calls"),
        CallEdge(source="tests.test_m", target="m.a", kind="imports"),
        CallEdge(source="tests.test_m.test_a", target="m.a", kind="tests"),
    )
    assert not found.truncated


@pytest.mark.parametrize(
    ("seed", "found"),
    [
        ("m.K.f", "m.K.f"),
        ("m.py:7", "m.K.f"),
        ("m.py:6", "m.K"),
        ("m.py:1", "m.a"),
        ("tests/test_m.py:1", "tests.test_m"),
        ("m.py:99", None),
        ("m.py:0", None),
        ("m.py:", None),
        ("m.py:" + "9" * 5000, None),
        ("gone.py:1", None),
        ("m.K.X", None),
        ("", None),
    ],
)
def test_a_seed_is_a_symbol_or_a_place_in_a_file(seed: str, found: str | None) -> None:
    result = graph(code_of(CHAIN), seed, hops=0)

    assert [node.symbol.id for node in result.nodes] == ([] if found is None else [found])
    assert result.unknown_seeds == ((seed,) if found is None else ())


def many_functions() -> dict[str, str]:
    """200 functions in 20 files, each calling some others; the same every time."""
    chance = random.Random(7)
    files = {}
    for number in range(20):
        lines = [f"import m{other}" for other in range(20)]
        for function in range(10):
            calls = [f"m{chance.randrange(20)}.f{chance.randrange(10)}()" for _ in range(6)]
            lines += [f"def f{function}():", *(f"    {call}" for call in calls)]
        files[f"pack/m{number}.py"] = "\n".join(lines) + "\n"
    return files


@pytest.mark.slow
def test_of_200_functions_at_most_40_are_taken_all_near_the_seed_whatever_the_order() -> None:
    files = many_functions()

    found = [
        graph(code_of(dict(random.Random(run).sample(list(files.items()), len(files)))), "pack.m3.f4")
        for run in range(10)
    ]

    assert len(found[0].nodes) == 40
    assert found[0].truncated
    assert max(node.hop for node in found[0].nodes) <= 2
    assert found[0].nodes[0].symbol.id == "pack.m3.f4"
    assert all(other == found[0] for other in found)


IDS = st.sampled_from([f"n{number}" for number in range(12)])


@given(
    edges=st.lists(st.tuples(IDS, IDS), max_size=40),
    seeds=st.lists(IDS, max_size=4),
    hops=st.integers(0, 4),
    max_nodes=st.integers(1, 14),
)
def test_a_neighbourhood_keeps_both_bounds_and_leaves_nothing_out_without_saying_so(
    edges: list[tuple[str, str]], seeds: list[str], hops: int, max_nodes: int
) -> None:
    neighbours = neighbours_of([Relation(source, target, "calls") for source, target in edges])

    found = neighbourhood(neighbours, seeds, hops=hops, max_nodes=max_nodes)

    expected = dict.fromkeys(seeds, 0)
    for hop in range(1, hops + 1):
        near = {
            each
            for seed, distance in expected.items()
            if distance == hop - 1
            for each in neighbours.get(seed, ())
        }
        expected |= {each: hop for each in near if each not in expected}
    order = sorted(expected, key=lambda each: (expected[each], each))
    assert list(found.hops.items()) == [(each, expected[each]) for each in order[:max_nodes]]
    assert found.is_truncated == (len(order) > max_nodes)
