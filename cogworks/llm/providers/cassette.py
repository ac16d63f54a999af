"""Replies from a directory of recordings, and the recorder that fills it.

Which recorded replies may answer the prompts that changed since?
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from importlib.resources import as_file
from importlib.resources import files as package_files
from pathlib import Path

from pydantic import ValidationError

from cogworks.errors import ConfigurationError, UsageError
from cogworks.leaving import masked, secrets_of
from cogworks.llm.cassette_files import (
    Recording,
    file_stem,
    parse_recording,
    prompt_diff,
    prompt_text,
    recording_of,
    recording_text,
)
from cogworks.llm.opening import Opening, Readiness
from cogworks.llm.provider import ModelReply, ModelRequest, Provider
from cogworks.llm.replies import parse_json, schema_problems
from cogworks.llm.waiting import Waits
from cogworks.settings.config import Environment
from cogworks.settings.sections import LlmConfig

RECORDING_SUFFIX = ".toml"
PROMPT_SUFFIX = ".prompt.md"
_SAME_WORDS = "(both prompts read the same; the schema or the way keys are made changed)"
MISS_SUFFIX = ".request.json"


class CassetteMiss(UsageError):
    """No reply is recorded for this request; its text shows how the prompt changed and what to do."""

    def __init__(self, message: str, *, purpose: str) -> None:
        self.purpose = purpose
        super().__init__(message)


class Cassette:
    """A directory of recordings: `<purpose>.toml` the reply, `<purpose>.prompt.md` the prompt it answers."""

    def __init__(self, directory: Path, *, redact: Callable[[str], str] = lambda text: text) -> None:
        """Args:
        redact: takes secrets out of what is written and shown.
        """
        self.directory = directory
        self._redact = redact

    def recordings(self) -> tuple[Recording, ...]:
        """All of them, by file name.

        Raises: ConfigurationError when the directory is missing or with every problem of its first malformed file.
        """
        if not self.directory.is_dir():
            problem = "is no directory; record into it first, or name another with `--dir`"
            raise ConfigurationError(str(self.directory), [problem])
        paths = sorted(self.directory.glob(f"*{RECORDING_SUFFIX}"))
        return tuple(parse_recording(_read(path), str(path)) for path in paths)

    def find(self, request: ModelRequest) -> Recording | None:
        """The recording with the request's key; where several purposes asked the same, that of its own."""
        matches = [recording for recording in self.recordings() if recording.key == request.key]
        own = [recording for recording in matches if recording.purpose == request.purpose]
        return next(iter(own or matches), None)

    def recorded_for(self, purpose: str) -> Recording | None:
        """The recording of a purpose, whatever prompt it answers."""
        path = self.recording_path(purpose)
        return parse_recording(_read(path), str(path)) if path.is_file() else None

    def recorded_prompt(self, purpose: str) -> str:
        """The prompt a purpose was recorded with; empty when its page is gone."""
        path = self.directory / f"{file_stem(purpose)}{PROMPT_SUFFIX}"
        return _read(path) if path.is_file() else ""

    def recording_path(self, purpose: str) -> Path:
        """Where the reply of a purpose is, or would be."""
        return self.directory / f"{file_stem(purpose)}{RECORDING_SUFFIX}"

    def keep(self, request: ModelRequest, reply: ModelReply) -> ModelReply:
        """Record a reply in place of the one recorded for that purpose; returns it as it will be replayed.

        Nothing is taken out of what is returned: a secret in a reply is missing in the file alone.
        """
        safe = reply.model_copy(update={"text": self._redact(reply.text)})
        self.directory.mkdir(parents=True, exist_ok=True)
        _write(self.directory / f"{file_stem(request.purpose)}{PROMPT_SUFFIX}", self.page(request))
        _write(self.recording_path(request.purpose), recording_text(recording_of(request, safe)))
        return recording_of(request, reply).reply

    def changes_of(self, request: ModelRequest) -> str:
        """How a prompt differs from the one recorded for its purpose, as a diff; empty when nothing one can read does."""
        return prompt_diff(
            self.recorded_prompt(request.purpose), self.page(request), name=file_stem(request.purpose)
        )

    def page(self, request: ModelRequest) -> str:
        """The prompt of a request as it is written."""
        return self._redact(prompt_text(request))


