"""The statement of where a change comes from."""

import json

from cogworks import __version__
from cogworks.codegen.proving import PREDICATE, STATEMENT
from tests.codegen.test_proving import proven
from tests.codegen.test_test_writing import implemented, world, written
from tests.nodes.examples import task


def test_a_coding_visit_states_what_it_made_out_of_what() -> None:
    place = world(written(), implemented())
    found = proven(place)
    asked = task("code_generation", sub_item="A")

    said = json.loads(place.kept["provenance.json"])

    assert (said["_type"], said["predicateType"]) == (STATEMENT, PREDICATE)
    (subject,) = said["subject"]
    assert subject == {
        "name": f"git+{asked.item.repository}@{asked.branch}",
        "digest": {"gitCommit": found.head.commit},
    }
    definition, details = said["predicate"]["buildDefinition"], said["predicate"]["runDetails"]
    assert definition["resolvedDependencies"] == [
        {
            "uri": f"git+{asked.item.repository}@{asked.base_branch}",
            "digest": {"gitCommit": found.base.commit},
        }
    ]
    assert definition["externalParameters"] == {
        "issue": f"{asked.item.repository}#{asked.item.number}",
        "sub_item": "A",
    }
    assert definition["internalParameters"]["proven"] is True
    assert details["builder"]["version"]["cogworks"] == __version__
    assert details["metadata"] == {"invocationId": asked.visit.visit_key}


def test_a_repeated_visit_states_the_same() -> None:
    first, second = world(written(), implemented()), world(written(), implemented())
    proven(first)
    proven(second)

    assert first.kept["provenance.json"] == second.kept["provenance.json"]
