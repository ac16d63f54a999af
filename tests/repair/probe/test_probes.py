import pytest
from pydantic import ValidationError

from cogworks.repair.landmarks import Span
from cogworks.repair.probe.investigating import Findings
from cogworks.repair.probe.probes import Blackboard, Fact, Probe, ProbePatch, ProbeReport, Scene, Seen
from cogworks.repair.probe.recalling import Recalled
from cogworks.repair.probe.understanding import Understanding
from cogworks.vocabulary import Value
from tests.repair.examples import suspect
from tests.repair.exploring import FAILING, TARGET

TOTAL = suspect("shop.total", (1, 2), 0.5).model_copy(update={"belief": 0.25})
PATCH = ProbePatch(
    id="1", suspect="shop.total", diff="diff", purpose="assert", loc_changed=1, rationale="why"
)
REPORT = ProbeReport(
    id="probe-1",
    kind="assert",
    suspect="shop.total",
    result="informative",
    information_gain=0.5,
    recommendation="likely_cause",
    observations={"fired": True},
)
SHAPES: tuple[Value, ...] = (
    TOTAL,
    PATCH,
    REPORT,
    Probe(id="probe-1", kind="assert", suspect=TOTAL, operations=10, allowed={"a": ("int",)}, patch=PATCH),
    Seen(
        recommendation="possible",
        observations={"given": {"a": ["int"]}},
        patch=PATCH,
        violated={"a": ("int",)},
    ),
    Scene(failing=FAILING, suspects=(TOTAL,), covering={"shop.py": (TARGET,)}),
    Blackboard().with_facts([Fact(kind="assert", suspect="shop.total", content={"fired": True})]),
    Findings(reports=(REPORT,), patches=(PATCH,), before={"shop.total": 1.0}, beliefs={"shop.total": 1.0}),
    Recalled(
        id="shop.total",
        hypothesis="h",
        spans=(Span(artifact="shop.py", lines=(1, 2)),),
        evidence={"stack": 1.0},
    ),
    Understanding(summary="s", invariants=("i",), dependencies=("a -> b",)),
)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_every_shape_survives_its_file_and_knows_its_fields(shape: Value) -> None:
    assert type(shape).model_validate_json(shape.model_dump_json()) == shape
    with pytest.raises(ValidationError):
        type(shape).model_validate({**shape.model_dump(), "surprise": 1})


def test_who_passes_is_compared_with_who_fails() -> None:
    scene = Scene(failing=FAILING, suspects=(TOTAL,), covering={"shop.py": (TARGET, "t.py::a", "t.py::b")})

    assert scene.tests == (TARGET,)
    assert scene.passing("shop.py", most=1) == ("t.py::a",)
    assert scene.passing("other.py", most=1) == ()
    assert Scene(failing=FAILING.model_copy(update={"cases": ()}), suspects=()).target == ""
