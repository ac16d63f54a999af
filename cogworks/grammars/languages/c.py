"""C and C++. A file with the ending `.h` is read as C++, which knows nearly all of C."""

from dataclasses import replace

from cogworks.grammars.languages import statements, visibility
from cogworks.grammars.resolving import named
from cogworks.grammars.spec import LanguageSpec

_COMMON = """
(comment) @lead
(struct_specifier name: (type_identifier) @name body: (_)) @def.struct
(union_specifier name: (type_identifier) @name body: (_)) @def.union
(enum_specifier name: (type_identifier) @name body: (_)) @def.enum
(type_definition declarator: (type_identifier) @name) @def.type
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @def.type
(preproc_def name: (_) @name value: (_)) @def.macro
(preproc_function_def name: (_) @name) @def.macro
(function_definition declarator: (function_declarator declarator: (_) @name)) @def.function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name))) @def.function
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name)))) @def.function
(declaration declarator: (function_declarator declarator: (identifier) @name)) @def.function
(declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @def.function
(translation_unit (declaration declarator: (init_declarator declarator: (identifier) @name)) @def.variable)
(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (_) @call))
(preproc_include) @import
"""
C = LanguageSpec(
    name="C",
    suffixes=(".c",),
    grammar="tree_sitter_c:language",
    query=_COMMON,
    imports=statements.include,
    is_public=visibility.by_linkage,
    resolving=named.headers,
    documentation=("/*", "//"),
    test_files=("test/", "tests/", "test_*", "*_test.*"),
    test_names=r"test_|Test",
    is_exact=False,
    self_words=frozenset(),
    separator="::",
)
CPP = replace(
    C,
    name="C++",
    suffixes=(".cc", ".cpp", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h", ".ipp", ".tpp", ".inl"),
    grammar="tree_sitter_cpp:language",
    query=_COMMON
    + """
(class_specifier name: (_) @name body: (_)) @def.class
(namespace_definition name: (_) @name) @def.namespace
(alias_declaration name: (_) @name) @def.type
(concept_definition name: (_) @name) @def.concept
(function_definition declarator: (reference_declarator (function_declarator declarator: (_) @name))) @def.function
(field_declaration declarator: (function_declarator declarator: (_) @name)) @def.method
(field_declaration declarator: (reference_declarator (function_declarator declarator: (_) @name))) @def.method
(field_declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name))) @def.method
(access_specifier) @access
(base_class_clause (type_identifier) @base)
(base_class_clause (qualified_identifier) @base)
(base_class_clause (template_type name: (_) @base))
(call_expression function: (qualified_identifier name: (identifier) @call))
(call_expression function: (template_function name: (identifier) @call))
(new_expression type: (type_identifier) @call)
""",
    self_words=frozenset({"this"}),
)
