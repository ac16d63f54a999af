"""Repairs of a real repository: real git, the real Python service and pytest; only the model is scripted."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from cogworks.codegen.dossier import Record
from cogworks.errors import BudgetReached, ConfigurationError, UsageError
from cogworks.repair.instance import Instance
from cogworks.repair.options import Logging, ModelChoice, Options
from cogworks.repair.testcommand import read_command
from cogworks.settings.config import read_environment
from cogworks.wiring.fix import open_repair
from cogworks.wiring.fix_order import Order
from tests.codebase.repositories import git
from tests.cycle.runlog_grammar import NAMED, problems
from tests.fakes import ScriptedModel
from tests.fixing import (
    CART,
    FILES,
    GOOD,
    MONEY,
    PATIENT,
    TARGET,
    TESTS,
    diffs,
    landmark,
    make_shop,
    pattern,
    place,
    plan,
)

ENVIRONMENT = read_environment({"COGWORKS_LLM_PROVIDER": "cassette", "HOME": "/nonexistent"})
SIGN_ONLY = {"shop/cart.py": GOOD["shop/cart.py"]}
BREAKING = {
    "shop/cart.py": GOOD["shop/cart.py"],
    "shop/money.py": ("    return int(amount)\n", "    return 2.8\n"),
}
GUTTED = {"tests/test_shop.py": ("    assert total([1.4, 1.4]) == 2.8\n", "    pass\n")}
ESCAPING = {"../evil.py": ("", "evil = True\n")}
SERVICES_PATCH = (
    "diff --git a/.cogworks/services.toml b/.cogworks/services.toml\nnew file mode 100644\n--- /dev/null\n"
    "+++ b/.cogworks/services.toml\n@@ -0,0 +1 @@\n+evil = true\n"
)
MISFIT = "--- a/shop/cart.py\n+++ b/shop/cart.py\n@@ -1 +1 @@\n-nothing like it\n+anything\n"


def order(shop: Path, options: Options | None = None, **task: Any) -> Order:
    instance = Instance.model_validate({"instance_id": "shop-1", "failing_tests": [TARGET], **task})
    return Order(shop, instance, options or PATIENT, command="python -m pytest -q")


def passing(shop: Path, folder: Path, patch: str) -> Mapping[str, str]:
    """The files of a fresh clone with the patch."""
    git(folder, "clone", "--quiet", str(shop), "fresh")
    (folder / "final.diff").write_text(patch)
    git(folder / "fresh", "apply", "--index", str(folder / "final.diff"))
    return {path: (folder / "fresh" / path).read_text() for path in FILES}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_one_good_diff_of_six_is_kept_and_the_users_checkout_is_not_touched(tmp_path: Path) -> None:
    shop = make_shop(tmp_path)
    (shop / "shop" / "cart.py").write_text("work of somebody\n")
    before = git(shop, "rev-parse", "HEAD"), git(shop, "count-objects", "-v"), git(shop, "worktree", "list")
    model = ScriptedModel(
        pattern(),
        plan(landmark()),
        diffs(GUTTED, ESCAPING, MISFIT),
        diffs(BREAKING, SIGN_ONLY),
        diffs(GOOD),
    )
    said: list[str] = []

    with open_repair(order(shop), ENVIRONMENT, say=said.append, provider=model) as repair:
        result, patch, notes = repair.run(), repair.patch, repair.notes
        log = [Record.model_validate_json(line) for line in repair.artifacts()["events.ndjson"].splitlines()]

    assert result.success, result.error
    assert problems(log) == []
    assert {record.kind for record in log} >= NAMED
    assert datetime.now(UTC).timestamp() - 600 < log[0].ts <= log[-1].ts <= datetime.now(UTC).timestamp()
    told = " ".join(notes.refused)
    for text in ("is an existing test", "evil.py", "fits nowhere"):
        assert text in told
    assert sorted(each.result.code for each in notes.tried) == ["gate_regression", "gate_targeted", "kept"]
    reasons = " ".join(reason for each in notes.tried for reason in each.result.reasons)
    assert "breaks tests/test_shop.py::test_whole_amounts" in reasons
    assert TARGET in reasons
    fresh = passing(shop, tmp_path, patch)
    assert "result += price" in fresh["shop/cart.py"]
    assert "return amount" in fresh["shop/money.py"]
    assert fresh["tests/test_shop.py"] == TESTS
    assert notes.proof is not None
    assert notes.proof.is_proven
    assert set(notes.proof.versions) == {"python", "pytest"}
    assert notes.localised is not None
    assert notes.localised.ranking.missing == ()
    assert said == [line for line in said if "uncommitted work in" in line]
    assert (shop / "shop" / "cart.py").read_text() == "work of somebody\n"
    assert (
        git(shop, "rev-parse", "HEAD"),
        git(shop, "count-objects", "-v"),
        git(shop, "worktree", "list"),
    ) == before


RECIPE = "test:\n\tpython -X dev -m pytest -x --strict-markers $(ARGS)\n"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "command",
    ["python -X dev -m pytest tests -q -p no:randomly --strict-markers", "make test ARGS={tests}"],
    ids=["pytest with options", "make"],
)
def test_a_repair_is_proven_by_the_users_own_command(tmp_path: Path, command: str) -> None:
    """The failing test passes under that command alone, and one of its name elsewhere is not run."""
    tests = TESTS.replace("def test_total():\n", "def test_total():\n    assert sys.flags.dev_mode\n")
    elsewhere = "def test_total():\n    raise SystemExit('not to be run')\n"
    files = {
        **FILES,
        "tests/test_shop.py": f"import sys\n\n{tests}",
        "checks/test_shop.py": elsewhere,
        "pytest.ini": "[pytest]\ntestpaths = tests\n",
        "Makefile": RECIPE,
    }
    shop = make_shop(tmp_path, files)
    model = ScriptedModel(pattern(), plan(landmark()), diffs(GOOD))
    asked = read_command(command)
    wanted = replace(order(shop), suite=asked.suite, command=command, words=asked.words)

    with open_repair(wanted, ENVIRONMENT, say=print, provider=model) as repair:
        result, notes = repair.run(), repair.notes

    assert result.success, result.error
    assert notes.proof is not None
    assert notes.proof.commands == (command,)
    assert notes.proof.having("fail_to_pass") == (TARGET,)


UNDEFINED = "\n\nCURRENCY = euro\n"
LOADABLE = {"shop/cart.py": ("CURRENCY = euro\n", 'CURRENCY = "euro"\n')}


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("command", ["", "python -m pytest -q -rA", "make test ARGS={tests}"])
@pytest.mark.parametrize("folder", ["", "tests/", "tests/sales/"])
def test_a_package_that_no_conftest_can_import_is_repaired(tmp_path: Path, folder: str, command: str) -> None:
    """pytest does not even begin to look for tests. Of those it finds at last, one goes on failing and one file cannot be loaded."""
    test = f"{folder}test_shop.py::test_count"
    cart = f"{CART}{UNDEFINED}"
    files = {
        "shop/__init__.py": "",
        "shop/cart.py": cart,
        "shop/money.py": MONEY,
        f"{folder}conftest.py": "import shop.cart\n",
        f"{folder}test_shop.py": TESTS,
        f"{folder}test_old.py": "import not_there\n",
        "tests/test_apart.py": "def test_apart(): pass\n",
        "Makefile": RECIPE,
        ".cogworks/config.toml": FILES[".cogworks/config.toml"],
    }
    shop = make_shop(tmp_path, files)
    last = cart.count("\n")
    fault = json.dumps(
        {**json.loads(pattern()), "primary": place("shop/cart.py", last, last), "alternatives": []}
    )
    model = ScriptedModel(fault, plan(landmark("load", place("shop/cart.py", last, last))), diffs(LOADABLE))
    asked = read_command(command or "python -m pytest -q")
    wanted = replace(order(shop, failing_tests=[test]), suite=asked.suite, words=asked.words)

    with open_repair(wanted, ENVIRONMENT, say=print, provider=model) as repair:
        result, notes = repair.run(), repair.notes

    assert result.success, result.error
    assert [each.result.code for each in notes.tried] == ["kept"]
    assert notes.proof is not None
    assert test in notes.proof.having("fail_to_pass")
    assert notes.proof.having("still_fails") == (f"{folder}test_shop.py::test_total",)
    # It has no part in a folder that cannot be loaded, and ran in the suite as it was found.
    is_apart = folder == "tests/sales/"
    assert "tests/test_apart.py::test_apart" in notes.proof.having(
        "pass_to_pass" if is_apart else "fail_to_pass"
    )


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("fault", "loaded"),
    [
        ("CURRENCY = euro", {"tests/conftest.py": "import shop.cart\n"}),
        ("CURRENCY = __import__('os').abort()", {}),
    ],
    ids=["conftest", "crash"],
)
def test_what_lets_tests_be_loaded_may_break_no_test_beyond_them(
    tmp_path: Path, fault: str, loaded: dict[str, str]
) -> None:
    cart = f"{CART}\n\n{fault}\n"
    apart = f"from pathlib import Path\n\n\ndef test_apart():\n    assert {fault!r} in Path('shop/cart.py').read_text()\n"
    files = {
        "shop/__init__.py": "",
        "shop/cart.py": cart,
        "shop/money.py": MONEY,
        **loaded,
        "tests/test_shop.py": TESTS,
        "other/test_apart.py": apart,
        ".cogworks/config.toml": FILES[".cogworks/config.toml"],
    }
    shop = make_shop(tmp_path, files)
    last = cart.count("\n")
    found = json.dumps(
        {**json.loads(pattern()), "primary": place("shop/cart.py", last, last), "alternatives": []}
    )
    planned = found, plan(landmark("load", place("shop/cart.py", last, last)))
    careless = {"shop/cart.py": (f"{fault}\n", 'CURRENCY = "euro"\n')}
    careful = {"shop/cart.py": (f"{fault}\n", f'CURRENCY = "euro"  # it was: {fault}\n')}
    model = ScriptedModel(*planned, diffs(careless), *planned, diffs(careful))
    wanted = order(shop, failing_tests=["tests/test_shop.py::test_count"])

    with open_repair(wanted, ENVIRONMENT, say=print, provider=model) as repair:
        result, notes, patch = repair.run(), repair.notes, repair.patch

    assert result.success, result.error
    assert f"it was: {fault}" in patch
    assert notes.proof is not None
    assert notes.proof.having("pass_to_pass") == ("other/test_apart.py::test_apart",)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("sh run.sh", "ran tests that were not asked for"),
        ("make nothing", "has to run pytest with the variables PYTEST_ADDOPTS and PYTHONPATH"),
        ("tox-that-is-not-here -e py --", "cannot be started in isolation"),
    ],
)
def test_a_command_that_takes_or_reports_no_ids_is_refused_before_a_model_is_asked(
    tmp_path: Path, command: str, reason: str
) -> None:
    # A condition cannot be told from the text, so the script is run as it stands; it takes no ids.
    script = "if true; then python -m pytest -q; fi\n"
    shop = make_shop(tmp_path, {**FILES, "Makefile": RECIPE, "run.sh": script})
    model = ScriptedModel()
    wanted = replace(order(shop), command=command, words=read_command(command).words)

    with (
        pytest.raises(UsageError, match=f"`--test-cmd` cannot be kept: .*{reason}"),
        open_repair(wanted, ENVIRONMENT, say=print, provider=model),
    ):
        pass


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_changes_that_help_only_together_are_kept_as_two_commits(tmp_path: Path) -> None:
    """The total is wrong until its sign and its rounding are both mended."""
    shop = make_shop(tmp_path)
    steps = plan(
        landmark("add", place("shop/cart.py", 5, 7), join="all"),
        landmark("round", place("shop/money.py", 1, 2), join="all", after=["add"]),
    )
    money = {"shop/money.py": GOOD["shop/money.py"]}
    model = ScriptedModel(pattern(), steps, diffs(SIGN_ONLY), diffs(money))

    with open_repair(order(shop), ENVIRONMENT, say=print, provider=model) as repair:
        result, patch, notes = repair.run(), repair.patch, repair.notes

    assert result.success, result.error
    assert [(each.landmark, each.result.code) for each in notes.tried] == [("add", "kept"), ("round", "kept")]
    fresh = passing(shop, tmp_path, patch)
    assert "result += price" in fresh["shop/cart.py"]
    assert "return amount" in fresh["shop/money.py"]


MOMENTS = """\
import time

