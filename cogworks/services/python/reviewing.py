"""The operation `review_rules`: what rules of security and of likely bugs find in files."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from cogworks.codebase.confined import read_file
from cogworks.domain_services.checking import ReviewRulesParams, ToolRun
from cogworks.domain_services.messages import Diagnostic, ErrorCode, Request, Response
from cogworks.services.python.checked import Checked, left_out, skipped, told, tool_runs, versions
from cogworks.services.python.linting import RuffFailed, RuffRun, installed_version, ruff_findings
from cogworks.services.python.machine import Machine
from cogworks.services.python.repository_ignores import flake8_settings, ignored_by
from cogworks.services.python.responses import found, listed, outside, refused
from cogworks.services.python.review_settings import NEED_SETTINGS, Rules, RuleSettings, code_of, rules_for
from cogworks.services.python.settings_files import by_settings
from cogworks.services.python.syntax import is_python, missing
from cogworks.services.python.workroom import Workroom, workroom
from cogworks.vocabulary import Severity

_SETTINGS = "review.toml"
_Key = tuple[str, int | None, str]
"""File, line and rule: what tells one finding from another whatever the settings make of its words."""


def review_rules(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`.

    What the repository's own settings do not want to hear of is left out, unless the change under review touches them:
    nobody silences a rule about their own work.
    """
    params = ReviewRulesParams.model_validate(request.params)
    if (refusal := outside(request, params.artifacts)) is not None:
        return refusal
    try:
        rules = rules_for(params, RuleSettings.model_validate(params.settings))
    except ValidationError as error:
        text = f"params.settings: {listed(error)}"
        return refused(request.request_id, ErrorCode.INVALID_REQUEST, text)
    except ValueError as error:
        return refused(request.request_id, ErrorCode.INVALID_REQUEST, f"params: {error}")
    root = folder.resolve()
    ours = [path for path in dict.fromkeys(params.artifacts) if is_python(path)]
    there = [path for path in ours if read_file(root, path) is not None]
    problems = [missing(path) for path in ours if path not in there]
    problems += [left_out(".", text) for text in rules.unknown]
    parts = _reviewed(root, there, rules, machine, changed=frozenset(params.changed)) if there else ()
    problems += [each for part in parts for each in part.findings]
    counts = {"artifacts": len(ours), "skipped": len(params.artifacts) - len(ours)}
    result = tool_runs(parts).model_dump(mode="json")
    return found(request, told(problems), result, counts=counts, tools=versions(parts))


def _reviewed(
    root: Path, paths: Sequence[str], rules: Rules, machine: Machine, *, changed: frozenset[str]
) -> tuple[Checked, ...]:
    version = installed_version("ruff")
    if version is None:
        return (skipped("ruff", "it is not installed beside cogworks", place="."),)
    options = [f"--config={_SETTINGS}"]
    try:
        with workroom() as room:
            room.put(_SETTINGS, rules.toml.encode())
            ignoring = RuffRun([*options, "--ignore-noqa"], rules.severity_of)
            every = ruff_findings(room, root, paths, ignoring, machine)
            heeding = RuffRun(options, rules.severity_of)
            kept = ruff_findings(room, root, paths, heeding, machine)
            wanted, unusable = _wanted_here(room, root, every, rules, machine, changed=changed)
    except RuffFailed as error:
        return (skipped("ruff", str(error), place="."),)
    findings = [*kept, *(_hushed(each) for each in (Counter(every) - Counter(kept)).elements())]
    left = tuple(each for each in findings if rules.applies(each) and _key(each) in wanted)
    return (Checked(run=ToolRun(tool="ruff"), version=version, findings=left), *unusable)


def _wanted_here(
    room: Workroom,
    root: Path,
    findings: Sequence[Diagnostic],
    rules: Rules,
    machine: Machine,
    *,
    changed: frozenset[str],
) -> tuple[frozenset[_Key], tuple[Checked, ...]]:
    """Which findings are left under the repository's own settings; settings that cannot be used silence nothing."""
    wanted: set[_Key] = set()
    unusable: list[Checked] = []
    flake8 = flake8_settings(root, besides=changed)
    for settings, group in by_settings(root, sorted({each.artifact for each in findings})).items():
        here = [each for each in findings if each.artifact in group]
        if settings is None:
            kept = [each for each in here if not (flake8 and flake8.leaves_out(each.artifact, code_of(each)))]
        elif not changed.isdisjoint((settings.path, *settings.chain)):
            kept = here
        else:
            try:
                if settings.problem:
                    raise RuffFailed(settings.problem)
                options = ["--force-exclude", "--ignore-noqa", f"--select={','.join(rules.select)}"]
                ignored = ",".join((*rules.ignore, *ignored_by(root, settings)))
                run = RuffRun([*options, *([f"--ignore={ignored}"] if ignored else [])])
                heard = {_key(each) for each in ruff_findings(room, root, group, run, machine)}
                # These need settings of ours, which were not there.
                kept = [each for each in here if _key(each) in heard or code_of(each) in NEED_SETTINGS]
            except RuffFailed as error:
                unusable.append(skipped(f"ruff with {settings.path}", str(error), place=settings.path))
                kept = here
        wanted |= {_key(each) for each in kept}
    return frozenset(wanted), tuple(unusable)


def _key(found: Diagnostic) -> _Key:
    return found.artifact, found.line, code_of(found)


def _hushed(found: Diagnostic) -> Diagnostic:
    """A finding that the file itself suppresses: a reviewer may want to know, nothing more."""
    text = f"{found.message} (suppressed by a comment in the file)"
    return found.model_copy(update={"severity": Severity.INFORMATIONAL, "message": text})
