"""C#."""

from cogworks.grammars.languages import statements, visibility
from cogworks.grammars.resolving import named
from cogworks.grammars.spec import LanguageSpec

C_SHARP = LanguageSpec(
    name="C#",
    suffixes=(".cs",),
    grammar="tree_sitter_c_sharp:language",
    query="""
(comment) @lead
(attribute_list) @mark
(namespace_declaration name: (_) @name) @def.namespace
(namespace_declaration name: (_) @package)
(file_scoped_namespace_declaration name: (_) @package)
(class_declaration name: (_) @name) @def.class
(struct_declaration name: (_) @name) @def.struct
(interface_declaration name: (_) @name) @def.interface
(enum_declaration name: (_) @name) @def.enum
(record_declaration name: (_) @name) @def.record
(delegate_declaration name: (_) @name) @def.type
(method_declaration name: (_) @name) @def.method
(constructor_declaration name: (_) @name) @def.method
(property_declaration name: (_) @name) @def.property
(local_function_statement name: (_) @name) @def.function
(field_declaration (modifier) @_const (variable_declaration (variable_declarator name: (_) @name)) (#any-of? @_const "const" "static")) @def.constant
(base_list (_) @base)
(invocation_expression function: (identifier) @call)
(invocation_expression function: (member_access_expression name: (identifier) @call))
(invocation_expression function: (member_access_expression name: (generic_name (identifier) @call)))
(object_creation_expression type: (identifier) @call)
(using_directive) @import
""",
    imports=statements.c_sharp,
    is_public=visibility.marked_public,
    resolving=named.spaces,
    documentation=("///", "/**"),
    test_files=("*Tests.cs", "*Test.cs"),
    test_marks=("[Fact", "[Theory", "[Test]", "[Test,", "[TestCase", "[TestMethod", "[DataTestMethod"),
    is_exact=False,
    self_words=frozenset({"this", "base"}),
)