class Misses:
    """A directory of requests that found no recording, kept for `cogworks cassette rekey`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def requests(self) -> tuple[ModelRequest, ...]:
        """All of them, by file name; none when the directory is not there.

        Raises: ConfigurationError for a file that is no request.
        """
        return tuple(_parse_miss(path) for path in sorted(self.directory.glob(f"*{MISS_SUFFIX}")))

    def keep(self, request: ModelRequest) -> Path:
        """Keep the newest request of each purpose; returns the file."""
        self.directory.mkdir(parents=True, exist_ok=True)
        path = self._path(request.purpose)
        _write(path, request.model_dump_json(indent=2) + "\n")
        return path

    def drop(self, purpose: str) -> None:
        """Forget the request of a purpose."""
        self._path(purpose).unlink(missing_ok=True)

    def _path(self, purpose: str) -> Path:
        return self.directory / f"{file_stem(purpose)}{MISS_SUFFIX}"


class CassetteProvider:
    """Replays recordings, found by the request's key alone; a changed prompt is an error, never a guess.

    Of several directories the first that has a recording answers; what a miss says is about the first of all.

    Raises: CassetteMiss, after keeping the request in `misses`.
    """

    def __init__(
        self,
        directory: Path,
        *further: Path,
        misses: Path,
        redact: Callable[[str], str] = lambda text: text,
    ) -> None:
        self._cassette = Cassette(directory, redact=redact)
        self._further = tuple(Cassette(each, redact=redact) for each in further)
        self._misses = Misses(misses)

    def complete(self, request: ModelRequest) -> ModelReply:
        for cassette in (self._cassette, *self._further):
            recording = cassette.find(request)
            if recording is not None:
                return recording.reply
        try:
            kept = f"The request is kept in {self._misses.keep(request)}."
        except OSError as error:
            # The installed recordings of the demo may lie where nobody can write; the miss matters more.
            kept = f"The request could not be kept: {error}."
        raise CassetteMiss(self._explain(request, kept), purpose=request.purpose)

    def _explain(self, request: ModelRequest, kept: str) -> str:
        head = f"cassette: no reply is recorded for this request of {request.purpose!r} (key {request.key[:16]}…)"
        if self._cassette.recorded_for(request.purpose) is None:
            return f"{head}; {self._neighbours(request.purpose)}. {kept} Record a reply for it."
        return (
            f"{head}; {self._cassette.recording_path(request.purpose)} answers another prompt:\n"
            f"{self._cassette.changes_of(request) or _SAME_WORDS}\n"
            f"{kept} If the change is deliberate and the recorded reply still answers it, run:\n"
            f"  cogworks cassette rekey --dir {self._cassette.directory} --misses {self._misses.directory}"
        )

    def _neighbours(self, purpose: str) -> str:
        recorded = [recording.purpose for recording in self._cassette.recordings()]
        close = get_close_matches(purpose, recorded, n=3, cutoff=0.5)
        nearest = f" (recorded are e.g. {', '.join(map(repr, close))})" if close else ""
        return f"nothing is recorded for that purpose in {self._cassette.directory}{nearest}"


class RecordingProvider:
    """Asks another provider and records what it answers; the caller gets exactly what a replay will give."""

    def __init__(
        self, inner: Provider, directory: Path, *, redact: Callable[[str], str] = lambda text: text
    ) -> None:
        self._inner = inner
        self._cassette = Cassette(directory, redact=redact)

    def complete(self, request: ModelRequest) -> ModelReply:
        return self._cassette.keep(request, self._inner.complete(request))


class ReplayingProvider:
    """Replays what is recorded, and asks another provider for the rest, which it records."""

    def __init__(
        self,
        opened: Callable[[], Provider],
        directory: Path,
        *,
        redact: Callable[[str], str] = lambda text: text,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Args:
        opened: opens the other provider, when it is needed first.
        say: gets how a prompt changed since its reply was recorded, before it is asked for anew.
        """
        self._say = say
        self._opened = opened
        self._inner: Provider | None = None
        self._cassette = Cassette(directory, redact=redact)

    def complete(self, request: ModelRequest) -> ModelReply:
        recording = self._cassette.find(request) if self._cassette.directory.is_dir() else None
        if recording is not None:
            return recording.reply
        if self._cassette.recorded_for(request.purpose) is not None:
            self._say(
                f"{self._cassette.recording_path(request.purpose)} answers another prompt; {request.purpose!r} is asked again, and "
                f"its reply replaced:\n{self._cassette.changes_of(request) or _SAME_WORDS}"
            )
        if self._inner is None:
            self._inner = self._opened()
        return self._cassette.keep(request, self._inner.complete(request))


