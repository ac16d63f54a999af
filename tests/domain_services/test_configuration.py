"""What `.cogworks/services.toml` may say, and that everything wrong with it is said at once."""

import pytest

from cogworks.domain_services.configuration import (
    ServiceConfig,
    address_problem,
    parse_services,
)
from cogworks.domain_services.limits import Limits
from cogworks.domain_services.opening import BUNDLED, configured_services
from cogworks.errors import ConfigurationError


def test_three_ways_of_reaching_a_service() -> None:
    text = """
[[services]]
name = "rust"
command = ["rust-service"]
artifacts = ["*.rs"]
timeouts = { simulate = 900, validate = 60 }

[[services]]
name = "kicad"
role = "secondary"
socket = "/run/cogworks/kicad.sock"

[[services]]
name = "far"
role = "secondary"
url = "https://checks.example.com"
token_env = "COGWORKS_SERVICE_FAR_TOKEN"
"""

    assert parse_services(text) == (
        ServiceConfig(
            name="rust",
            command=("rust-service",),
            artifacts=("*.rs",),
            timeouts={"simulate": 900, "validate": 60},
        ),
        ServiceConfig(name="kicad", role="secondary", socket="/run/cogworks/kicad.sock"),
        ServiceConfig(
            name="far",
            role="secondary",
            url="https://checks.example.com",
            token_env="COGWORKS_SERVICE_FAR_TOKEN",
        ),
    )


def test_older_words_are_understood_and_what_the_handshake_says_is_ignored() -> None:
    text = """
[[services]]
name = "rust"
transport = "unix"
path = "/run/rust.sock"
health_check_timeout_ms = 2000
capabilities = ["everything"]
domain = "rust"
[[services]]
name = "kicad"
endpoint = "http://localhost:9100"
"""

    assert parse_services(text) == (
        ServiceConfig(name="rust", socket="/run/rust.sock", timeouts={"handshake": 2.0}),
        ServiceConfig(name="kicad", url="http://localhost:9100"),
    )


def test_without_a_file_there_is_the_python_service() -> None:
    assert configured_services(None) == (BUNDLED,)


