"""What decides whether a setup runs anew."""

from cogworks.services.setup.setups import Setup, commands_of, script_text, setup_key

BLOBS = {"package.json": "1", "src/a.js": "2", "scripts/gen.py": "3", "schemas/x.json": "4", "docs/a.md": "5"}
SETUP = Setup(("npm ci", "python ./scripts/gen.py # from schemas/"))


def key(setup: Setup = SETUP, store: str = "here") -> str:
    return setup_key(setup, BLOBS, store)


def with_blob(path: str) -> str:
    return setup_key(SETUP, BLOBS | {path: "other"}, "here")


def test_manifests_and_what_the_setup_names_decide_and_other_sources_do_not() -> None:
    assert with_blob("src/a.js") == with_blob("docs/a.md") == key()
    changed = {
        with_blob(path)
        for path in ("package.json", "scripts/gen.py", "schemas/x.json", "web/package-lock.json")
    }
    assert len(changed | {key()}) == 5


def test_lines_script_variables_and_tools_decide() -> None:
    others = [
        Setup((*SETUP.lines, "true")),
        SETUP._replace(script="true"),
        SETUP._replace(variables=(("A", "1"),)),
    ]

    assert len({key(), *map(key, others), setup_key(SETUP, BLOBS, "here", ("node 20",))}) == 5


def test_what_another_repository_made_counts_for_none_but_itself() -> None:
    assert key(store="there") != key()


def test_where_nobody_knows_the_repository_every_file_counts() -> None:
    assert setup_key(SETUP, BLOBS, "") != setup_key(SETUP, BLOBS | {"src/a.js": "other"}, "")


def test_lines_run_before_the_script_which_names_its_own_interpreter() -> None:
    setup = Setup(("npm ci",), "#!/usr/bin/env bash\r\nset -o pipefail\r\n")

    assert [each.words for each in commands_of(setup, "/x/setup.sh")] == [
        ("/bin/sh", "-c", "npm ci"),
        ("/x/setup.sh",),
    ]
    assert script_text(setup) == "#!/usr/bin/env bash\nset -o pipefail\n"
    assert "line ends of Windows" in setup.notes[0]
    [own] = commands_of(Setup(script="true\n"), "/x/setup.sh")
    assert own.words == ("/bin/sh", "/x/setup.sh")


def test_an_empty_script_is_no_setup() -> None:
    assert not Setup(script=" \n").is_there
    assert list(commands_of(Setup(script=" \n"), "/x")) == []
