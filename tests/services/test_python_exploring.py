"""What the Python service says of source text, asked over the wire, and examined by the conformance suite."""

import os
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cogworks.domain_services import operations
from cogworks.domain_services.answers import Answer
from cogworks.domain_services.checking import Artifacts, InterfaceMap
from cogworks.domain_services.client import ProcessService
from cogworks.domain_services.configuration import ServiceConfig
from cogworks.domain_services.conformance.examination import Exam, Sample, Subject
from cogworks.domain_services.conformance.suite import examine
from cogworks.domain_services.exploring import CallGraphParams, ExploreParams
from cogworks.domain_services.messages import ErrorCode, Message
from cogworks.domain_services.opening import open_transport
from cogworks.domain_services.operations import Operation
from cogworks.domain_services.panel import Member, ServicePanel
from cogworks.domain_services.transport import ServiceFailed
from cogworks.services.python import sample

COMMAND = (sys.executable, "-m", "cogworks.services.python", "--until-stdin-closes")


class Copy:
    def __init__(self, path: Path) -> None:
        self.path = path


@pytest.fixture(scope="module")
def service() -> Iterator[ProcessService]:
    with ProcessService(COMMAND, name="python", environment=os.environ) as opened:
        yield opened


@pytest.fixture
def shop(tmp_path: Path) -> Copy:
    for path, text in sample.FILES.items():
        (tmp_path / path).write_text(text)
    return Copy(tmp_path)


def test_the_index_of_a_repository(service: ProcessService, shop: Copy) -> None:
    answer = service.call(operations.INDEX, shop, ExploreParams())

    assert isinstance(answer, Answer)
    assert [each.id for each in answer.result.symbols if each.artifact == "shop.py"] == [
        "shop",
        "shop.Cart",
        "shop.Cart.__init__",
        "shop.Cart.add",
        "shop.total",
    ]
    assert [each.artifact for each in answer.result.unread] == ["broken.py"]
    assert answer.metadata.counts == {"artifacts": 3, "unread": 1}


def test_the_signatures_interfaces_and_modules_of_a_repository(service: ProcessService, shop: Copy) -> None:
    asked = Artifacts(artifacts=("shop.py", "test_shop.py"))
    signatures = service.call(operations.SIGNATURES, shop, ExploreParams(artifacts=asked.artifacts))
    interfaces = service.call(operations.EXTRACT_INTERFACES, shop, asked)
    modules = service.call(operations.DEPENDENCY_GRAPH, shop, asked)

    assert isinstance(signatures, Answer)
    assert isinstance(interfaces, Answer)
    assert isinstance(modules, Answer)
    assert [each.id for each in signatures.result.signatures][:2] == ["shop.Cart", "shop.Cart.__init__"]
    assert interfaces.result.status == "complete"
    assert [each.signature for each in interfaces.result.interfaces if each.artifact == "shop.py"] == [
        "class Cart",
        "def __init__() -> None",
        "prices: list[int] = []",
        "def add(price: int) -> None",
        "def total(cart: Cart) -> int",
    ]
    assert modules.result.uses == {"shop": (), "test_shop": ("shop",)}


def test_the_surroundings_of_a_line(service: ProcessService, shop: Copy) -> None:
    answer = service.call(operations.CALL_GRAPH, shop, CallGraphParams(seeds=("shop.py:15",), hops=1))

    assert isinstance(answer, Answer)
    assert [(each.hop, each.symbol.id) for each in answer.result.nodes] == [
        (0, "shop.total"),
        (1, "failing_shop"),
        (1, "failing_shop.test_an_empty_cart_costs_something"),
        (1, "test_shop"),
        (1, "test_shop.test_an_empty_cart_costs_nothing"),
        (1, "test_shop.test_prices_are_summed"),
    ]
    assert [each.message for each in answer.diagnostics] == ["not in the graph: invalid syntax (line 1)"]


@pytest.mark.parametrize(
    "operation",
    [operations.INDEX, operations.SIGNATURES, operations.EXTRACT_INTERFACES, operations.DEPENDENCY_GRAPH],
    ids=lambda operation: operation.method,
)
@pytest.mark.parametrize("path", ["../shop.py", "/etc/hosts.py", ".git/x.py"])
def test_a_path_that_leads_elsewhere_is_refused(
    operation: Operation[Message, Message], path: str, service: ProcessService, shop: Copy
) -> None:
    with pytest.raises(ServiceFailed) as caught:
        service.call(operation, shop, operation.params.model_validate({"artifacts": [path]}))

    assert caught.value.code is ErrorCode.INVALID_REQUEST


def test_nothing_that_is_read_is_ever_run(service: ProcessService, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    (tmp_path / "conftest.py").write_text(f"open({str(marker)!r}, 'w')\n")
    (tmp_path / "a.py").write_text(f"import conftest\nopen({str(marker)!r}, 'w')\nraise SystemExit(1)\n")
    copy = Copy(tmp_path)

    both = Artifacts(artifacts=("a.py", "conftest.py"))
    service.call(operations.INDEX, copy, ExploreParams())
    service.call(operations.SIGNATURES, copy, ExploreParams())
    service.call(operations.EXTRACT_INTERFACES, copy, both)
    service.call(operations.DEPENDENCY_GRAPH, copy, both)
    service.call(operations.CALL_GRAPH, copy, CallGraphParams(seeds=("a",)))

    assert not marker.exists()


def test_every_announced_method_passes_the_conformance_suite(shop: Copy) -> None:
    config = ServiceConfig(name="python", command=COMMAND)
    methods = ("index", "signatures", "extract_interfaces", "dependency_graph", "call_graph")
    with closing(Subject(config, lambda: open_transport(config, os.environ))) as subject:
        exam = Exam(
            subject=subject, limit_s=60.0, sample=Sample(folder=shop.path, artifacts=sample.ARTIFACTS)
        )
        report = examine(
            exam, only={"contracts", "wrong-parameters", *(f"method:{each}" for each in methods)}
        )

    assert [(each.check, each.status) for each in report.results] == [
        ("handshake", "passed"),
        ("wrong-parameters", "passed"),
        *(
            (f"method:{each}", "passed")
            for each in ("extract_interfaces", "dependency_graph", "index", "call_graph", "signatures")
        ),
        ("contracts", "passed"),
    ]


def test_a_panel_asks_about_the_files_that_are_the_service_s_business(
    service: ProcessService, shop: Copy
) -> None:
    panel = ServicePanel([Member(client=service)], warn=pytest.fail)

    found = panel.interfaces(shop, ["notes.md", "test_shop.py", "broken.py"])
    nothing = panel.interfaces(shop, ["notes.md"])

    assert isinstance(found, InterfaceMap)
    assert found.status == "incomplete"
    assert [each.artifact for each in found.unread] == ["broken.py"]
    assert {each.artifact for each in found.interfaces} == {"test_shop.py"}
    assert nothing == InterfaceMap(status="complete", interfaces=())
