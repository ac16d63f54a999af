"""The GraphQL documents that read and move a ledger branch; each is checked against GitHub's schema in the tests."""

TIP = """
query LedgerTip($owner: String!, $name: String!, $ledger: String!) {
  repository(owner: $owner, name: $name) {
    ledger: ref(qualifiedName: $ledger) {
      target { oid ... on Commit { history(first: 50) { nodes { oid message committedDate } } file(path: "state.json") { object { ... on Blob { text isTruncated } } } } }
    }
  }
}
"""

_COMMIT = """oid message committedDate
      repository { issue(number: $issue) { state labels(first: 100) { nodes { name } } } }"""


def read_back(echoes: int) -> str:
    """The newest commit of the ledger with the same fields as `append` answers; for after a lost answer.

    Variables: `owner`, `name`, `ledger`, `issue`, `p0`….
    """
    head = (
        f"query ReadBack($owner: String!, $name: String!, $ledger: String!, $issue: Int!{_variables(echoes)})"
    )
    target = f"target {{ ... on Commit {{ {_COMMIT}{_fields(echoes)} }} }}"
    return f"{head} {{\n  repository(owner: $owner, name: $name) {{ ledger: ref(qualifiedName: $ledger) {{ {target} }} }}\n}}\n"


def append(echoes: int) -> str:
    """One commit on the ledger; its answer carries the issue's state and labels and `echoes` entries of the new tree.

    Variables: `commit` (CreateCommitOnBranchInput), `issue`, `p0`…: paths of files or folders to read back as `e0`….
    """
    head = f"mutation Append($commit: CreateCommitOnBranchInput!, $issue: Int!{_variables(echoes)})"
    lease = f"lease: createCommitOnBranch(input: $commit) {{ commit {{ {_COMMIT}{_fields(echoes)} }} }}"
    return f"{head} {{\n  {lease}\n}}\n"


def first_claim() -> str:
    """The ledger's branch and its first commit in one document, both with the root's oid as their precondition."""
    head = "mutation FirstClaim($ref: CreateRefInput!, $commit: CreateCommitOnBranchInput!, $issue: Int!)"
    lease = f"lease: createCommitOnBranch(input: $commit) {{ commit {{ {_COMMIT} }} }}"
    return f"{head} {{\n  ref: createRef(input: $ref) {{ ref {{ target {{ oid }} }} }}\n  {lease}\n}}\n"


def _variables(echoes: int) -> str:
    return "".join(f", $p{n}: String!" for n in range(echoes))


def _fields(echoes: int) -> str:
    entry = "object { ... on Blob { text isTruncated } ... on Tree { entries { name object { ... on Blob { text isTruncated } } } } }"
    return "".join(f"\n      e{n}: file(path: $p{n}) {{ path {entry} }}" for n in range(echoes))
