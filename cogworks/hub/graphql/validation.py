"""Whether a document fits the schema, and GitHub's words for where it does not."""

from collections.abc import Mapping
from typing import Any

from graphql import (
    ArgumentNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLSchema,
    InlineFragmentNode,
    NonNullTypeNode,
    OperationDefinitionNode,
    ValidationRule,
    get_named_type,
    is_leaf_type,
    is_required_argument,
    print_ast,
    specified_rules,
    validate,
)
from graphql.validation.rules.known_argument_names import KnownArgumentNamesOnDirectivesRule
from graphql.validation.rules.provided_required_arguments import ProvidedRequiredArgumentsOnDirectivesRule

Ancestors = list[Any]

# These four get GitHub's words below; what two of them check about directives is kept.
_REPLACED = {
    "FieldsOnCorrectTypeRule",
    "ScalarLeafsRule",
    "KnownArgumentNamesRule",
    "ProvidedRequiredArgumentsRule",
}


def problems(schema: GraphQLSchema, document: DocumentNode) -> list[dict[str, Any]]:
    """What is wrong with a document, as the `errors` of an answer; empty when it may be executed."""
    return [_formatted(error) for error in validate(schema, document, _RULES)]


def missing_variables(operation: OperationDefinitionNode, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The required variables that the client left out or sent as null, as the `errors` of an answer."""
    found = []
    for definition in operation.variable_definitions or ():
        name = definition.variable.name.value
        if not isinstance(definition.type, NonNullTypeNode) or definition.default_value is not None:
            continue
        if given.get(name) is None:
            message = f"Variable ${name} of type {print_ast(definition.type)} was provided invalid value"
            problem = {"path": [], "explanation": "Expected value to not be null"}
            extensions = {"value": None, "problems": [problem]}
            found.append(_formatted(GraphQLError(message, definition, extensions=extensions)))
    return found


def _formatted(error: GraphQLError) -> dict[str, Any]:
    extensions = dict(error.extensions or {})
    path = extensions.pop("path", None)
    answer: dict[str, Any] = {} if path is None else {"path": path}
    if extensions:
        answer["extensions"] = extensions
    answer["locations"] = [{"line": place.line, "column": place.column} for place in error.locations or ()]
    return {**answer, "message": error.message}


def _path(node: Any, ancestors: Ancestors) -> list[str]:
    """The way to `node` through the document: operation or fragment, fields by alias, inline fragments."""
    words = [_word(step) for step in (*ancestors, node) if not isinstance(step, list | tuple)]
    return [word for word in words if word]


def _word(node: Any) -> str:
    if isinstance(node, OperationDefinitionNode):
        return f"{node.operation.value} {node.name.value}" if node.name else node.operation.value
    if isinstance(node, FragmentDefinitionNode):
        return f"fragment {node.name.value}"
    if isinstance(node, InlineFragmentNode):
        return f"... on {node.type_condition.name.value}" if node.type_condition else "..."
    if isinstance(node, FieldNode):
        return (node.alias or node.name).value
    return node.name.value if isinstance(node, ArgumentNode) else ""


class _FieldRule(ValidationRule):
    """Fields exist, carry selections where they must, and get the arguments they know and need."""

    def enter_field(self, node: FieldNode, *visited: Any) -> None:
        ancestors: Ancestors = visited[-1]
        parent = self.context.get_parent_type()
        definition = self.context.get_field_def()
        if parent is None:
            return
        name = node.name.value
        if definition is None:
            message = f"Field '{name}' doesn't exist on type '{parent.name}'"
            details = {"code": "undefinedField", "typeName": parent.name, "fieldName": name}
            self._report(message, node, ancestors, details)
            return
        self._selections(node, ancestors)
        given = {argument.name.value for argument in node.arguments or ()}
        missing = [n for n, a in definition.args.items() if is_required_argument(a) and n not in given]
        if missing:
            listed = ", ".join(missing)
            message = f"Field '{name}' is missing required arguments: {listed}"
            details = {
                "code": "missingRequiredArguments", "className": "Field", "name": name, "arguments": listed,
            }  # fmt: skip
            self._report(message, node, ancestors, details)

    def _selections(self, node: FieldNode, ancestors: Ancestors) -> None:
        result = get_named_type(self.context.get_type())
        name = node.name.value
        if result is None or bool(node.selection_set) is not is_leaf_type(result):
            return
        if node.selection_set:
            message = f"Selections can't be made on scalars (field '{name}' returns {result.name} but has selections)"
        else:
            message = (
                f"Field must have selections (field '{name}' returns {result.name} but has no selections. "
                f"Did you mean '{name} {{ ... }}'?)"
            )
        details = {"code": "selectionMismatch", "nodeName": f"field '{name}'", "typeName": result.name}
        self._report(message, node, ancestors, details)

    def enter_argument(self, node: ArgumentNode, *visited: Any) -> None:
        ancestors: Ancestors = visited[-1]
        definition = self.context.get_field_def()
        owner = next((step for step in reversed(ancestors) if isinstance(step, FieldNode)), None)
        if self.context.get_directive() or definition is None or owner is None:
            return
        name = node.name.value
        if name in definition.args:
            return
        message = f"Field '{owner.name.value}' doesn't accept argument '{name}'"
        details = {
            "code": "argumentNotAccepted", "name": owner.name.value, "typeName": "Field", "argumentName": name,
        }  # fmt: skip
        self._report(message, node, ancestors, details)

    def _report(self, message: str, node: Any, ancestors: Ancestors, details: dict[str, Any]) -> None:
        extensions = {**details, "path": _path(node, ancestors)}
        self.report_error(GraphQLError(message, node, extensions=extensions))


_RULES = (
    *(rule for rule in specified_rules if rule.__name__ not in _REPLACED),
    KnownArgumentNamesOnDirectivesRule,
    ProvidedRequiredArgumentsOnDirectivesRule,
    _FieldRule,
)
