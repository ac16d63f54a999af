"""What advisories say of locked packages; only the standard library is there. `scripts/audit` is the command."""

from __future__ import annotations

import argparse
import json
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from locked import Package, packages_in

LOCK = Path(__file__).resolve().parent.parent / "requirements.lock"
OSV, PYPI = "https://api.osv.dev", "https://pypi.org"
CLEAN, FOUND, UNUSABLE, UNREACHED = 0, 1, 2, 75
MAX_BYTES = 20_000_000
_LIMIT_S = 20.0
_FAILURES_IN_A_ROW = 3
"""After so many packages that a source does not answer for, it is held to be out of reach."""


class NotReachedError(Exception):
    """A source gave no answer that can be read; the text says why."""


@dataclass
class Audit:
    """What was found out."""

    found: dict[str, list[str]] = field(default_factory=dict)
    """`name==version` -> advisories."""
    unasked: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Which source could not be used, and why."""
    source: str = ""
    """Who answered; empty: nobody."""


def audited(packages: Sequence[Package], *, osv: str = OSV, pypi: str = PYPI) -> Audit:
    """Ask the first source that answers."""
    audit = Audit()
    try:
        audit.found = _of_osv(packages, osv)
        audit.source = osv
        return audit
    except NotReachedError as error:
        audit.problems.append(f"{osv}: {error}")
    _ask_pypi(packages, pypi, audit)
    return audit


def _of_osv(packages: Sequence[Package], base: str) -> dict[str, list[str]]:
    asked = {"queries": [{"package": {"purl": each.purl}} for each in packages]}
    results = _field(_answer(f"{base}/v1/querybatch", asked), "results")
    if not isinstance(results, list) or len(results) != len(packages):
        raise NotReachedError("its answer is not about the packages that were asked about")
    found = {}
    for package, result in zip(packages, results, strict=True):
        if known := _ids(_field(result, "vulns", [])):
            found[_name(package)] = known
    return found


def _ask_pypi(packages: Sequence[Package], base: str, audit: Audit) -> None:
    failed = 0
    for package in packages:
        name = _name(package)
        if failed >= _FAILURES_IN_A_ROW:
            audit.unasked.append(name)
            continue
        try:
            answer = _answer(f"{base}/pypi/{package.name}/{package.version}/json")
            standing = [
                each for each in _listed(_field(answer, "vulnerabilities")) if not each.get("withdrawn")
            ]
            if known := _ids(standing):
                audit.found[name] = known
            audit.source, failed = base, 0
        except NotReachedError as error:
            failed += 1
            audit.unasked.append(name)
            audit.problems.append(f"{base}, {name}: {error}")


def _answer(url: str, body: Mapping[str, Any] | None = None) -> Any:
    parts = urlsplit(url)
    if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "::1", "localhost"):
        raise NotReachedError("only https is asked off this machine")
    data = None if body is None else json.dumps(body).encode()
    headers = {"Accept": "application/json", "User-Agent": "cogworks-audit"}
    headers["Content-Type"] = "application/json"
    request = urllib.request.Request(url, data=data, headers=headers)  # noqa: S310 - the scheme was looked at
    try:
        with urllib.request.urlopen(request, timeout=_LIMIT_S) as response:  # noqa: S310 - as above
            text = response.read(MAX_BYTES + 1)
    except urllib.error.HTTPError as error:
        raise NotReachedError(f"it answers {error.code}") from None
    except (OSError, ValueError) as error:
        raise NotReachedError(f"it cannot be reached ({error})") from None
    if len(text) > MAX_BYTES:
        raise NotReachedError(f"its answer is longer than {MAX_BYTES} bytes")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise NotReachedError("its answer is no JSON") from None


def _field(answer: Any, name: str, default: Any = None) -> Any:
    found = answer.get(name, default) if isinstance(answer, dict) else None
    if found is None:
        raise NotReachedError(f"its answer has no {name!r}")
    return found


def _listed(found: Any) -> list[dict[str, Any]]:
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise NotReachedError("its list of advisories cannot be read")
    return found


def _ids(advisories: Any) -> list[str]:
    return sorted(
        {_plain(str(each.get("id") or "an advisory without a name")) for each in _listed(advisories)}
    )


def _plain(text: str) -> str:
    """Words of others, fit for a terminal and the log of a workflow."""
    return "".join(each if each.isalnum() or each in "-._ " else "?" for each in text)[:100]


def _name(package: Package) -> str:
    return f"{package.name}=={package.version}"


def pages(audit: Audit, packages: Sequence[Package]) -> list[str]:
    """What is told, line by line."""
    lines = [f"{name}: {', '.join(known)}" for name, known in sorted(audit.found.items())]
    lines += [f"not asked: {problem}" for problem in audit.problems]
    asked = len(packages) - len(audit.unasked)
    count = sum(map(len, audit.found.values()))
    if not audit.source:
        return [
            *lines,
            f"No source of advisories could be reached: nothing is known of {len(packages)} packages.",
        ]
    said = (
        f"{asked} of {len(packages)} packages were looked up at {audit.source}; {count} advisories are known"
    )
    return [*lines, f"{said}{f', and nothing of {len(audit.unasked)} packages' if audit.unasked else ''}."]


def main(arguments: Sequence[str]) -> int:
    """Audit a lock file and tell what was found; the exit code."""
    parser = argparse.ArgumentParser(
        prog="audit", description="Ask what is known against the locked packages."
    )
    parser.add_argument("--lock", type=Path, default=LOCK)
    parser.add_argument("--osv", default=OSV, help="base address of osv.dev or of a mirror")
    parser.add_argument("--pypi", default=PYPI, help="base address of PyPI or of a mirror with its JSON API")
    options = parser.parse_args(arguments)
    try:
        packages = packages_in(options.lock.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        sys.stderr.write(f"{options.lock} cannot be read: {error}\n")
        return UNUSABLE
    unhashed = [_name(each) for each in packages if not each.digests]
    if not packages or unhashed:
        what = f"has packages without a hash: {', '.join(unhashed)}" if unhashed else "pins no package"
        sys.stderr.write(f"{options.lock} {what}. Run scripts/lock.\n")
        return UNUSABLE
    audit = audited(packages, osv=options.osv.rstrip("/"), pypi=options.pypi.rstrip("/"))
    sys.stdout.write("\n".join(pages(audit, packages)) + "\n")
    return FOUND if audit.found else UNREACHED if audit.unasked else CLEAN