def test_all_problems_are_reported_at_once() -> None:
    text = """
title = "x"
[[services]]
name = "One"
comand = ["x"]
[[services]]
name = "two"
command = ["./tools/service"]
socket = "run/two.sock"
timeouts = { simulat = 3, validate = 0 }
[[services]]
name = "three"
url = "http://checks.example.com"
role = "secundary"
[[services]]
name = "four"
url = "https://checks.example.com"
[[services]]
name = "two"
url = "https://checks.example.com"
token_env = "GITHUB_TOKEN"
[[services]]
name = "five"
transport = "smoke"
health_check_timeout_ms = 0
socket = "/x"
token_env = "COGWORKS_SERVICE_X"
"""

    with pytest.raises(ConfigurationError) as caught:
        parse_services(text)

    assert caught.value.problems == (
        "`title` is not a key cogworks knows; known here: services",
        "`services[1].name` is 'One': String should match pattern '^[a-z0-9][a-z0-9_-]{0,39}$'",
        "`services[1].comand` is not a key cogworks knows; did you mean `command`?",
        "`services[2]` wants exactly one of `command`, `socket` and `url`, found `command` and `socket`",
        "`services[2].command` starts './tools/service' of the working copy, which the model may have written; name an installed program or an absolute path",
        "`services[2].socket` is 'run/two.sock'; want an absolute path",
        "`services[2].timeouts.simulat` is not a key cogworks knows; did you mean `simulate`?",
        "`services[2].timeouts.validate` is 0.0; want seconds, more than 0 and at most a day",
        "`services[3].role` is 'secundary': Input should be 'primary' or 'secondary'",
        "`services[4].url` 'https://checks.example.com' leaves this machine without a token; set `token_env`, e.g. COGWORKS_SERVICE_TOKEN",
        "`services[5].token_env` is 'GITHUB_TOKEN'; want a name that begins with COGWORKS_SERVICE_",
        "`services[6].health_check_timeout_ms` is 0; want a positive number",
        '`services[6].transport` is \'smoke\'; leave it out, or say "unix" with `socket`, "http" with `url`',
        "`services[6].token_env` is only for `url`",
        "service 'two' is there 2 times; give each its own name",
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x =", "not TOML: Invalid value (at end of document)"),
        ("", "there is no `[[services]]` table; add one, or delete the file"),
        ("services = 3", "`services` must be tables: `[[services]]`"),
        (
            '[[services]]\nname = "a"\nrole = "secondary"\nsocket = "/a"',
            'no service is `role = "primary"`; nobody would check what is generated',
        ),
        ('[[services]]\nsocket = "/a"', "`services[1].name` is missing"),
    ],
)
def test_a_file_that_says_nothing_usable(text: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_services(text)

    assert caught.value.problems == (problem,)


@pytest.mark.parametrize(
    ("url", "has_token", "problem"),
    [
        ("http://127.0.0.1:9100", False, None),
        ("http://[::1]:9100", False, None),
        ("https://checks.example.com", True, None),
        (
            "http://checks.example.com",
            True,
            "leaves this machine without TLS; use https://checks.example.com",
        ),
        (
            "http://127.0.0.1.example.com",
            True,
            "leaves this machine without TLS; use https://127.0.0.1.example.com",
        ),
        ("ftp://x", True, "must begin with http:// or https:// and name a host"),
        (
            "https://user:secret@x",
            True,
            "must have no user, query or fragment; the token goes into `token_env`",
        ),
        ("http://x:99999", True, "is no address: Port out of range 0-65535"),
    ],
)
def test_where_a_service_may_be_reached(url: str, has_token: bool, problem: str | None) -> None:
    assert address_problem(url, has_token=has_token) == problem


def test_times_per_method() -> None:
    limits = Limits(methods={"trace": 30})

    waits = {
        method: limits.wait_s(method) for method in ("handshake", "validate", "simulate", "trace", "beside")
    }
    assert waits == {"handshake": 5, "validate": 300, "simulate": 630, "trace": 60, "beside": 630}


@pytest.mark.parametrize(
    ("way", "is_far"),
    [
        ({"command": ("rust",)}, False),
        ({"socket": "/run/s"}, False),
        ({"url": "http://127.0.0.1:9100"}, False),
        ({"url": "https://checks.example.com"}, True),
        ({"url": "https://checks.example.com", "shares_files": True}, False),
    ],
    ids=["command", "socket", "loopback", "elsewhere", "shared-volume"],
)
def test_a_service_is_far_when_it_does_not_see_our_files(way: dict[str, object], is_far: bool) -> None:
    assert ServiceConfig.model_validate({"name": "x", **way}).is_far is is_far


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('root = "/packages"', "`services[1].root` is '/packages'; want a folder of the repository"),
        ('root = "packages/"', "`services[1].root` is 'packages/'; want a folder"),
        ('root = "a/../b"', "`services[1].root` is 'a/../b'; want a folder"),
        ('kind = "python"', '`services[1].command` and `kind = "python"` exclude each other'),
        ('kind = "ruby"', "`services[1].kind` is 'ruby'"),
        ('tests = { command = "a \'b" }', "`services[1].tests.command`"),
        ('environment = { pyhton = "3" }', "`services[1].environment.pyhton` is not a key"),
    ],
)
def test_what_a_table_says_of_its_folder_and_kind_is_checked(line: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_services(f'[[services]]\nname = "a"\ncommand = ["x"]\n{line}\n')

    assert problem in str(caught.value)


def test_the_service_of_commands_is_started_with_what_is_configured() -> None:
    text = '[[services]]\nname = "go"\nkind = "command"\ntest = "--all"\nsetup = ["a b", "c"]\n'
    [service] = parse_services(text)

    assert service.started[-3:] == ("--setup=a b", "--setup=c", "--test=--all")
    assert service.started[1:5] == ("-m", "cogworks", "service", "command")


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ('command = ["x"]\ntest = "make"', '`services[1].test` is only for `kind = "command"`'),
        ('kind = "command"\ncommand = ["x"]', "exclude each other"),
        ('kind = "command"\nlanguage = "typescrip"', "did you mean `typescript`?"),
        ('kind = "command"\nreport = "junits"', "did you mean `junit`?"),
        ('kind = "command"\ntest_one = "make one"', "want one of {test}, {file}, {folder}, {name} in it"),
    ],
)
def test_what_is_wrong_with_commands_is_said(keys: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        parse_services(f'[[services]]\nname = "go"\n{keys}\n')

    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ('kind = "command"\ncommand = ["x"]', "`services[1].command` and `kind = \"command\"` exclude each other"),
        ('kind = "command"\nurl = "http://localhost"', "`services[1].url` and `kind = \"command\"` exclude each other"),
        ('kind = "python"\nlint = "x"', "`services[1].lint` is only for `kind = \"command\"`"),
        ('command = ["x"]\nlint = "x"', "`services[1].lint` is only for `kind = \"command\"`"),
    ],
)  # fmt: skip
def test_a_wrong_mix_of_kind_and_keys_is_one_problem(keys: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        parse_services(f'[[services]]\nname = "go"\n{keys}\n')

    assert "has 1 problem(s)" in str(error.value)
    assert problem in str(error.value)
