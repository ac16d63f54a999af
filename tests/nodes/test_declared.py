"""What the model is shown of files that do not fit, and what it may claim to have declared."""

import pytest

from cogworks.domain_services.answers import NotOffered
from cogworks.domain_services.checking import Interface, InterfaceMap
from cogworks.nodes.contract import Succeeded
from cogworks.nodes.excerpts import MAX_FILE_CHARS
from cogworks.nodes.interface_design import MAX_CHARS, Declared, listed, run, undeclared
from cogworks.nodes.replies import InterfaceName
from tests.nodes.examples import FILES, INTERFACES, ports, task

LARGE = "# " + "x" * MAX_FILE_CHARS
NOBODY = NotOffered(service="text", method="extract_interfaces", offered=("validate",))


def interface(path: str, name: str, signature: str = "", documentation: str = "") -> Interface:
    return Interface(
        name=name, kind="function", artifact=path, signature=signature, documentation=documentation
    )


def offers(*interfaces: Interface, status: str = "complete") -> InterfaceMap:
    return InterfaceMap.model_validate({"status": status, "interfaces": interfaces})


def test_files_that_do_not_fit_are_shown_by_what_they_offer() -> None:
    world = ports(INTERFACES, files={**FILES, "src/adder/large.py": LARGE})
    world.service.offered = offers(
        interface("src/adder/large.py", "adder.large.Sum", "class Sum(Base)", "A sum.\n\nIn euros."),
        interface("src/adder/large.py", "adder.large.parse", "def parse(a)\ndef parse(b)"),
    )

    assert isinstance(run(task("interface_design"), world), Succeeded)
    assert "src/adder/large.py" in world.service.asked_for_interfaces[0]
    assert not set(FILES) & {"src/adder/adding.py"} & set(world.service.asked_for_interfaces[0])
    assert "What files that are not shown above offer:\n" in world.model.asked[0]
    assert (
        "src/adder/large.py\n"
        "  adder.large.Sum: class Sum(Base) - A sum.\n"
        "  adder.large.parse: def parse(a) | def parse(b)\n"
    ) in world.model.asked[0]


def test_a_service_that_cannot_tell_is_named_and_done_without() -> None:
    world = ports(INTERFACES, files={**FILES, "src/adder/large.py": LARGE})
    world.service.offered = NOBODY

    assert isinstance(run(task("interface_design"), world), Succeeded)
    assert any("does not offer 'extract_interfaces'" in line for line in world.said)
    assert "not shown above offer" not in world.model.asked[0]


def test_nothing_is_added_to_the_prompt_where_every_file_is_shown() -> None:
    world = ports(INTERFACES)
    world.service.offered = offers(interface("src/adder/adding.py", "adder.adding.add"))

    assert isinstance(run(task("interface_design"), world), Succeeded)
    assert "not shown above offer" not in world.model.asked[0]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Subtracts", "is not declared in"),
        ("_Subtracts", "is private, and what is private is no interface of"),
    ],
    ids=["missing", "private"],
)
def test_a_claimed_name_that_the_file_does_not_declare_goes_back(name: str, why: str) -> None:
    path = INTERFACES.files[0].path
    wrong = INTERFACES.interfaces[0].model_copy(update={"name": name})
    world = ports(INTERFACES.model_copy(update={"interfaces": (wrong,)}), INTERFACES)
    world.service.offered = offers(
        interface(path, "adder.contracts.Adds"), interface(path, "adder.contracts.LIMIT")
    )

    assert isinstance(run(task("interface_design"), world), Succeeded)
    assert f"interface {name!r} {why} '{path}', which offers Adds, LIMIT" in world.model.asked[1]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Adds", offers(interface("a.py", "m.Adds"))),
        ("m.Adds", offers(interface("a.py", "m.Adds"))),
        ("Adds.add(x: m.Row, y=0)", offers(interface("a.py", "m.Adds.add"))),
        ("Adds[T]", offers(interface("a.py", "m.Adds"))),
        ("shop::Adds<T>", offers(interface("a.py", "shop::Adds"))),
        ("Gone", offers(interface("b.py", "m.Adds"))),
        ("Gone", offers(interface("a.py", "m.Adds"), status="incomplete")),
        ("Gone", NOBODY),
        ("!", offers(interface("a.py", "!"))),
    ],
    ids=[
        "plain",
        "qualified",
        "with-parameters",
        "generic",
        "other-language",
        "other-file",
        "incomplete",
        "nobody",
        "sign",
    ],
)
def test_a_claim_is_believed_unless_the_service_knows_better(
    name: str, found: InterfaceMap | NotOffered
) -> None:
    assert undeclared([InterfaceName(name=name, path="a.py", purpose="")], found) == []


def test_as_many_whole_files_as_there_is_room_for_are_listed_in_order() -> None:
    found = offers(
        interface("a.py", "m.a"), interface("large.py", "m.large", "x" * MAX_CHARS), interface("b.py", "m.b")
    )

    assert listed(found, ["b.py", "large.py", "a.py"]) == Declared(
        text="b.py\n  m.b\na.py\n  m.a", is_partial=True
    )
    assert listed(offers(interface("a.py", "m.a")), ["a.py"]) == Declared(text="a.py\n  m.a")
    assert listed(offers(interface("a.py", "m.a"), status="incomplete"), ["a.py"]).is_partial
