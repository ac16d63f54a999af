"""Which lines of a repository a model sees, and how it looks at others.

- `kinds` says what a file is, `cards` what it says, `store` keeps that by content.
- `question` says what a request names, `ranking` which files it is about, `view` what a prompt shows of them.
- `index` puts them together for one tree.
"""
