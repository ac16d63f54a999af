"""PHP."""

from cogworks.grammars.languages import statements, visibility
from cogworks.grammars.resolving import named
from cogworks.grammars.spec import LanguageSpec

PHP = LanguageSpec(
    name="PHP",
    suffixes=(".php", ".phtml"),
    grammar="tree_sitter_php:language_php",
    query="""
(comment) @lead
(attribute_group) @mark
(namespace_definition name: (_) @package)
(class_declaration name: (_) @name) @def.class
(interface_declaration name: (_) @name) @def.interface
(trait_declaration name: (_) @name) @def.trait
(enum_declaration name: (_) @name) @def.enum
(function_definition name: (_) @name) @def.function
(method_declaration name: (_) @name) @def.method
(const_declaration (const_element (name) @name)) @def.constant
(base_clause (_) @base)
(class_interface_clause (_) @base)
(use_declaration (_) @base)
(function_call_expression function: (name) @call)
(function_call_expression function: (qualified_name (name) @call))
(member_call_expression name: (name) @call)
(nullsafe_member_call_expression name: (name) @call)
(scoped_call_expression name: (name) @call)
(object_creation_expression (name) @call)
(namespace_use_declaration) @import
[(require_expression) (require_once_expression) (include_expression) (include_once_expression)] @import
(method_declaration name: (_) @_magic (#any-of? @_magic "__call" "__callStatic" "__get")) @doubt.magic
""",
    imports=statements.php,
    is_public=visibility.not_private,
    resolving=named.php,
    documentation=("/**",),
    test_files=("*Test.php",),
    test_marks=("#[Test]", "@test"),
    test_names=r"test",
    test_sign="function",
    doubts={"magic": "answers to names that it makes up (`__call`, `__get`), which nobody can list"},
    self_words=frozenset({"this", "self", "static", "parent"}),
    separator="\\",
)
