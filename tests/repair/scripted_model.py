"""A model that answers with the JSON it was told; obeys `cogworks.repair.planning.Model`."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from tests.shipped import prompts

Reply = TypeVar("Reply", bound=BaseModel)


class Answers:
    """Renders every question by its real template and keeps it; an exception among the answers is raised."""

    def __init__(self, *answers: str | Exception) -> None:
        self._answers = list(answers)
        self._prompts = prompts()
        self.asked: list[tuple[str, str, str]] = []
        """Template, purpose, what the user section says."""

    def ask(
        self, prompt: str, variables: Mapping[str, Any], reply_type: type[Reply], *, purpose: str
    ) -> Reply:
        self.asked.append((prompt, purpose, self._prompts.render(prompt, variables).user))
        said = self._answers.pop(0)
        if isinstance(said, Exception):
            raise said
        return reply_type.model_validate_json(said)
