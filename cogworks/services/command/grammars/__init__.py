"""What is known of code in other languages, by tree-sitter's grammars; nothing is run.

- `answering.METHODS`: the operations, in the form in which services dispatch them. The machine that is handed to them has
  `source_facts`: `gathering.gather`, or `knowledge.Shelf().facts` in a process that answers more than once.
- `reported.reported_tests(folder)`: under which name its runner reports each test, and in which file it is.

What a single file says is read by `cogworks.grammars`.
"""
