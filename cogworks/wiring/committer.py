"""Who is named in the commits that cogworks makes; by itself, so that a repair need not load what a step needs."""

from cogworks.codebase.git import Identity

COMMITTER = Identity("cogworks", "cogworks@users.noreply.github.com")
