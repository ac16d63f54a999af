"""Code generation under a policy that wants a person for each patch: the real node, a scripted coder whose replies are paid for."""

from dataclasses import dataclass, replace

from pydantic import BaseModel

from cogworks.forge.effects import CommitFiles, FileText
from cogworks.nodes import code_generation
from cogworks.nodes.contract import Asks, NodePorts, Outcome, Reply, Succeeded
from cogworks.nodes.replies import CodeChange
from cogworks.nodes.task import NodeTask
from cogworks.vocabulary import SubItemKey
from tests.fakes import ScriptedAnswers
from tests.nodes import examples
from tests.step_fakes import Said

POLICY_FILE = "policies/coding.toml"
POLICY = 'profile = "coding"\napproval_for = ["write"]\n'
WRONG = examples.change("def add(a, b):\n    return a * b\n", summary="Let add() multiply")
RIGHT = examples.change()


class _Paid(ScriptedAnswers):
    """Pays the step's model for a reply that it had written before."""

    def __init__(self, model: Asks, *script: BaseModel) -> None:
        super().__init__(*script)
        self._model = model

    def reply(self, reply_type: type[Reply], text: str, purpose: str) -> Reply:
        self._model.ask("any", {}, Said, purpose=purpose)
        return super().reply(reply_type, text, purpose)


@dataclass(frozen=True)
class Coder:
    """A node that proposes these changes, one after the other, on the files of the example."""

    proposals: tuple[CodeChange, ...]

    def __call__(self, task: NodeTask, ports: NodePorts) -> Outcome:
        world = replace(examples.ports(), model=_Paid(ports.model, *self.proposals))
        try:
            outcome = code_generation.run(_as_planned(task), world)
        finally:
            for name, text in world.kept.items():
                ports.keep(name, text)
        if not isinstance(outcome, Succeeded):
            return outcome
        # The quick nodes have no git to push with: what was kept goes to the branch in their way.
        text = world.copy.tree["src/adder/adding.py"]
        kept = CommitFiles(
            branch=task.branch,
            base=task.base_branch,
            files=(FileText(path="adding.py", text=text),),
            headline=outcome.summary,
            visit_key=task.visit.visit_key,
        )
        return Succeeded(output={"text": text}, effects=(kept,), summary=outcome.summary)


def _as_planned(task: NodeTask) -> NodeTask:
    """The same visit of the example's one sub-work-item."""
    conventions = task.conventions.model_copy(update={"test_writer": "none"})
    visit = task.visit.model_copy(update={"sub_item": SubItemKey("A")})
    return examples.task(
        "code_generation",
        sub_item="A",
        visit=visit,
        conventions=conventions,
        approved_calls=task.approved_calls,
        lapsed_calls=task.lapsed_calls,
        experience=task.experience,
    )
