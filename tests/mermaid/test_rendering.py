"""Every picture we draw is read by the real mermaid, and holds there what its DOT twin holds."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cogworks.pipeline.elements import Instance, SubItem
from cogworks.pipeline.frontier import instances
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.parser import built_in_pipelines, parse_pipelines
from cogworks.pipeline.render import MAX_DRAWN_EDGES, View, dot, is_drawable, mermaid
from cogworks.vocabulary import NodeId, SubItemKey
from tests.exhaustive import examples
from tests.mermaid.reading import HERE, Read, read
from tests.node_packages import installed
from tests.pipeline.dot_language import Digraph, read_dot
from tests.pipeline.graphs import edge, parse, pipeline
from tests.pipeline.random_graphs import random_document, random_sub_items

EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "examples" / "pipelines").glob("*.toml"))
SHAPES = {"oval": "stadium", "box": "square", "parallelogram": "lean_right"}
WORDS = (
    "style", "classDef", "class", "click", "end", "subgraph", "graph", "flowchart", "default", "linkStyle", "direction",
    "%%", "%%{init: {}}%%", "---", "--", "-->", "-.->", "==", ":::", ":", "::", "#", "#quot;", "#35;", "&amp;", "&lt;", ";",
    "<b>x</b>", "<br/>", "</script>", "javascript:", "https://a.b/c", "www.a.b", "a@b.c", "`", "**", "__", "_", "*", "1. ", "- ",
    "[", "]", "(", ")", "{", "}", "|", "||", '"', "'", "\\", "\\n", "\\N", "$$", "$$x$$", "ﬂ°°34¶ß", "¶ß", "…", "é", "漢", "👩‍🔧",
    "\u202e", "\u200b", "o", "x", "/", "//", "\\/", "@{", "accTitle", "e1@-->",
)  # fmt: skip


@pytest.fixture(scope="module")
def package() -> Path:
    return installed(HERE)


def check(package: Path, pictures: Sequence[tuple[str, str]]) -> None:
    """Every Mermaid picture is read, and says what the DOT beside it says."""
    wrong = []
    for (drawn, twin), found in zip(pictures, read(package, [drawn for drawn, _ in pictures]), strict=True):
        problem = found.error or _difference(found, read_dot(twin))
        if problem:
            wrong.append(f"{problem}\n{drawn}")
    assert wrong[:3] == []


def _difference(found: Read, wanted: Digraph) -> str:
    shapes = {name: (node["label"], SHAPES[node["shape"]]) for name, node in wanted.nodes.items()}
    if (drawn := {name: (text, shape) for name, text, shape, _ in found.nodes}) != shapes:
        return f"nodes: {drawn} is not {shapes}"
    arrows = [
        (source, target, given.get("label", ""), "dotted" if "style" in given else "normal")
        for source, target, given in wanted.edges
    ]
    if found.edges != arrows:
        return f"edges: {found.edges} is not {arrows}"
    boxes = {
        (name.removeprefix("cluster_"), label, tuple(sorted(inside)))
        for name, (label, inside) in wanted.boxes.items()
    }
    if set(found.boxes) != boxes:
        return f"boxes: {found.boxes} is not {boxes}"
    if {name for *_, used in found.nodes for name in used} != found.classes:
        return f"classes: {found.classes}"
    return "a label is read as Markdown" if "markdown" in found.kinds else ""


def both(
    graph: Pipeline, views: dict[Instance, View] | None = None, items: Sequence[SubItem] = ()
) -> tuple[str, str]:
    return mermaid(graph, views, items), dot(graph, views, items)


@pytest.mark.slow
def test_every_pipeline_that_ships_and_every_example_renders(package: Path) -> None:
    shipped = list(built_in_pipelines().pipelines.values())
    for file in EXAMPLES:
        shipped += parse_pipelines(file.read_text("utf-8"), source=file.name).pipelines.values()

    check(package, [both(each) for each in shipped])


@pytest.mark.slow
def test_live_pictures_of_random_graphs_render(package: Path) -> None:
    pictures = []
    for seed in range(40):
        chance = random.Random(seed)
        graph, items = parse(random_document(chance)), random_sub_items(chance)
        places = instances(graph, items)
        views: dict[Instance, View] = {
            at: chance.choice(get_args(View)) for at in places if chance.random() < 0.7
        }
        pictures.append(both(graph, views, items))

    check(package, pictures)


@pytest.mark.slow
def test_mermaid_draws_as_much_as_we_think_and_no_more(package: Path) -> None:
    sizes = (MAX_DRAWN_EDGES, MAX_DRAWN_EDGES + 1)
    drawn = [
        mermaid(pipeline(f"&a {fan}", " ".join(f"a>{to}" for to in fan.split())))
        for fan in map(fan_of, sizes)
    ]

    assert [not found.error for found in read(package, drawn)] == [True, False]
    assert [is_drawable(each) for each in drawn] == [True, False]


def fan_of(size: int) -> str:
    return " ".join(f"n{at}" for at in range(size))


awkward = st.lists(st.sampled_from(WORDS) | st.text(max_size=4), min_size=1, max_size=6).map("".join)
identifiers = st.sampled_from(["end", "graph", "style", "x", "o", "class", "click", "default", "subgraph"])


@pytest.mark.slow
def test_no_title_condition_or_key_breaks_a_picture(package: Path) -> None:
    pictures: list[tuple[str, str]] = []

    @settings(
        max_examples=examples(150),
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        awkward.filter(str.strip),
        awkward.filter(str.strip),
        awkward,
        identifiers,
        st.sampled_from(get_args(View)),
    )
    def draw(title: str, question: str, key: str, name: str, view: View) -> None:
        nodes: list[dict[str, Any]] = [
            {"id": name, "type": "deterministic", "title": title},
            {"id": "then", "type": "llm", "scope": "sub-item", "title": title[::-1]},
        ]
        condition = {"llm": question, "fallback": True}
        graph = pipeline(nodes, [edge(f"{name}>then", condition=condition)])
        item = SubItem(key=SubItemKey(key))
        pictures.append(both(graph, {Instance(NodeId("then"), SubItemKey(key)): view}, [item]))

    draw()
    check(package, pictures)
