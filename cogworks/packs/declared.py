"""Context packs as their files declare them: when one applies, what it says, what a change under it has to hold."""

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field, ValidationError, field_validator, model_validator

from cogworks.canonical import canonical_text, sha256
from cogworks.errors import ConfigurationError
from cogworks.packs.patterns import checked_glob, checked_place, checked_regex
from cogworks.toml_text import tables_in
from cogworks.vocabulary import Value

FOLDER = ".cogworks/context-packs"
TRIGGER_FILE = "trigger.toml"
ARTEFACTS_FILE = "required-artefacts.toml"
SOURCES_FILE = "sources.toml"
DOCUMENTS = ("anti-patterns.md", "safe-patterns.md", "domain-knowledge.md")
"""In the order in which they are shown, and kept where there is not room for all."""
FILES = (TRIGGER_FILE, *DOCUMENTS, ARTEFACTS_FILE, SOURCES_FILE)
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")

MAX_DOCUMENT_CHARS = 100_000
"""Of one document; a run keeps it whole, whatever a prompt has room for."""
_MAX_PATTERN_CHARS = 200

Glob = Annotated[str, Field(min_length=1, max_length=_MAX_PATTERN_CHARS), AfterValidator(checked_glob)]
"""`*` stays in its folder, `**` crosses folders; without a `/` it fits in any folder, with one at its end all that is below."""
Regex = Annotated[str, Field(min_length=1, max_length=_MAX_PATTERN_CHARS), AfterValidator(checked_regex)]
"""Matched against each line by itself."""
Where = Literal["change", "repository"]


class FileArtefact(Value):
    """A file that has to be there."""

    name: str = Field(min_length=1, max_length=100)
    type: Literal["file"]
    path_pattern: tuple[Glob, ...] = Field(min_length=1)
    where: Where = "change"
    """`change`: the change itself writes one; `repository`: one that was there before will do."""

    _as_list = field_validator("path_pattern", mode="before")(
        lambda given: (given,) if isinstance(given, str) else given
    )


class SectionArtefact(Value):
    """A heading that a file has to have."""

    name: str = Field(min_length=1, max_length=100)
    type: Literal["section"]
    file_pattern: tuple[Glob, ...] = Field(min_length=1)
    heading_pattern: Regex
    where: Where = "change"

    _as_list = field_validator("file_pattern", mode="before")(
        lambda given: (given,) if isinstance(given, str) else given
    )


class AnnotationArtefact(Value):
    """Words that have to stand near certain code."""

    name: str = Field(min_length=1, max_length=100)
    type: Literal["annotation"]
    code_pattern: Regex
    annotation_pattern: Regex
    file_pattern: tuple[Glob, ...] = ()
    """In which files; empty: in all that the change touches."""
    within_lines: int = Field(default=5, ge=0, le=50)

    _as_list = field_validator("file_pattern", mode="before")(
        lambda given: (given,) if isinstance(given, str) else given
    )


Artefact = Annotated[FileArtefact | SectionArtefact | AnnotationArtefact, Field(discriminator="type")]


