"""Ruby."""

from cogworks.grammars.languages import statements, visibility
from cogworks.grammars.resolving import named
from cogworks.grammars.spec import LanguageSpec

RUBY = LanguageSpec(
    name="Ruby",
    suffixes=(".rb", ".rake"),
    grammar="tree_sitter_ruby:language",
    query="""
(comment) @lead
(class name: (_) @name) @def.class
(module name: (_) @name) @def.module
(method name: (_) @name) @def.method
(singleton_method name: (_) @name) @def.method
(call method: (identifier) @_define arguments: (argument_list . [(simple_symbol) (string (string_content))] @name) (#eq? @_define "define_method")) @def.method
(assignment left: (constant) @name) @def.constant
(superclass (_) @base)
(call method: (identifier) @_mixin arguments: (argument_list (constant) @base) (#any-of? @_mixin "include" "extend" "prepend"))
(call method: (identifier) @_word arguments: (argument_list . [(string (string_content) @name) (constant) @name (scope_resolution) @name])
  block: (_) (#any-of? @_word "describe" "context" "it" "specify" "test" "feature" "scenario")) @def.test
(body_statement (identifier) @access (#any-of? @access "private" "protected" "public"))
(call method: (identifier) @call)
(call method: (constant) @call)
(call method: (identifier) @_require (#any-of? @_require "require" "require_relative" "load" "autoload")) @import
(call method: (identifier) @_made (#any-of? @_made "define_method" "attr_accessor" "attr_reader" "attr_writer" "delegate" "class_eval" "method_missing")) @doubt.made
""",
    imports=statements.ruby,
    is_public=visibility.by_access,
    resolving=named.ruby,
    documentation=("#",),
    test_files=("*_test.rb", "*_spec.rb", "test_*.rb", "spec/", "test/"),
    test_names=r"test_",
    doubts={"made": "makes methods while it runs (`attr_…`, `define_method`, …), which are not listed here"},
    is_exact=False,
    self_words=frozenset({"self", "super"}),
    separator="::",
)
