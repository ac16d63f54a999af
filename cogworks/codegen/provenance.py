"""Where a change comes from, as a statement of in-toto: what was made, out of what, by which visit, tested how."""

from typing import Any

from cogworks import __version__
from cogworks.canonical import canonical
from cogworks.nodes.task import NodeTask
from cogworks.repair.proof import Proof

PROVENANCE_FILE = "provenance.json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "https://github.com/cogworks-pipeline/cogworks/code_generation@v1"


def provenance(task: NodeTask, proof: Proof) -> str:
    """The content of `provenance.json`; no clock takes part, so that a visit that is repeated states the same."""
    return f"{canonical(_statement(task, proof))}\n"


def _statement(task: NodeTask, proof: Proof) -> dict[str, Any]:
    item, repository = task.item, f"git+{task.item.repository}"
    return {
        "_type": STATEMENT,
        "subject": [
            {"name": f"{repository}@{task.branch}", "digest": {"gitCommit": proof.head.commit}},
        ],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {
                    "issue": f"{item.repository}#{item.number}",
                    "sub_item": task.visit.sub_item or "",
                },
                "internalParameters": {"tests": list(proof.commands), "proven": proof.is_proven},
                "resolvedDependencies": [
                    {"uri": f"{repository}@{task.base_branch}", "digest": {"gitCommit": proof.base.commit}},
                ],
            },
            "runDetails": {
                "builder": {"id": "cogworks", "version": {"cogworks": __version__, **proof.versions}},
                "metadata": {"invocationId": task.visit.visit_key},
                # Prompts by hash and replies: beside this file in the ledger.
                "byproducts": [{"name": name} for name in ("proof.json", "manifest-*.json", "reply-*.json")],
            },
        },
    }
