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
from cogworks.services.python.responses import found, listed, outside, refused
from cogworks.services.python.review_settings import Rules, RuleSettings, rules_for
from cogworks.services.python.syntax import is_python, missing
from cogworks.services.python.workroom import workroom
from cogworks.vocabulary import Severity

_SETTINGS = "review.toml"


def review_rules(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`.

    The repository's own settings of ruff play no part: whoever wrote the change may have written them as well.
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
    parts = (_reviewed(root, there, rules, machine),) if there else ()
    problems += [each for part in parts for each in part.findings]
    counts = {"artifacts": len(ours), "skipped": len(params.artifacts) - len(ours)}
    result = tool_runs(parts).model_dump(mode="json")
    return found(request, told(problems), result, counts=counts, tools=versions(parts))


def _reviewed(root: Path, paths: Sequence[str], rules: Rules, machine: Machine) -> Checked:
    version = installed_version("ruff")
    if version is None:
        return skipped("ruff", "it is not installed beside cogworks", place=".")
    options = [f"--config={_SETTINGS}"]
    try:
        with workroom() as room:
            room.put(_SETTINGS, rules.toml.encode())
            ignoring = RuffRun([*options, "--ignore-noqa"], rules.severity_of)
            every = ruff_findings(room, root, paths, ignoring, machine)
            heeding = RuffRun(options, rules.severity_of)
            kept = ruff_findings(room, root, paths, heeding, machine)
    except RuffFailed as error:
        return skipped("ruff", str(error), place=".")
    findings = [*kept, *(_hushed(each) for each in (Counter(every) - Counter(kept)).elements())]
    wanted = tuple(each for each in findings if rules.applies(each))
    return Checked(run=ToolRun(tool="ruff"), version=version, findings=wanted)


def _hushed(found: Diagnostic) -> Diagnostic:
    """A finding that the file itself suppresses: a reviewer may want to know, nothing more."""
    text = f"{found.message} (suppressed by a comment in the file)"
    return found.model_copy(update={"severity": Severity.INFORMATIONAL, "message": text})
