"""Files of other repositories, read and never written: one request for all of them."""

from collections.abc import Mapping, Sequence

from cogworks.github.answers import as_error, is_internal, is_limited
from cogworks.github.reading import Queries
from cogworks.packs.choosing import ReadElsewhere
from cogworks.packs.declared import Exemplar
from cogworks.unexpected import Node, expecting

_ABSENT = "it is not there, or the token may not see it"


def read_elsewhere(client: Queries, exemplars: Sequence[Exemplar]) -> Mapping[Exemplar, ReadElsewhere]:
    """Each file, or why there is none; raises as the client does."""
    if not exemplars:
        return {}
    variables: dict[str, str] = {}
    for number, each in enumerate(exemplars):
        owner, _, name = each.repository.partition("/")
        variables |= {f"o{number}": owner, f"n{number}": name, f"p{number}": f"{each.ref}:{each.path}"}
    answer = client.query(elsewhere_document(len(exemplars)), variables)
    for number in range(len(exemplars)):
        problem = answer.problem_at(f"r{number}")
        # What fails for a moment would be missing for the whole run.
        if problem is not None and (is_limited(problem) or is_internal(problem)):
            raise as_error(problem, doing="read files of other repositories")
    with expecting("files of other repositories"):
        return {each: _read(answer.data.get(f"r{number}")) for number, each in enumerate(exemplars)}


def elsewhere_document(count: int) -> str:
    """The document for so many files: `o0`, `n0`, `p0` are owner, name and `<ref>:<path>`; `r0` is the answer."""
    declared = ", ".join(f"$o{n}: String!, $n{n}: String!, $p{n}: String!" for n in range(count))
    asked = "\n".join(
        f"  r{n}: repository(owner: $o{n}, name: $n{n}, followRenames: true) {{\n"
        f"    file: object(expression: $p{n}) {{ __typename ... on Blob {{ oid text isTruncated isBinary }} }}\n  }}"
        for n in range(count)
    )
    return f"query Elsewhere({declared}) {{\n{asked}\n}}\n"


def _read(repository: Node | None) -> ReadElsewhere:
    blob = (repository or {}).get("file")
    if blob is None:
        return ReadElsewhere(problem=_ABSENT)
    if blob["__typename"] != "Blob":
        return ReadElsewhere(problem="it is no file")
    if blob["isBinary"] or blob["isTruncated"] or blob["text"] is None:
        return ReadElsewhere(problem="it is no text that GitHub shows whole")
    return ReadElsewhere(blob=blob["oid"], text=blob["text"])
