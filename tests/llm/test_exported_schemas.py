import json
import subprocess
import sys
from pathlib import Path

import pytest

from cogworks.llm.prompts import shipped_prompts, shipped_schemas
from cogworks.llm.schemas import full_schema, reduced_schema, schema_text
from cogworks.nodes.registry import REPLIES
from tests.limits import ENDS_WITHIN_S

ROOT = Path(__file__).resolve().parents[2]


def test_every_prompt_has_a_schema_and_every_schema_a_prompt() -> None:
    assert set(shipped_prompts().stems) == set(shipped_schemas()) == set(REPLIES)


def test_the_exported_schemas_are_those_of_the_models() -> None:
    wanted = {stem: schema_text(model) for stem, model in REPLIES.items()}

    assert shipped_schemas() == wanted, "run scripts/export-schemas"


def test_the_script_that_exports_them_agrees() -> None:
    found = subprocess.run(
        [sys.executable, ROOT / "scripts" / "export-schemas", "--check"],
        capture_output=True,
        text=True,
        check=False,
        timeout=ENDS_WITHIN_S,
    )

    assert (found.returncode, found.stderr) == (0, "")


@pytest.mark.parametrize("stem", sorted(REPLIES))
def test_every_reply_has_a_form_that_the_vendor_accepts_as_it_is(stem: str) -> None:
    from anthropic import transform_schema

    reduced = reduced_schema(full_schema(REPLIES[stem]))

    assert transform_schema(json.loads(json.dumps(reduced))) == reduced
