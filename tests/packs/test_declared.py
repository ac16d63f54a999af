"""Context packs as files: what is read, what is left out with a reason, and what stops everything."""

import pytest

from cogworks.errors import ConfigurationError
from cogworks.packs.declared import Pack, Unusable, read_pack
from tests.packs.declared import artefact_of

TRIGGER = '[trigger]\nlanguages = ["rust"]\n'
ARTEFACTS = """
[[artefact]]
name = "Unsafe block justification"
type = "annotation"
code_pattern = 'unsafe\\s*\\{'
annotation_pattern = '# SAFETY:'
[[artefact]]
name = "Panic path analysis document"
type = "file"
path_pattern = "docs/safety/panic-path-analysis*.md"
[[artefact]]
name = "Stack usage analysis"
type = "section"
file_pattern = "docs/safety/*.md"
heading_pattern = 'Stack (Usage|Budget) Analysis'
"""


def test_a_pack_is_its_trigger_its_documents_and_what_it_requires() -> None:
    files = {
        "trigger.toml": TRIGGER,
        "required-artefacts.toml": ARTEFACTS,
        "anti-patterns.md": "No.\n",
        "safe-patterns.md": " \n",
    }

    found = read_pack("rust-embedded", files, source="repository")

    assert isinstance(found, Pack)
    assert found.trigger.languages == ("rust",)
    assert found.documents == {"anti-patterns.md": "No.\n"}
    assert [(each.name, each.type) for each in found.artefacts] == [
        ("Unsafe block justification", "annotation"),
        ("Panic path analysis document", "file"),
        ("Stack usage analysis", "section"),
    ]


@pytest.mark.parametrize(
    ("name", "files", "why"),
    [
        ("p", {}, "it has no `trigger.toml`"),
        ("p", {"trigger.toml": "[trigger"}, "its `trigger.toml` is not TOML"),
        ("p", {"trigger.toml": "[trigger]\n"}, "names no criterion"),
        ("p", {"trigger.toml": "[trigger]\nsafety_affecting = false\n"}, "names no criterion"),
        ("p", {"trigger.toml": '[trigger]\nlanguage = "rust"\n'}, "`trigger.language`"),
        ("P!", {"trigger.toml": TRIGGER}, "its name is not made of"),
        (
            "p",
            {"trigger.toml": TRIGGER, "domain-knowledge.md": "x" * 100_001},
            "`domain-knowledge.md` has more than 100000 characters",
        ),
    ],
    ids=["none", "no-toml", "empty", "false-is-no-criterion", "unknown-key", "name", "too-long"],
)
def test_a_pack_without_a_trigger_that_can_be_read_is_left_out(
    name: str, files: dict[str, str], why: str
) -> None:
    found = read_pack(name, files, source="repository")

    assert isinstance(found, Unusable)
    assert why in found.why


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        ('type = "file"', "path_pattern` is missing"),
        ('type = "section"\nfile_pattern = "a.md"', "heading_pattern` is missing"),
        ('type = "annotation"\ncode_pattern = "a"', "annotation_pattern` is missing"),
        ('type = "link"', "link"),
        ('type = "annotation"\ncode_pattern = "("\nannotation_pattern = "b"', "is no regular expression"),
        ('type = "annotation"\ncode_pattern = "(?<=a)b"\nannotation_pattern = "b"', "no look-around"),
        ('type = "file"\npath_pattern = "a"\nwithin_lines = 3', "within_lines"),
        ('type = "file"\npath_pattern = []', "path_pattern"),
    ],
)
def test_what_is_required_and_cannot_be_read_stops_everything(declared: str, problem: str) -> None:
    files = {"trigger.toml": TRIGGER, "required-artefacts.toml": f'[[artefact]]\nname = "A"\n{declared}\n'}

    with pytest.raises(ConfigurationError) as refused:
        read_pack("p", files, source="repository")

    assert refused.value.source == ".cogworks/context-packs/p/required-artefacts.toml"
    assert problem in str(refused.value)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(", "missing )"),
        ("(?=a)b", "invalid perl operator: (?="),
        (r"(a)\1", r"invalid escape sequence: \1"),
        ("a{1001}", "invalid repetition size: {1001}"),
        ("((a{100}){100}){100}", "invalid repetition size"),
    ],
)
def test_a_pattern_that_cannot_be_searched_for_in_time_is_refused(pattern: str, said: str) -> None:
    given = {"name": "A", "type": "annotation", "code_pattern": pattern, "annotation_pattern": "b"}

    with pytest.raises(ValueError, match="it is RE2 that reads patterns") as refused:
        artefact_of(given)

    assert said in str(refused.value)