import pytest

from shop.cart import count
from shop.money import rounded

NOW = time.time_ns()


@pytest.mark.parametrize("moment", [NOW, NOW + 1], ids=str)
def test_at_any_moment(moment):
    assert count([moment]) == 1


@pytest.mark.parametrize("moment", [NOW], ids=str)
def test_that_whole_amounts_stay_whole(moment):
    assert rounded(moment) == moment
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_tests_that_are_named_for_the_time_stop_no_repair_and_still_count(tmp_path: Path) -> None:
    shop = make_shop(tmp_path, {**FILES, "tests/test_moments.py": MOMENTS})
    model = ScriptedModel(pattern(), plan(landmark()), diffs(BREAKING), diffs(GOOD))

    with open_repair(order(shop), ENVIRONMENT, say=print, provider=model) as repair:
        result, notes = repair.run(), repair.notes

    assert result.success, result.error
    refused, kept = (each.result for each in notes.tried)
    assert (refused.code, kept.code) == ("gate_regression", "kept")
    assert "tests/test_moments.py::test_that_whole_amounts_stay_whole[#1]" in " ".join(refused.reasons)
    assert notes.proof is not None
    assert {test.id: test.verdict for test in notes.proof.tests if "moments" in test.id} == {
        "tests/test_moments.py::test_at_any_moment[#1]": "pass_to_pass",
        "tests/test_moments.py::test_at_any_moment[#2]": "pass_to_pass",
        "tests/test_moments.py::test_that_whole_amounts_stay_whole[#1]": "pass_to_pass",
    }
    assert len(notes.proof.unstable) == 3
    assert all(re.search(r"\[\d{15,}\]$", test) for test in notes.proof.unstable)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_tests_that_come_with_the_task_are_no_part_of_the_patch_and_cannot_be_changed(tmp_path: Path) -> None:
    files = {path: text for path, text in FILES.items() if path != "tests/test_shop.py"}
    shop = make_shop(tmp_path, {**files, "tests/test_other.py": "def test_one():\n    assert True\n"})
    body = "".join(f"+{line}\n" for line in TESTS.splitlines())
    test_patch = (
        "diff --git a/tests/test_shop.py b/tests/test_shop.py\nnew file mode 100644\n--- /dev/null\n"
        f"+++ b/tests/test_shop.py\n@@ -0,0 +1,{len(TESTS.splitlines())} @@\n{body}"
    )
    model = ScriptedModel(pattern(), plan(landmark(test=TARGET)), diffs(GUTTED, GOOD))
    base = git(shop, "rev-parse", "HEAD")

    with open_repair(
        order(shop, test_patch=test_patch, base_commit=base), ENVIRONMENT, say=print, provider=model
    ) as repair:
        result, patch, notes = repair.run(), repair.patch, repair.notes

    assert result.success, result.error
    assert "tests/" not in patch
    assert any("was handed over" in reason for reason in notes.refused)


