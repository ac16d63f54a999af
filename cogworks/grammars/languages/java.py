"""Java."""

from cogworks.grammars.languages import statements, visibility
from cogworks.grammars.resolving import named
from cogworks.grammars.spec import LanguageSpec

JAVA = LanguageSpec(
    name="Java",
    suffixes=(".java",),
    grammar="tree_sitter_java:language",
    query="""
[(line_comment) (block_comment)] @lead
(modifiers [(annotation) (marker_annotation)] @mark)
(package_declaration (_) @package)
(class_declaration name: (_) @name) @def.class
(interface_declaration name: (_) @name) @def.interface
(annotation_type_declaration name: (_) @name) @def.annotation
(enum_declaration name: (_) @name) @def.enum
(record_declaration name: (_) @name) @def.record
(method_declaration name: (_) @name) @def.method
(annotation_type_element_declaration name: (_) @name) @def.method
(constructor_declaration name: (_) @name) @def.method
(compact_constructor_declaration name: (_) @name) @def.method
(field_declaration declarator: (variable_declarator name: (_) @name)) @def.variable
(superclass (_) @base)
(super_interfaces (type_list (_) @base))
(extends_interfaces (type_list (_) @base))
(method_invocation name: (_) @call)
(object_creation_expression type: (type_identifier) @call)
(object_creation_expression type: (generic_type (type_identifier) @call))
(method_reference (identifier) @call .)
(import_declaration) @import
""",
    imports=statements.java,
    is_public=visibility.marked_public,
    resolving=named.dotted,
    documentation=("/**",),
    test_files=("src/test/",),
    test_marks=("@Test", "@ParameterizedTest", "@RepeatedTest", "@TestFactory", "@Property"),
    test_names=r"test[A-Z_]",
    test_sign="public void",
)
