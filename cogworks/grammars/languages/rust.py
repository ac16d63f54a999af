"""Rust."""

from cogworks.grammars.languages import statements, visibility
from cogworks.grammars.resolving import named
from cogworks.grammars.spec import LanguageSpec

RUST = LanguageSpec(
    name="Rust",
    suffixes=(".rs",),
    grammar="tree_sitter_rust:language",
    query="""
[(line_comment) (block_comment) (attribute_item)] @lead
(function_item name: (_) @name) @def.function
(function_signature_item name: (_) @name) @def.function
(struct_item name: (_) @name) @def.struct
(enum_item name: (_) @name) @def.enum
(union_item name: (_) @name) @def.union
(trait_item name: (_) @name) @def.trait
(type_item name: (_) @name) @def.type
(macro_definition name: (_) @name) @def.macro
(mod_item name: (_) @name body: (_)) @def.module
(impl_item type: (_) @name) @scope
(source_file [(const_item name: (_) @name) (static_item name: (_) @name)] @def.constant)
(mod_item body: (declaration_list [(const_item name: (_) @name) (static_item name: (_) @name)] @def.constant))
(impl_item body: (declaration_list (const_item name: (_) @name) @def.constant))
(trait_bounds (type_identifier) @base)
(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (field_identifier) @call))
(call_expression function: (scoped_identifier name: (_) @call))
(call_expression function: (generic_function function: (identifier) @call))
(call_expression function: (generic_function function: (scoped_identifier name: (_) @call)))
(call_expression function: (generic_function function: (field_expression field: (_) @call)))
(struct_expression name: (type_identifier) @call)
(macro_invocation macro: (identifier) @call)
(use_declaration) @import
(mod_item !body) @import
(extern_crate_declaration) @import
(use_declaration (visibility_modifier) argument: (use_wildcard)) @doubt.everything
""",
    imports=statements.rust,
    is_public=visibility.marked_pub,
    resolving=named.rust,
    documentation=("///", "/**"),
    test_files=("tests/*.rs", "tests/"),
    test_marks=(
        "#[test]",
        "::test]",
        "::test(",
        "#[rstest",
        "#[test_case",
        "#[quickcheck",
        "#[wasm_bindgen_test",
    ),
    doubts={
        "everything": "passes on every name of another module (`pub use …::*`); which ones is not listed here"
    },
    self_words=frozenset({"self", "Self"}),
    separator="::",
)
