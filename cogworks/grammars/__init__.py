"""What a single file says, in any language that has a grammar: definitions, calls, imports, mistakes; nothing is run.

`gathering.gather` is the engine, `languages.registry` the list, `spec` says how a language is added.
"""
