"""Where does a finished node lead, when only a model can say?"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from cogworks.engine.tasks import VIEW
from cogworks.errors import InvalidReply, TryAgainLater
from cogworks.nodes.asking import purpose_of
from cogworks.nodes.contract import NodePorts, NodeProcedure, Outcome, Succeeded
from cogworks.nodes.intake import issue
from cogworks.nodes.replies import ConditionReply
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.elements import ConditionAnswer, Fallback, Instance, ModelCondition, place_of
from cogworks.pipeline.graph import Node, Pipeline
from cogworks.pipeline.routing import evaluate_edges

MAX_PART_CHARS = 20_000
"""Of each slot, as the model is shown it."""

_SAID = {"yes": True, "no": False, "unclear": None}


def routing_procedure(pipeline: Pipeline, model_id: str) -> NodeProcedure:
    """What a routing visit of any node of the pipeline does: it asks what has to be known, one question at a time.

    A question is asked once, and only when the expressions and the answers so far leave an edge open. No usable
    answer (time-out, failure of the provider, an unclear or unfit reply) leaves it to the condition's fallback.

    Args:
        model_id: who is asked, for the record.
    """

    def run(task: NodeTask, ports: NodePorts) -> Outcome:
        node = pipeline.node(place_of(Instance(task.visit.node, task.visit.sub_item)).node)
        answers: dict[str, ConditionAnswer] = {}

        def ask(condition: ModelCondition) -> bool | None:
            if condition.question not in answers:
                ports.say(f"{node.title}: asking a model: {condition.question}")
                number = len(answers) + 1
                variables = _question(task, node, condition)
                answers[condition.question] = _answer(task, ports, variables, number, model_id)
            return answers[condition.question].answer

        results = evaluate_edges(pipeline, node.id, task.inputs[VIEW], ask=ask)
        holding = ", ".join(edge_id for edge_id, holds in results.items() if holds) or "no edge"
        fallbacks = sum(1 for answer in answers.values() if answer.fallback)
        by_fallback = f"; {fallbacks} by fallback" if fallbacks else ""
        return Succeeded(
            output={"answers": [answer.model_dump(mode="json") for answer in answers.values()]},
            summary=f"{len(answers)} question(s) asked{by_fallback}; {holding} holds",
        )

    return run


def answers_in(output: Mapping[str, Any]) -> tuple[ConditionAnswer, ...]:
    """The answers in the output of a routing visit."""
    return tuple(ConditionAnswer.model_validate(each) for each in output["answers"])


def _answer(
    task: NodeTask, ports: NodePorts, variables: Mapping[str, Any], number: int, model_id: str
) -> ConditionAnswer:
    question = variables["question"]
    try:
        reply = ports.model.ask(
            "condition", variables, ConditionReply, purpose=purpose_of(task.visit.node, task.visit, number)
        )
    except TryAgainLater as error:
        return _fallback(question, "timeout" if error.is_timeout else "api_error", str(error), ports.say)
    except InvalidReply as error:
        return _fallback(question, "unparseable", str(error), ports.say)
    if reply.answer == "unclear":
        fallback = _fallback(question, "ambiguous", reply.reason, ports.say)
        return fallback.model_copy(update={"model_id": model_id})
    return ConditionAnswer(question=question, answer=_SAID[reply.answer], why=reply.reason, model_id=model_id)


def _fallback(question: str, kind: Fallback, why: str, say: Callable[[str], None]) -> ConditionAnswer:
    say(f"no usable answer ({kind}), so the fallback decides: {question}")
    return ConditionAnswer(question=question, answer=None, fallback=kind, why=why)


def _question(task: NodeTask, node: Node, condition: ModelCondition) -> dict[str, Any]:
    view = task.inputs[VIEW]
    # What the node itself made is what a condition is usually about.
    slots = [*node.outputs, *(slot for slot in sorted(view) if slot not in node.outputs)]
    parts = [{"label": f"{slot} as JSON", "text": _shown(view[slot])} for slot in slots if slot in view]
    return {
        "item": issue(task.item),
        "node": node.id,
        "parts": parts,
        "question": condition.question,
    }


def _shown(value: Any) -> str:
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)
    if len(text) <= MAX_PART_CHARS:
        return text
    return f"{text[:MAX_PART_CHARS]}\n… {len(text) - MAX_PART_CHARS} more characters are not shown"
