"""Checks of the protocol itself: framing, refusals, callers that come and go, the end."""

import socket
import time
from collections.abc import Iterator
from contextlib import suppress

from cogworks.domain_services.answers import Unusable, read_handshake, read_response
from cogworks.domain_services.conformance.examination import Exam, Finding, Skipped, response_of
from cogworks.domain_services.messages import (
    ErrorCode,
    Handshake,
    Request,
    frame,
)
from cogworks.domain_services.operations import OPERATIONS
from cogworks.domain_services.transport import MAX_MESSAGE_BYTES

MALFORMED = {
    "words instead of JSON": b"hello\n",
    "bytes that are not UTF-8": b'{"request_id": "\xff\xfe"}\n',
    "an array": b"[]\n",
    "an object without fields": b"{}\n",
}
_CALLERS = 4
_FOLLOWERS = 3
_PAUSE_S = 0.05
"""So that the request of a caller that left is surely being worked on."""


def handshake(exam: Exam) -> Iterator[Finding]:
    """Who the service is, twice the same."""
    seen: list[Handshake] = []
    for _ in range(2):
        request = exam.request("handshake")
        response = response_of(exam.ask(request), request)
        if isinstance(response, Finding):
            yield response
            return
        read = read_handshake(response)
        if isinstance(read, Unusable):
            remedy = "Make the result fit schemas/extension-api/handshake.result.json, of API version 1."
            yield Finding(found=f"handshake: {read.reason}", remedy=remedy)
            return
        seen.append(read)
    exam.handshake = seen[0]
    if seen[0] != seen[1]:
        yield Finding(
            found="handshake: two answers in a row differ",
            remedy="Announce what the service can do at all times.",
        )


def unknown_methods(exam: Exam) -> Iterator[Finding]:
    """Methods that do not exist, or that the service does not announce, are refused by name."""
    absent = [method for method in OPERATIONS if method not in (*exam.capabilities(), "handshake")]
    for method in ("no_such_method", *absent):
        yield from _wants_error(exam, exam.request(method), ErrorCode.UNSUPPORTED_METHOD)


def malformed_requests(exam: Exam) -> Iterator[Finding]:
    """What is no request is refused, and the service lives on."""
    for name, line in MALFORMED.items():
        heard = exam.subject.ask("handshake", line, limit_s=exam.limit_of("handshake"))
        if heard.kind == "silent":
            yield Finding(
                found=f"{name}: {heard.why}", remedy="Answer `invalid_request`, or close the connection."
            )
        elif heard.kind == "answer" and b'"invalid_request"' not in heard.line:
            yield Finding(
                found=f"{name} is answered with {heard.line[:100]!r}", remedy="Answer `invalid_request`."
            )
        if heard.has_died or not exam.is_alive():
            yield Finding(found=f"it does not survive {name}", remedy="Survive what cannot be read.")


def wrong_version(exam: Exam) -> Iterator[Finding]:
    """A caller of another major version gets an error that says so."""
    exam.capabilities()
    request = exam.request("handshake").model_copy(update={"api_version": "99.0"})
    yield from _wants_error(exam, request, ErrorCode.API_VERSION_MISMATCH)


def wrong_parameters(exam: Exam) -> Iterator[Finding]:
    """Parameters of the wrong type are refused for every announced method."""
    for method in _announced(exam):
        wrong = {**dict.fromkeys(("artifacts", "tests", "seeds", "test"), 7), "timeout_s": "soon"}
        yield from _wants_error(exam, exam.request(method, wrong), ErrorCode.INVALID_REQUEST)


def missing_repository(exam: Exam) -> Iterator[Finding]:
    """A repository that is not there is an error, not an empty success."""
    announced = _announced(exam)
    if not announced:
        raise Skipped("no method is announced")
    request = exam.request(announced[0], {"artifacts": ["a"]}, folder="/no/such/repository")
    yield from _wants_error(exam, request, ErrorCode.ARTIFACT_NOT_FOUND, ErrorCode.INVALID_REQUEST)


def oversized_request(exam: Exam) -> Iterator[Finding]:
    """A request beyond the limit is refused or cut off, and the service lives on."""
    exam.capabilities()
    line = b'{"request_id": "' + b"x" * MAX_MESSAGE_BYTES + b'"}\n'
    heard = exam.subject.ask("handshake", line, limit_s=exam.limit_s)
    if heard.kind == "silent" or (heard.kind == "answer" and b'"error"' not in heard.line):
        reaction = heard.why or f"it is answered with {heard.line[:100]!r}"
        yield Finding(
            found=f"a request of more than {MAX_MESSAGE_BYTES} bytes: {reaction}",
            remedy="Close the connection, or answer `invalid_request`.",
        )
    if heard.has_died or not exam.is_alive():
        yield Finding(found="it does not survive an oversized request", remedy="Limit how much you read.")


