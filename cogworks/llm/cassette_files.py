"""What does a recorded reply look like in a file?"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import unified_diff

import tomli_w
from pydantic import BaseModel, ConfigDict, ValidationError

from cogworks.canonical import canonical_text, sha256
from cogworks.errors import ConfigurationError
from cogworks.llm.provider import ModelReply, ModelRequest, Usage
from cogworks.llm.replies import parse_json
from cogworks.toml_text import tables_in

MAX_DIFF_LINES = 20

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")


@dataclass(frozen=True)
class Recording:
    """One reply and the request it answers."""

    key: str
    """Of the request; 64 hex digits."""
    purpose: str
    reply: ModelReply
    """A JSON text is canonical: what was recorded is what is replayed, byte for byte."""


class _RecordingFile(BaseModel):
    """The fields of a recording's TOML; exactly one of `reply` and `text`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    key: str
    purpose: str
    model: str
    stop_reason: str
    usage: Usage
    reply: dict[str, object] | None = None
    text: str | None = None


def file_stem(purpose: str) -> str:
    """A file name for a purpose: itself when that is a plain name, else a plain form with a hash of it."""
    if _PLAIN_NAME.fullmatch(purpose):
        return purpose
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", purpose).strip("_")[:100]
    return f"{plain or 'purpose'}-{sha256(purpose)[:8]}"


def recording_of(request: ModelRequest, reply: ModelReply) -> Recording:
    """The recording of one answered request."""
    return Recording(key=request.key, purpose=request.purpose, reply=_canonical(reply))


def recording_text(recording: Recording) -> str:
    """The TOML file of a recording.

    The reply is a TOML structure, its texts readable as they are, wherever TOML can hold it exactly; else its
    JSON (or whatever the model said) is kept as `text`.
    """
    reply = recording.reply
    head = {
        "key": recording.key,
        "purpose": recording.purpose,
        "model": reply.model,
        "stop_reason": reply.stop_reason,
    }
    usage = {"usage": reply.usage.model_dump()}
    try:
        value = parse_json(reply.text)
    except ValueError:
        value = None
    candidates = (
        [{**head, **usage, "reply": value}] if isinstance(value, dict) and not _has_null(value) else []
    )
    candidates.append({**head, "text": reply.text, **usage})
    for candidate in candidates:
        text = _toml(candidate)
        if parse_recording(text, recording.purpose) == recording:
            return text
    raise AssertionError(f"{recording.purpose}: TOML could not hold the reply in any form")


def parse_recording(text: str, source: str) -> Recording:
    """Raises: ConfigurationError with every problem of a malformed file."""
    try:
        content = _RecordingFile.model_validate(tables_in(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(source, [f"is not TOML: {error}"]) from None
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        raise ConfigurationError(source, problems) from None
    if (content.reply is None) == (content.text is None):
        raise ConfigurationError(source, ["wants exactly one of a table `[reply]` and a string `text`"])
    try:
        reply_text = content.text if content.text is not None else canonical_text(content.reply)
    except (TypeError, ValueError) as error:
        problem = f"`[reply]` holds what JSON cannot say: {error}; put dates and times in quotes"
        raise ConfigurationError(source, [problem]) from None
    reply = ModelReply(
        text=reply_text, stop_reason=content.stop_reason, usage=content.usage, model=content.model
    )
    return Recording(key=content.key, purpose=content.purpose, reply=reply)


def prompt_text(request: ModelRequest) -> str:
    """The exact prompt as a page to read and to compare."""
    schema = request.output_schema
    digest = sha256(canonical_text(schema))
    head = (
        f"model: {request.model}\n"
        f"max_output_tokens: {request.max_output_tokens}\n"
        f"schema: {schema.get('title', 'untitled')} sha256:{digest}\n"
    )
    turns = [f"\n# {message.role}\n\n{message.text}\n" for message in request.messages]
    return "".join([head, f"\n# system\n\n{request.system}\n", *turns])


def prompt_diff(recorded: str, asked: str, *, name: str, max_lines: int | None = MAX_DIFF_LINES) -> str:
    """How the prompt changed, as a unified diff cut to so many lines; empty when nothing one can read did.

    Lines are separated by `\\n` alone, and other line ends are shown as escapes, so that no change is invisible.
    """
    lines = list(
        unified_diff(
            [_visible(line) for line in recorded.split("\n")],
            [_visible(line) for line in asked.split("\n")],
            fromfile=f"{name} (recorded)",
            tofile=f"{name} (asked now)",
            lineterm="",
        )
    )
    cut = len(lines) - max_lines if max_lines is not None else 0
    if cut > 0:
        lines = [*lines[:max_lines], f"… {cut} more lines of the diff"]
    return "\n".join(lines)


def _canonical(reply: ModelReply) -> ModelReply:
    try:
        text = canonical_text(parse_json(reply.text))
    except ValueError:
        return reply
    return reply.model_copy(update={"text": text})


def _has_null(value: object) -> bool:
    # TOML has no null, and its writer refuses one.
    if isinstance(value, dict):
        return any(_has_null(each) for each in value.values())
    if isinstance(value, list):
        return any(_has_null(each) for each in value)
    return value is None


def _visible(line: str) -> str:
    return line.replace("\r", "\\r").replace("\x0b", "\\x0b").replace("\x0c", "\\x0c")


def _toml(document: Mapping[str, object]) -> str:
    """TOML in which texts of several lines are literal blocks: code and Markdown as they are, nothing escaped."""
    blocks: list[str] = []
    mark = sha256(canonical_text(document))

    def marked(value: object) -> object:
        if isinstance(value, dict):
            return {key: marked(each) for key, each in value.items()}
        if isinstance(value, list):
            return [marked(each) for each in value]
        block = _block(value) if isinstance(value, str) else None
        if block is None:
            return value
        blocks.append(block)
        return f"{mark}-{len(blocks) - 1}"

    written = tomli_w.dumps({key: marked(value) for key, value in document.items()}, multiline_strings=True)
    return re.sub(rf'"{mark}-(\d+)"', lambda match: blocks[int(match[1])], written)


def _block(text: str) -> str | None:
    """How a text is written; None = as the TOML writer does it."""
    if "\r" in text:
        # Readers of TOML turn \r\n into \n in a text of several lines; on one line it is an escape.
        return tomli_w.dumps({"text": text}).removeprefix("text = ").rstrip("\n")
    if "\n" not in text or "'''" in text or text.endswith("'") or _CONTROL.search(text):
        return None
    return f"'''\n{text}'''"
