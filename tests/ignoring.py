"""A pytest plugin that makes cogworks ignore one key of a configuration file: whoever reads it gets the default.

`COGWORKS_TESTS_IGNORE=<module>:<class>.<field>` names the key. A test that sees what the key does fails under it.
"""

import importlib
import os
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

VARIABLE = "COGWORKS_TESTS_IGNORE"


def ignore(model: type[BaseModel], field: str) -> None:
    """From now on every value of the model has the field's default, whatever it was made with."""
    declared = model.model_fields[field]
    default = declared.get_default(call_default_factory=True)
    if default is PydanticUndefined:
        default = 0.0 if declared.annotation is float else "ignored"
    read, dump = model.__getattribute__, model.model_dump

    def __getattribute__(self: object, name: str) -> Any:  # noqa: N807 - takes the place of the method
        return default if name == field else read(self, name)

    def model_dump(self: BaseModel, **how: Any) -> dict[str, Any]:
        dumped = dump(self, **how)
        return {**dumped, field: default} if field in dumped else dumped

    # mypy would have the methods of a class stay what they are; that they do not is what the plugin is for.
    model.__getattribute__ = __getattribute__  # type: ignore[method-assign]
    model.model_dump = model_dump  # type: ignore[method-assign]


def pytest_configure() -> None:
    """Before any test is collected."""
    if place := os.environ.get(VARIABLE):
        module, _, rest = place.partition(":")
        name, _, field = rest.partition(".")
        ignore(getattr(importlib.import_module(module), name), field)
