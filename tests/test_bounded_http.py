"""Certificates are read once for all clients, and anew where the environment names others."""

from pathlib import Path

import certifi
import pytest

from cogworks.bounded_http import certificates


def test_certificates_are_read_once() -> None:
    assert certificates() is certificates()
    assert certificates().get_ca_certs()


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_whoever_names_others_gets_those_and_nobody_else_does(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_of_all = Path(certifi.where()).read_text("ascii").partition("-----END CERTIFICATE-----")
    named = tmp_path / "own.pem"
    named.write_text("".join(first_of_all[:2]), "ascii")
    usual = certificates()

    for each in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setenv(variable, str(named if variable == "SSL_CERT_FILE" else tmp_path))
    others = certificates()
    monkeypatch.undo()

    assert len(others.get_ca_certs()) == (1 if variable == "SSL_CERT_FILE" else 0)
    assert certificates() is usual