class Exemplar(Value):
    """A file of another repository that shows how such a thing is done."""

    repository: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}$")
    path: Annotated[str, Field(min_length=1, max_length=_MAX_PATTERN_CHARS), AfterValidator(checked_place)]
    ref: str = Field(default="HEAD", pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$")
    """A branch, a tag or a commit."""
    why: str = Field(default="", max_length=200)
    """What it shows, for its readers."""

    @property
    def place(self) -> str:
        """As people write it."""
        at = "" if self.ref == "HEAD" else f"@{self.ref}"
        return f"{self.repository}{at}:{self.path}"


class Standard(Value):
    """Files of the repository by which such changes are judged: standards, guidelines, decisions (ADRs)."""

    path_pattern: tuple[Glob, ...] = Field(min_length=1)

    _as_list = field_validator("path_pattern", mode="before")(
        lambda given: (given,) if isinstance(given, str) else given
    )


class Sources(Value):
    """What is worth showing beside the files that a task is about."""

    exemplar: tuple[Exemplar, ...] = Field(default=(), max_length=10)
    standard: tuple[Standard, ...] = Field(default=(), max_length=20)


class Trigger(Value):
    """When a pack applies: one of each list that it has, and safety where it asks for that."""

    component_tags: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    safety_affecting: bool = False
    languages: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _asks_for_something(self) -> "Trigger":
        if not (self.component_tags or self.labels or self.safety_affecting or self.languages):
            message = "names no criterion; give it `component_tags`, `labels`, `languages` or `safety_affecting = true`"
            raise ValueError(message)
        return self


class _TriggerFile(Value):
    trigger: Trigger


class _ArtefactsFile(Value):
    artefact: tuple[Artefact, ...] = ()


class Pack(Value):
    """One pack, with everything it says."""

    name: str
    source: Literal["repository", "cogworks"]
    """Who ships it."""
    trigger: Trigger
    documents: Mapping[str, str] = {}
    """File name -> text; empty ones are left out."""
    artefacts: tuple[Artefact, ...] = ()
    sources: Sources = Sources()

    @property
    def digest(self) -> str:
        """64 hex digits that change with anything in the pack."""
        return sha256(canonical_text(self.model_dump(mode="json")))


class Unusable(Value):
    """A pack that is left out, and why."""

    name: str
    why: str


def read_pack(
    name: str, files: Mapping[str, str], *, source: Literal["repository", "cogworks"]
) -> Pack | Unusable:
    """The pack that some files make up; a trigger that cannot be read leaves the pack out.

    Args:
        files: file name -> text.

    Raises:
        ConfigurationError: what it requires of a change cannot be read, or it holds what no pack may.
    """
    if not NAME.fullmatch(name):
        return Unusable(name=name, why="its name is not made of small letters, digits and `-`")
    _refuse_strange(name, files)
    trigger = _trigger(files.get(TRIGGER_FILE))
    if isinstance(trigger, str):
        return Unusable(name=name, why=trigger)
    if long := [each for each in DOCUMENTS if len(files.get(each, "")) > MAX_DOCUMENT_CHARS]:
        return Unusable(name=name, why=f"`{long[0]}` has more than {MAX_DOCUMENT_CHARS} characters")
    return Pack(
        name=name,
        source=source,
        trigger=trigger,
        documents={each: files[each] for each in DOCUMENTS if files.get(each, "").strip()},
        artefacts=_artefacts(name, files.get(ARTEFACTS_FILE, "")),
        sources=_read(Sources, f"{FOLDER}/{name}/{SOURCES_FILE}", files.get(SOURCES_FILE, "")),
    )


def _refuse_strange(name: str, files: Mapping[str, str]) -> None:
    if strange := sorted(set(files) - set(FILES)):
        raise ConfigurationError(f"{FOLDER}/{name}", [_strange(path) for path in strange])


def _strange(path: str) -> str:
    if not path.endswith((".md", ".toml")):
        return f"`{path}` is no Markdown and no TOML; a pack holds nothing else"
    close = difflib.get_close_matches(path, FILES, n=1)
    meant = f"; did you mean `{close[0]}`?" if close else ""
    listed = ", ".join(f"`{each}`" for each in FILES)
    return f"`{path}` is no file of a pack{meant or '.'} A pack holds nothing but {listed}; rename it, or move it elsewhere"


def _trigger(text: str | None) -> Trigger | str:
    """When the pack applies, or why nobody can say."""
    if text is None:
        return f"it has no `{TRIGGER_FILE}`"
    try:
        return _TriggerFile.model_validate(tables_in(text)).trigger
    except tomllib.TOMLDecodeError as error:
        return f"its `{TRIGGER_FILE}` is not TOML: {error}"
    except ValidationError as error:
        return f"its `{TRIGGER_FILE}` cannot be used: {'; '.join(_problems(error))}"


_File = TypeVar("_File", bound=Value)


def _read(form: type[_File], source: str, text: str) -> _File:
    try:
        return form.model_validate(tables_in(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(source, [f"not TOML: {error}"]) from None
    except ValidationError as error:
        raise ConfigurationError(source, _problems(error)) from None


def _artefacts(name: str, text: str) -> tuple[Artefact, ...]:
    source = f"{FOLDER}/{name}/{ARTEFACTS_FILE}"
    artefacts = _read(_ArtefactsFile, source, text).artefact
    names = [each.name for each in artefacts]
    if twice := sorted({each for each in names if names.count(each) > 1}):
        raise ConfigurationError(
            source, [f"artefact {each!r} is declared twice; give each a name of its own" for each in twice]
        )
    return artefacts


def _problems(error: ValidationError) -> Sequence[str]:
    problems = []
    for item in error.errors():
        place = ".".join(str(part) for part in item["loc"])
        message = item["msg"].removeprefix("Value error, ")
        problems.append(f"`{place}` is missing" if item["type"] == "missing" else f"`{place}`: {message}")
    return problems
