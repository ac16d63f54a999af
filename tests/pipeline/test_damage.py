"""A pipeline file damaged in any way is read, or refused with the place of every problem; never a crash."""

import copy
import random
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.errors import ConfigurationError
from cogworks.pipeline.decision import decide
from cogworks.pipeline.graph import PipelineConfiguration
from cogworks.pipeline.parser import parse_pipelines
from cogworks.pipeline.position import Standing
from cogworks.pipeline.render import dot, mermaid
from tests.exhaustive import examples
from tests.pipeline.graphs import SOURCE
from tests.pipeline.random_graphs import random_document
from tests.pipeline.runs import facts, new_run
from tests.pipeline.test_parser import WHOLE_FORM

PLACE = re.compile(
    r"is not TOML: .* \((at line \d+, column \d+|at end of document)\)"
    r"|(pipelines|settings|tool_profiles)[^ :]*( \([^`]*\))?[^ :]*: .*"
    r"|(unknown key |`(default|pipelines|settings|tool_profiles)` ).*"
    r"|declares no pipelines; .*"
    r"|has \d+ characters, .*"
    r"|holds a number of thousands of digits \(at line \d+\)",
    re.DOTALL,
)
"""A line and column, or the table and key; of the file as a whole, only what is about all of it."""


def read(text: str) -> PipelineConfiguration | ConfigurationError:
    try:
        return parse_pipelines(text, source=SOURCE)
    except ConfigurationError as error:
        return error


def read_or_refuse(text: str) -> tuple[str, ...]:
    """What is wrong with a file, each problem with its place; what can be read can also be drawn and decided."""
    found = read(text)
    if isinstance(found, ConfigurationError):
        assert str(found).startswith(f"{SOURCE} ")
        assert found.problems
        assert [problem for problem in found.problems if not PLACE.fullmatch(problem)] == []
        return found.problems
    for pipeline in found.pipelines.values():
        assert len(pipeline.graph_hash) == 64
        assert mermaid(pipeline).startswith("flowchart TD\n")
        assert dot(pipeline).endswith("}\n")
        decide(Standing(new_run(pipeline), facts(), pipeline))
    return ()


scalars = (
    st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.datetimes()
    | st.dates()
    | st.times()
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
seeds = st.integers(0, 2**32)
WORDS = (
    "id",
    "type",
    "source",
    "target",
    "evaluation",
    "rework",
    "condition",
    "expr",
    "all",
    "not",
    "start",
    "gate",
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with every key or index in it."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from places(value[key])


@settings(max_examples=examples(200))
@given(st.data())
def test_any_value_in_any_place_is_told_with_its_place(data: st.DataObject) -> None:
    content = tomllib.loads(WHOLE_FORM)
    container, key = data.draw(st.sampled_from(list(places(content))))
    container[key] = data.draw(values)

    read_or_refuse(tomli_w.dumps(content))


def damage(data: st.DataObject, content: dict[str, Any]) -> None:
    """One thing taken away, doubled, renamed, replaced, wrapped or moved."""
    found = list(places(content))
    if not found:
        return
    container, key = data.draw(st.sampled_from(found))
    match data.draw(st.sampled_from(["drop", "double", "rename", "replace", "wrap", "unwrap", "move"])):
        case "drop":
            del container[key]
        case "double" if isinstance(container, list):
            container.append(copy.deepcopy(container[key]))
        case "rename" if isinstance(container, dict):
            container[data.draw(st.sampled_from(WORDS) | st.text(max_size=5))] = container.pop(key)
        case "wrap":
            container[key] = data.draw(st.sampled_from([[container[key]], {"x": container[key]}]))
        case "unwrap" if isinstance(container[key], list) and container[key]:
            container[key] = container[key][0]
        case "move":
            other, place = data.draw(st.sampled_from(found))
            if isinstance(other, dict) or place < len(other):
                container[key] = copy.deepcopy(other.get(place) if isinstance(other, dict) else other[place])
        case _:
            container[key] = data.draw(values)


@settings(max_examples=examples(150))
@given(st.data(), seeds)
def test_damage_to_the_structure_is_told_with_its_place(data: st.DataObject, seed: int) -> None:
    content = random_document(random.Random(seed), gates=0.2)
    for _ in range(data.draw(st.integers(1, 3))):
        damage(data, content)

    read_or_refuse(tomli_w.dumps(_without_none(content)))


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _without_none(each) for key, each in value.items() if each is not None}
    return [_without_none(each) for each in value if each is not None] if isinstance(value, list) else value


@settings(max_examples=examples(150))
@given(st.data())
def test_damage_to_the_text_is_told_with_its_line(data: st.DataObject) -> None:
    text = WHOLE_FORM
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(start + 30, len(text))))
        inserted = data.draw(
            st.text(max_size=6)
            | st.sampled_from(['"', "[", "]]", "=", "\n[x]\n", "1e999", "nan", "\x00", "\r", '"""', "\ufeff"])
        )
        text = text[:start] + inserted + text[end:]

    read_or_refuse(text)


@settings(max_examples=examples(100))
@given(seeds, st.data())
def test_a_file_cut_off_anywhere_is_told_with_its_place(seed: int, data: st.DataObject) -> None:
    text = tomli_w.dumps(random_document(random.Random(seed)))

    read_or_refuse(text[: data.draw(st.integers(0, len(text) - 1))])


@given(st.binary(max_size=40))
def test_bytes_that_are_no_text_are_told_with_their_place(noise: bytes) -> None:
    read_or_refuse(noise.decode("utf-8", errors="replace"))
    read_or_refuse(WHOLE_FORM + noise.decode("latin-1"))


def test_a_wrong_value_at_the_top_is_told_by_its_key_alone() -> None:
    assert read_or_refuse("default = 1\npipelines = 2\n") == (
        "`default` is 1, wanted a non-empty string",
        "`pipelines` is 2, wanted a table",
        "declares no pipelines; add [pipelines.<name>] or remove the file to use the built-in one",
    )


def test_enormous_files_and_numbers_are_refused() -> None:
    assert read_or_refuse("\n\nx = " + "1" * 5_000) == ("holds a number of thousands of digits (at line 3)",)
    assert read_or_refuse("#" * 1_000_001) == ("has 1000001 characters, at most 1000000 are allowed",)
