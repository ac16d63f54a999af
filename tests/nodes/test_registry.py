"""Does every node of the default pipeline have a procedure, and every question a prompt and a reply type?"""

from cogworks.llm.prompts import shipped_prompts
from cogworks.nodes.registry import NODES, REPLIES
from cogworks.nodes.review import PASSES


def test_the_nodes_of_the_built_in_pipelines_are_there() -> None:
    assert list(NODES) == [
        "intake",
        "architecture",
        "interface_design",
        "planning",
        "code_generation",
        "review",
        "integration",
        "division",
        "parts",
        "start",
    ]


def test_every_prompt_has_a_reply_type_and_the_other_way_round() -> None:
    assert shipped_prompts().stems == tuple(sorted(REPLIES))
    assert all(shipped_prompts().render_part(f"_review_{name}", {"rule_findings": []}) for name in PASSES)
