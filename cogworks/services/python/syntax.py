"""What is wrong with the syntax of a Python file, without running it."""

import warnings

from cogworks.domain_services.messages import Diagnostic
from cogworks.vocabulary import Severity

SUFFIXES = (".py", ".pyi")


def is_python(path: str) -> bool:
    """Whether a file is this service's business."""
    return path.endswith(SUFFIXES)


def syntax_problems(path: str, source: bytes) -> tuple[Diagnostic, ...]:
    """One diagnostic per problem: what keeps the file from compiling, and what the compiler warns of."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            compile(source, path, "exec", dont_inherit=True)
        except SyntaxError as error:
            return (_blocking(path, error.lineno, _sentence(error)),)
        except (ValueError, OverflowError, RecursionError, MemoryError) as error:
            return (_blocking(path, None, f"cannot be compiled: {str(error) or type(error).__name__}"),)
    return tuple(
        Diagnostic(
            artifact=path,
            line=warning.lineno,
            severity=Severity.WARNING,
            category="syntax_error",
            message=str(warning.message),
        )
        for warning in warned
    )


def missing(path: str) -> Diagnostic:
    """The file was to be checked and is not there."""
    return Diagnostic(
        artifact=path,
        severity=Severity.BLOCKING,
        category="completeness",
        message="there is no such file in the working copy",
    )


def _sentence(error: SyntaxError) -> str:
    shown = (error.text or "").strip()
    place = f", column {error.offset}" if error.offset else ""
    return f"{error.msg}{place}" + (f": {shown[:200]}" if shown else "")


def _blocking(path: str, line: int | None, message: str) -> Diagnostic:
    return Diagnostic(
        artifact=path, line=line, severity=Severity.BLOCKING, category="syntax_error", message=message
    )
