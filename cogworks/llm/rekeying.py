"""Which recorded replies may answer the prompts that changed since?"""

from dataclasses import dataclass

from cogworks.llm.cassette import Cassette, Misses
from cogworks.llm.cassette_files import file_stem, prompt_diff, prompt_text
from cogworks.llm.provider import ModelRequest
from cogworks.llm.replies import parse_json, schema_problems


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
