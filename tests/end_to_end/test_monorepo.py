"""One item touches two projects of one repository, each with a service and an environment of its own, on a real hub."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.scene import Ended, Scene, open_scene
from tests.end_to_end.test_example_pipelines import (
    FOLDER,
    PASSED,
    PLAN,
    SPECIFICATION,
    classified,
    output_of,
    text_of,
    written,
)
from tests.model_server import ModelServer, replied
from tests.services.asking import HERE
from tests.services.command.commanding import needs
from tests.services.package_server import serving, wheel, with_pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),  # seconds on a busy machine; usually a tenth of that
    pytest.mark.skipif(not HERE.is_complete, reason="environments are made in complete isolation here"),
]

CORE, API, NEW = (
    "packages/core/src/core_lib.py",
    "packages/api/src/api_lib.py",
    "packages/api/tests/test_loud.py",
)
PROJECT = '[project]\nname = "{0}"\nversion = "1"\n[dependency-groups]\ntest = ["pytest", "gadget=={1}"]\n'
BEFORE = "def label():\n    return 'core'\n"
AFTER = f"{BEFORE}\n\ndef loud():\n    return label().upper()\n"
FILES = {
    CORE: BEFORE,
    "packages/core/pyproject.toml": PROJECT.format("core", "1.0"),
    "packages/core/tests/test_core.py": (
        "import gadget\nfrom core_lib import label\n\n\n"
        "def test_label():\n    assert len(label()) == 4\n    assert gadget.VERSION == 1.0\n"
    ),
    API: "from core_lib import label\n\n\ndef name():\n    return label() + '-api'\n",
    "packages/api/pyproject.toml": (
        PROJECT.format("api", "2.0") + '[tool.pytest.ini_options]\npythonpath = ["src", "../core/src"]\n'
    ),
    "packages/api/tests/test_api.py": (
        "import gadget\nfrom api_lib import name\n\n\n"
        "def test_name():\n    assert name() == 'core-api'\n    assert gadget.VERSION == 2.0\n"
    ),
    ".cogworks/services.toml": (
        '[[services]]\nname = "core"\nkind = "python"\nroot = "packages/core"\n'
        '[[services]]\nname = "api"\nkind = "python"\nroot = "packages/api"\n'
        '[[services]]\nname = "rest"\nkind = "python"\n'
    ),
}
TEST = "from api_lib import loud_name\n\n\ndef test_loud_name():\n    assert loud_name() == 'CORE-API'\n"


def implemented(core: str) -> dict[str, Any]:
    api = "from core_lib import label, loud\n\n\ndef name():\n    return label() + '-api'\n"
    api += "\n\ndef loud_name():\n    return loud() + '-API'\n"
    return {
        "summary": "Say it loud",
        "files": [
            {"path": CORE, "action": "modify", "content": core},
            {"path": API, "action": "modify", "content": api},
        ],
        "notes": "",
        "test_dispute": {"test_id": "", "reason": ""},
        "missing_capability": "",
    }


@pytest.fixture
def index_url(tmp_path: Path) -> Iterator[str]:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    with_pytest(wheels)
    for version in ("1.0", "2.0"):
        wheel(wheels, "gadget", version, {"gadget.py": f"VERSION = {version}\n"})
    with serving(wheels) as server:
        yield server.address


def lay_out(scene: Scene, files: Mapping[str, str]) -> None:
    text = text_of("bugfix")
    for path in sorted([*FOLDER.glob("prompts/*"), *FOLDER.glob("schemas/*")]):
        if path.stem.removesuffix(".md") in text or path.stem.startswith("_"):
            scene.write(f".cogworks/{path.relative_to(FOLDER).as_posix()}", path.read_text("utf-8"))
    for name, content in {**files, ".cogworks/pipeline.toml": text}.items():
        scene.write(name, content)


def run(scene: Scene, server: ModelServer, index_url: str) -> Ended:
    return scene.cogworks(
        "run",
        COGWORKS_LLM_PROVIDER="anthropic",
        COGWORKS_LLM_API_KEY="a-key-of-these-tests",
        COGWORKS_LLM_BASE_URL=server.url,
        PIP_INDEX_URL=index_url,
        PIP_CONFIG_FILE=os.devnull,
    )


def test_an_item_changes_two_projects_and_what_breaks_the_other_s_tests_is_caught(
    tmp_path: Path, index_url: str
) -> None:
    work = PLAN["sub_work_items"][0] | {"files": [CORE, API, NEW]}
    breaking = AFTER.replace("'core'", "'kern'").replace("label().upper()", "'CORE'")
    tests = written(TEST) | {
        "test_path": NEW,
        "files": [{"path": NEW, "action": "create", "content": TEST}],
    }
    replies = (
        classified(),
        SPECIFICATION,
        {"sub_work_items": [work]},
        tests,
        implemented(breaking),
        implemented(AFTER),
        PASSED,
        PASSED,
        PASSED,
    )
    with open_scene(tmp_path / "scene") as scene, ModelServer() as server:
        lay_out(scene, FILES)
        scene.person.set_trigger()
        server.answers(*(replied(json.dumps(reply)) for reply in replies))

        ended = run(scene, server, index_url)

        assert ended.code == 0, ended.err
        # Asked again for one reason: a test of the other project, which the new one has nothing to do with.
        assert len(server.seen) == len(replies)
        assert "packages/api/tests/test_api.py::test_name" in json.dumps(server.seen[5].body)
        [pull] = scene.seen()["pullRequests"]["nodes"]
        assert "No test that passed before fails, is skipped or is gone." in pull["body"]


RATES, SHOP = "api/rates.py", "web/src/shop.js"
PYTHON_TEST, NODE_TEST = "api/tests/test_free.py", "web/test/free.test.js"
SHOP_BEFORE = "export function shown(cents) {\n  return `${(cents / 100).toFixed(2)} EUR`;\n}\n"
TWO_LANGUAGES = {
    RATES: "def postage(grams):\n    return 300 + 50 * (grams // 1000)\n",
    "api/pyproject.toml": '[project]\nname = "api"\nversion = "1"\n[dependency-groups]\ntest = ["pytest"]\n',
    "api/tests/test_rates.py": (
        "from rates import postage\n\n\ndef test_postage():\n    assert postage(2500) == 400\n"
    ),
    "web/package.json": '{"name": "web", "version": "1.0.0", "type": "module", "scripts": {"test": "node --test test/"}}\n',
    SHOP: SHOP_BEFORE,
    "web/test/shop.test.js": (
        'import assert from "node:assert/strict";\nimport { test } from "node:test";\n\n'
        'import { shown } from "../src/shop.js";\n\ntest("shows cents", () => assert.equal(shown(250), "2.50 EUR"));\n'
    ),
    ".cogworks/services.toml": (
        '[[services]]\nname = "api"\nkind = "python"\nroot = "api"\n'
        '[[services]]\nname = "web"\nkind = "command"\nroot = "web"\n'
    ),
}
FREE_IN_PYTHON = "from rates import postage\n\n\ndef test_a_letter_is_free():\n    assert postage(0) == 0\n"
FREE_IN_NODE = (
    'import assert from "node:assert/strict";\nimport { test } from "node:test";\n\n'
    'import { shown } from "../src/shop.js";\n\ntest("shows what is free", () => assert.equal(shown(0), "free"));\n'
)
RATES_AFTER = "def postage(grams):\n    return 300 + 50 * (grams // 1000) if grams else 0\n"
SHOP_AFTER = SHOP_BEFORE.replace("{\n", '{\n  if (cents === 0) return "free";\n', 1)


def changed(shop: str) -> dict[str, Any]:
    files = {RATES: RATES_AFTER, SHOP: shop}
    return implemented("") | {
        "files": [{"path": path, "action": "modify", "content": text} for path, text in files.items()]
    }


@needs("node")
def test_an_item_changes_a_project_in_python_and_one_in_javascript_and_both_suites_count(
    tmp_path: Path, index_url: str
) -> None:
    work = PLAN["sub_work_items"][0] | {"files": [RATES, SHOP, PYTHON_TEST, NODE_TEST]}
    new = {PYTHON_TEST: FREE_IN_PYTHON, NODE_TEST: FREE_IN_NODE}
    tests = written(FREE_IN_PYTHON) | {
        "test_path": PYTHON_TEST,
        "extra_paths": [NODE_TEST],
        "files": [{"path": path, "action": "create", "content": text} for path, text in new.items()],
    }
    breaking = SHOP_AFTER.replace("EUR", "euros")
    replies = (
        classified(),
        SPECIFICATION,
        {"sub_work_items": [work]},
        tests,
        changed(breaking),
        changed(SHOP_AFTER),
        PASSED,
        PASSED,
        PASSED,
    )
    with open_scene(tmp_path / "scene") as scene, ModelServer() as server:
        lay_out(scene, TWO_LANGUAGES)
        scene.person.set_trigger()
        server.answers(*(replied(json.dumps(reply)) for reply in replies))

        ended = run(scene, server, index_url)

        assert ended.code == 0, ended.err
        assert len(server.seen) == len(replies)
        assert "web/test/shop.test.js::shows cents" in json.dumps(server.seen[5].body)
        became = {
            each["id"]: each["verdict"]
            for each in output_of(scene, "0004-code_generation@2")["proof"]["tests"]
            if each["verdict"] == "fail_to_pass"
        }
        assert became == {
            f"{PYTHON_TEST}::test_a_letter_is_free": "fail_to_pass",
            f"{NODE_TEST}::shows what is free": "fail_to_pass",
        }
        [pull] = scene.seen()["pullRequests"]["nodes"]
        assert "No test that passed before fails, is skipped or is gone." in pull["body"]
        touched = scene.git("diff", "--name-only", "main", pull["headRefName"]).split()
        assert {RATES, SHOP, PYTHON_TEST, NODE_TEST} <= set(touched)
