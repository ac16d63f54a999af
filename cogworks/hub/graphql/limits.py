"""What a document may ask for at most, and what it costs, before anything is executed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphql import (
    BooleanValueNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    ValueNode,
    VariableNode,
    get_named_type,
)

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
                given = (
                    self._variables.get(value.name.value)
                    if isinstance(value, VariableNode)
                    else getattr(value, "value", None)
                )
                if bool(given) is (name == "skip"):
                    return True
        return False


def field_of(parent: GraphQLNamedType, node: FieldNode) -> GraphQLField | None:
    """The definition of the field that `node` selects; None for `__typename` and its like."""
    if isinstance(parent, GraphQLObjectType | GraphQLInterfaceType):
        found: GraphQLField | None = parent.fields.get(node.name.value)
        return found
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
