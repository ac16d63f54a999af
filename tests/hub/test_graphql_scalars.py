from base64 import b64encode
from datetime import UTC, datetime, timedelta, timezone

import pytest
from graphql import GraphQLError
from hypothesis import given
from hypothesis import strategies as st

from cogworks.hub.graphql import scalars

MOMENT = datetime(2026, 2, 28, 23, 59, 59, tzinfo=UTC)
ZONED = MOMENT.astimezone(timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("name", "value", "wire"),
    [
        ("DateTime", ZONED, "2026-02-28T23:59:59Z"),
        ("DateTime", "2026-02-28T23:59:59Z", "2026-02-28T23:59:59Z"),
        ("GitTimestamp", ZONED, "2026-03-01T01:59:59+02:00"),
        ("GitTimestamp", MOMENT, "2026-02-28T23:59:59Z"),
        ("Date", MOMENT, "2026-02-28"),
        ("BigInt", 2**40, "1099511627776"),
        ("GitObjectID", "a" * 40, "a" * 40),
        ("Base64String", b"\xff\x00", "/wA="),
        ("URI", "http://127.0.0.1/x", "http://127.0.0.1/x"),
    ],
)
def test_a_value_goes_out_as_github_writes_it(name: str, value: object, wire: str) -> None:
    assert scalars.SCALARS[name][0](value) == wire


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DateTime", MOMENT.replace(tzinfo=None)),
        ("DateTime", "yesterday"),
        ("GitTimestamp", 0),
        ("Date", 20260228),
        ("BigInt", "12"),
        ("BigInt", True),
        ("GitObjectID", "abc"),
        ("Base64String", "text"),
        ("HTML", b"<p>"),
    ],
)
def test_a_value_of_another_form_is_never_sent(name: str, value: object) -> None:
    with pytest.raises(GraphQLError):
        scalars.SCALARS[name][0](value)


@pytest.mark.parametrize(
    ("name", "wire", "value"),
    [
        ("DateTime", "2026-02-28T23:59:59Z", MOMENT),
        ("DateTime", "2026-02-28T23:59:59", MOMENT),
        ("BigInt", "-7", -7),
        ("BigInt", 7, 7),
        ("Base64String", "/w\nA=", b"\xff\x00"),
    ],
)
def test_a_clients_text_comes_in_as_a_value(name: str, wire: object, value: object) -> None:
    assert scalars.SCALARS[name][1](wire) == value


@pytest.mark.parametrize(
    ("name", "wire"),
    [
        ("DateTime", "yesterday"),
        ("DateTime", 5),
        ("BigInt", "many"),
        ("BigInt", True),
        ("GitObjectID", "A" * 40),
        ("Base64String", "not base64!"),
        ("Base64String", 5),
        ("URI", 5),
    ],
)
def test_a_clients_nonsense_is_refused(name: str, wire: object) -> None:
    with pytest.raises(GraphQLError):
        scalars.SCALARS[name][1](wire)


@given(data=st.binary())
def test_bytes_survive_the_way_in(data: bytes) -> None:
    assert scalars.base64_in(b64encode(data).decode()) == data
    assert scalars.base64_in(scalars.base64_out(data)) == data


@given(moment=st.datetimes(timezones=st.just(UTC)))
def test_a_moment_survives_both_ways_to_the_second(moment: datetime) -> None:
    whole = moment.replace(microsecond=0)

    assert scalars.date_time_in(scalars.date_time_out(whole).rjust(20, "0")) == whole
