"""Whether a document fits the schema, what it may ask for at most, and what it costs, before anything is executed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphql import (
    ArgumentNode,
    BooleanValueNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    NonNullTypeNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    ValidationRule,
    ValueNode,
    VariableNode,
    get_named_type,
    is_leaf_type,
    is_required_argument,
    print_ast,
    specified_rules,
    validate,
)
from graphql.validation.rules.known_argument_names import KnownArgumentNamesOnDirectivesRule
from graphql.validation.rules.provided_required_arguments import ProvidedRequiredArgumentsOnDirectivesRule

MAX_PAGE = 100
MAX_NODES = 500_000


@dataclass(frozen=True, slots=True)
class Excess:
    """One way in which a document asks for too much, or does not say how much."""

    type: str
    message: str
    path: tuple[str, ...]
    node: FieldNode


@dataclass(frozen=True, slots=True)
class Measure:
    """What a document asks for when every page it names is full."""

    nodes: int
    connection_requests: int
    excesses: tuple[Excess, ...]

    @property
    def cost(self) -> int:
        """Points of the primary rate limit: a hundred connection requests are one, never less than one."""
        return max(1, round(self.connection_requests / 100))


def measure(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Mapping[str, Any],
) -> Measure:
    """Count the connections and nodes of a valid operation.

    Args:
        variables: as the client sent them; defaults are read from the document.
    """
    root = schema.get_root_type(operation.operation)
    walk = _Walk(schema, document, _with_defaults(operation, variables))
    if root is not None:
        walk.enter(root, operation.selection_set, 1, ())
    return Measure(walk.nodes, walk.requests, tuple(walk.excesses))


def _with_defaults(operation: OperationDefinitionNode, variables: Mapping[str, Any]) -> dict[str, Any]:
    """The variables that paging arguments and directives can use: whole numbers and booleans."""
    defaults: dict[str, Any] = {}
    for definition in operation.variable_definitions or ():
        if isinstance(definition.default_value, IntValueNode | BooleanValueNode):
            defaults[definition.variable.name.value] = _literal(definition.default_value)
    return defaults | dict(variables)


def _literal(node: IntValueNode | BooleanValueNode) -> int | bool:
    return int(node.value) if isinstance(node, IntValueNode) else bool(node.value)


class _Walk:
    """One traversal; keeps the running totals."""

    def __init__(self, schema: GraphQLSchema, document: DocumentNode, variables: Mapping[str, Any]) -> None:
        self._schema = schema
        self._variables = variables
        self._fragments = {
            definition.name.value: definition
            for definition in document.definitions
            if isinstance(definition, FragmentDefinitionNode)
        }
        self.nodes = 0
        self.requests = 0
        self.excesses: list[Excess] = []

    def enter(
        self, parent: GraphQLNamedType, selections: SelectionSetNode, times: int, path: tuple[str, ...]
    ) -> None:
        """Count everything below one selection set that is reached `times` times."""
        for selection in selections.selections:
            if self._is_left_out(selection):
                continue
            if isinstance(selection, FieldNode):
                self._field(parent, selection, times, path)
            else:
                for inner, inner_selections in self._fragment(parent, selection):
                    self.enter(inner, inner_selections, times, path)

    def _fragment(
        self, parent: GraphQLNamedType, selection: SelectionNode
    ) -> Iterator[tuple[GraphQLNamedType, SelectionSetNode]]:
        if isinstance(selection, InlineFragmentNode):
            condition = selection.type_condition
            inner = self._schema.type_map[condition.name.value] if condition else parent
            yield inner, selection.selection_set
        elif isinstance(selection, FragmentSpreadNode):
            fragment = self._fragments[selection.name.value]
            yield self._schema.type_map[fragment.type_condition.name.value], fragment.selection_set

    def _field(self, parent: GraphQLNamedType, node: FieldNode, times: int, path: tuple[str, ...]) -> None:
        definition = field_of(parent, node)
        if definition is None or node.selection_set is None:
            return
        result = get_named_type(definition.type)
        here = (*path, (node.alias or node.name).value)
        if is_connection(definition):
            times = self._connection(node, times, here)
        self.enter(result, node.selection_set, times, here)

    def _connection(self, node: FieldNode, times: int, path: tuple[str, ...]) -> int:
        """Count one connection and return how often what is below it is reached."""
        self.requests += times
        bounds = {
            argument.name.value: value
            for argument in node.arguments or ()
            if argument.name.value in {"first", "last"}
            and (value := self._number(argument.value)) is not None
        }
        problem = paging_problem(node.name.value, bounds)
        if problem is not None:
            self.excesses.append(Excess(problem[0], problem[1], path, node))
            return times
        below = times * min(bounds.values())
        if self.nodes <= MAX_NODES < self.nodes + below:
            self.excesses.append(
                Excess("MAX_NODE_LIMIT_EXCEEDED", _too_many(node.name.value, below), path, node)
            )
        self.nodes += below
        return below

    def _number(self, node: ValueNode) -> int | None:
        value = self._variables.get(node.name.value) if isinstance(node, VariableNode) else None
        if isinstance(node, IntValueNode):
            value = int(node.value)
        return value if isinstance(value, int) else None

    def _is_left_out(self, selection: SelectionNode) -> bool:
        for directive in selection.directives or ():
            name = directive.name.value
            if name in {"include", "skip"} and directive.arguments:
                value = directive.arguments[0].value
                condition = (
                    self._variables.get(value.name.value)
                    if isinstance(value, VariableNode)
                    else getattr(value, "value", None)
                )
                if bool(condition) is (name == "skip"):
                    return True
        return False


def field_of(parent: GraphQLNamedType, node: FieldNode) -> GraphQLField | None:
    """The definition of the field that `node` selects; None for `__typename` and its like."""
    if isinstance(parent, GraphQLObjectType | GraphQLInterfaceType):
        field: GraphQLField | None = parent.fields.get(node.name.value)
        return field
    return None


def is_connection(definition: GraphQLField) -> bool:
    """Whether a field answers in pages."""
    return "first" in definition.args and get_named_type(definition.type).name.endswith("Connection")


def paging_problem(field: str, bounds: Mapping[str, int]) -> tuple[str, str] | None:
    """Type and text of what is wrong with the page size, as GitHub words it."""
    if not bounds:
        text = f"You must provide a `first` or `last` value to properly paginate the `{field}` connection."
        return "MISSING_PAGINATION_BOUNDARIES", text
    for name, size in bounds.items():
        if size > MAX_PAGE:
            text = f"Requesting {size} records on the `{field}` connection exceeds the `{name}` limit of {MAX_PAGE} records."
            return "EXCESSIVE_PAGINATION", text
        if size < 1:
            text = f"`{name}` on the `{field}` connection must be at least 1 and at most {MAX_PAGE}; {size} was given."
            return "INVALID_PAGINATION", text
    return None


def _too_many(field: str, nodes: int) -> str:
    return (
        f"By the time this query traverses to the {field} connection, it is requesting up to {nodes:,} possible nodes "
        f"which exceeds the maximum limit of {MAX_NODES:,}."
    )


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


def missing_variables(operation: OperationDefinitionNode, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The required variables that the client left out or sent as null, as the `errors` of an answer."""
    errors = []
    for definition in operation.variable_definitions or ():
        name = definition.variable.name.value
        if not isinstance(definition.type, NonNullTypeNode) or definition.default_value is not None:
            continue
        if values.get(name) is None:
            message = f"Variable ${name} of type {print_ast(definition.type)} was provided invalid value"
            problem = {"path": [], "explanation": "Expected value to not be null"}
            extensions = {"value": None, "problems": [problem]}
            errors.append(_formatted(GraphQLError(message, definition, extensions=extensions)))
    return errors


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
        arguments = {argument.name.value for argument in node.arguments or ()}
        missing = [n for n, a in definition.args.items() if is_required_argument(a) and n not in arguments]
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
