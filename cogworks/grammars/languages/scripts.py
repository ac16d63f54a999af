"""JavaScript and TypeScript, with and without markup."""

from dataclasses import replace

from cogworks.grammars.languages import statements, visibility
from cogworks.grammars.resolving import scripts
from cogworks.grammars.spec import LanguageSpec

_FUNCTION = "[(arrow_function) (function_expression) (generator_function)]"
_COMMON = f"""
(comment) @lead
(decorator) @lead
(class_declaration name: (_) @name) @def.class
(function_declaration name: (_) @name) @def.function
(generator_function_declaration name: (_) @name) @def.function
(method_definition name: (_) @name) @def.method
(pair key: (property_identifier) @name value: {_FUNCTION}) @def.method
(variable_declarator name: (identifier) @name value: {_FUNCTION}) @def.function
(variable_declarator name: (identifier) @name value: (class)) @def.class
(variable_declarator name: (identifier) @name value: (call_expression arguments: (arguments . {_FUNCTION}))) @def.function
(program (lexical_declaration (variable_declarator name: (identifier) @name) @def.constant))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @def.constant)))
(export_statement "default" @name value: [(arrow_function) (function_expression) (class)]) @def.function
(assignment_expression left: (member_expression object: (_) @_module property: (property_identifier) @name) right: {_FUNCTION}
  (#any-of? @_module "module.exports" "exports" "this")) @def.function
(assignment_expression left: (member_expression object: (_) @_module property: (property_identifier) @name) right: (class)
  (#any-of? @_module "module.exports" "exports")) @def.class
(assignment_expression left: (member_expression object: (member_expression object: (identifier) @owner property: (_) @_prototype)
  property: (property_identifier) @name) right: {_FUNCTION} (#eq? @_prototype "prototype")) @def.method
(assignment_expression left: (member_expression object: (identifier) @owner property: (property_identifier) @name) right: {_FUNCTION}) @def.function
(assignment_expression left: (member_expression object: (identifier) @owner property: (property_identifier) @name) right: (class)) @def.class
(assignment_expression left: (member_expression property: (property_identifier) @name) right: {_FUNCTION}) @def.function
(program (expression_statement (assignment_expression left: (member_expression object: (_) @_module property: (property_identifier) @name)
  (#any-of? @_module "module.exports" "exports")) @def.constant))
(call_expression function: [(identifier) @_word (member_expression object: (identifier) @_word)]
  arguments: (arguments . [(string (string_fragment) @name) (template_string) @name])
  (#any-of? @_word "describe" "it" "test" "suite" "context" "specify")) @def.test
(export_statement) @exported
(export_statement !source (export_clause (export_specifier name: (_) @exported)))
(export_statement "default" value: (identifier) @exported)
(assignment_expression left: (member_expression object: (_) @_module property: (_) @exported)
  (#any-of? @_module "module.exports" "exports"))
(assignment_expression left: (member_expression) @_module right: (object [(shorthand_property_identifier) @exported (pair key: (property_identifier) @exported)])
  (#eq? @_module "module.exports"))
(assignment_expression left: (member_expression) @_module right: (identifier) @exported (#eq? @_module "module.exports"))
(export_statement "*" source: (_)) @doubt.everything
(call_expression function: (identifier) @call)
(call_expression function: (member_expression property: (property_identifier) @call))
(new_expression constructor: (identifier) @call)
(jsx_opening_element name: (identifier) @call)
(jsx_self_closing_element name: (identifier) @call)
(import_statement) @import
(export_statement source: (_)) @import
(call_expression function: (import) arguments: (arguments . (string))) @import
(call_expression function: (identifier) @_require arguments: (arguments . (string)) (#eq? @_require "require")) @import
"""
_KEYWORDS = "null|function|void|enum|undefined|true|false|class|default|in|if|import|export|new|this|super|try|var|delete|instanceof|catch"
_RENAMED = rf"\bas (?:{_KEYWORDS})\b"
_VARIANCE = r"[<,]\s*(?:const\s+)?(?:in|out)\s+(?:out\s+)?\w|^\s*(?:in|out)\s+(?:out\s+)?\w+\b"
_NAMELESS = r"export default function\s*\(|^';' is missing"
_PLAIN = """
(class_heritage (_) @base)
(field_definition property: (_) @name value: [(arrow_function) (function_expression)]) @def.method
"""
_TYPED = """
(abstract_class_declaration name: (_) @name) @def.class
(interface_declaration name: (_) @name) @def.interface
(enum_declaration name: (_) @name) @def.enum
(type_alias_declaration name: (_) @name) @def.type
(internal_module name: (_) @name) @def.namespace
(module name: (_) @name) @def.namespace
(abstract_method_signature name: (_) @name) @def.method
(method_signature name: (_) @name) @def.method
(function_signature name: (_) @name) @def.function
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @def.method
(extends_clause value: (_) @base)
(extends_type_clause type: (_) @base)
(implements_clause (_) @base)
"""
JAVASCRIPT = LanguageSpec(
    name="JavaScript",
    suffixes=(".js", ".jsx", ".mjs", ".cjs"),
    grammar="tree_sitter_javascript:language",
    query=_COMMON + _PLAIN,
    imports=statements.script,
    is_public=visibility.exported,
    resolving=scripts.resolving,
    documentation=("/**",),
    gaps=_RENAMED,
    test_files=("*.test.*", "*.spec.*", "__tests__/", "test/", "tests/"),
    doubts={
        "everything": "passes on every name of another module (`export *`); which ones is not listed here"
    },
)
TYPESCRIPT = replace(
    JAVASCRIPT,
    name="TypeScript",
    suffixes=(".ts", ".mts", ".cts"),
    grammar="tree_sitter_typescript:language_typescript",
    gaps=f"{_RENAMED}|{_VARIANCE}|{_NAMELESS}",
    query="\n".join(line for line in _COMMON.splitlines() if "jsx" not in line) + _TYPED,
)
TSX = replace(
    TYPESCRIPT,
    name="TSX",
    suffixes=(".tsx",),
    grammar="tree_sitter_typescript:language_tsx",
    query=_COMMON + _TYPED,
)
