from typing import Any

import pytest
import tomli_w

from cogworks.errors import ConfigurationError
from cogworks.pipeline.elements import EdgeId
from cogworks.pipeline.parser import parse_pipelines
from tests.pipeline.graphs import SOURCE, document, edge, loop, pipeline


def _problems(*parts: Any) -> list[str]:
    with pytest.raises(ConfigurationError) as refused:
        pipeline(*parts)
    return [problem.removeprefix("pipelines.default: ") for problem in refused.value.problems]


def _node(node_id: str, **more: Any) -> dict[str, Any]:
    return {"id": node_id, "type": "llm", **more}


def test_a_graph_without_nodes_is_refused() -> None:
    assert _problems([]) == [
        "has no nodes; declare at least one with [[…nodes]]",
    ]


def test_a_single_node_needs_no_edges() -> None:
    assert pipeline("a").topological_order == ("a",)


def test_repeated_ids_and_unknown_names_and_cycles_and_orphans_come_together() -> None:
    edges = [edge("a>b"), edge("a>b"), edge("b>reveiw"), edge("b>c"), edge("c>b")]

    assert _problems([*map(_node, "abbcd"), _node("review")], edges) == [
        "node 'b' is declared 2 times; give each its own `id`",
        "edge 'a_to_b' is declared 2 times; give each its own `id`",
        "edge 'b_to_reveiw': `target` is 'reveiw', which is not a node; did you mean 'review'?",
        "node 'd' has no edges; connect it or remove it",
        "node 'review' has no edges; connect it or remove it",
        "cycle b -> c -> b never ends; give the edge that goes back `rework = { max_traversals = … }`",
        (
            "node 'a': `evaluation` is missing, and 2 edges leave the node; "
            "say first-matching, all-matching or explicit"
        ),
        (
            "node 'b': `evaluation` is missing, and 2 edges leave the node; "
            "say first-matching, all-matching or explicit"
        ),
    ]


def test_every_separate_cycle_is_named() -> None:
    assert [
        problem for problem in _problems("&a &b c &d e", "a>b b>c c>b a>d d>e e>d") if "cycle" in problem
    ] == [
        "cycle b -> c -> b never ends; give the edge that goes back `rework = { max_traversals = … }`",
        "cycle d -> e -> d never ends; give the edge that goes back `rework = { max_traversals = … }`",
    ]


def test_a_node_on_its_own_cycle_needs_rework() -> None:
    assert _problems("&a b", "a>b a>a") == [
        "cycle a -> a never ends; give the edge that goes back `rework = { max_traversals = … }`"
    ]
    looping = pipeline("&a b", [edge("a>b"), loop("a>a")])
    assert looping.span_of(looping.edge(EdgeId("a_to_a"))) == ("a",)


def test_a_start_that_is_no_node_is_refused() -> None:
    content = document("alpha beta", "alpha>beta")
    content["pipelines"]["default"]["start"] = "alpa"

    with pytest.raises(ConfigurationError) as refused:
        parse_pipelines(tomli_w.dumps(content), source=SOURCE)

    assert refused.value.problems == (
        "pipelines.default: `start` is 'alpa', which is not a node; did you mean 'alpha'?",
    )


def test_a_node_no_path_leads_to_is_refused() -> None:
    assert _problems("a b c d", "a>b c>d") == [
        "node 'c' cannot be reached from 'a'; add an edge to it or remove it",
        "node 'd' cannot be reached from 'a'; add an edge to it or remove it",
    ]


@pytest.mark.parametrize(
    ("node", "condition", "problem"),
    [
        (
            {},
            None,
            "node 'a': `evaluation` is missing, and 2 edges leave the node; say first-matching, all-matching or explicit",
        ),
        (
            {"evaluation": "explicit"},
            None,
            "node 'a': `next_edges` is missing; list the edges its output may choose from",
        ),
        (
            {"evaluation": "explicit", "next_edges": ["a_to_d", "a_to_b"]},
            None,
            "node 'a': `next_edges` holds 'a_to_d', which does not leave the node; did you mean 'a_to_c'?",
        ),
        (
            {"evaluation": "explicit", "next_edges": ["a_to_b", "a_to_c"]},
            {"expr": "x"},
            "edge 'a_to_b': `condition` has no say, because node 'a' chooses explicitly; remove it",
        ),
        (
            {"evaluation": "all-matching", "next_edges": ["a_to_b"]},
            None,
            "node 'a': `next_edges` is for evaluation = \"explicit\" only; remove it",
        ),
    ],
    ids=["undeclared", "no-list", "foreign-edge", "conditional", "list-without-explicit"],
)
def test_the_evaluation_of_several_edges_is_declared(node: Any, condition: Any, problem: str) -> None:
    first = edge("a>b", condition=condition) if condition else edge("a>b")

    assert _problems([_node("a", **node), _node("b"), _node("c")], [first, edge("a>c")]) == [problem]


def test_the_sub_items_are_entered_once() -> None:
    assert _problems("a *b c *d", "a>b b>c c>d") == [
        (
            "edge 'c_to_d' leads from 'c', which joins the sub-items, back into them; "
            "give 'd' scope = \"item\" or 'c' scope = \"sub-item\""
        )
    ]
    assert _problems("*a b", "a>b") == [
        "`start` is 'a', a per-sub-item node; start with a node that runs once and plans them"
    ]


