"""What a run remembers of the base that its first model call was made on."""

from cogworks.vocabulary import CommitOid, Value


class KnownBase(Value):
    """A base on which work could begin: its environment was there, and its suite was what the repository wants of it.

    Where a later commit of it is broken, `problem` says so, and everything else is still about the last one that was not.
    """

    oid: CommitOid
    """The commit of the default branch."""
    environment_key: str = ""
    """Of what the tests ran with; empty: the services do not tell."""
    follows_from_files: bool = False
    """Whether the environment follows from files of the base and from the kind of machine: no service need be asked while those stay."""
    machine: str = ""
    """On what kind of machine they ran, behind complete isolation; empty: it was not noted, or there was none."""
    wanted: str = "require"
    """`[tests] baseline` as it was then."""
    line: str
    """For people, e.g. `745 tests pass, 2 fail already, environment made in 12.3 s`."""
    path: str
    """The file of the ledger that holds the findings."""
    tests_documents: bool = False
    """Whether tests stand in documents, so that a change of one may matter to the suite."""
    problem: str = ""
    """Why nothing may be paid for on what the base became since; empty: nothing is known against it."""

    @property
    def told(self) -> str:
        """For people, in one line: what is wrong with it before what it was."""
        if not self.problem:
            return self.line
        return f"broken now ({self.problem.splitlines()[0]}); before that: {self.line}"