@pytest.mark.parametrize(
    ("task", "problem"),
    [
        ({"base_commit": "0" * 40}, "has no commit"),
        ({"base_commit": "--upload-pack=evil"}, "wanted the name of a commit"),
        ({"test_patch": "diff --git a/x b/x\n"}, "`test_patch` does not apply"),
        ({"test_patch": SERVICES_PATCH}, r"`test_patch` changes \.cogworks/services\.toml"),
    ],
    ids=["unknown commit", "no commit", "tests that do not apply", "a service of its own"],
)
def test_a_task_that_does_not_fit_is_refused_before_anything_runs(
    tmp_path: Path, task: dict[str, str], problem: str
) -> None:
    shop = make_shop(tmp_path)

    with (
        pytest.raises(UsageError, match=problem),
        open_repair(order(shop, PATIENT, **task), ENVIRONMENT, say=print),
    ):
        pass


def test_a_folder_without_a_repository_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match="is no git repository"),
        open_repair(order(tmp_path), ENVIRONMENT, say=print),
    ):
        pass


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_without_a_model_the_lines_that_name_one_are_told_and_the_places_are_ranked(tmp_path: Path) -> None:
    files = {path: text for path, text in FILES.items() if not path.startswith(".cogworks")}
    shop = make_shop(tmp_path, files)
    said: list[str] = []

    with open_repair(order(shop), ENVIRONMENT, say=said.append) as repair:
        result, notes, artifacts = repair.run(), repair.notes, repair.artifacts()

    assert artifacts["final_patch.txt"] == ""
    assert '[codegen.model]\nname = "' in said[0]
    assert not result.success
    assert "no model was asked for a change: no model is named" in result.error
    assert notes.localised is not None
    assert "shop.cart.total" in [each.symbol.id for each in notes.localised.suspects[:2]]
    assert "prompts.ndjson" not in artifacts
    assert repair.meter.calls == 0


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_clients_of_ones_own_in_one_process_are_asked_what_is_theirs(tmp_path: Path) -> None:
    """Any object with the one method `complete` will do; no name, price, key or global is needed."""
    files = {path: text for path, text in FILES.items() if not path.startswith(".cogworks")}
    shop = make_shop(tmp_path, files)
    # One question each: that a client of one's own brings a repair to its end is shown above.
    first = ScriptedModel(BudgetReached("the first has had enough"))
    second = ScriptedModel(BudgetReached("the second has had enough"))
    options = Options(logging=Logging(prompts="full"))

    with (
        open_repair(order(shop), ENVIRONMENT, say=print, provider=first) as one,
        open_repair(
            order(shop, options, instance_id="shop-2"), ENVIRONMENT, say=print, provider=second
        ) as other,
    ):
        with pytest.raises(BudgetReached, match="the second"):
            other.run()
        with pytest.raises(BudgetReached, match="the first"):
            one.run()
        logs = [each.artifacts()["prompts.ndjson"].splitlines() for each in (one, other)]

    assert [len(each.requests) for each in (first, second)] == [1, 1]
    assert {each.requests[0].model for each in (first, second)} == {"own-client"}
    assert [len(log) for log in logs] == [1, 1]
    assert '"messages"' not in logs[0][0]
    assert "What is believed" not in logs[0][0]
    assert "Say what is wrong, and where." in logs[1][0]
    assert (one.meter.cost_usd, one.meter.calls) == (Decimal(0), 0)


