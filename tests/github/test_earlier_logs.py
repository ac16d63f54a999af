"""Logs of earlier visits: which are read, in which order, and what is never exceeded; a real hub is asked end to end."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from graphql import build_ast_schema, parse, validate

from cogworks.errors import TryAgainLater, UsageError
from cogworks.github.documents import Answer, GraphQLProblem
from cogworks.github.earlier_logs import MAX_BYTES, MAX_LOGS, EarlierLog, logs_document, read_earlier_logs
from cogworks.unexpected import UnexpectedAnswer
from cogworks.vocabulary import NodeId
from tests.github.test_ledger_reads import NOON, Scripted, answer
from tests.published import SCHEMAS

CODE = NodeId("code_generation")


def ledger(number: int | str, *visits: str, days: int = 0) -> dict[str, Any]:
    tree = {"object": {"entries": [{"name": visit} for visit in visits]}} if visits else None
    written = (NOON - timedelta(days=days)).isoformat()
    return {
        "name": f"ledger/{number}",
        "target": {"oid": f"{days:040x}", "committedDate": written, "file": tree},
    }


def listed(*ledgers: dict[str, Any]) -> Answer:
    return answer({"repository": {"refs": {"nodes": list(ledgers)}}})


def sizes(*sizes: int | None) -> Answer:
    blobs = {f"b{n}": None if size is None else {"byteSize": size} for n, size in enumerate(sizes)}
    return answer({"repository": blobs})


def texts(*texts: str | None) -> Answer:
    blobs = {f"b{n}": {"text": text, "isTruncated": text is None} for n, text in enumerate(texts)}
    return answer({"repository": blobs})


def read(client: Scripted, *, besides: str = "") -> Sequence[EarlierLog]:
    return read_earlier_logs(client, "octo-org/adder", CODE, besides=besides)


def test_the_newest_visits_of_the_ledgers_written_to_last_come_first() -> None:
    client = Scripted(
        [
            listed(
                ledger(41, "0001-intake", "0004-code_generation@50", "0007-code_generation@51", days=2),
                ledger(42, "0003-code_generation@60", "0004-review@60", days=1),
                ledger("root"),
                ledger(43),
            ),
            sizes(10, 20, 30),
            texts("a", "b", "c"),
        ]
    )

    found = read(client)

    assert [(log.source, log.text, log.written) for log in found] == [
        ("42/visits/0003-code_generation@60", "a", NOON - timedelta(days=1)),
        ("41/visits/0007-code_generation@51", "b", NOON - timedelta(days=2)),
        ("41/visits/0004-code_generation@50", "c", NOON - timedelta(days=2)),
    ]
    assert client.asked[1]["p0"] == f"{1:040x}:visits/0003-code_generation@60/events-1.ndjson"
    assert client.asked[2]["p2"] == f"{2:040x}:visits/0004-code_generation@50/events-1.ndjson"


def test_a_visit_does_not_read_its_own_log_nor_those_of_other_nodes() -> None:
    visits = (
        "0003-code_generation@60",
        "0004-review@60",
        "0005-code_generation_too@60",
        "0006-code_generation",
    )
    client = Scripted([listed(ledger(42, *visits)), sizes(1), texts("mine")])

    found = read(client, besides="42/visits/0003-code_generation@60")

    assert [log.source for log in found] == ["42/visits/0006-code_generation"]


def test_where_nothing_was_coded_one_request_is_all() -> None:
    client = Scripted([listed(ledger(42, "0001-intake"))])

    assert read(client) == ()
    assert len(client.asked) == 1


def test_no_more_than_so_many_logs_and_bytes_are_read() -> None:
    visits = [f"{number:04d}-code_generation@1" for number in range(1, 40)]
    too_large = [MAX_BYTES - 10, 11, *([1] * (MAX_LOGS - 2))]
    client = Scripted([listed(ledger(42, *visits)), sizes(*too_large), texts(*"abcdefghijk")])

    found = read(client)

    assert len([name for name in client.asked[1] if name.startswith("p")]) == MAX_LOGS
    assert [log.source.split("/")[2][:4] for log in found[:2]] == ["0039", "0037"]
    assert len(found) == 11


@pytest.mark.parametrize(
    "blob", [None, {"text": None, "isTruncated": False}, {"text": "x", "isTruncated": True}]
)
def test_a_log_that_is_gone_binary_or_cut_off_is_passed_over(blob: Any) -> None:
    asked = answer({"repository": {"b0": blob}})

    assert read(Scripted([listed(ledger(42, "0003-code_generation@60")), sizes(1), asked])) == ()
    assert read(Scripted([listed(ledger(42, "0003-code_generation@60")), sizes(None)])) == ()


def test_what_github_refuses_is_told_as_its_kind() -> None:
    broken = GraphQLProblem(("repository",), "INTERNAL", "Something went wrong")

    with pytest.raises(TryAgainLater, match="read the logs in the ledgers of octo-org/adder"):
        read(Scripted([answer({"repository": None}, broken)]))
    with pytest.raises(UsageError, match="no repository octo-org/adder"):
        read(Scripted([answer({"repository": None})]))
    with pytest.raises(UnexpectedAnswer):
        read(Scripted([answer({"repository": {"refs": {"nodes": [{"name": 1}]}}})]))


def test_the_documents_fit_the_published_schema() -> None:
    official = build_ast_schema(
        parse((SCHEMAS / "github-schema.graphql").read_text("utf-8")), assume_valid=True
    )

    for fields in ("byteSize", "text isTruncated"):
        assert validate(official, parse(logs_document(MAX_LOGS, fields))) == []