def _parse_miss(path: Path) -> ModelRequest:
    try:
        return ModelRequest.model_validate_json(_read(path))
    except ValidationError as error:
        problem = f"is no kept request ({error.error_count()} problem(s)); delete it and run the step again"
        raise ConfigurationError(str(path), [problem]) from None


def _read(path: Path) -> str:
    # Bytes, not text mode: line ends inside a prompt or a reply are part of it.
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise ConfigurationError(str(path), [f"is not UTF-8 text: {error}"]) from None


def _write(path: Path, text: str) -> None:
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.write_bytes(text.encode())
    unfinished.replace(path)


@dataclass(frozen=True)
class Rekeying:
    """One kept request and the reply recorded for its purpose."""

    request: ModelRequest
    diff: str
    """How the prompt changed, whole; empty when nothing one can read did."""
    refusal: str | None
    """Why the recorded reply cannot answer the request; None when it can."""


def proposed_rekeyings(cassette: Cassette, misses: Misses) -> tuple[Rekeying, ...]:
    """One for each kept request that still finds no recording, by file name; the others are forgotten."""
    proposals = []
    for request in misses.requests():
        if cassette.find(request) is not None:
            misses.drop(request.purpose)
            continue
        recorded = cassette.recorded_prompt(request.purpose)
        diff = prompt_diff(recorded, prompt_text(request), name=file_stem(request.purpose), max_lines=None)
        proposals.append(Rekeying(request=request, diff=diff, refusal=_refusal(cassette, request)))
    return tuple(proposals)


def rekey(cassette: Cassette, misses: Misses, proposal: Rekeying) -> None:
    """Let the recorded reply answer the changed prompt from now on; only for a proposal without refusal."""
    recording = cassette.recorded_for(proposal.request.purpose)
    if recording is None or proposal.refusal is not None:
        raise ValueError(f"{proposal.request.purpose!r} cannot be rekeyed: {proposal.refusal}")
    cassette.keep(proposal.request, recording.reply)
    misses.drop(proposal.request.purpose)


def _refusal(cassette: Cassette, request: ModelRequest) -> str | None:
    recording = cassette.recorded_for(request.purpose)
    if recording is None:
        return f"nothing is recorded for purpose {request.purpose!r} in {cassette.directory}; record a reply for it"
    try:
        problems = schema_problems(parse_json(recording.reply.text), request.output_schema)
    except ValueError:
        # What is no JSON was recorded as such on purpose, e.g. to show a repair; no schema can speak for it.
        return None
    if not problems:
        return None
    listed = "\n".join(f"  - {problem}" for problem in problems)
    return (
        f"the schema changed so that the reply in {cassette.recording_path(request.purpose)} no longer fits:\n"
        f"{listed}\nEdit the reply or record it again."
    )


class _Opening(Opening):
    @contextmanager
    def open(self, llm: LlmConfig, environment: Environment, waits: Waits) -> Iterator[CassetteProvider]:
        del llm, waits
        with ExitStack() as stack:
            named = [Path(each) for each in environment.cassette_dir.split(os.pathsep) if each]
            if not named:
                shipped = as_file(package_files("cogworks") / "demo" / "cassettes")
                named.append(stack.enter_context(shipped))
            redact = partial(masked, secrets=secrets_of(environment.variables))
            yield CassetteProvider(*named, misses=_misses(named[0], environment), redact=redact)

    def readiness(self, environment: Environment) -> Readiness:
        del environment
        return Readiness(found="recorded replies; no key is needed")


OPENING = _Opening()


def _misses(directory: Path, environment: Environment) -> Path:
    writable = os.access(directory, os.W_OK)
    return directory / "misses" if writable else Path(environment.work_dir) / "cassette-misses"