OPUS, HAIKU, SONNET = "claude-opus-5-5", "claude-haiku-5-5", "claude-sonnet-5-5"


@pytest.mark.parametrize(
    ("environment", "option", "is_configured", "asked"),
    [
        (OPUS, HAIKU, True, OPUS),
        (OPUS, "", False, OPUS),
        ("", HAIKU, True, HAIKU),
        ("", HAIKU, False, HAIKU),
        ("", "", True, "claude-fable-5-2"),
        ("", "", False, ""),
    ],
    ids=["all", "environment", "option and repository", "option", "repository", "nobody"],
)
def test_the_model_is_named_by_the_environment_else_the_options_else_the_repository(
    tmp_path: Path, environment: str, option: str, is_configured: bool, asked: str
) -> None:
    bare = {path: text for path, text in FILES.items() if not path.startswith(".cogworks")}
    own = {".cogworks/config.toml": '[llm]\nmodel = "claude-fable-5-2"\n'}
    shop = make_shop(tmp_path, {**bare, **own} if is_configured else bare)
    around = ENVIRONMENT.model_copy(update={"llm_model": environment})

    with open_repair(
        order(shop, Options(model=ModelChoice(name=option))), around, say=lambda _: None
    ) as repair:
        assert repair.model == asked
        assert (repair.unasked is None) is bool(asked)


