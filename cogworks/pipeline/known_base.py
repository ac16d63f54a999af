"""What a run remembers of the base that its first model call was made on."""

from cogworks.vocabulary import CommitOid, Value


class KnownBase(Value):
    """A base on which work could begin: its environment was there, and its suite was what the repository wants of it."""

    oid: CommitOid
    """The commit of the default branch."""
    environment_key: str = ""
    """Of what the tests ran with; empty: the services do not tell."""
    wanted: str = "require"
    """`[tests] baseline` as it was then."""
    line: str
    """For people, e.g. `745 tests pass, 2 fail already, environment made in 12.3 s`."""
    path: str
    """The file of the ledger that holds the findings."""