@pytest.mark.parametrize("pattern", ["src/[ab].rs", "src/\\*.rs", "!src/a.rs"])
def test_a_pattern_of_paths_holds_nothing_that_would_be_passed_over(pattern: str) -> None:
    with pytest.raises(ValueError, match="a pattern of paths"):
        artefact_of({"name": "A", "type": "file", "path_pattern": pattern})


def test_two_artefacts_of_one_name_are_an_error() -> None:
    one = '[[artefact]]\nname = "A"\ntype = "file"\npath_pattern = "a"\n'

    with pytest.raises(ConfigurationError, match="'A' is declared twice"):
        read_pack("p", {"trigger.toml": TRIGGER, "required-artefacts.toml": one + one}, source="repository")


def test_a_pack_holds_markdown_and_toml_and_nothing_that_could_run() -> None:
    with pytest.raises(ConfigurationError, match=r"`check\.sh` is no Markdown"):
        read_pack("p", {"trigger.toml": TRIGGER, "check.sh": ""}, source="repository")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("required-artifacts.toml", "did you mean `required-artefacts.toml`?"),
        ("antipatterns.md", "did you mean `anti-patterns.md`?"),
        ("notes.md", "A pack holds nothing but `trigger.toml`, `anti-patterns.md`"),
        ("more/anti-patterns.md", "`more/anti-patterns.md` is no file of a pack"),
    ],
)
def test_a_file_that_a_pack_does_not_know_is_named_with_those_that_it_knows(path: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read_pack("p", {"trigger.toml": TRIGGER, path: "x = 1\n"}, source="repository")

    assert refused.value.source == ".cogworks/context-packs/p"
    assert said in str(refused.value)


def test_a_digest_changes_with_every_part_of_a_pack() -> None:
    base = {"trigger.toml": TRIGGER, "anti-patterns.md": "No.\n"}
    others = [
        {**base, "trigger.toml": '[trigger]\nlanguages = ["c"]\n'},
        {**base, "anti-patterns.md": "Never.\n"},
        {**base, "required-artefacts.toml": ARTEFACTS},
    ]
    found = [read_pack("p", files, source="repository") for files in (base, base, *others)]

    digests = [each.digest for each in found if isinstance(each, Pack)]

    assert digests[0] == digests[1]
    assert len(set(digests)) == 4


SOURCES = """
[[exemplar]]
repository = "octo-org/hal"
path = "src/uart.rs"
ref = "v1.2"
why = "how a driver reports errors"

[[exemplar]]
repository = "octo-org/hal"
path = "src/spi.rs"

[[standard]]
path_pattern = "docs/adr/*.md"
"""


def test_a_pack_names_files_of_other_repositories_and_the_standards_of_its_own() -> None:
    found = read_pack("p", {"trigger.toml": TRIGGER, "sources.toml": SOURCES}, source="repository")

    assert isinstance(found, Pack)
    assert [each.place for each in found.sources.exemplar] == [
        "octo-org/hal@v1.2:src/uart.rs",
        "octo-org/hal:src/spi.rs",
    ]
    assert [each.path_pattern for each in found.sources.standard] == [("docs/adr/*.md",)]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ('path = "src/spi.rs"', "exemplar.1.path` is missing"),
        ('path = "/etc/passwd"', "no path of a file below the root"),
        ('path = "src/../../a"', "no path of a file below the root"),
        ('path = "a:b"', "no path of a file below the root"),
        ('path = ".cogworks/scenarios/a.toml"', "scenarios are held back there"),
        ('path = ".GIT/config"', "which nobody is shown"),
        ('path = "a"\nref = "--upload-pack=x"', "exemplar.1.ref"),
        ('path = "a"\nurl = "x"', "exemplar.1.url"),
    ],
)
def test_sources_that_cannot_be_read_stop_everything(change: str, problem: str) -> None:
    text = SOURCES.replace('path = "src/spi.rs"', change if "missing" not in problem else "")

    with pytest.raises(ConfigurationError) as refused:
        read_pack("p", {"trigger.toml": TRIGGER, "sources.toml": text}, source="repository")

    assert refused.value.source == ".cogworks/context-packs/p/sources.toml"
    assert problem in str(refused.value)
