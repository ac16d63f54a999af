"""Where a credential may go without encryption."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.loopback import encrypted_form, is_loopback


@given(st.ip_addresses())
def test_only_loopback_addresses_are_this_machine(address: object) -> None:
    text = str(address)
    assert is_loopback(text) is (text.startswith(("127.", "::ffff:7f")) or text == "::1")


@pytest.mark.parametrize(
    ("address", "encrypted"),
    [
        ("http://ghe.example:8080/o/r?x=1", "https://ghe.example:8080/o/r?x=1"),
        ("HTTP://GHE.example", "https://GHE.example"),
        ("http://localhost.example", "https://localhost.example"),
        ("http://127.0.0.1.example", "https://127.0.0.1.example"),
        ("https://ghe.example", ""),
        ("http://localhost:1", ""),
        ("http://127.8.9.1", ""),
        ("http://[::1]:1", ""),
        ("owner/name", ""),
    ],
)
def test_an_address_off_this_machine_has_an_encrypted_form(address: str, encrypted: str) -> None:
    assert encrypted_form(address) == encrypted