def answers_in_order(exam: Exam) -> Iterator[Finding]:
    """Two requests on one connection are answered one after the other."""
    exam.capabilities()
    if exam.subject.socket_path is None:
        raise Skipped("HTTP answers each request by itself")
    first, second = exam.request("handshake"), exam.request("handshake")
    try:
        with exam.subject.connected(limit_s=exam.limit_s) as connection:
            connection.sendall(frame(first) + frame(second))
            with connection.makefile("rb") as lines:
                answers = [lines.readline(MAX_MESSAGE_BYTES + 1) for _ in range(2)]
    except OSError as error:
        problem = f"two requests on one connection: {error}"
        yield Finding(found=problem, remedy="Answer any number of requests per connection, in order.")
        return
    for request, line in zip((first, second), answers, strict=True):
        if isinstance(read := read_response(line, request), Unusable):
            problem = f"two requests on one connection: {read.reason}"
            yield Finding(found=problem, remedy="Answer any number of requests per connection, in order.")


def several_callers(exam: Exam) -> Iterator[Finding]:
    """A caller that is silent holds up nobody, and each caller gets the answer to its own request."""
    exam.capabilities()
    requests = [exam.request("handshake") for _ in range(_CALLERS)]
    with exam.subject.connected(limit_s=exam.limit_s):
        limit_s = exam.limit_of("handshake")
        answers = exam.subject.ask_together("handshake", [frame(each) for each in requests], limit_s=limit_s)
        for request, heard in zip(requests, answers, strict=True):
            response = response_of(heard, request)
            if isinstance(response, Finding):
                yield Finding(
                    found=f"{_CALLERS} callers beside a silent one: {response.found}",
                    remedy="Read each connection by itself; answer one request after another.",
                )
                return


def caller_that_left(exam: Exam) -> Iterator[Finding]:
    """The answer to a caller that went away reaches nobody else."""
    announced = _announced(exam)
    if exam.subject.socket_path is None:
        raise Skipped("over HTTP an answer cannot leave its connection")
    request = exam.request(announced[0] if announced else "handshake", {"artifacts": ["left"]})
    with suppress(OSError), exam.subject.connected(limit_s=exam.limit_s) as connection:
        connection.sendall(frame(request))
        connection.shutdown(socket.SHUT_WR)
    for _ in range(_FOLLOWERS):
        following = exam.request("handshake")
        response = response_of(exam.ask(following), following)
        if isinstance(response, Finding):
            yield Finding(
                found=f"after a caller left: {response.found}",
                remedy="Drop an answer whose connection is gone; write it to no other.",
            )
            return
        time.sleep(_PAUSE_S)


def socket_permissions(exam: Exam) -> Iterator[Finding]:
    """Only the user who runs the service may connect."""
    exam.capabilities()
    mode = exam.subject.socket_mode()
    if mode is None:
        raise Skipped("there is no socket")
    if mode & 0o077:
        yield Finding(
            found=f"the socket has mode {mode:04o}, so others of this machine may connect",
            remedy="Make it under umask 0177.",
        )


def shutdown(exam: Exam) -> Iterator[Finding]:
    """A started service ends on SIGTERM within three seconds, and leaves nothing running."""
    exam.capabilities()
    exam.is_alive()
    ended = exam.subject.end_politely()
    if ended is None:
        raise Skipped("somebody else started it")
    code, has_left_something = ended
    if code is None:
        yield Finding(
            found="it does not end within 3 s of SIGTERM", remedy="End on SIGTERM, and end your tools."
        )
    elif code not in (0, -15):
        yield Finding(found=f"on SIGTERM it ends with code {code}", remedy="End with code 0.")
    elif has_left_something:
        yield Finding(found="a process it started outlives it", remedy="End what you started before you end.")


def _announced(exam: Exam) -> list[str]:
    return [method for method in exam.capabilities() if method in OPERATIONS and method != "handshake"]


def _wants_error(exam: Exam, request: Request, *codes: ErrorCode) -> Iterator[Finding]:
    codes_wanted = " or ".join(f"`{code.value}`" for code in codes)
    response = response_of(exam.ask(request), request)
    if isinstance(response, Finding):
        yield response
    elif response.error is None or response.error.code not in codes:
        status = f"error `{response.error.code.value}`" if response.error else f"status `{response.status}`"
        yield Finding(
            found=f"{request.method} ({_about(request)}) is answered with {status}",
            remedy=f"Answer error {codes_wanted}.",
        )


def _about(request: Request) -> str:
    if request.api_version == "99.0":
        return "API version 99.0"
    if request.repository is not None and request.repository.path.startswith("/no/such"):
        return "a repository that is not there"
    return "wrong parameters" if request.params else "not announced"
