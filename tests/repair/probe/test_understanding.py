from cogworks.repair.landmarks import Alternative, FailurePattern, Span
from cogworks.repair.probe.investigating import Findings
from cogworks.repair.probe.probes import Blackboard, Fact
from cogworks.repair.probe.understanding import Understanding, understood

PATTERN = FailurePattern(
    summary="one is taken away",
    primary_location=Span(artifact="shop.py", lines=(1, 2), symbol="shop.total"),
    alternatives=(Alternative(span=Span(artifact="shop.py", lines=(9, 9)), why="near"),),
    invariants=("totals are sums",),
    confidence=0.9,
)


def test_the_pattern_and_the_findings_are_put_together() -> None:
    facts = (
        Fact(
            kind="ast",
            suspect="shop.total",
            content={"callers": ["shop.pay"], "callees": ["sum"], "data": ["shop.RATE"]},
        ),
        Fact(kind="ast", suspect="shop.other", content={"callers": ["shop.pay"]}),
        Fact(kind="trace", suspect="shop.total", content={"returned": ["0"]}),
    )
    findings = Findings(
        board=Blackboard().with_facts(facts), violated={"shop.total": {"prices": ("list", "tuple")}}
    )

    assert understood(PATTERN, findings) == Understanding(
        summary="one is taken away",
        invariants=("totals are sums", "shop.total: prices is list or tuple"),
        dependencies=("shop.pay -> shop.total", "shop.total -> sum", "shop.total -> shop.RATE"),
    )


def test_without_an_investigation_the_pattern_is_all_there_is() -> None:
    assert understood(PATTERN, None).dependencies == ()