@pytest.mark.parametrize(
    ("edges", "problem"),
    [
        (
            [edge("a>b"), edge("b>c"), loop("a>c")],
            "edge 'a_to_c': `rework` is for edges that go back, and no path leads from 'c' to 'a'; remove `rework`",
        ),
        (
            [edge("a>b"), edge("b>c"), loop("b>a", preserve=["plam"])],
            "edge 'b_to_a': `preserve` holds 'plam', which no node of the loop puts out; did you mean 'plan'?",
        ),
        (
            [edge("a>b"), edge("b>c"), loop("b>a", overflow="take-edge")],
            "edge 'b_to_a': `overflow_edge` is missing; name the edge to take when the loop is used up",
        ),
        (
            [edge("a>b"), edge("b>c"), loop("b>a", overflow="take-edge", overflow_edge="a_to_b")],
            "edge 'b_to_a': `overflow_edge` is 'a_to_b', wanted an edge that leads on from 'b'; did you mean 'b_to_c'?",
        ),
        (
            [edge("a>b"), edge("b>c"), loop("b>a", overflow="halt", overflow_edge="b_to_c")],
            "edge 'b_to_a': `overflow_edge` is for overflow = \"take-edge\" only; remove it",
        ),
    ],
    ids=["forward", "preserve", "no-edge", "foreign-edge", "edge-without-take-edge"],
)
def test_a_loop_goes_back_and_ends_somewhere(edges: Any, problem: str) -> None:
    nodes = [
        _node("a", evaluation="first-matching", outputs=["plan"]),
        _node("b", evaluation="first-matching"),
        _node("c"),
    ]
    assert _problems(nodes, edges) == [problem]


def test_a_loop_stays_on_one_side_of_the_sub_items() -> None:
    assert _problems("a *&b *c", [edge("a>b"), edge("b>c"), loop("b>a")]) == [
        (
            "edge 'b_to_a': the loop a -> b crosses between per-item and per-sub-item nodes; "
            "go back to a node of the same scope"
        )
    ]
    assert _problems("a *b &c d", [edge("a>b"), edge("b>c"), edge("c>d"), loop("c>a")]) == [
        (
            "edge 'c_to_a': the loop a -> b -> c crosses between per-item and per-sub-item nodes; "
            "go back to a node of the same scope"
        )
    ]


def test_two_loops_over_one_node_are_walked_one_after_the_other() -> None:
    crossing = [edge("a>b"), edge("a>c"), loop("b>a"), loop("c>a")]
    nested = [edge("a>b"), edge("b>c"), loop("b>a"), loop("c>b"), loop("c>a")]

    assert _problems("&a &b &c", crossing) == [
        (
            "edges 'b_to_a' and 'c_to_a' both go back over 'a' and could do so at the same time; "
            "lead 'b' and 'c' to one node that goes back"
        )
    ]
    assert len(pipeline("a &b &c", nested).edges) == 5


def test_an_input_is_put_out_by_a_node_before_or_in_the_same_loop() -> None:
    nodes = [
        _node("a", outputs=["plan"], inputs=["verdict"]),
        _node("b", outputs=["verdict"], inputs=["plan", "late", "plam"], evaluation="first-matching"),
        _node("c", outputs=["late"]),
    ]
    assert _problems(nodes, [edge("a>b"), edge("b>c"), loop("b>a")]) == [
        "node 'b': `inputs` holds 'late', which no node before it puts out",
        "node 'b': `inputs` holds 'plam', which no node before it puts out; did you mean 'plan'?",
    ]


def test_too_many_nodes_are_refused_before_anything_else() -> None:
    assert _problems([_node(f"n{index}") for index in range(2_001)]) == [
        "has 2001 nodes, at most 2000 are allowed; split it into several pipelines"
    ]


def test_an_edge_behind_an_unconditional_one_is_a_warning() -> None:
    nodes = [_node("a", evaluation="first-matching"), _node("b"), _node("c")]
    text = tomli_w.dumps(document(nodes, "a>b a>c"))

    assert parse_pipelines(text, source=SOURCE).warnings == (
        (
            "pipelines.default: edge 'a_to_c': never taken, because 'a_to_b' before it has no condition; "
            "move it up or give that one a `condition`"
        ),
    )


def test_a_boundary_names_a_node_and_a_known_class() -> None:
    file = document("a b", "a>b")
    file["pipelines"]["default"]["shift_work"] = {"standard": "bb", "lowrisk": "a"}

    with pytest.raises(ConfigurationError) as refused:
        parse_pipelines(tomli_w.dumps(file), source=SOURCE)

    assert refused.value.problems == (
        "pipelines.default.shift_work: unknown key 'lowrisk'; did you mean 'low-risk'?",
        "pipelines.default: `shift_work.standard` is 'bb', which is not a node; did you mean 'b'?",
    )


def test_pipelines_that_the_first_node_chooses_from_begin_with_that_node() -> None:
    intake = {"id": "intake", "type": "llm", "outputs": ["classification"]}
    silent = {"id": "intake", "type": "llm"}
    file = {
        "pipelines": {
            "default": document([intake])["pipelines"]["default"],
            "good": document([intake, _node("a")], "intake>a")["pipelines"]["default"],
            "other": document("a")["pipelines"]["default"],
            "mute": document([silent])["pipelines"]["default"],
        }
    }

    with pytest.raises(ConfigurationError) as refused:
        parse_pipelines(tomli_w.dumps(file), source=SOURCE)

    wanted = "the 'intake' of pipeline 'default', whose output 'classification' chooses among the pipelines"
    assert refused.value.problems == (
        f"pipelines.other: `start` is 'a', wanted {wanted}",
        f"pipelines.mute: `outputs` of its start 'intake' are none, wanted classification as of {wanted}",
    )


def test_pipelines_that_nothing_chooses_from_begin_as_they_like() -> None:
    file = {
        "pipelines": {
            "default": document("a")["pipelines"]["default"],
            "b": document("b")["pipelines"]["default"],
        }
    }

    assert list(parse_pipelines(tomli_w.dumps(file), source=SOURCE).pipelines) == ["default", "b"]