def test_nobody_is_asked_who_is_not_wanted_whatever_is_configured(tmp_path: Path) -> None:
    said: list[str] = []
    wanted = replace(order(make_shop(tmp_path)), is_offline=True)
    keyed = read_environment({"ANTHROPIC_API_KEY": "k", "HOME": "/nonexistent"})

    with open_repair(wanted, keyed, say=said.append) as repair:
        assert repair.model == ""
        assert repair.unasked is not None
        assert repair.unasked.refusal is None

    assert said == [
        "offline mode: no model will be called.\nOnly the steps that need no model run. Your files stay as they are."
    ]


def test_the_environment_names_the_model_before_everything_else(tmp_path: Path) -> None:
    shop = make_shop(tmp_path)
    environment = ENVIRONMENT.model_copy(update={"llm_model": "from-the-environment-1"})

    with (
        pytest.raises(ConfigurationError, match="from-the-environment-1"),
        open_repair(order(shop, Options(model=ModelChoice(name="other-1"))), environment, say=print),
    ):
        pass


def test_a_model_of_this_machine_repairs_without_a_key_and_a_price(tmp_path: Path) -> None:
    wanted = order(make_shop(tmp_path), Options(model=ModelChoice(provider="openai", name="local-1")))
    here = read_environment({"OPENAI_BASE_URL": "http://localhost:1", "HOME": "/nonexistent"})

    with open_repair(wanted, here, say=print) as repair:
        assert (repair.model, repair.unasked) == ("local-1", None)


