"""What a credential looks like that a request can carry; whatever is wrong with one, it is never shown."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from pydantic import Field

from cogworks.vocabulary import Value

PROXY_VARIABLES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")


class Credential(Value):
    """A credential from the environment, or why the one that is there cannot be used."""

    variable: str = ""
    """Where it came from; empty: there is none."""
    value: str = Field(default="", repr=False)
    """Empty where there is a problem."""
    problem: str = ""


def first_credential(environ: Mapping[str, str], *variables: str) -> Credential:
    """The first of the variables that holds anything; one that holds something unusable is not passed over."""
    variable = next((name for name in variables if environ.get(name)), "")
    value = cleaned(environ.get(variable, ""))
    problem = credential_problem(value) if variable else ""
    return Credential(variable=variable, value="" if problem else value, problem=problem)


def unusable_credentials(*credentials: Credential) -> dict[str, str]:
    """Variable -> why the credential in it cannot be used."""
    return {each.variable: each.problem for each in credentials if each.problem}


def cleaned(value: str) -> str:
    """Without the line end that files and other programs leave behind a value."""
    return value.rstrip("\r\n")


def credential_problem(value: str) -> str:
    """Why no request can carry a cleaned value as a credential, without a word of it; empty where one can."""
    remedy = "set it to the credential alone, without quotes, blanks and line breaks"
    if not value.strip():
        return f"is empty; {remedy}"
    if value != value.strip():
        return f"begins or ends with a blank; {remedy}"
    if any(letter.isspace() for letter in value):
        return f"holds a blank or a line break; {remedy}"
    if not value.isascii():
        return f"holds characters that are not ASCII, which no header can carry; {remedy}"
    if not value.isprintable():
        return f"holds control characters, which no header can carry; {remedy}"
    return ""


def unusable_proxies(environ: Mapping[str, str]) -> dict[str, str]:
    """Variable -> what is wrong with the address of a proxy in it; a part of its password is never shown."""
    proxies = {name: environ[name] for name in PROXY_VARIABLES if environ.get(name)}
    return {name: problem for name, value in proxies.items() if (problem := _proxy_problem(value))}


def _proxy_problem(address: str) -> str:
    remedy = "write it like http://user:password@host:8080, with %40, %2F, %23 and %3F for @, /, # and ? in the password"
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        _ = parts.port
    except ValueError:
        return f"is no address of a proxy; {remedy}"
    if not parts.hostname or "@" in parts.path + parts.query + parts.fragment:
        return f"is no address of a proxy; {remedy}"
    if parts.scheme not in ("http", "https"):
        return f"is of a kind of proxy that cogworks does not speak to; {remedy}"
    return ""
