"""No bytes are too strange, too deep or too many for any language and operation."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.grammars.facts import FileFacts
from cogworks.grammars.gathering import gather
from cogworks.grammars.languages.registry import LANGUAGES, SUFFIXES, language_of
from cogworks.grammars.spec import LanguageSpec
from cogworks.services.command.grammars.code import Code
from cogworks.services.command.grammars.operations import METHODS
from cogworks.services.command.grammars.relations import relations_of
from tests.exhaustive import examples
from tests.services.command.grammars.sources import FILES, ask, repository

SOURCES = {language_of(path): text.encode() for path, text in FILES.items()}
BOUND_S = 15.0
"""Of processor time, thirty times what these files take; a walk that pays for every level above takes minutes."""


@given(st.sampled_from(LANGUAGES), st.binary(max_size=200), st.integers(0, 1500), st.integers(0, 400))
@settings(max_examples=examples(300), deadline=None)
def test_any_bytes_give_facts_or_a_reason(spec: LanguageSpec, noise: bytes, at: int, cut: int) -> None:
    whole = SOURCES[spec]
    facts = gather(spec, whole[:at] + noise + whole[at + cut :])

    if isinstance(facts, FileFacts):
        code = Code({f"a{spec.suffixes[0]}": facts}, {})
        ids = next(iter(code.ids.values()))
        assert len(set(ids)) == len(ids)
        assert all(1 <= each.lines[0] <= each.lines[1] <= facts.line_count for each in facts.definitions)
        assert all(-1 <= each.parent < place for place, each in enumerate(facts.definitions))
        relations_of(code)


@given(
    st.dictionaries(
        st.sampled_from(
            [f"d/a{suffix}" for suffix in SUFFIXES]
            + ["go.mod", "package.json", "tsconfig.json", "composer.json", "Cargo.toml"]
        ),
        st.binary(max_size=300),
        max_size=5,
    )
)
@settings(max_examples=examples(40), deadline=None)
def test_any_repository_is_answered_by_every_operation(files: dict[str, bytes]) -> None:
    with TemporaryDirectory() as folder:
        repository(Path(folder), files)
        for method in METHODS:
            params = (
                {"seeds": ["x"]}
                if method == "call_graph"
                else {"artifacts": [each for each in files if each[0] == "d"]}
            )
            assert ask(method, Path(folder), root="", **params)["error"] is None


DEEP = {
    "round": b"(" * 100_000,
    "closed": b"(" * 100_000 + b")" * 100_000,
    "curly": b"{" * 100_000,
    "calls": b"a(" * 50_000,
    "quotes": b'"' * 100_001,
    "tags": b"<a>" * 30_000,
    "not": b"!" * 100_000,
    "ifs": b"if(a)" * 20_000,
    "less": b"a<" * 50_000,
    "comments": b"// a\n" * 50_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", DEEP)
@pytest.mark.parametrize("spec", LANGUAGES, ids=lambda spec: spec.name)
def test_deep_and_broken_files_take_no_longer_than_others(spec: LanguageSpec, shape: str) -> None:
    begun = time.thread_time()

    gather(spec, (b"<?php " if spec.name == "PHP" else b"") + DEEP[shape])

    assert time.thread_time() - begun < BOUND_S


def test_one_deep_file_is_answered() -> None:
    spec = language_of("a.go")
    assert spec is not None
    begun = time.thread_time()

    gather(spec, b"package p\nvar x = " + b"(" * 100_000 + b")" * 100_000)

    assert time.thread_time() - begun < BOUND_S