@pytest.mark.parametrize(("provider", "is_asked"), [("anthropic", False), ("cassette", True)])
def test_the_provider_of_the_options_is_opened_and_without_a_key_nobody_is_asked(
    tmp_path: Path, provider: str, is_asked: bool
) -> None:
    options = Options(model=ModelChoice.model_validate({"provider": provider}))
    said: list[str] = []

    with open_repair(
        order(make_shop(tmp_path), options), read_environment({"HOME": "/nonexistent"}), say=said.append
    ) as repair:
        assert (repair.unasked is None) is is_asked
        if repair.unasked is not None:
            assert repair.unasked.refusal is not None

    assert ["Set `COGWORKS_LLM_API_KEY`" in line for line in said] == ([] if is_asked else [True])


def test_the_named_model_wins_over_the_repositorys_and_needs_a_price(tmp_path: Path) -> None:
    shop = make_shop(tmp_path)
    options = Options(model=ModelChoice(name="unheard-of-1"))

    with (
        pytest.raises(ConfigurationError, match="unheard-of-1"),
        open_repair(order(shop, options), ENVIRONMENT, say=print),
    ):
        pass


FAR = "".join(f"FILLER_{number} = {number}\n" for number in range(400))
HIDDEN = {
    **FILES,
    "shop/cart.py": CART.replace("-=", "+=")
    .replace("from shop.money import rounded", "from shop import registry")
    .replace("rounded(result)", "registry.named('round')(result)"),
    "docs/notes.txt": "TOP = 1\n",
    "shop/registry.py": "import importlib\n\n\ndef named(name):\n    return getattr(importlib.import_module('shop.zz' + 'plugins'), name + '_it')\n",
    "shop/zzplugins.py": f"{FAR}\n\ndef round_it(amount):\n    return int(amount)\n\n\n{FAR}",
}
MENDED = {"shop/zzplugins.py": ("    return int(amount)\n", "    return amount\n")}


@pytest.mark.slow
def test_lines_that_the_model_looked_at_may_be_changed_and_lines_it_never_saw_may_not(tmp_path: Path) -> None:
    shop = make_shop(tmp_path, HIDDEN)
    spot = place("shop/zzplugins.py", 403, 404)
    unseen = {"docs/notes.txt": ("TOP = 1\n", "TOP = 2\n")}
    look = json.dumps(
        {
            "looks": [{"look": "read", "target": "shop/zzplugins.py", "first_line": 402, "last_line": 405}],
            "answer": None,
        }
    )
    tried = json.dumps(
        {
            "looks": [
                {
                    "look": "try",
                    "tests": [TARGET],
                    "edits": [
                        {
                            "path": "shop/zzplugins.py",
                            "search": "    return int(amount)\n",
                            "replace": "    return amount\n",
                        }
                    ],
                }
            ],
            "answer": None,
        }
    )
    fault = json.dumps({**json.loads(pattern()), "primary": spot, "alternatives": []})
    model = ScriptedModel(look, fault, plan(landmark("round", spot)), tried, diffs(unseen), diffs(MENDED))

    with open_repair(order(shop), ENVIRONMENT, say=print, provider=model) as repair:
        result, notes, kept = repair.run(), repair.notes, repair.artifacts()

    assert result.success, result.error
    assert [each.result.code for each in notes.tried] == ["kept"]
    assert any(
        each.startswith("diff 1: allowlist: 'docs/notes.txt' is not a file of this step")
        for each in notes.refused
    )
    asked = model.requests
    for earlier, later in pairwise(asked):
        assert later.messages[: len(earlier.messages)] == earlier.messages
    assert "1 passed" in asked[4].messages[-1].text
    assert {json.loads(line)["tool"] for line in kept["looks-1.ndjson"].splitlines() if '"read"' in line} == {
        "read"
    }
