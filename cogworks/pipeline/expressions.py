"""How the expressions of conditions are written: grammar, parser and printer.

or   := and (("or" | "||") and)*
and  := not (("and" | "&&") not)*
not  := ("not" | "!") not | cmp
cmp  := term (("==" | "!=" | "<" | "<=" | ">" | ">=" | "in") term)?
term := number | string | "true" | "false" | "null" | path | "(" or ")"
path := name ("." (name | index))*
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NoReturn

from cogworks.errors import UsageError

MAX_EXPRESSION_CHARS = 1_000
MAX_EXPRESSION_DEPTH = 32
"""Parentheses and negations within one another."""

Operator = Literal["==", "!=", "<", "<=", ">", ">=", "in"]


class ExpressionError(UsageError):
    """An expression does not follow the grammar."""

    def __init__(self, reason: str, column: int) -> None:
        self.reason = reason
        self.column = column
        """Counts from 1."""
        super().__init__(f"column {column}: {reason}")


@dataclass(frozen=True)
class Constant:
    """A number, a string, true, false or null."""

    value: int | float | str | bool | None

    def __eq__(self, other: object) -> bool:
        # Python calls 1, 1.0 and True equal.
        return isinstance(other, Constant) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[type, object]:
        return type(self.value), self.value


@dataclass(frozen=True)
class Path:
    """A place in the view, e.g. `review.findings.0.severity`."""

    segments: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """Two terms and how they must relate."""

    operator: Operator
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True)
class Not:
    """The opposite."""

    operand: "Expression"


@dataclass(frozen=True)
class And:
    """Two or more, all of which must hold."""

    operands: tuple["Expression", ...]


@dataclass(frozen=True)
class Or:
    """Two or more, one of which must hold."""

    operands: tuple["Expression", ...]


Expression = Constant | Path | Comparison | Not | And | Or


@dataclass(frozen=True)
class _Token:
    kind: Literal["number", "string", "path", "sign", "end"]
    text: str
    column: int


_TOKEN = re.compile(
    r"""(?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![A-Za-z0-9_.]))
      | (?P<string>"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*')
      | (?P<path>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*)
      | (?P<sign>\|\| | && | == | != | <= | >= | < | > | ! | \( | \))""",
    re.VERBOSE | re.DOTALL,
)
_SPACE = re.compile(r"[ \t\r\n]*")
_WORDS = {"||": "or", "&&": "and", "!": "not"}
_COMPARISONS: Mapping[str, Operator] = {
    "==": "==",
    "!=": "!=",
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
    "in": "in",
}
_CONSTANTS: Mapping[str, bool | None] = {"true": True, "false": False, "null": None}
_RESERVED = frozenset({"and", "or", "not", "in"})
_UNESCAPED = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "'": "'"}
_ESCAPED = {"\n": "\\n", "\t": "\\t", "\\": "\\\\", '"': '\\"'}


@lru_cache(maxsize=1_024)
def parse_expression(text: str) -> Expression:
    """The meaning of an expression.

    Raises:
        ExpressionError: with the column of the first place that does not fit.
    """
    if len(text) > MAX_EXPRESSION_CHARS:
        raise ExpressionError(
            f"the expression has {len(text)} characters, at most {MAX_EXPRESSION_CHARS} are allowed; split it with `all`",
            MAX_EXPRESSION_CHARS + 1,
        )
    return _Parser(_tokens(text)).parse()


def paths_of(expression: Expression) -> tuple[str, ...]:
    """Every path an expression reads, once each, in the order of its text."""
    match expression:
        case Path(segments):
            return (".".join(segments),)
        case Comparison(_, left, right):
            parts: tuple[Expression, ...] = (left, right)
        case Not(operand):
            parts = (operand,)
        case And(operands) | Or(operands):
            parts = operands
        case _:
            parts = ()
    return tuple(dict.fromkeys(path for part in parts for path in paths_of(part)))


def print_expression(expression: Expression) -> str:
    """The canonical spelling; parsing it gives the same expression back."""
    match expression:
        case Constant(value):
            return _print_constant(value)
        case Path(segments):
            return ".".join(segments)
        case Comparison(operator, left, right):
            return f"{_print_term(left)} {operator} {_print_term(right)}"
        case Not(operand):
            inner = print_expression(operand)
            return f"not ({inner})" if isinstance(operand, And | Or) else f"not {inner}"
        case And(operands):
            return " and ".join(_in_parentheses(each, And | Or) for each in operands)
        case Or(operands):
            return " or ".join(_in_parentheses(each, Or) for each in operands)


def _print_constant(value: float | str | bool | None) -> str:
    if isinstance(value, str):
        return '"' + "".join(_ESCAPED.get(character, character) for character in value) + '"'
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return repr(value)


def _print_term(expression: Expression) -> str:
    text = print_expression(expression)
    return text if isinstance(expression, Constant | Path) else f"({text})"


def _in_parentheses(expression: Expression, kinds: Any) -> str:
    text = print_expression(expression)
    return f"({text})" if isinstance(expression, kinds) else text


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    position = _skip_space(text, 0)
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            _refuse_character(text, position)
        kind: Any = match.lastgroup
        tokens.append(_Token(kind, match.group(), position + 1))
        position = _skip_space(text, match.end())
    return [*tokens, _Token("end", "", len(text) + 1)]


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return position if match is None else match.end()


def _refuse_character(text: str, position: int) -> NoReturn:
    hints = {
        "=": "'=' is not an operator; compare with '=='",
        "&": "'&' is not an operator; write 'and'",
        "|": "'|' is not an operator; write 'or'",
        '"': "the string that starts here has no closing quote",
        "'": "the string that starts here has no closing quote",
    }
    character = text[position]
    number = "-0123456789"
    default = "not a number" if character in number else f"{character!r} does not belong here"
    raise ExpressionError(hints.get(character, default), position + 1)


class _Parser:
    """Precedence climbing: `or` 1, `and` 2, `not` 3, comparisons 4 and not associative."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0

    def parse(self) -> Expression:
        expression = self._or(0)
        token = self._peek()
        if token.kind != "end":
            raise ExpressionError(f"expected 'and', 'or' or the end, found {token.text!r}", token.column)
        return expression

    def _peek(self) -> _Token:
        return self._tokens[self._at]

    def _accept(self, word: str) -> _Token | None:
        token = self._peek()
        if token.kind in {"string", "number"} or _WORDS.get(token.text, token.text) != word:
            return None
        self._at += 1
        return token

    def _or(self, depth: int) -> Expression:
        operands = [self._and(depth)]
        while self._accept("or"):
            operands.append(self._and(depth))
        return operands[0] if len(operands) == 1 else Or(tuple(operands))

    def _and(self, depth: int) -> Expression:
        operands = [self._not(depth)]
        while self._accept("and"):
            operands.append(self._not(depth))
        return operands[0] if len(operands) == 1 else And(tuple(operands))

    def _not(self, depth: int) -> Expression:
        if token := self._accept("not"):
            return Not(self._not(self._deeper(depth, token)))
        left = self._term(depth)
        operator = _COMPARISONS.get(self._peek().text) if self._peek().kind in {"sign", "path"} else None
        if operator is None:
            return left
        self._at += 1
        right = self._term(depth)
        after = self._peek()
        if after.kind in {"sign", "path"} and after.text in _COMPARISONS:
            raise ExpressionError("comparisons cannot be chained; join two of them with 'and'", after.column)
        return Comparison(operator, left, right)

    def _term(self, depth: int) -> Expression:
        token = self._peek()
        if opening := self._accept("("):
            inner = self._or(self._deeper(depth, opening))
            if self._accept(")") is None:
                next_token = self._peek()
                raise ExpressionError(
                    f"expected ')', found {next_token.text or 'the end'!r}", next_token.column
                )
            return inner
        if token.kind in {"end", "sign"} or token.text in _RESERVED:
            shown = repr(token.text) if token.text else "the end"
            raise ExpressionError(f"expected a value, found {shown}", token.column)
        self._at += 1
        return _term_of(token)

    @staticmethod
    def _deeper(depth: int, token: _Token) -> int:
        if depth >= MAX_EXPRESSION_DEPTH:
            raise ExpressionError(f"nested deeper than {MAX_EXPRESSION_DEPTH} levels; split it", token.column)
        return depth + 1


def _term_of(token: _Token) -> Expression:
    match token.kind:
        case "string":
            return Constant(_unquoted(token))
        case "number":
            return Constant(_number(token))
        case _ if token.text in _CONSTANTS:
            return Constant(_CONSTANTS[token.text])
        case _:
            return Path(tuple(token.text.split(".")))


def _number(token: _Token) -> int | float:
    if token.text.lstrip("-").isdecimal():
        return int(token.text)
    value = float(token.text)
    if value in {float("inf"), float("-inf")}:
        raise ExpressionError("the number is too large", token.column)
    return value


def _unquoted(token: _Token) -> str:
    characters: list[str] = []
    rest = iter(enumerate(token.text[1:-1], token.column + 1))
    for column, character in rest:
        if character != "\\":
            characters.append(character)
            continue
        _, escaped = next(rest)
        if escaped not in _UNESCAPED:
            raise ExpressionError(rf"'\{escaped}' is not an escape; use \\ \' \" \n or \t", column)
        characters.append(_UNESCAPED[escaped])
    return "".join(characters)
