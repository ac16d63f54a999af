"""The domain service of every language but Python: commands of the repository, and grammars."""
