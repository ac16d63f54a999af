"""Which addresses a credential may be sent to: encrypted ones, and this machine."""

import ipaddress
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def encrypted_form(address: str) -> str:
    """The https address to use instead of one that carries what is sent in the clear to another machine; empty where
    there is nothing to change.

    Raises:
        ValueError: it is no address.
    """
    parts = urlsplit(address.strip())
    if parts.scheme != "http" or is_loopback(parts.hostname or ""):
        return ""
    return parts._replace(scheme="https").geturl()
