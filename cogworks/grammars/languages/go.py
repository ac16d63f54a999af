"""Go."""

from cogworks.grammars.languages import statements, visibility
from cogworks.grammars.resolving import named
from cogworks.grammars.spec import LanguageSpec

GO = LanguageSpec(
    name="Go",
    suffixes=(".go",),
    grammar="tree_sitter_go:language",
    query="""
(comment) @lead
(package_clause (package_identifier) @package)
(function_declaration name: (_) @name) @def.function
(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (type_identifier) @owner
  (pointer_type (type_identifier) @owner)
  (generic_type type: (type_identifier) @owner)
  (pointer_type (generic_type type: (type_identifier) @owner))])) name: (_) @name) @def.method
(method_declaration name: (_) @name) @def.method
(type_spec name: (_) @name type: (struct_type)) @def.struct
(type_spec name: (_) @name type: (interface_type)) @def.interface
(type_spec name: (_) @name) @def.type
(type_alias name: (_) @name) @def.type
(method_elem name: (_) @name) @def.method
(source_file (const_declaration (const_spec name: (_) @name) @def.constant))
(source_file (var_declaration (var_spec name: (_) @name) @def.variable))
(source_file (var_declaration (var_spec_list (var_spec name: (_) @name) @def.variable)))
(field_declaration !name type: (_) @base)
(type_elem (type_identifier) @base)
(call_expression function: (identifier) @call)
(call_expression function: (selector_expression field: (_) @call))
(call_expression function: (index_expression operand: (identifier) @call))
(call_expression function: (type_instantiation_expression type: (type_identifier) @call))
(composite_literal type: (type_identifier) @call)
(composite_literal type: (qualified_type name: (_) @call))
(import_spec) @import
""",
    imports=statements.go,
    is_public=visibility.capitalised,
    resolving=named.go,
    documentation=("//", "/*"),
    test_files=("*_test.go",),
    test_names=r"(?:Test|Benchmark|Fuzz|Example)(?![a-z])",
    test_sign=r"\*testing\.|^func Example\w*\(\)",
)
